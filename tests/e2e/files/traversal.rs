//! Ways out of the granted folder by the text of a path.

use std::path::Component;

use super::*;
use hermes_host::dispatch::ErrorKind;

/// Spellings of places outside, for a guest whose workspace is `work`.
fn outside(desk: &Desk) -> Vec<String> {
    let canary = desk.text("outside/canary.txt");
    let mut spellings: Vec<String> = [
        "../outside/canary.txt",
        "./../outside/canary.txt",
        "sub/../../outside/canary.txt",
        "sub/./.././../outside/canary.txt",
        "nowhere/../../outside/canary.txt",
        "plain.txt/../../outside/canary.txt",
        "..//outside//canary.txt",
        "../outside/canary.txt/",
        "../outside/canary.txt/.",
        "../outside",
        "..",
        "../",
        "../work2",
        "/",
        "/etc/passwd",
        "//etc/passwd",
        "/etc/../etc/./passwd",
        "../../../../../../../../../../../../etc/passwd",
        "/proc/self/environ",
        "/proc/self/cmdline",
        "/proc/self/cwd/plain.txt",
        "/proc/self/fd/0",
        "/proc/self/fd/3",
        "/proc/thread-self/root/etc/passwd",
        "/dev/fd/3",
        "/dev/zero",
        "~",
        "~/.ssh/id_rsa",
        "~/../etc/passwd",
    ]
    .map(str::to_owned)
    .to_vec();
    spellings.extend([
        canary.clone(),
        format!("/{canary}"),
        format!("/.{canary}"),
        format!("/proc/self/root{canary}"),
        format!("{}/../outside/canary.txt", desk.text("work")),
        // A name that only begins like the granted folder's.
        format!("{}2/x", desk.text("work")),
    ]);
    spellings
}

/// The path from the root that a text means.
fn meant(desk: &Desk, path: &str) -> String {
    let home = std::env::var("HOME").unwrap_or_default();
    let path = path.strip_prefix('~').map_or_else(|| desk.path("work").join(path), |rest| PathBuf::from(home + rest));
    let mut whole = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(whole.pop()),
            Component::CurDir => {}
            part => whole.push(part),
        }
    }
    whole.to_str().unwrap().to_owned()
}

#[test]
fn no_spelling_leads_out_of_the_granted_folder() {
    let desk = Desk::new();
    let host = desk.host();
    let before = (snapshot(&desk.path("outside")), snapshot(&desk.path("work")));
    for path in outside(&desk) {
        for (step, answer) in every_step(&path).iter().zip(host.steps("fs", &every_step(&path), None)) {
            assert_eq!(error(&answer), "Denied", "{step}: {answer}");
            assert!(message(&answer).contains(&meant(&desk, &path)), "{step}: {answer}");
            assert!(!answer.to_string().contains(CANARY), "{step}: {answer}");
        }
    }
    assert_eq!((snapshot(&desk.path("outside")), snapshot(&desk.path("work"))), before);
    assert!(!desk.path("work2").exists());
}

#[test]
fn no_spelling_leads_out_of_a_directory_that_wasi_opened() {
    let desk = Desk::new();
    let host = desk.host();
    let before = (snapshot(&desk.path("outside")), snapshot(&desk.path("work")));
    // For WASI, `~` is a name like any other.
    for path in outside(&desk).into_iter().filter(|path| !path.starts_with('~')) {
        for (step, answer) in every_wasi_step(&path).iter().zip(host.steps("wasi", &every_wasi_step(&path), None)) {
            assert_eq!(error(&answer), "not-permitted", "{step}");
        }
    }
    // From a directory further down, what lies above it is out of reach too, though it was granted.
    for path in ["../plain.txt", "..", "../../outside/canary.txt", "x/../../plain.txt"] {
        for mut step in every_wasi_step(path) {
            step["below"] = "sub".into();
            let answer = host.wasi(step.clone());
            assert_eq!(error(&answer), "not-permitted", "{step}");
        }
    }
    assert_eq!((snapshot(&desk.path("outside")), snapshot(&desk.path("work"))), before);
}

