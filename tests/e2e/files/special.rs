//! What is no regular file: each is called what it is, and none of them makes a call wait.

use std::os::unix::net::UnixListener;

use super::*;
use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};

fn node(desk: &Desk, path: &str, kind: FileType, device: u64) -> bool {
    mknodat(CWD, desk.path(path), kind, Mode::from_bits_truncate(0o666), device).is_ok()
}

#[test]
fn pipes_devices_and_sockets_are_neither_read_nor_written_and_nobody_waits_for_them() {
    let desk = Desk::new();
    assert!(node(&desk, "work/pipe", FileType::Fifo, 0));
    let _socket = UnixListener::bind(desk.path("work/socket")).unwrap();
    let mut paths = vec!["pipe", "socket"];
    // Only the administrator makes devices.
    if node(&desk, "work/zero", FileType::CharacterDevice, makedev(1, 5)) {
        paths.push("zero");
    }
    let host = desk.host();
    // A call that opened a pipe and waited for its other end would end at its deadline, with another error.
    for path in paths {
        for (step, answer) in every_step(path).iter().zip(host.steps("fs", &every_step(path), None)) {
            match step["op"].as_str().unwrap() {
                "stat" => assert_eq!(ok(&answer)["kind"], "Other", "{step}"),
                "list" => assert_eq!(error(&answer), "NotDirectory", "{step}: {answer}"),
                // Moving something there fails for another reason: the name is taken.
                _ => assert_eq!(error(&answer), "NotRegular", "{step}: {answer}"),
            }
        }
        for (step, answer) in every_wasi_step(path).iter().zip(host.steps("wasi", &every_wasi_step(path), None)) {
            assert!(step["op"] == "stat" || answer.get("error").is_some(), "{step}: {answer}");
        }
        let opened = host.wasi(json!({ "op": "open", "path": path, "then": "read" }));
        assert_eq!(error(&opened), "unsupported", "{path}");
    }
    let found = host.fs(json!({ "op": "search", "path": ".", "pattern": "inside", "all": true }));
    assert_eq!(ok(&found)["total"], 2, "{found}");
}

#[test]
fn directories_are_called_directories_and_files_files() {
    let desk = Desk::new();
    let host = desk.host();
    let before = snapshot(&desk.path("work"));
    for step in [
        json!({ "op": "read", "path": "sub" }),
        json!({ "op": "lines", "path": "sub/" }),
        json!({ "op": "commit", "changes": [{ "kind": "write", "path": "sub", "content": "mine" }] }),
        json!({ "op": "commit", "changes": [{ "kind": "remove", "path": "sub" }] }),
        json!({ "op": "commit", "changes": [{ "kind": "rename", "path": "sub", "target": "bus" }] }),
        json!({ "op": "commit", "changes": [{ "kind": "write", "path": ".", "content": "mine" }] }),
    ] {
        let answer = host.fs(step.clone());
        assert_eq!(error(&answer), "IsDirectory", "{step}: {answer}");
    }
    for step in [
        json!({ "op": "list", "path": "plain.txt" }),
        json!({ "op": "read", "path": "plain.txt/x" }),
        json!({ "op": "commit", "changes": [{ "kind": "write", "path": "plain.txt/x", "content": "mine" }] }),
    ] {
        let answer = host.fs(step.clone());
        assert_eq!(error(&answer), "NotDirectory", "{step}: {answer}");
    }
    assert_eq!(error(&host.wasi(json!({ "op": "open", "path": "plain.txt", "how": 2 }))), "not-directory");
    for step in [
        json!({ "op": "unlink", "path": "sub" }),
        json!({ "op": "rename", "path": "sub", "target": "bus" }),
        json!({ "op": "rename", "path": "plain.txt", "target": "sub" }),
        json!({ "op": "remove-directory", "path": "sub" }),
        json!({ "op": "remove-directory", "path": "plain.txt" }),
        json!({ "op": "open", "path": "sub", "flags": 3, "then": "write", "content": "mine" }),
    ] {
        let answer = host.wasi(step.clone());
        assert!(answer.get("error").is_some(), "{step}: {answer}");
    }
    assert_eq!(snapshot(&desk.path("work")), before);
}
