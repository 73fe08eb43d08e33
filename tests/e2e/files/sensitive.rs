//! Keys and credentials: no grant of a folder covers them, whatever they are called through; one of the file itself does.

use super::*;

/// Files that a workspace may hold and that nobody hands out.
const HIDDEN: [&str; 13] = [
    ".env",
    ".ENV",
    "app/.env.production",
    ".ssh/config",
    ".SSH/known",
    "sub/.ssh/deep/er",
    "id_rsa",
    "keys/ID_ED25519",
    "server.key",
    "private.PEM",
    ".aws/credentials",
    ".netrc",
    ".git-credentials",
];

fn furnished() -> Desk {
    let desk = Desk::new();
    for path in HIDDEN {
        desk.put(&format!("work/{path}"), CANARY);
    }
    desk.link(".env", "work/innocent.txt");
    desk.link(".ssh", "work/folder");
    desk.link("innocent.txt", "work/twice.txt");
    desk
}

#[test]
fn keys_are_neither_read_nor_changed_nor_found_by_any_name() {
    let desk = furnished();
    let host = desk.host();
    let before = snapshot(&desk.path("work"));
    for path in HIDDEN.into_iter().chain(["innocent.txt", "twice.txt", "folder/config", "new/.env"]) {
        let steps = desk.following(every_step(path));
        for (step, answer) in steps.iter().zip(host.steps("fs", &steps, None)) {
            assert_eq!(error(&answer), "Denied", "{step}: {answer}");
            assert!(message(&answer).contains(path), "{step}: {answer}");
        }
        let steps = desk.following(every_wasi_step(path));
        for (step, answer) in steps.iter().zip(host.steps("wasi", &steps, None)) {
            assert!(answer.get("error").is_some(), "{step}: {answer}");
        }
        let opened = host.wasi(json!({ "op": "open", "path": path, "how": 1, "flags": 3 }));
        assert_eq!(error(&opened), "not-permitted", "{path}");
    }
    for answer in host.steps("fs", &every_change("folder/new"), None) {
        assert_eq!(error(&answer), "Denied", "{answer}");
    }
    assert_eq!(error(&host.wasi(json!({ "op": "open", "path": "folder/new", "how": 1, "flags": 2 }))), "not-permitted");
    for path in [".", "app", "keys"] {
        let found = host.fs(json!({ "op": "search", "path": path, "pattern": "canary", "all": true }));
        assert_eq!(ok(&found)["total"], 0, "{found}");
        let found = host.fs(json!({ "op": "search", "path": path, "pattern": "canary", "all": true, "files": true }));
        assert_eq!(ok(&found)["total"], 0, "{found}");
        let found = host.fs(json!({ "op": "find", "path": path, "all": true }));
        let paths = ok(&found)["paths"].to_string();
        assert!(HIDDEN.iter().all(|hidden| !paths.contains(&format!("{hidden}\""))), "{paths}");
    }
    assert_eq!(snapshot(&desk.path("work")), before);
}

#[test]
fn a_key_that_was_granted_by_its_own_name_is_handed_out() {
    let desk = furnished();
    let (folder, file) = (desk.folder("work", "access = \"write\""), desk.folder("work/.env", "access = \"write\""));
    let host = desk.grant(&format!("{folder}, {file}")).granted();
    assert_eq!(ok(&host.fs(json!({ "op": "read", "path": ".env" })))["text"], CANARY);
    ok(&host.commit(json!([{ "kind": "write", "path": ".env", "content": "new" }])));
    assert_eq!(desk.get("work/.env"), "new");
    for path in [".ENV", "id_rsa", "app/.env.production"] {
        assert_eq!(error(&host.fs(json!({ "op": "read", "path": path }))), "Denied", "{path}");
    }
}

#[test]
fn a_walk_that_starts_in_a_dot_folder_knows_where_it_is() {
    let desk = Desk::new();
    for path in
        [".docker/config.json", ".config/gh/hosts", ".config/app/.docker/config.json", ".ssh/id_rsa", ".ssh/.env"]
    {
        desk.put(&format!("work/{path}"), CANARY);
    }
    for path in [".docker/plain", ".docker/sub/config.json", ".config/app/gh", ".ssh/config", ".ssh/sub/known"] {
        desk.put(&format!("work/{path}"), "plain");
    }
    for (granted, start, expected) in [
        ("work", ".docker", &[".docker/plain", ".docker/sub/config.json"][..]),
        ("work/.docker", ".docker", &[".docker/plain", ".docker/sub/config.json"]),
        ("work", ".config", &[".config/app/gh"]),
        ("work/.config", ".config", &[".config/app/gh"]),
        ("work/.config", ".config/app", &[".config/app/gh"]),
        ("work/.ssh", ".ssh", &[".ssh/config", ".ssh/sub/known"]),
        ("work/.ssh", ".ssh/sub", &[".ssh/sub/known"]),
    ] {
        let host = desk.grant(&desk.folder(granted, "access = \"read\"")).granted();
        let found = host.fs(json!({ "op": "find", "path": start, "all": true }));
        assert_eq!(ok(&found)["paths"], json!(expected), "{granted}, {start}");
        let found = host.fs(json!({ "op": "search", "path": start, "pattern": "canary", "all": true }));
        assert_eq!(ok(&found)["total"], 0, "{granted}, {start}");
    }
}

