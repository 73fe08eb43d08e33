//! Links: those that stay in the folder are followed, those that leave it are not, and names that lie elsewhere too are refused.

use super::*;

/// A workspace full of links that lead out, and the paths through them.
fn links_out(desk: &Desk) -> Vec<&'static str> {
    desk.link("../outside/canary.txt", "work/relative");
    desk.link(desk.path("outside/canary.txt"), "work/absolute");
    desk.link("second", "work/first");
    desk.link("sub/third", "work/second");
    desk.link("../../outside/canary.txt", "work/sub/third");
    desk.link("../outside", "work/folder");
    desk.link(desk.path("outside"), "work/absolute-folder");
    desk.link("..", "work/up");
    desk.link("up", "work/up-again");
    desk.link("loop-b", "work/loop-a");
    desk.link("loop-a", "work/loop-b");
    desk.link("itself", "work/itself");
    desk.link("/proc/self/environ", "work/environment");
    desk.link("/proc/self/root", "work/root");
    desk.link("/proc/self/fd", "work/handles");
    desk.link("/proc/self/cwd", "work/current");
    desk.link("/dev/zero", "work/zeroes");
    vec![
        "relative",
        "absolute",
        "first",
        "folder",
        "folder/canary.txt",
        "folder/new.txt",
        "absolute-folder/canary.txt",
        "up/outside/canary.txt",
        "up-again/outside/canary.txt",
        // By its text this is `plain.txt`'s folder again; by its links it is not.
        "up/work/../outside/canary.txt",
        "loop-a",
        "loop-a/x",
        "itself",
        "environment",
        "root/etc/passwd",
        "handles/3",
        "current/plain.txt",
        "zeroes",
    ]
}

#[test]
fn links_that_lead_out_or_in_circles_are_not_followed() {
    let desk = Desk::new();
    let paths = links_out(&desk);
    let host = desk.host();
    let before = (snapshot(&desk.path("outside")), snapshot(&desk.path("work")));
    for path in paths {
        let steps = desk.following(every_step(path));
        for (step, answer) in steps.iter().zip(host.steps("fs", &steps, None)) {
            assert_eq!(error(&answer), "Denied", "{step}: {answer}");
            assert!(message(&answer).contains(path.rsplit('/').next().unwrap()), "{step}: {answer}");
            assert!(!answer.to_string().contains(CANARY), "{step}: {answer}");
        }
        let steps = desk.following(every_wasi_step(path));
        for (step, answer) in steps.iter().zip(host.steps("wasi", &steps, None)) {
            let expected = match step["op"].as_str().unwrap() {
                "readlink" => "invalid",
                // The link itself is no directory.
                "remove-directory" if !path.contains('/') => "not-directory",
                _ => "not-permitted",
            };
            assert_eq!(error(&answer), expected, "{step}");
        }
    }
    assert_eq!((snapshot(&desk.path("outside")), snapshot(&desk.path("work"))), before);
}

#[test]
fn searches_and_lists_stay_in_the_folder() {
    let desk = Desk::new();
    links_out(&desk);
    let host = desk.host();
    let found = host.fs(json!({ "op": "find", "path": ".", "all": true }));
    assert_eq!(ok(&found)["paths"], json!(["plain.txt", "sub/deep.txt"]));
    let found = host.fs(json!({ "op": "search", "path": ".", "pattern": ".", "all": true }));
    assert_eq!(ok(&found)["total"], 2, "{found}");
    let listed = host.fs(json!({ "op": "list", "path": "." }));
    let kind = |name: &str| {
        let entries = ok(&listed)["entries"].as_array().unwrap();
        entries.iter().find(|entry| entry[0] == name).unwrap()[1].clone()
    };
    assert_eq!((kind("folder"), kind("plain.txt"), kind("sub")), (json!("Link"), json!("File"), json!("Directory")));
}