#[test]
fn what_only_looks_like_a_way_out_is_a_name() {
    let desk = Desk::new();
    let host = desk.host();
    for path in ["..%2foutside%2fcanary.txt", "..\\outside\\canary.txt", "~root", "...", "%2e%2e"] {
        let answer = host.fs(json!({ "op": "read", "path": path }));
        assert_eq!(error(&answer), "NotFound", "{answer}");
        ok(&host.commit(json!([{ "kind": "write", "path": path, "content": "mine" }])));
        assert_eq!(desk.get(&format!("work/{path}")), "mine");
        assert_eq!(ok(&host.wasi(json!({ "op": "open", "path": path, "then": "read" }))), "mine");
    }
    assert_eq!(desk.get("outside/canary.txt"), CANARY);
}

#[test]
fn what_is_no_path_is_refused_as_such() {
    let desk = Desk::new();
    let host = desk.host();
    let before = snapshot(&desk.path("work"));
    let long = format!("{}x", "sub/".repeat(2_500));
    for path in ["", "\0", "plain.txt\0", "plain.txt\0/../../outside/canary.txt", &long] {
        for (step, answer) in every_step(path).iter().zip(host.steps("fs", &every_step(path), None)) {
            assert_eq!(error(&answer), "Invalid", "{step}: {answer}");
        }
        for (step, answer) in every_wasi_step(path).iter().zip(host.steps("wasi", &every_wasi_step(path), None)) {
            // An empty path is the directory itself: it may be looked at, and is not changed.
            let looks = ["stat", "open"].map(|op| step["op"] == op).contains(&true) && path.is_empty();
            assert!(looks || answer.get("error").is_some(), "{step}: {answer}");
        }
    }
    assert_eq!(snapshot(&desk.path("work")), before);
}

#[test]
fn inside_the_folder_every_spelling_works() {
    let desk = Desk::new();
    let host = desk.host();
    let work = desk.text("work");
    for path in [
        "plain.txt".to_owned(),
        "./plain.txt".into(),
        "sub/../plain.txt".into(),
        "sub//..//./plain.txt".into(),
        "../work/plain.txt".into(),
        format!("{work}/plain.txt"),
        format!("/{work}//sub/../plain.txt"),
    ] {
        assert_eq!(ok(&host.fs(json!({ "op": "read", "path": path })))["text"], "inside\n", "{path}");
    }
    for path in ["plain.txt", "./plain.txt", "sub/../plain.txt"] {
        let step = json!({ "op": "open", "path": path, "then": "read", "folder": work });
        assert_eq!(ok(&host.wasi(step)), "inside\n", "{path}");
    }
    let step = json!({ "op": "open", "path": "plain.txt", "then": "read", "folder": "." });
    assert_eq!(ok(&host.wasi(step)), "inside\n", "the workspace is the current directory");
}

#[test]
fn the_file_tools_say_denied_and_name_the_path() {
    let desk = Desk::new();
    let host = Asked::new(desk.builder().build().unwrap());
    let before = snapshot(&desk.path("outside"));
    for path in outside(&desk) {
        let calls: [(&str, Value); 4] = [
            ("read_file", json!({ "path": path })),
            ("write_file", json!({ "path": path, "content": "mine" })),
            ("search_files", json!({ "path": path, "pattern": "canary" })),
            ("search_files", json!({ "path": path, "pattern": "*", "target": "files" })),
        ];
        for (tool, arguments) in calls {
            let why = host.call(tool, &arguments, None).expect_err(&path);
            assert_eq!(why.kind, ErrorKind::Denied, "{tool} {arguments}: {why}");
            assert!(why.message.contains(&meant(&desk, &path)), "{tool} {arguments}: {why}");
        }
    }
    assert_eq!(snapshot(&desk.path("outside")), before);
}

#[test]
fn nothing_is_granted_to_a_component_that_nobody_named_and_to_other_bytes_of_its_name() {
    let desk = Desk::new();
    let whole = desk.folder("work", "access = \"write\"");
    let other = Digest::of(b"other bytes");
    let absent = format!("[tools.other]\nfs = [{whole}]\n");
    let pinned = format!("[tools.probe]\ndigest = \"{other}\"\nfs = [{whole}]\n");
    for config in [absent, pinned] {
        std::fs::write(desk.path("home/hermes.toml"), config).unwrap();
        let host = desk.granted();
        for answer in host.steps("fs", &every_step("plain.txt"), None) {
            assert_eq!(error(&answer), "Denied", "{answer}");
            assert!(message(&answer).contains("hermes-host grant"), "{answer}");
        }
        assert_eq!(ok(&host.wasi(json!({ "op": "preopens" }))), &json!([]));
    }
    assert_eq!(desk.get("work/plain.txt"), "inside\n");
}
