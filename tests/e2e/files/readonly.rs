//! A grant for reading: nothing that changes a file, a directory or their times works, by either interface, with whatever flags.

use std::{
    fs::{File, FileTimes},
    os::unix::fs::PermissionsExt,
    time::{Duration, SystemTime},
};

use super::*;

/// `open-flags`: create, exclusive, truncate.
const MAKES: u8 = 1 | 4 | 8;

/// `descriptor-flags`: write, mutate-directory.
const CHANGES: u8 = 2 | 32;

/// A folder for reading beside one for writing. All that lies in it is old: a time that was set shows.
fn furnished() -> (Desk, Asked) {
    let desk = Desk::new();
    fs::create_dir(desk.path("work/empty")).unwrap();
    desk.put("other/mine.txt", "mine");
    fs::set_permissions(desk.path("work/plain.txt"), fs::Permissions::from_mode(0o755)).unwrap();
    let long_ago = FileTimes::new().set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000));
    for path in ["work/plain.txt", "work/sub/deep.txt", "work/sub", "work/empty", "work"] {
        File::open(desk.path(path)).unwrap().set_times(long_ago).unwrap();
    }
    let (read, write) = (desk.folder("work", "access = \"read\""), desk.folder("other", "access = \"write\""));
    let host = desk.grant(&format!("{read}, {write}")).granted();
    (desk, host)
}

fn whole(desk: &Desk) -> (impl PartialEq + std::fmt::Debug, SystemTime) {
    (snapshot(&desk.path("work")), fs::metadata(desk.path("work")).unwrap().modified().unwrap())
}

#[test]
fn no_change_through_our_interface_works_under_a_grant_for_reading() {
    let (desk, host) = furnished();
    let before = whole(&desk);
    let version = ok(&host.fs(json!({ "op": "stat", "path": "plain.txt" })))["version"].clone();
    let mine = desk.text("other/mine.txt");
    let mut changes = vec![
        json!({ "kind": "write", "path": "plain.txt", "content": "mine" }),
        json!({ "kind": "write", "path": "plain.txt", "content": "mine", "version": version }),
        json!({ "kind": "write", "path": "plain.txt", "content": "inside\n" }),
        json!({ "kind": "write", "path": "new.txt", "content": "mine" }),
        json!({ "kind": "write", "path": "new.txt", "content": "mine", "fresh": true }),
        json!({ "kind": "write", "path": "new/deep/er.txt", "content": "mine" }),
        json!({ "kind": "edit", "path": "plain.txt", "content": "mine", "version": version, "length": 2 }),
        json!({ "kind": "edit", "path": "plain.txt", "version": version }),
        json!({ "kind": "remove", "path": "plain.txt" }),
        json!({ "kind": "rename", "path": "plain.txt", "target": "other.txt" }),
        json!({ "kind": "rename", "path": "plain.txt", "target": "new/plain.txt" }),
        // Out of the folder, and into it.
        json!({ "kind": "rename", "path": "plain.txt", "target": desk.text("other/taken.txt") }),
        json!({ "kind": "rename", "path": mine, "target": "brought.txt" }),
    ];
    for change in &changes {
        let answer = host.commit(json!([change]));
        assert_eq!(error(&answer), "Denied", "{change}: {answer}");
        assert!(message(&answer).contains("reading only"), "{answer}");
    }
    // With a change that is allowed before them, they stop that one too.
    changes.push(json!({ "kind": "write", "path": "plain.txt", "content": "mine" }));
    for change in changes {
        let answer =
            host.commit(json!([{ "kind": "write", "path": desk.text("other/new.txt"), "content": "x" }, change]));
        assert_eq!(error(&answer), "Denied", "{change}: {answer}");
    }
    assert_eq!(ok(&host.fs(json!({ "op": "stat", "path": "plain.txt" })))["writable"], false);
    assert_eq!(whole(&desk), before);
    assert_eq!(snapshot(&desk.path("other")).len(), 1);
}

