//! Secrets in files: masked in whatever is read, not guessed by searching, and not overwritten by their masks.

use super::*;

/// Put together here, so that no scanner finds one in this file.
fn key() -> String {
    format!("{}_{}", "ghp", "Zk3Qv9Xb7Lm2Rt5Wp8Yc4Ns6Hd1Gf0JaZk3Q")
}

fn furnished() -> Desk {
    let desk = Desk::new();
    desk.put("work/settings.ini", format!("user = ada\ntoken = {}\nport = 80\n", key()));
    desk
}

/// The part of the key that is secret: how it begins says only what it is.
fn hidden() -> String {
    key()[4..].to_owned()
}

#[test]
fn a_secret_is_masked_however_it_is_read() {
    let desk = furnished();
    let host = desk.host();
    let size = desk.get("work/settings.ini").len();
    let read = host.fs(json!({ "op": "read", "path": "settings.ini" }));
    let text = ok(&read)["text"].as_str().unwrap();
    assert!(!text.contains(&hidden()) && text.contains("redacted") && text.contains("port = 80"), "{text}");
    assert_eq!((text.len(), &ok(&read)["masked"]), (size, &json!(1)));
    let lines = host.fs(json!({ "op": "lines", "path": "settings.ini", "offset": 2, "length": 1 }));
    assert!(!lines.to_string().contains(&hidden()) && ok(&lines)["masked"] == 1, "{lines}");
    let found = host.fs(json!({ "op": "search", "path": ".", "pattern": "token|port", "context": 1 }));
    assert!(!found.to_string().contains(&hidden()) && ok(&found)["total"] == 2, "{found}");
    for then in ["read", "read-stream"] {
        let read = host.wasi(json!({ "op": "open", "path": "settings.ini", "then": then }));
        let text = ok(&read).as_str().unwrap();
        assert!(!text.contains(&hidden()) && text.contains("redacted") && text.contains("port = 80"), "{text}");
    }
}

#[test]
fn a_secret_does_not_come_out_in_pieces() {
    let desk = furnished();
    let host = desk.host();
    let size = desk.get("work/settings.ini").len();
    for piece in [1, 2, 3, 7, 19] {
        let ours: Vec<_> = (0..size)
            .step_by(piece)
            .map(|at| json!({ "op": "read", "path": "settings.ini", "offset": at, "length": piece }))
            .collect();
        let wasi: Vec<_> = (0..size)
            .step_by(piece)
            .map(|at| json!({ "op": "open", "path": "settings.ini", "then": "read", "offset": at, "length": piece }))
            .collect();
        let text: String = host
            .steps("fs", &ours, None)
            .iter()
            .map(|answer| ok(answer)["text"].as_str().unwrap().to_owned())
            .collect();
        assert!(!text.contains(&hidden()[..8]) && text.contains("port = 80"), "{piece}: {text}");
        let text: String =
            host.steps("wasi", &wasi, None).iter().map(|answer| ok(answer).as_str().unwrap().to_owned()).collect();
        assert!(!text.contains(&hidden()[..8]) && text.contains("port = 80"), "{piece}: {text}");
    }
}

#[test]
fn a_search_does_not_say_how_a_secret_begins() {
    let desk = furnished();
    let host = desk.host();
    let count = |pattern: &str, files: bool| {
        let step = json!({ "op": "search", "path": ".", "pattern": pattern, "files": files, "all": true });
        ok(&host.fs(step))["total"].as_u64().unwrap()
    };
    for files in [false, true] {
        let first = &hidden()[..1];
        for pattern in
            [hidden(), format!("_{first}"), format!("_[{first}]"), format!("ghp_(?i){first}"), "token = .*3Q$".into()]
        {
            assert_eq!(count(&pattern, files), 0, "{pattern}");
        }
        assert_eq!(count("token = ", files), 1, "the line itself is found");
    }
}

