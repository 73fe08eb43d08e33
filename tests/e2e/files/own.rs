//! The host's own files: what decides what tools may do is not in their hands, even where their workspace holds it.

use super::*;

#[test]
fn a_workspace_that_holds_the_hosts_files_does_not_hand_them_out() {
    let desk = Desk::new();
    let host = desk.grant(&desk.folder("", "access = \"write\"")).granted();
    // The first call of the probe is in the audit.
    ok(&host.fs(json!({ "op": "read", "path": desk.text("work/plain.txt") })));
    let guarded = ["home/hermes.toml", "home/cache", "tools"].map(|path| desk.path(path));
    let before = (std::fs::read(&guarded[0]).unwrap(), snapshot(&guarded[1]), snapshot(&guarded[2]));
    for path in
        ["home", "home/hermes.toml", "home/audit.jsonl", "home/new.toml", "home/results/x.txt", "home/hooks/h.wasm"]
    {
        let path = desk.text(path);
        for (step, answer) in every_step(&path).iter().zip(host.steps("fs", &every_step(&path), None)) {
            assert_eq!(error(&answer), "Denied", "{step}: {answer}");
            assert!(message(&answer).contains("hermes-host itself"), "{step}: {answer}");
        }
    }
    for path in ["tools/probe.wasm", "tools/new.wasm", "tools/NEW.WASM", "tools/sub/new.wasm"] {
        for (step, answer) in
            every_change(&desk.text(path)).iter().zip(host.steps("fs", &every_change(&desk.text(path)), None))
        {
            // `plain.txt` is one of the workspace: only the place it is moved to is the host's.
            assert_eq!(error(&answer), "Denied", "{step}: {answer}");
        }
    }
    for path in ["home/hermes.toml", "home/audit.jsonl", "home/new.toml", "home/cache", "home/cache/new.bin"] {
        for (step, answer) in every_wasi_step(path).iter().zip(host.steps("wasi", &every_wasi_step(path), None)) {
            assert!(answer.get("error").is_some(), "{step}: {answer}");
        }
        assert_eq!(error(&host.wasi(json!({ "op": "open", "path": path }))), "not-permitted", "{path}");
    }
    for path in ["tools/probe.wasm", "tools/new.wasm"] {
        for (how, flags) in [(0, 2), (1, 2), (8, 2), (8, 1), (5, 3)] {
            let step = json!({ "op": "open", "path": path, "how": how, "flags": flags });
            assert_eq!(error(&host.wasi(step.clone())), "not-permitted", "{step}");
        }
        assert_eq!(
            error(&host.wasi(json!({ "op": "rename", "path": "work/plain.txt", "target": path }))),
            "not-permitted"
        );
        assert_eq!(error(&host.wasi(json!({ "op": "unlink", "path": path }))), "not-permitted");
    }
    let found = host.fs(json!({ "op": "find", "path": desk.text(""), "all": true, "take": 1000 }));
    assert!(!found.to_string().contains("home/"), "{found}");
    let found = host.fs(json!({ "op": "search", "path": desk.text(""), "pattern": "digest", "all": true }));
    assert!(!found.to_string().contains("blake3:"), "{found}");
    assert_eq!((std::fs::read(&guarded[0]).unwrap(), snapshot(&guarded[1]), snapshot(&guarded[2])), before);
}

#[test]
fn the_operators_file_is_the_hosts_wherever_it_lies() {
    let desk = Desk::new();
    desk.grant(&desk.folder("work", "access = \"write\""));
    std::fs::rename(desk.path("home/hermes.toml"), desk.path("work/operator.toml")).unwrap();
    desk.link("operator.toml", "work/innocent.toml");
    let config = desk.get("work/operator.toml");
    let host = Asked::new(desk.builder().without_bundled().config(desk.path("work/operator.toml")).build().unwrap());
    for path in ["operator.toml", "innocent.toml"] {
        let steps = desk.following(every_step(path));
        for (step, answer) in steps.iter().zip(host.steps("fs", &steps, None)) {
            assert_eq!(error(&answer), "Denied", "{step}: {answer}");
        }
        assert_eq!(error(&host.wasi(json!({ "op": "open", "path": path }))), "not-permitted");
    }
    let found = host.fs(json!({ "op": "search", "path": ".", "pattern": "digest", "all": true }));
    assert_eq!(ok(&found)["total"], 0, "{found}");
    assert_eq!(desk.get("work/operator.toml"), config);
}