#[test]
fn no_change_by_name_through_wasi_works_under_a_grant_for_reading() {
    let (desk, host) = furnished();
    let before = whole(&desk);
    let (work, other) = (desk.text("work"), desk.text("other"));
    let mut steps = Vec::new();
    for path in ["plain.txt", "new.txt", "sub", "empty", "sub/deep.txt", "."] {
        steps.extend(every_wasi_step(path).into_iter().filter(|step| {
            let reads = step["op"] == "stat" || step["then"].as_str().is_some_and(|then| then.starts_with("read"));
            !reads
        }));
        for op in ["rename", "link"] {
            steps.push(json!({ "op": op, "path": path, "target": "taken.txt", "into": other }));
        }
    }
    for step in &mut steps {
        step["folder"] = work.as_str().into();
    }
    for op in ["rename", "link"] {
        steps.push(json!({ "op": op, "path": "mine.txt", "folder": other, "target": "brought.txt", "into": work }));
        steps.push(json!({ "op": op, "path": "mine.txt", "folder": other, "target": "plain.txt", "into": work }));
    }
    for (step, answer) in steps.iter().zip(host.steps("wasi", &steps, None)) {
        let expected = if step["op"] == "readlink" { "invalid" } else { "not-permitted" };
        assert_eq!(error(&answer), expected, "{step}");
    }
    assert_eq!(whole(&desk), before);
    assert_eq!(snapshot(&desk.path("other")).len(), 1);
}

#[test]
fn no_combination_of_flags_makes_a_file_writable_under_a_grant_for_reading() {
    let (desk, host) = furnished();
    let before = whole(&desk);
    let work = desk.text("work");
    let mut opened = Vec::new();
    for how in 0..16_u8 {
        let every: Vec<Value> = ["plain.txt", "new.txt", "sub", "."]
            .into_iter()
            .flat_map(|path| (0..64_u8).map(move |flags| (path, flags)))
            .map(|(path, flags)| json!({ "op": "open", "path": path, "how": how, "flags": flags, "folder": work }))
            .collect();
        for (step, answer) in every.iter().zip(host.steps("wasi", &every, None)) {
            let flags = u8::try_from(step["flags"].as_u64().unwrap()).unwrap();
            if how & MAKES != 0 || flags & CHANGES != 0 {
                assert_eq!(error(&answer), "not-permitted", "{step}");
            } else if answer.get("ok").is_some() {
                opened.push(step.clone());
            }
        }
    }
    assert!(opened.len() >= 3 * 16, "{}", opened.len());
    for then in ["write", "write-stream", "append-stream", "zeroes", "set-size", "set-times"] {
        let steps: Vec<Value> = opened
            .iter()
            .map(|step| {
                let mut step = step.clone();
                step["then"] = then.into();
                step["content"] = "mine".into();
                step["length"] = 1.into();
                step
            })
            .collect();
        for (step, answer) in steps.iter().zip(host.steps("wasi", &steps, None)) {
            assert!(answer.get("error").is_some(), "{step}: {answer}");
        }
    }
    // The preopened directory itself.
    for then in ["write", "write-stream", "append-stream", "set-size", "set-times"] {
        let answer = host.wasi(json!({ "op": "here", "folder": work, "then": then, "content": "mine" }));
        assert!(answer.get("error").is_some(), "{then}: {answer}");
    }
    assert_eq!(whole(&desk), before);
    assert!(!desk.path("work/new.txt").exists());
    let step = json!({ "op": "open", "path": "plain.txt", "folder": work, "then": "read" });
    assert_eq!(ok(&host.wasi(step)), "inside\n", "and it can still be read");
}

#[test]
fn a_file_that_was_opened_for_reading_is_not_written_though_the_grant_would_allow_it() {
    let desk = Desk::new();
    let host = desk.host();
    let before = snapshot(&desk.path("work"));
    for then in ["write", "write-stream", "append-stream", "zeroes", "set-size", "set-times"] {
        let step =
            json!({ "op": "open", "path": "plain.txt", "flags": 1, "then": then, "content": "mine", "length": 1 });
        let answer = host.wasi(step);
        assert!(answer.get("error").is_some(), "{then}: {answer}");
    }
    assert_eq!(snapshot(&desk.path("work")), before);
    let step = json!({ "op": "open", "path": "plain.txt", "flags": 2, "then": "write", "content": "mine" });
    ok(&host.wasi(step));
    assert_eq!(desk.get("work/plain.txt"), "minede\n");
}
