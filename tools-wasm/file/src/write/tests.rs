//! `write_file` as a model meets it.

use hermes_tool::testing::FakeHost;
use serde_json::{Value, json};

use super::*;

fn call(host: &FakeHost, path: &str, content: &str) -> Result<Value> {
    let arguments = json!({ "path": path, "content": content }).to_string();
    host.call(write_file::TOOL, &arguments).map(|reply| reply.json())
}

fn written(host: &FakeHost, path: &str) -> String {
    String::from_utf8(host.content(path).unwrap()).unwrap()
}

fn read(host: &FakeHost, arguments: Value) {
    host.call(crate::read::read_file::TOOL, &arguments.to_string()).unwrap();
}

#[test]
fn a_new_file_is_made_with_its_folders() {
    let host = FakeHost::new();
    let expected = json!({
        "bytes_written": 6, "dirs_created": true, "resolved_path": "/workspace/a/b/c.txt",
        "files_modified": ["/workspace/a/b/c.txt"],
        "lint": { "status": "skipped", "message": "only JSON, YAML and TOML are parsed" },
    });
    assert_eq!(call(&host, "a/b/c.txt", "hällo").unwrap(), expected);
    assert_eq!(written(&host, "a/b/c.txt"), "hällo");
}

#[test]
fn folders_that_were_there_are_not_called_new() {
    let host = FakeHost::new().file("a/x", "");
    assert_eq!(call(&host, "a/y", "").unwrap()["dirs_created"], false);
}

#[test]
fn a_folder_is_not_written_as_a_file() {
    let host = FakeHost::new();
    assert_eq!(
        call(&host, "a/b/", "x").unwrap_err(),
        Error::invalid("a/b/ names a folder; add the name of the file to write")
    );
    assert_eq!(host.content("a/b"), None);
}

#[test]
fn line_endings_and_the_byte_order_mark_stay() {
    let host = FakeHost::new().file("a.txt", "\u{feff}one\r\ntwo\r\n");
    assert_eq!(call(&host, "a.txt", "1\n2\n").unwrap()["bytes_written"], 9);
    assert_eq!(written(&host, "a.txt"), "\u{feff}1\r\n2\r\n");
}

#[test]
fn what_does_not_parse_is_not_written() {
    let host = FakeHost::new().file("a.json", "{}");
    let why = call(&host, "a.json", "{\n\"a\": }").unwrap_err();
    assert_eq!(
        why,
        Error::invalid(
            "a.json was not written, the content is not valid JSON, line 2, column 6: expected value; send the whole content \
             again, corrected"
        )
    );
    assert_eq!(written(&host, "a.json"), "{}");
    assert!(call(&host, "new/a.toml", "a = ").is_err() && call(&host, "a.yaml", "a: [").is_err());
    assert_eq!(host.content("new/a.toml"), None);
}

#[test]
fn what_did_not_parse_before_can_be_put_right() {
    let host = FakeHost::new().file("a.json", "{");
    assert_eq!(call(&host, "a.json", "{}").unwrap()["lint"], json!({ "status": "ok", "language": "JSON" }));
}

#[test]
fn the_answers_of_read_file_are_not_written() {
    let host = FakeHost::new().file("a.txt", "one\ntwo\n");
    let pasted = host.call(crate::read::read_file::TOOL, r#"{"path": "a.txt"}"#).unwrap().json();
    let why = call(&host, "a.txt", pasted["content"].as_str().unwrap()).unwrap_err();
    assert!(why.message().starts_with("a.txt was not written: the content has read_file's line numbers"), "{why}");
    let unchanged = host.call(crate::read::read_file::TOOL, r#"{"path": "a.txt"}"#).unwrap();
    assert!(call(&host, "a.txt", &unchanged.text()).is_err());
    assert_eq!(written(&host, "a.txt"), "one\ntwo\n");
}

#[test]
fn what_the_task_did_not_know_is_said() {
    let warning = |host: &FakeHost| call(host, "a", "new").unwrap()["_warning"].clone();
    let host = FakeHost::new().file("a", "one\ntwo\n");
    assert!(warning(&host).as_str().unwrap().contains("was not read in this task"));
    assert_eq!(warning(&host), Value::Null, "it wrote the file itself");
    let host = host.file("a", "one\ntwo\n");
    assert!(warning(&host).as_str().unwrap().contains("changed by somebody else"));
    let host = host.file("a", "one\ntwo\n");
    read(&host, json!({ "path": "a", "limit": 1 }));
    assert!(warning(&host).as_str().unwrap().contains("only a part"));
    let host = host.file("a", "one\ntwo\n");
    read(&host, json!({ "path": "a" }));
    assert_eq!(warning(&host), Value::Null);
    assert_eq!(call(&host, "b", "new").unwrap()["_warning"], Value::Null);
}

#[test]
fn a_directory_is_not_written_over() {
    let host = FakeHost::new().file("src/a", "");
    let why = call(&host, "src", "x").unwrap_err();
    assert_eq!(why.message(), "/workspace/src is a directory, not a file; it holds: a");
    assert!(call(&host, "src/a/b", "x").is_err());
}
