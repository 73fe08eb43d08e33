//! Several changes: all of them or none, each meant for the file that is there.

use std::os::unix::fs::PermissionsExt;

use super::*;

fn mode(desk: &Desk, path: &str) -> u32 {
    fs::metadata(desk.path(path)).unwrap().permissions().mode() & 0o7777
}

fn set_mode(desk: &Desk, path: &str, mode: u32) {
    fs::set_permissions(desk.path(path), fs::Permissions::from_mode(mode)).unwrap();
}

/// Names and contents, and the modes of files.
fn contents(desk: &Desk) -> Vec<(PathBuf, Vec<u8>, u32)> {
    let shot = snapshot(&desk.path("work"));
    shot.into_iter().map(|(path, (content, mode, ..))| (path, content, mode)).collect()
}

#[test]
fn a_change_that_can_not_be_made_stops_those_before_it() {
    let desk = Desk::new();
    let host = desk.host();
    let before = snapshot(&desk.path("work"));
    for bad in [
        json!({ "kind": "edit", "path": "plain.txt", "content": "x", "version": 1 }),
        json!({ "kind": "remove", "path": "missing.txt" }),
        json!({ "kind": "rename", "path": "missing.txt", "target": "found.txt" }),
        json!({ "kind": "write", "path": "plain.txt", "content": "x", "fresh": true }),
        json!({ "kind": "write", "path": "../outside/canary.txt", "content": "x" }),
        json!({ "kind": "write", "path": "sub", "content": "x" }),
        json!({ "kind": "write", "path": "a/b/new.txt", "content": "a second time" }),
    ] {
        let answer = host.commit(json!([
            { "kind": "write", "path": "a/b/new.txt", "content": "new" },
            { "kind": "write", "path": "sub/deep.txt", "content": "changed" },
            bad,
        ]));
        error(&answer);
        assert_eq!(snapshot(&desk.path("work")), before, "{bad}: {answer}");
    }
}

/// Everything that can be checked is in order here. Only when the changes are made does one turn out to be impossible: a file and a
/// folder of the same name.
#[test]
fn a_failure_half_way_puts_everything_back() {
    let desk = Desk::new();
    desk.put("work/gone.txt", "still here");
    desk.put("work/moved.txt", "at its place");
    set_mode(&desk, "work/plain.txt", 0o750);
    set_mode(&desk, "work/gone.txt", 0o640);
    let host = desk.host();
    let before = contents(&desk);
    let answer = host.commit(json!([
        { "kind": "write", "path": "plain.txt", "content": "changed" },
        { "kind": "remove", "path": "gone.txt" },
        { "kind": "rename", "path": "moved.txt", "target": "far/away/moved.txt" },
        { "kind": "write", "path": "new/deep/file.txt", "content": "new" },
        { "kind": "write", "path": "twin", "content": "a file" },
        { "kind": "write", "path": "twin/file.txt", "content": "in a folder" },
    ]));
    error(&answer);
    assert_eq!(contents(&desk), before, "{answer}");
    assert!(drafts(&desk.path("work")).is_empty());
}

#[test]
fn a_rename_to_another_disk_puts_everything_back() {
    let desk = Desk::new();
    // The test has nothing to show where both are one disk.
    let Ok(elsewhere) = tempfile::tempdir_in("/dev/shm") else { return };
    if fs::metadata(elsewhere.path()).unwrap().dev() == fs::metadata(desk.path("work")).unwrap().dev() {
        return;
    }
    let there = elsewhere.path().to_str().unwrap();
    let folders = format!("{}, {{ path = {there:?}, access = \"write\" }}", desk.folder("work", "access = \"write\""));
    let host = desk.grant(&folders).granted();
    let before = contents(&desk);
    let answer = host.commit(json!([
        { "kind": "write", "path": "plain.txt", "content": "changed" },
        { "kind": "write", "path": "new/file.txt", "content": "new" },
        { "kind": "rename", "path": "sub/deep.txt", "target": format!("{there}/made/deep.txt") },
    ]));
    assert_eq!(error(&answer), "Failed");
    assert!(message(&answer).contains("another disk"), "{answer}");
    assert_eq!(contents(&desk), before);
    assert_eq!(snapshot(elsewhere.path()).len(), 0, "the folder that was made for it is gone");
}

#[test]
fn a_write_is_made_for_the_version_it_names_alone() {
    let desk = Desk::new();
    let host = desk.host();
    let version = || ok(&host.fs(json!({ "op": "stat", "path": "plain.txt" })))["version"].clone();
    let write =
        |version: &Value| json!([{ "kind": "write", "path": "plain.txt", "content": "new", "version": version }]);
    let old = version();
    desk.put("work/plain.txt", "somebody else's\n");
    assert_ne!(version(), old);
    assert_eq!(error(&host.commit(write(&old))), "Changed");
    assert_eq!(desk.get("work/plain.txt"), "somebody else's\n");
    let answer = host.commit(write(&version()));
    assert_eq!(ok(&answer)[0]["version"], version(), "what it answers is the version of now");
    let edit = json!([{ "kind": "edit", "path": "plain.txt", "content": "er", "offset": 3, "version": version() }]);
    ok(&host.commit(edit.clone()));
    assert_eq!(desk.get("work/plain.txt"), "newer");
    assert_eq!(error(&host.commit(edit)), "Changed");
    let out_of_it = json!([{ "kind": "edit", "path": "plain.txt", "offset": 3, "length": 9, "version": version() }]);
    assert_eq!(error(&host.commit(out_of_it)), "Invalid");
    let remove = |version: &Value| json!([{ "kind": "remove", "path": "plain.txt", "version": version }]);
    assert_eq!(error(&host.commit(remove(&old))), "Changed");
    let fresh = json!([{ "kind": "write", "path": "plain.txt", "content": "x", "fresh": true }]);
    assert_eq!(error(&host.commit(fresh)), "Exists");
    let taken = json!([{ "kind": "rename", "path": "sub/deep.txt", "target": "plain.txt" }]);
    assert_eq!(error(&host.commit(taken)), "Exists");
    assert_eq!(desk.get("work/plain.txt"), "newer");
    ok(&host.commit(remove(&version())));
    assert!(!desk.path("work/plain.txt").exists());
}

#[test]
fn permissions_stay_and_protection_holds() {
    let desk = Desk::new();
    let host = desk.host();
    for wanted in [0o755, 0o600, 0o664] {
        set_mode(&desk, "work/plain.txt", wanted);
        ok(&host.commit(json!([{ "kind": "write", "path": "plain.txt", "content": wanted.to_string() }])));
        assert_eq!(mode(&desk, "work/plain.txt"), wanted);
    }
    set_mode(&desk, "work/plain.txt", 0o444);
    let before = snapshot(&desk.path("work"));
    for change in [
        json!({ "kind": "write", "path": "plain.txt", "content": "x" }),
        json!({ "kind": "remove", "path": "plain.txt" }),
        json!({ "kind": "rename", "path": "plain.txt", "target": "other.txt" }),
    ] {
        let answer = host.commit(json!([change]));
        assert_eq!(error(&answer), "Denied", "{change}");
        assert!(message(&answer).contains("write-protected"), "{answer}");
    }
    assert_eq!(snapshot(&desk.path("work")), before);
}