#[test]
fn links_that_stay_in_the_folder_are_followed() {
    let desk = Desk::new();
    desk.link("sub/deep.txt", "work/short");
    desk.link("sub", "work/folder");
    desk.link("../plain.txt", "work/sub/back");
    desk.link("folder", "work/chained");
    let host = desk.host();
    for (path, text) in [
        ("short", "deep inside\n"),
        ("folder/deep.txt", "deep inside\n"),
        ("chained/deep.txt", "deep inside\n"),
        ("chained/back", "inside\n"),
    ] {
        assert_eq!(ok(&host.fs(json!({ "op": "read", "path": path })))["text"], text, "{path}");
        assert_eq!(ok(&host.wasi(json!({ "op": "open", "path": path, "then": "read" }))), text, "{path}");
    }
    let changed = host.commit(json!([{ "kind": "write", "path": "short", "content": "new" }]));
    assert_eq!(ok(&changed)[0]["path"], desk.text("work/sub/deep.txt").as_str());
    assert_eq!(desk.get("work/sub/deep.txt"), "new");
    ok(&host.commit(json!([{ "kind": "write", "path": "chained/made/new.txt", "content": "new" }])));
    assert_eq!(desk.get("work/sub/made/new.txt"), "new");
    assert!(fs::symlink_metadata(desk.path("work/short")).unwrap().is_symlink(), "the link itself stays");
}

#[test]
fn a_link_that_leads_nowhere_is_not_written_through() {
    let desk = Desk::new();
    desk.link("../outside/new.txt", "work/out");
    desk.link(desk.path("outside/new.txt"), "work/absolute");
    desk.link("../outside/new", "work/folder");
    desk.link("missing.txt", "work/in");
    let host = desk.host();
    let before = (snapshot(&desk.path("outside")), snapshot(&desk.path("work")));
    for path in ["out", "absolute", "folder/new.txt", "folder/a/b/new.txt", "in"] {
        let steps = desk.following(every_change(path));
        for (step, answer) in steps.iter().zip(host.steps("fs", &steps, None)) {
            assert_eq!(error(&answer), "Denied", "{step}: {answer}");
        }
        let steps = desk.following(every_wasi_step(path));
        for (step, answer) in steps.iter().zip(host.steps("wasi", &steps, None)) {
            assert!(answer.get("error").is_some(), "{step}: {answer}");
        }
    }
    assert_eq!((snapshot(&desk.path("outside")), snapshot(&desk.path("work"))), before);
}

/// Links of every kind, and what they lead to stays.
fn links_everywhere(desk: &Desk) -> [&'static str; 6] {
    desk.link("sub/deep.txt", "work/file");
    desk.link("sub", "work/folder");
    desk.link("missing.txt", "work/nowhere");
    desk.link("../outside/canary.txt", "work/out");
    desk.link(desk.path("outside"), "work/sub/absolute");
    desk.link("itself", "work/itself");
    ["file", "folder", "nowhere", "out", "folder/absolute", "itself"]
}

#[test]
fn a_link_is_removed_and_what_it_leads_to_stays() {
    for wasi in [false, true] {
        let desk = Desk::new();
        let before = snapshot(&desk.path("outside"));
        // The folder's link comes last, since another one is reached through it.
        let mut paths = links_everywhere(&desk);
        paths.swap(1, 5);
        let host = desk.host();
        for path in paths {
            ok(&match wasi {
                true => host.wasi(json!({ "op": "unlink", "path": path })),
                false => host.commit(json!([{ "kind": "remove", "path": path }])),
            });
        }
        let left: Vec<PathBuf> = snapshot(&desk.path("work")).into_keys().collect();
        assert_eq!(left, ["plain.txt", "sub", "sub/deep.txt"].map(|path| desk.path("work").join(path)));
        assert_eq!(desk.get("work/sub/deep.txt"), "deep inside\n");
        assert_eq!(snapshot(&desk.path("outside")), before);
    }
}

#[test]
fn a_removed_link_is_put_back_with_the_rest() {
    let desk = Desk::new();
    links_everywhere(&desk);
    let host = desk.host();
    let before: Vec<_> =
        snapshot(&desk.path("work")).into_iter().map(|(path, (content, ..))| (path, content)).collect();
    let answer = host.commit(json!([
        { "kind": "remove", "path": "out" },
        { "kind": "remove", "path": "folder" },
        { "kind": "write", "path": "twin", "content": "a file" },
        { "kind": "write", "path": "twin/file.txt", "content": "in a folder" },
    ]));
    // The links could be removed; it was the file that is no folder.
    assert!(message(&answer).contains("twin"), "{answer}");
    let after: Vec<_> = snapshot(&desk.path("work")).into_iter().map(|(path, (content, ..))| (path, content)).collect();
    assert_eq!(after, before, "{answer}");
}