#[test]
fn the_file_tools_mask_secrets_and_refuse_masks() {
    let desk = furnished();
    let host = Asked::new(desk.builder().build().unwrap());
    let read = host.call("read_file", &json!({ "path": "settings.ini" }), None).unwrap();
    assert!(!read.to_string().contains(&hidden()) && read.to_string().contains("redacted"), "{read}");
    let found = host.call("search_files", &json!({ "pattern": "token" }), None).unwrap();
    assert!(!found.to_string().contains(&hidden()) && found["total_count"] == 1, "{found}");
    let arguments = json!({ "pattern": hidden(), "output_mode": "count" });
    let found = host.call("search_files", &arguments, None).unwrap();
    assert_eq!(found["total_count"], 0, "{found}");
    let content =
        host.call("read_file", &json!({ "path": "settings.ini", "offset": 2 }), None).unwrap()["content"].clone();
    let content = content.as_str().unwrap().replace("2|", "").replace("3|", "");
    let why = host.call("write_file", &json!({ "path": "settings.ini", "content": content }), None).unwrap_err();
    assert!(why.message.contains("redacted"), "{why}");
    assert!(desk.get("work/settings.ini").contains(&key()));
}

#[test]
fn a_mask_does_not_take_the_secrets_place() {
    let desk = furnished();
    let host = desk.host();
    let read = host.fs(json!({ "op": "read", "path": "settings.ini" }));
    let (masked, version) = (&ok(&read)["text"], &ok(&read)["version"]);
    for change in [
        json!({ "kind": "write", "path": "settings.ini", "content": masked }),
        json!({ "kind": "write", "path": "copy.ini", "content": masked }),
        json!({ "kind": "edit", "path": "settings.ini", "content": masked, "length": 9, "version": version }),
    ] {
        let answer = host.commit(json!([change]));
        assert_eq!(error(&answer), "Invalid", "{change}");
        assert!(message(&answer).contains("redacted"), "{answer}");
    }
    // The lines around it can be changed.
    let edit = json!({ "kind": "edit", "path": "settings.ini", "content": "eve", "offset": 7, "length": 3, "version": version });
    ok(&host.commit(json!([edit])));
    assert_eq!(desk.get("work/settings.ini"), format!("user = eve\ntoken = {}\nport = 80\n", key()));
    // WASI does not hand out a file with secrets for reading and writing at once.
    let both = host.wasi(json!({ "op": "open", "path": "settings.ini", "flags": 3 }));
    assert_eq!(error(&both), "not-permitted");
}

#[test]
fn a_mask_does_not_take_the_secrets_place_through_wasi() {
    let desk = furnished();
    let host = desk.host();
    let masked = ok(&host.wasi(json!({ "op": "open", "path": "settings.ini", "then": "read" }))).clone();
    for then in ["write", "write-stream", "append-stream"] {
        let step = json!({ "op": "open", "path": "copy.ini", "how": 1, "flags": 2, "then": then, "content": masked });
        let answer = host.wasi(step.clone());
        assert!(answer.get("error").is_some(), "{step}: {answer}");
        assert_eq!(desk.get("work/copy.ini"), "", "{then}");
    }
}

/// A byte that is changed beside a secret could make it look like none.
#[test]
fn a_file_with_a_secret_is_not_changed_in_place_through_wasi() {
    let desk = furnished();
    let host = desk.host();
    let before = snapshot(&desk.path("work"));
    for (flags, then) in
        [(2, "write"), (3, "write"), (2, "write-stream"), (2, "append-stream"), (2, "set-size"), (2, "zeroes")]
    {
        let step =
            json!({ "op": "open", "path": "settings.ini", "flags": flags, "then": then, "content": "x", "offset": 20 });
        assert_eq!(error(&host.wasi(step.clone())), "not-permitted", "{step}");
    }
    assert_eq!(snapshot(&desk.path("work")), before);
}

/// A line of a private key, by its number.
fn line_of_a_key(n: usize) -> String {
    format!("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwZ{n}")
}

/// Files with secrets: the token of [`furnished`], a private key, a header, and a token far down in a large file.
fn with_secrets() -> Desk {
    let desk = furnished();
    let lines: Vec<String> = (0..4).map(line_of_a_key).collect();
    let (begin, end) = ("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----");
    desk.put("work/key.txt", format!("{begin}\n{}\n{end}\n", lines.join("\n")));
    desk.put("work/header.txt", "Authorization: Bearer q8Zt3Lw9Xv2Rk5Pm\n");
    let filler = "all work and no play makes Jack a dull boy\n".repeat(100_000);
    desk.put("work/large.txt", format!("{filler}token = {}\n{filler}", key()));
    desk
}

