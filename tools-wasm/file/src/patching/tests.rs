//! `patch` as a model meets it. How texts are found is tested with the logic.

use std::cell::Cell;

use hermes_tool::fs::{Change, Expected, Write};
use hermes_tool::testing::FakeHost;
use hermes_tool::{Error, fs};
use serde_json::{Value, json};

use super::*;

fn call(host: &FakeHost, arguments: Value) -> Result<Value> {
    host.call(super::patch::TOOL, &arguments.to_string()).map(|reply| reply.json())
}

fn replace(host: &FakeHost, path: &str, old: &str, new: &str) -> Result<Value> {
    call(host, json!({ "mode": "replace", "path": path, "old_string": old, "new_string": new }))
}

fn apply(host: &FakeHost, patch: &str) -> Result<Value> {
    call(host, json!({ "mode": "patch", "patch": format!("*** Begin Patch\n{patch}\n*** End Patch") }))
}

fn text(host: &FakeHost, path: &str) -> String {
    String::from_utf8(host.content(path).unwrap()).unwrap()
}

#[test]
fn a_text_is_replaced_and_shown() {
    let host = FakeHost::new().file("a.txt", "one\ntwo\nthree\n");
    let expected = json!({
        "success": true, "diff": "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n",
        "files_modified": ["/workspace/a.txt"], "replacements": 1,
        "lint": { "status": "skipped", "message": "only JSON, YAML and TOML are parsed" },
    });
    assert_eq!(replace(&host, "a.txt", "two", "2").unwrap(), expected);
    assert_eq!(text(&host, "a.txt"), "one\n2\nthree\n");
}

#[test]
fn all_places_are_replaced_where_all_are_meant() {
    let host = FakeHost::new().file("a.txt", "x\nx\n");
    assert!(replace(&host, "a.txt", "x", "y").unwrap_err().message().contains("found 2 times"));
    let all = json!({ "mode": "replace", "path": "a.txt", "old_string": "x", "new_string": "y", "replace_all": true });
    assert_eq!(call(&host, all).unwrap()["replacements"], 2);
    assert_eq!(text(&host, "a.txt"), "y\ny\n");
}

#[test]
fn how_a_text_was_found_is_told_where_it_was_not_exact() {
    let host = FakeHost::new().file("a.txt", "if x:\n    go(1)\n");
    let answer = replace(&host, "a.txt", "if x:  \n    go(1)\n", "if x:\n    go(2)\n").unwrap();
    assert_eq!(answer["strategy"], "line_trimmed");
    assert_eq!(text(&host, "a.txt"), "if x:\n    go(2)\n");
}

#[test]
fn what_is_not_there_comes_with_what_is() {
    let host = FakeHost::new().file("a.txt", "first line\nsecond line\n");
    let why = replace(&host, "a.txt", "second lime\n", "x").unwrap_err();
    assert!(why.message().starts_with("a.txt was not changed: old_string was not found"), "{why}");
    assert!(why.message().contains("2|second line"), "{why}");
    let why = replace(&host, "b.txt", "x", "y").unwrap_err();
    assert!(why.message().ends_with("did you mean: a.txt"), "{why}");
}

#[test]
fn what_is_not_text_is_not_patched() {
    let host = FakeHost::new().file("a.bin", b"ab\xff");
    let why = replace(&host, "a.bin", "ab", "x").unwrap_err();
    assert_eq!(why.message(), "a.bin is not UTF-8 text (from byte 2 on), and can't be patched");
}

#[test]
fn what_parses_goes_on_parsing() {
    let host = FakeHost::new().file("a.json", "{\"a\": 1}\n").file("broken.json", "{\"a\": \n");
    let why = replace(&host, "a.json", "1", "").unwrap_err();
    assert_eq!(
        why.message(),
        "no file was changed: after that, a.json would be not valid JSON, line 1, column 7: expected value"
    );
    assert_eq!(text(&host, "a.json"), "{\"a\": 1}\n");
    assert_eq!(replace(&host, "a.json", "1", "2").unwrap()["lint"]["status"], "ok");
    assert_eq!(replace(&host, "broken.json", "a", "b").unwrap()["lint"]["status"], "error");
}

#[test]
fn line_endings_and_masked_secrets_stay() {
    let host = FakeHost::new().secret("hush").file("a.txt", "key = hush\r\nport = 1\r\nend\r\n");
    let answer = replace(&host, "a.txt", "port = 1\nend", "port = 2\nhost = x\nend").unwrap();
    assert_eq!(text(&host, "a.txt"), "key = hush\r\nport = 2\r\nhost = x\r\nend\r\n");
    assert!(!answer["diff"].as_str().unwrap().contains("hush"));
}