#[test]
fn a_link_is_neither_moved_nor_taken_for_a_directory() {
    let desk = Desk::new();
    let paths = links_everywhere(&desk);
    desk.put("work/empty/x", "");
    fs::remove_file(desk.path("work/empty/x")).unwrap();
    desk.link("empty", "work/to-empty");
    let host = desk.host();
    let before = (snapshot(&desk.path("outside")), snapshot(&desk.path("work")));
    for path in paths {
        let answer = host.commit(json!([{ "kind": "rename", "path": path, "target": "moved" }]));
        assert_eq!(error(&answer), "Denied", "{path}");
        assert!(message(&answer).contains("is a link"), "{answer}");
        assert_eq!(error(&host.wasi(json!({ "op": "rename", "path": path, "target": "moved" }))), "not-permitted");
    }
    assert_eq!(error(&host.wasi(json!({ "op": "remove-directory", "path": "to-empty" }))), "not-directory");
    assert_eq!((snapshot(&desk.path("outside")), snapshot(&desk.path("work"))), before);
}

#[test]
fn a_link_is_not_removed_where_only_reading_is_granted() {
    let desk = Desk::new();
    let paths = links_everywhere(&desk);
    let host = desk.grant(&desk.folder("work", "access = \"read\"")).granted();
    let before = snapshot(&desk.path("work"));
    for path in paths {
        assert_eq!(error(&host.commit(json!([{ "kind": "remove", "path": path }]))), "Denied");
        assert_eq!(error(&host.wasi(json!({ "op": "unlink", "path": path }))), "not-permitted");
    }
    assert_eq!(snapshot(&desk.path("work")), before);
}

#[test]
fn a_file_with_another_name_elsewhere_is_refused_unless_the_grant_allows_it() {
    let desk = Desk::new();
    fs::hard_link(desk.path("outside/canary.txt"), desk.path("work/hard.txt")).unwrap();
    let host = desk.host();
    let before = (snapshot(&desk.path("outside")), snapshot(&desk.path("work")));
    for step in [json!({ "op": "read", "path": "hard.txt" }), json!({ "op": "lines", "path": "hard.txt" })] {
        let answer = host.fs(step);
        assert_eq!(error(&answer), "Denied");
        assert!(message(&answer).contains("hard.txt") && message(&answer).contains("hard_links"), "{answer}");
    }
    for (step, answer) in every_change("hard.txt").iter().zip(host.steps("fs", &every_change("hard.txt"), None)) {
        assert_eq!(error(&answer), "Denied", "{step}: {answer}");
    }
    for path in [".", "hard.txt"] {
        let answer = host.fs(json!({ "op": "search", "path": path, "pattern": "canary", "all": true }));
        assert!(!answer.to_string().contains(CANARY), "{answer}");
    }
    let steps = every_wasi_step("hard.txt");
    for (step, answer) in steps.iter().zip(host.steps("wasi", &steps, None)) {
        let looks = step["op"] == "stat";
        assert!(looks || answer.get("error").is_some(), "{step}: {answer}");
    }
    assert_eq!((snapshot(&desk.path("outside")), snapshot(&desk.path("work"))), before);
    drop(host);

    let host = desk.grant(&desk.folder("work", "access = \"read\", hard_links = \"allow\"")).granted();
    assert_eq!(ok(&host.fs(json!({ "op": "read", "path": "hard.txt" })))["text"], CANARY);
    assert_eq!(ok(&host.wasi(json!({ "op": "open", "path": "hard.txt", "then": "read" }))), CANARY);
    let found = host.fs(json!({ "op": "search", "path": ".", "pattern": "canary" }));
    assert_eq!(ok(&found)["total"], 1);
}