/// One edit of the present version.
fn edit(host: &Asked, path: &str, offset: usize, length: usize, content: &str) -> Value {
    let version = ok(&host.fs(json!({ "op": "stat", "path": path })))["version"].clone();
    let edit = json!({ "kind": "edit", "path": path, "offset": offset, "length": length, "content": content, "version": version });
    host.commit(json!([edit]))
}

/// Each of these takes away or hides what a secret is known by, or a part of it: the rest could be read.
#[test]
fn an_edit_beside_a_secret_does_not_uncover_it() {
    let desk = with_secrets();
    let host = desk.host();
    let before = snapshot(&desk.path("work"));
    let far_down = desk.get("work/large.txt").find("token").unwrap();
    let long = "a1B2".repeat(100 << 10);
    for (path, offset, length, content, line) in [
        // What it begins with.
        ("settings.ini", 19, 4, "", 2),
        ("settings.ini", 19, 4, "ghx_", 2),
        ("settings.ini", 22, 1, "", 2),
        ("settings.ini", 11, 12, "", 2),
        // Something in its midst, or beside it so that it becomes part of another word.
        ("settings.ini", 30, 0, " ", 2),
        ("settings.ini", 30, 0, "\n", 2),
        ("settings.ini", 30, 1, "", 2),
        ("settings.ini", 30, 1, "x", 2),
        ("settings.ini", 23, 0, "redacte", 2),
        ("settings.ini", 23, 0, "xxxx", 2),
        ("settings.ini", 59, 0, "x", 2),
        // A part of it.
        ("settings.ini", 23, 35, "", 2),
        ("settings.ini", 24, 35, "", 2),
        ("settings.ini", 0, 30, "", 2),
        // The lines of a key.
        ("key.txt", 0, 28, "", 2),
        ("key.txt", 0, 1, "", 2),
        ("key.txt", 11, 7, "PUBLIC", 2),
        ("key.txt", 28, 0, "a line of something else\n", 2),
        ("key.txt", 67, 0, "a line of something else\n", 3),
        ("key.txt", 70, 1, " ", 3),
        // A header, also where its value goes on and on.
        ("header.txt", 0, 22, "", 1),
        ("header.txt", 4, 0, " ", 1),
        ("header.txt", 22, 0, &long, 1),
        ("large.txt", far_down + 8, 4, "", 100_001),
        ("large.txt", 7, far_down + 5, "", 100_001),
    ] {
        let answer = edit(&host, path, offset, length, content);
        assert_eq!(error(&answer), "Denied", "{path} {offset} {length}: {answer}");
        assert!(message(&answer).contains(&format!("{path} was not changed")), "{answer}");
        assert!(message(&answer).contains(&format!("line {line} ")), "{path} {offset} {length}: {answer}");
    }
    assert_eq!(snapshot(&desk.path("work")), before);
}

#[test]
fn secrets_are_replaced_and_removed_as_a_whole_and_lines_change_around_them() {
    let desk = with_secrets();
    let host = desk.host();
    for (offset, length, content, becomes) in [
        (11, 0, "api_", format!("user = ada\napi_token = {}\nport = 80\n", key())),
        (23, 0, " \"", format!("user = ada\napi_token =  \"{}\nport = 80\n", key())),
        (0, 11, "", format!("api_token =  \"{}\nport = 80\n", key())),
        (14, 40, "secret", "api_token =  \"secret\nport = 80\n".to_owned()),
    ] {
        ok(&edit(&host, "settings.ini", offset, length, content));
        assert_eq!(desk.get("work/settings.ini"), becomes);
    }
    // A line of a key goes, then the whole key.
    ok(&edit(&host, "key.txt", 67, 39, ""));
    let text = ok(&host.fs(json!({ "op": "read", "path": "key.txt" })))["text"].to_string();
    assert!(!text.contains(&line_of_a_key(0)) && !text.contains(&line_of_a_key(2)), "{text}");
    let size = desk.get("work/key.txt").len();
    ok(&edit(&host, "key.txt", 0, size, "no key\n"));
    assert_eq!(desk.get("work/key.txt"), "no key\n");
    // A file is written anew, whatever was in it.
    ok(&host.commit(json!([{ "kind": "write", "path": "header.txt", "content": "Authorization: none\n" }])));
    let far_down = desk.get("work/large.txt").find("token").unwrap();
    ok(&edit(&host, "large.txt", far_down + 8, 40, "none"));
    assert!(desk.get("work/large.txt").contains("\ntoken = none\n"));
}

