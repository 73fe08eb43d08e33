//! Filling the disk, and files without end: one call has its bytes, its files and its depth, and no more.

use std::time::Duration;

use super::*;
use crate::patience::some_round;

const MIB: u64 = 1 << 20;

/// What looking at the figures themselves reads, and a little more.
const NEXT_TO_NOTHING: u64 = 64 << 10;

/// Bytes one call may write.
const BYTES: u64 = 64 * MIB;

fn size(desk: &Desk, path: &str) -> u64 {
    std::fs::metadata(desk.path(path)).unwrap().len()
}

#[test]
fn one_call_writes_64_mib_and_not_a_byte_more() {
    let desk = Desk::new();
    let host = desk.host();
    let write = |path: &str, bytes: u64| json!({ "op": "commit", "changes": [{ "kind": "write", "path": path, "fill": bytes }] });
    let mut steps: Vec<Value> = (0..16).map(|_| write("large.txt", 4 * MIB)).collect();
    steps.push(write("more.txt", 1));
    let answers = host.steps("fs", &steps, None);
    assert!(answers[..16].iter().all(|answer| answer.get("ok").is_some()), "{answers:?}");
    assert_eq!(error(&answers[16]), "TooLarge");
    assert!(!desk.path("work/more.txt").exists());
    ok(&host.fs(write("more.txt", 1)));
}

#[test]
fn one_call_writes_no_more_through_wasi() {
    let desk = Desk::new();
    let host = desk.host();
    let open = |path: &str, then: &str, fill: u64, times: u64| json!({ "op": "open", "path": path, "how": 1, "flags": 2, "then": then, "fill": fill, "times": times });
    // In two files, since one is not larger than all that may be written.
    let answers = host.steps("wasi", &[open("a", "write", MIB, 40), open("b", "write", MIB, 40)], None);
    ok(&answers[0]);
    assert_eq!(error(&answers[1]), "insufficient-space");
    assert_eq!(size(&desk, "work/a") + size(&desk, "work/b"), BYTES);
    assert_eq!(error(&host.wasi(open("c", "write", MIB, 65))), "file-too-large");
    for then in ["write-stream", "append-stream", "zeroes"] {
        // The stream has the last of 64 MiB.
        let large = format!("large-{then}");
        let steps = [open(&large, "write", MIB, 63), open(then, then, 4096, MIB / 4096), open("d", then, 4096, 1)];
        let answers = host.steps("wasi", &steps, None);
        ok(&answers[0]);
        ok(&answers[1]);
        assert!(error(&answers[2]).contains("LastOperationFailed"), "{then}: {answers:?}");
        assert_eq!((size(&desk, &format!("work/{then}")), size(&desk, "work/d")), (MIB, 0));
    }
}

#[test]
fn a_file_of_holes_is_not_made() {
    let desk = Desk::new();
    let host = desk.host();
    for (then, place) in [("set-size", "length"), ("write", "offset"), ("write-stream", "offset"), ("zeroes", "offset")]
    {
        for huge in [BYTES + 1, 1 << 40, u64::MAX] {
            let mut step = json!({ "op": "open", "path": "plain.txt", "flags": 2, "then": then, "content": "x" });
            step[place] = huge.into();
            let answer = host.wasi(step.clone());
            assert!(answer.get("error").is_some(), "{step}: {answer}");
            assert!(size(&desk, "work/plain.txt") <= BYTES, "{step}");
        }
    }
    assert_eq!(desk.get("work/plain.txt"), "inside\n");
}

#[test]
fn holes_count_like_bytes() {
    let desk = Desk::new();
    let host = desk.host();
    let grow = |path: String| json!({ "op": "open", "path": path, "how": 1, "flags": 2, "then": "set-size", "length": BYTES / 2 });
    let steps: Vec<Value> = (0..10).map(|n| grow(format!("{n}.bin"))).collect();
    let answers = host.steps("wasi", &steps, None);
    assert_eq!(answers.iter().filter(|answer| answer.get("ok").is_some()).count(), 2, "{answers:?}");
}