#[test]
fn a_patch_changes_several_files() {
    let host =
        FakeHost::new().file("a.txt", "one\ntwo\n").file("old.txt", "x\n").file("b.txt", "b\n").file("c.txt", "c\nd\n");
    let answer = apply(
        &host,
        "*** Update File: a.txt\n one\n-two\n+2\n*** Add File: new/n.json\n+{}\n*** Delete File: old.txt\n\
         *** Move File: b.txt -> m.txt\n*** Update File: c.txt\n*** Move to: e.txt\n c\n-d\n+e",
    )
    .unwrap();
    assert_eq!((text(&host, "a.txt"), text(&host, "new/n.json")), ("one\n2\n".into(), "{}\n".into()));
    assert_eq!((text(&host, "m.txt"), text(&host, "e.txt")), ("b\n".into(), "c\ne\n".into()));
    assert_eq!([host.content("old.txt"), host.content("b.txt"), host.content("c.txt")], [None, None, None]);
    let mut modified: Vec<&str> =
        answer["files_modified"].as_array().unwrap().iter().map(|path| path.as_str().unwrap()).collect();
    modified.sort_unstable();
    let names = ["a.txt", "e.txt", "m.txt", "new/n.json", "old.txt"].map(|name| format!("/workspace/{name}"));
    assert_eq!(modified, names);
    assert_eq!(answer["files_created"], json!(["/workspace/new/n.json"]));
    assert_eq!(answer["files_deleted"], json!(["/workspace/old.txt"]));
    assert_eq!(answer["lint"]["status"], "ok");
    assert!(answer["diff"].as_str().unwrap().contains("+++ b/new/n.json"));
}

#[test]
fn a_patch_is_made_as_a_whole_or_not_at_all() {
    for second in [
        "*** Update File: b.txt\n-missing\n+x",
        "*** Add File: b.txt\n+x",
        "*** Add File: c.json\n+{",
        "*** Delete File: d",
    ] {
        let host = FakeHost::new().file("a.txt", "one\n").file("b.txt", "b\n");
        let why = apply(&host, &format!("*** Update File: a.txt\n-one\n+1\n{second}")).unwrap_err();
        assert!(why.message().starts_with("no file was changed"), "{why}");
        assert_eq!(text(&host, "a.txt"), "one\n");
        assert_eq!(host.content("c.json"), None);
    }
}

#[test]
fn what_was_denied_stays_denied() {
    let host = FakeHost::new();
    assert!(matches!(apply(&host, "*** Delete File: /etc/passwd").unwrap_err(), Error::Denied(_)));
    assert!(matches!(replace(&host, "/etc/passwd", "a", "b").unwrap_err(), Error::Denied(_)));
}

#[test]
fn arguments_that_are_missing_are_named() {
    let host = FakeHost::new();
    for arguments in [
        json!({ "mode": "replace", "path": "a", "old_string": "x" }),
        json!({ "mode": "patch", "path": "a" }),
        json!({ "mode": "patch", "patch": "no patch at all" }),
    ] {
        assert!(matches!(call(&host, arguments).unwrap_err(), Error::Invalid(_)));
    }
}

#[test]
fn a_file_that_changed_meanwhile_is_read_again() {
    let host = FakeHost::new().file("a.txt", "one\n");
    let somebody =
        || Change::Write(Write { path: "a.txt".into(), content: "zero\none\n".into(), expected: Expected::Anything });
    let times = Cell::new(0);
    let patched = commit::make(|| {
        let draft = one::draft("a.txt", "one", "1", false)?;
        times.set(times.get() + 1);
        if times.get() == 1 {
            fs::commit(&[somebody()])?;
        }
        Ok(draft)
    });
    assert!(patched.is_ok());
    assert_eq!((times.get(), text(&host, "a.txt")), (2, "zero\n1\n".into()));
    let always = commit::make(|| {
        let draft = one::draft("a.txt", "zero", "0", false)?;
        fs::commit(&[somebody()])?;
        Ok(draft)
    });
    assert!(always.err().unwrap().message().starts_with("no file was changed: "));
}

#[test]
fn a_change_by_somebody_else_is_told_and_kept() {
    let host = FakeHost::new().file("a.txt", "one\n");
    host.call(crate::read::read_file::TOOL, r#"{"path": "a.txt"}"#).unwrap();
    assert_eq!(replace(&host, "a.txt", "one", "1").unwrap()["_warning"], Value::Null);
    let host = host.file("a.txt", "zero\n1\n");
    let answer = replace(&host, "a.txt", "1", "one").unwrap();
    assert!(answer["_warning"].as_str().unwrap().starts_with("/workspace/a.txt was changed by somebody else"));
    assert_eq!(text(&host, "a.txt"), "zero\none\n");
}

#[test]
fn a_large_diff_is_cut_at_a_line() {
    let host = FakeHost::new();
    let line = "y".repeat(60);
    let patch: Vec<String> =
        (0..30).map(|n| format!("*** Add File: n{n}.txt\n{}", format!("+{line}\n").repeat(60))).collect();
    let answer = apply(&host, patch.join("").trim_end()).unwrap();
    let diff = answer["diff"].as_str().unwrap();
    assert!(diff.len() <= MAX_DIFF + 100 && diff.len() > MAX_DIFF - 1_000, "{}", diff.len());
    assert!(diff.ends_with(&format!("+{line}\n# the rest is too large to show\n")), "{}", &diff[diff.len() - 200..]);
    assert_eq!(answer["files_created"].as_array().unwrap().len(), 30);
}