#[test]
fn the_patch_tool_does_not_uncover_a_secret() {
    let desk = furnished();
    let host = Asked::new(desk.builder().build().unwrap());
    let patch = |old: &str, new: &str| {
        let arguments = json!({ "mode": "replace", "path": "settings.ini", "old_string": old, "new_string": new });
        host.call("patch", &arguments, None)
    };
    let why = patch("token = ghp_", "token = ").unwrap_err();
    assert!(why.message.contains("line 2 ") && why.message.contains("replace its whole value"), "{why}");
    assert!(desk.get("work/settings.ini").contains(&key()));
    let read = host.call("read_file", &json!({ "path": "settings.ini", "offset": 2, "limit": 1 }), None).unwrap();
    let masked = read["content"].as_str().unwrap().trim_end().rsplit('|').next().unwrap().to_owned();
    patch(&masked, "token = none").unwrap();
    assert_eq!(desk.get("work/settings.ini"), "user = ada\ntoken = none\nport = 80\n");
}

/// What masks a file is the folder that it lies in.
#[test]
fn a_file_is_not_moved_from_where_secrets_are_masked_to_where_they_are_shown() {
    let desk = furnished();
    desk.put("shown/mine.txt", "mine");
    let masked = desk.folder("work", "access = \"write\"");
    let shown = desk.folder("shown", "access = \"write\", secrets = \"show\"");
    let host = desk.grant(&format!("{masked}, {shown}")).granted();
    let target = desk.text("shown/settings.ini");
    let answer = host.commit(json!([{ "kind": "rename", "path": "settings.ini", "target": target }]));
    assert_eq!(error(&answer), "Denied");
    assert!(message(&answer).contains("secrets are masked"), "{answer}");
    for new in ["settings.ini", "mine.txt"] {
        let (from, into) = (desk.text("work"), desk.text("shown"));
        let step = json!({ "op": "rename", "path": "settings.ini", "folder": from, "target": new, "into": into });
        assert_eq!(error(&host.wasi(step)), "not-permitted");
    }
    assert!(desk.get("work/settings.ini").contains(&key()));
    // The other way round nothing is uncovered.
    let source = desk.text("shown/mine.txt");
    ok(&host.commit(json!([{ "kind": "rename", "path": source, "target": "mine.txt" }])));
}

#[test]
fn a_mask_in_two_halves_is_not_written_through_wasi() {
    let desk = furnished();
    let host = desk.host();
    let masked = ok(&host.wasi(json!({ "op": "open", "path": "settings.ini", "then": "read" }))).clone();
    let masked = masked.as_str().unwrap();
    let middle = masked.find("dacted").unwrap();
    let (first, second) = masked.split_at(middle);
    let write = |path: &str, then: &str, offset: usize, content: &str| {
        let step = json!({
            "op": "open", "path": path, "how": 1, "flags": 2, "then": then, "offset": offset, "content": content,
        });
        host.wasi(step)
    };
    for then in ["write", "write-stream", "append-stream"] {
        let path = format!("forward-{then}");
        ok(&write(&path, then, 0, first));
        let answer = write(&path, then, first.len(), second);
        assert!(answer.get("error").is_some(), "{then}: {answer}");
        assert_eq!(desk.get(&format!("work/{path}")), first, "{then}");
        // What makes no mask is written.
        ok(&write(&path, then, first.len(), "mains"));
    }
    for then in ["write", "write-stream"] {
        let path = format!("backward-{then}");
        ok(&write(&path, then, first.len(), second));
        let answer = write(&path, then, 0, first);
        assert!(answer.get("error").is_some(), "{then}: {answer}");
    }
    // A header has stars alone.
    ok(&write("header", "append-stream", 0, "Authorization: Bearer "));
    assert!(write("header", "append-stream", 0, "**********\n").get("error").is_some());
}