#[test]
fn one_call_changes_a_thousand_files_and_no_more() {
    let desk = Desk::new();
    let host = desk.host();
    let changes: Vec<Value> =
        (0..1_001).map(|n| json!({ "kind": "write", "path": format!("many/{n}.txt"), "content": "" })).collect();
    assert_eq!(error(&host.commit(json!(changes))), "TooLarge");
    assert!(!desk.path("work/many").exists());
    let make = |path: String| json!({ "op": "open", "path": path, "how": 1, "flags": 2 });
    let steps: Vec<Value> = (0..1_000).map(|n| make(format!("{n}.txt"))).chain([make("last.txt".into())]).collect();
    let answers = host.steps("wasi", &steps, None);
    assert!(answers[..1_000].iter().all(|answer| answer.get("ok").is_some()));
    assert_eq!(error(&answers[1_000]), "insufficient-space");
    assert!(!desk.path("work/last.txt").exists());
    // Whatever changes an entry counts.
    let folders: Vec<Value> =
        (0..1_001).map(|n| json!({ "op": "create-directory", "path": format!("d{n}") })).collect();
    let answers = host.steps("wasi", &folders, None);
    assert_eq!(answers.iter().filter(|answer| answer.get("ok").is_some()).count(), 1_000);
    let files = (0..1_000).map(|n| format!("{n}.txt")).chain(["plain.txt".to_owned()]);
    let removals: Vec<Value> = files.map(|path| json!({ "op": "unlink", "path": path })).collect();
    assert_eq!(error(&host.steps("wasi", &removals, None)[1_000]), "insufficient-space");
}

#[test]
fn folders_are_64_deep_and_no_deeper() {
    let desk = Desk::new();
    let host = desk.host();
    let deep = |folders: usize| format!("{}file.txt", "d/".repeat(folders));
    let write = |path: String| host.commit(json!([{ "kind": "write", "path": path, "content": "x" }]));
    assert_eq!(error(&write(deep(64))), "TooLarge");
    assert_eq!(error(&write(deep(1_000))), "TooLarge");
    assert!(!desk.path("work/d").exists());
    ok(&write(deep(63)));
    let steps: Vec<Value> =
        (1..=80).map(|n| json!({ "op": "create-directory", "path": vec!["w"; n].join("/") })).collect();
    let answers = host.steps("wasi", &steps, None);
    for (depth, answer) in (1..).zip(&answers) {
        assert_eq!(answer.get("ok").is_some(), depth <= 64, "{depth}: {answer}");
    }
    // Step by step through handles it is no deeper either.
    let below = vec!["w"; 64].join("/");
    let answer = host.wasi(json!({ "op": "create-directory", "path": "w", "below": below }));
    assert_eq!(error(&answer), "insufficient-space");
}

#[test]
fn depth_is_counted_where_links_lead() {
    let desk = Desk::new();
    let deep = vec!["d"; 40].join("/");
    desk.put(&format!("work/{deep}/{deep}/file.txt"), "deep");
    desk.link(&deep, "work/short");
    desk.link(&deep, &format!("work/{deep}/short"));
    let host = desk.host();
    let before = snapshot(&desk.path("work"));
    for path in ["short/short/file.txt".to_owned(), format!("short/{deep}/file.txt")] {
        for (step, answer) in every_step(&path).iter().zip(host.steps("fs", &every_step(&path), None)) {
            assert_eq!(error(&answer), "TooLarge", "{step}: {answer}");
        }
    }
    let new = format!("short/{}/new.txt", vec!["n"; 30].join("/"));
    assert_eq!(error(&host.commit(json!([{ "kind": "write", "path": new, "content": "x" }]))), "TooLarge");
    for step in [
        json!({ "op": "create-directory", "path": "short/short/new" }),
        json!({ "op": "open", "path": "short/short/new", "how": 1, "flags": 2 }),
        json!({ "op": "open", "path": "short/short/file.txt" }),
    ] {
        assert_eq!(error(&host.wasi(step.clone())), "insufficient-space", "{step}");
    }
    assert_eq!(snapshot(&desk.path("work")), before);
    ok(&host.commit(json!([{ "kind": "write", "path": "short/new.txt", "content": "x" }])));
}

/// Names the small disk for the process that works there.
const SMALL: &str = "HERMES_TEST_SMALL_DISK";