#[test]
fn a_grant_of_one_file_is_of_no_other() {
    let desk = furnished();
    let host = desk.grant(&desk.folder("work/.env", "access = \"write\"")).granted();
    let before = snapshot(&desk.path("work"));
    for path in ["plain.txt", ".ssh/config", ".env/../plain.txt", ".env.production", "sub", "."] {
        for (step, answer) in every_step(path).iter().zip(host.steps("fs", &every_step(path), None)) {
            assert_eq!(error(&answer), "Denied", "{step}: {answer}");
        }
        let opened = host.wasi(json!({ "op": "open", "path": path }));
        assert!(opened.get("error").is_some(), "{path}: {opened}");
    }
    assert_eq!(snapshot(&desk.path("work")), before);
}

#[test]
fn a_grant_of_one_file_shows_nothing_beside_it_through_wasi() {
    let desk = furnished();
    let host = desk.grant(&desk.folder("work/.env", "access = \"read\"")).granted();
    for step in [
        json!({ "op": "preopens" }),
        json!({ "op": "here", "then": "read-directory" }),
        json!({ "op": "open", "path": ".", "how": 2, "then": "read-directory" }),
    ] {
        let answer = host.wasi(step.clone());
        assert!(!answer.to_string().contains("plain.txt"), "{step}: {answer}");
        assert!(!answer.to_string().contains(&desk.text("work")), "{step}: {answer}");
    }
}

/// What makes a name one of a key may lie above the granted folder.
#[test]
fn keys_below_a_granted_dot_folder_are_keys() {
    let desk = Desk::new();
    for path in [".config/gh/hosts.yml", ".docker/config.json", ".cargo/credentials.toml", ".git/hooks/pre-commit"] {
        desk.put(&format!("work/{path}"), CANARY);
    }
    desk.put("work/.config/tool.ini", "open to all");
    let folders =
        [".config", ".docker", ".cargo", ".git"].map(|path| desk.folder(&format!("work/{path}"), "access = \"write\""));
    let host = desk.grant(&folders.join(", ")).granted();
    let before = snapshot(&desk.path("work"));
    for (folder, path) in [(".config", "gh/hosts.yml"), (".docker", "config.json"), (".cargo", "credentials.toml")] {
        for (step, answer) in every_step(&format!("{folder}/{path}")).iter().map(|step| (step, host.fs(step.clone()))) {
            assert_eq!(error(&answer), "Denied", "{step}: {answer}");
        }
        for flags in [1, 2, 3] {
            let step =
                json!({ "op": "open", "path": path, "folder": desk.text(&format!("work/{folder}")), "flags": flags });
            assert_eq!(error(&host.wasi(step.clone())), "not-permitted", "{step}");
        }
        let found = host.fs(json!({ "op": "search", "path": folder, "pattern": "canary", "all": true }));
        assert_eq!(ok(&found)["total"], 0, "{found}");
    }
    for path in [".git/hooks/pre-commit", ".git/hooks/post-checkout", ".git/config"] {
        let answer = host.commit(json!([{ "kind": "write", "path": path, "content": "mine" }]));
        assert_eq!(error(&answer), "Denied", "{path}: {answer}");
    }
    assert_eq!(ok(&host.fs(json!({ "op": "read", "path": ".config/tool.ini" })))["text"], "open to all");
    assert_eq!(snapshot(&desk.path("work")), before);
}

#[test]
fn what_other_programs_obey_is_read_but_not_changed() {
    let desk = Desk::new();
    for path in [".git/config", ".git/hooks/pre-commit", "sub/.git/hooks/post-merge", ".bashrc"] {
        desk.put(&format!("work/{path}"), "theirs");
    }
    desk.link(".git/hooks", "work/scripts");
    let host = desk.host();
    let before = snapshot(&desk.path("work"));
    for path in [".git/config", ".git/hooks/pre-commit", "scripts/pre-commit", "sub/.git/hooks/post-merge", ".bashrc"] {
        assert_eq!(ok(&host.fs(json!({ "op": "read", "path": path })))["text"], "theirs", "{path}");
        assert_eq!(ok(&host.fs(json!({ "op": "stat", "path": path })))["writable"], false, "{path}");
        for (step, answer) in every_change(path).iter().zip(host.steps("fs", &every_change(path), None)) {
            // What fails anyway is not asked about.
            let doomed = path == ".bashrc" && matches!(error(&answer), "Exists" | "Changed");
            assert!(doomed || error(&answer) == "Denied", "{step}: {answer}");
        }
        for (how, flags) in [(0, 2), (1, 2), (8, 2), (8, 1), (0, 3), (5, 3)] {
            let step = json!({ "op": "open", "path": path, "how": how, "flags": flags });
            assert_eq!(error(&host.wasi(step.clone())), "not-permitted", "{step}");
        }
    }
    for path in [".git/hooks/new", "scripts/new", "sub/.git/hooks/new"] {
        let answer = host.commit(json!([{ "kind": "write", "path": path, "content": "mine" }]));
        assert_eq!(error(&answer), "Denied", "{path}");
        assert_eq!(error(&host.wasi(json!({ "op": "open", "path": path, "how": 1, "flags": 2 }))), "not-permitted");
        assert_eq!(error(&host.wasi(json!({ "op": "create-directory", "path": path }))), "not-permitted");
    }
    assert_eq!(snapshot(&desk.path("work")), before);
}