/// While an edit is made, the new text lies in a file of its own, secrets and all. Who holds that open reads them.
#[test]
fn a_draft_is_nobodys_file() {
    let desk = Desk::new();
    for place in ["work", "work/sub"] {
        desk.put(&format!("{place}/.hermes-draft-1-1"), "");
    }
    let host = desk.host();
    let before = snapshot(&desk.path("work"));
    for path in [".hermes-draft-1-1", "sub/.hermes-draft-1-1", ".hermes-draft-1-2"] {
        for (step, answer) in every_step(path).iter().zip(host.steps("fs", &every_step(path), None)) {
            assert_eq!(error(&answer), "NotFound", "{step}: {answer}");
        }
        for (step, answer) in every_wasi_step(path).iter().zip(host.steps("wasi", &every_wasi_step(path), None)) {
            assert!(answer.get("error").is_some(), "{step}: {answer}");
        }
    }
    assert_eq!(snapshot(&desk.path("work")), before);
    for (step, names) in [
        (json!({ "op": "here", "then": "read-directory" }), json!(["plain.txt", "sub"])),
        (json!({ "op": "open", "path": "sub", "how": 2, "then": "read-directory" }), json!(["deep.txt"])),
    ] {
        assert_eq!(*ok(&host.wasi(step)), names);
    }
}

#[test]
fn a_grant_that_shows_secrets_shows_them() {
    let desk = furnished();
    let host = desk.grant(&desk.folder("work", "access = \"read\", secrets = \"show\"")).granted();
    let read = host.fs(json!({ "op": "read", "path": "settings.ini" }));
    assert!(ok(&read)["text"].as_str().unwrap().contains(&key()) && ok(&read)["masked"] == 0, "{read}");
    let found = host.fs(json!({ "op": "search", "path": ".", "pattern": hidden() }));
    assert_eq!(ok(&found)["total"], 1);
    let read = host.wasi(json!({ "op": "open", "path": "settings.ini", "then": "read" }));
    assert!(ok(&read).as_str().unwrap().contains(&key()));
    drop(host);
    // Where they are shown, there is nothing to uncover.
    let host = desk.grant(&desk.folder("work", "access = \"write\", secrets = \"show\"")).granted();
    ok(&edit(&host, "settings.ini", 19, 4, ""));
    assert!(desk.get("work/settings.ini").contains(&format!("token = {}", hidden())));
}

#[test]
fn the_workspace_itself_shows_secrets_where_the_operator_says_so() {
    let desk = furnished();
    let read = |host: &Asked| host.call("read_file", &json!({ "path": "settings.ini" }), None).unwrap().to_string();
    assert!(!read(&desk.with_tools("")).contains(&hidden()));
    let host = desk.with_tools(&desk.folder("work", "access = \"read\", secrets = \"show\""));
    assert!(read(&host).contains(&hidden()));
    let found = host.call("search_files", &json!({ "pattern": "token" }), None).unwrap().to_string();
    assert!(found.contains(&hidden()), "{found}");
}

#[test]
fn a_search_from_above_masks_what_a_folder_below_masks() {
    let desk = furnished();
    desk.put("outside/open/settings.ini", desk.get("work/settings.ini"));
    desk.put("outside/open/private/settings.ini", desk.get("work/settings.ini"));
    let shown = desk.folder("outside/open", "access = \"read\", secrets = \"show\"");
    let masked = desk.folder("outside/open/private", "access = \"read\"");
    let search = |folders: &str| {
        let arguments = json!({ "pattern": "token", "path": desk.text("outside/open") });
        desk.with_tools(folders).call("search_files", &arguments, None).unwrap().to_string()
    };
    assert!(search(&shown).contains(&hidden()));
    assert!(!search(&format!("{shown}, {masked}")).contains(&hidden()));
}