/// Starts this test again, on a disk of its own that is smaller than what must stay free. The test has nothing to show where that
/// can't be made.
fn on_a_small_disk(test: &str) {
    let place = tempfile::tempdir().unwrap();
    let mount = "mount -t tmpfs -o size=400m none \"$0\" || exit 77; exec \"$@\"";
    let status = std::process::Command::new("unshare")
        .args(["--map-root-user", "--mount", "sh", "-c", mount])
        .arg(place.path())
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(SMALL, place.path())
        .env("TMPDIR", place.path())
        .status();
    let could_not = status.as_ref().map_or(true, |status| matches!(status.code(), Some(1 | 77)));
    assert!(could_not || status.unwrap().success());
}

#[test]
fn a_disk_that_is_nearly_full_is_not_filled_up() {
    if std::env::var_os(SMALL).is_none() {
        return on_a_small_disk("files::quota::a_disk_that_is_nearly_full_is_not_filled_up");
    }
    let desk = Desk::new();
    let host = desk.host();
    let answer = host.commit(json!([{ "kind": "write", "path": "new.txt", "content": "x" }]));
    assert_eq!(error(&answer), "TooLarge");
    assert!(message(&answer).contains("nearly full"), "{answer}");
    let before = snapshot(&desk.path("work"));
    for path in ["plain.txt", "new.txt"] {
        for then in ["write", "write-stream", "append-stream", "zeroes", "set-size"] {
            let step = json!({ "op": "open", "path": path, "how": 1, "flags": 2, "then": then, "content": "x", "length": 100 });
            let answer = host.wasi(step.clone());
            let answer = error(&answer);
            assert!(answer == "insufficient-space" || answer.contains("LastOperationFailed"), "{step}: {answer}");
        }
    }
    assert_eq!(snapshot(&desk.path("work")), before);
    // What gives room is done.
    ok(&host.wasi(json!({ "op": "open", "path": "plain.txt", "flags": 2, "then": "set-size", "length": 3 })));
    ok(&host.wasi(json!({ "op": "open", "path": "plain.txt", "how": 8, "flags": 2 })));
    assert_eq!(desk.get("work/plain.txt"), "");
    ok(&host.commit(json!([{ "kind": "remove", "path": "plain.txt" }])));
}

#[test]
fn a_file_of_100_gb_is_read_in_bounded_pieces_or_not_at_all() {
    let desk = Desk::new();
    std::fs::File::create(desk.path("work/huge.bin")).unwrap().set_len(100 << 30).unwrap();
    let host = desk.host();
    let before = bytes_read();
    let answer = host.fs(json!({ "op": "read", "path": "huge.bin", "length": u64::MAX }));
    assert_eq!(error(&answer), "TooLarge");
    ok(&host.fs(json!({ "op": "read", "path": "huge.bin", "offset": 99_u64 << 30, "length": 2 })));
    let found = host.fs(json!({ "op": "search", "path": ".", "pattern": "inside" }));
    assert_eq!(ok(&found)["total"], 2, "{found}");
    assert_eq!(error(&host.wasi(json!({ "op": "open", "path": "huge.bin" }))), "not-permitted");
    let read = bytes_read() - before;
    assert!(read < 64 * MIB, "{read} bytes were read");
}

/// Bytes that this process has read so far.
fn bytes_read() -> u64 {
    let figures = std::fs::read_to_string("/proc/self/io").unwrap();
    figures.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap().parse().unwrap()
}

#[test]
fn counting_the_lines_of_100_gb_ends_with_its_call() {
    let desk = Desk::new();
    std::fs::File::create(desk.path("work/huge.bin")).unwrap().set_len(100 << 30).unwrap();
    desk.grant(&desk.folder("work", "access = \"read\""));
    desk.put("home/hermes.toml", desk.get("home/hermes.toml").replace("\"60s\"", "\"1s\""));
    let host = desk.granted();
    let why = host.call("fs", &json!({ "steps": [{ "op": "lines", "path": "huge.bin" }] }), None).unwrap_err();
    assert_eq!(why.kind.name(), "deadline", "{why}");
    // No thread reads on, but for the piece that it is at.
    some_round("the file is not read any more", |_| {
        let before = bytes_read();
        std::thread::sleep(Duration::from_millis(300));
        bytes_read() - before < NEXT_TO_NOTHING
    });
    // 100 GB were not read to their end in that time.
    assert!(bytes_read() < 50 << 30);
}
