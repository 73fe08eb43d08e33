//! `read_file` as a model meets it.

use hermes_tool::testing::FakeHost;
use serde_json::{Value, json};

use super::*;

fn call(host: &FakeHost, arguments: Value) -> Value {
    host.call(read_file::TOOL, &arguments.to_string()).unwrap().json()
}

fn read(content: impl Into<Vec<u8>>) -> Value {
    call(&FakeHost::new().file("a.txt", content), json!({ "path": "a.txt" }))
}

#[test]
fn a_file_is_shown_with_its_numbers() {
    let expected = json!({
        "content": "1|one\n2|two", "total_lines": 2, "file_size": 8, "truncated": false, "is_binary": false, "is_image": false,
    });
    assert_eq!(read("one\ntwo\n"), expected);
}

#[test]
fn a_last_line_without_a_line_break_counts() {
    assert_eq!(read("one\ntwo")["total_lines"], 2);
    assert_eq!(read("one\ntwo\n")["total_lines"], 2);
}

#[test]
fn an_empty_file_has_no_line() {
    let answer = read("");
    assert_eq!((&answer["content"], &answer["total_lines"]), (&json!(""), &json!(0)));
    assert_eq!(answer["hint"], "the file is empty");
}

#[test]
fn an_offset_past_the_end_shows_nothing_and_says_so() {
    let host = FakeHost::new().file("a.txt", "one\ntwo\n");
    let answer = call(&host, json!({ "path": "a.txt", "offset": 3 }));
    assert_eq!((&answer["content"], &answer["truncated"]), (&json!(""), &json!(false)));
    assert_eq!(answer["hint"], "offset 3 is past the end: total_lines is 2");
}

#[test]
fn what_the_limit_cuts_can_be_gone_on_with() {
    let host = FakeHost::new().file("a.txt", "1\n2\n3\n4\n5\n");
    let answer = call(&host, json!({ "path": "a.txt", "offset": 2, "limit": 2 }));
    assert_eq!(answer["content"], "2|2\n3|3");
    assert_eq!(
        (&answer["truncated"], &answer["truncated_by"], &answer["next_offset"]),
        (&json!(true), &json!("lines"), &json!(4))
    );
    assert_eq!(answer["hint"], "lines 2 to 3 of 5 are shown, go on with offset 4");
    let rest = call(&host, json!({ "path": "a.txt", "offset": 4, "limit": 2 }));
    assert_eq!((&rest["truncated"], &rest["next_offset"]), (&json!(false), &Value::Null));
}

#[test]
fn what_the_size_cuts_can_be_gone_on_with() {
    let host = FakeHost::new().file("a.txt", format!("{}\n", "x".repeat(1_000)).repeat(150));
    let answer = call(&host, json!({ "path": "a.txt" }));
    let next = answer["next_offset"].as_u64().unwrap();
    assert_eq!((&answer["truncated_by"], &answer["total_lines"]), (&json!("bytes"), &json!(150)));
    let rest = call(&host, json!({ "path": "a.txt", "offset": next }));
    assert!(rest["content"].as_str().unwrap().starts_with(&format!("{next}|x")));
    assert_eq!(rest["truncated"], false);
}

#[test]
fn long_lines_are_cut_and_counted() {
    let answer = read(format!("{}\nshort\n", "é".repeat(9_000)));
    let lines: Vec<&str> = answer["content"].as_str().unwrap().lines().collect();
    assert_eq!(lines, [format!("1|{}... [truncated]", "é".repeat(2_000)).as_str(), "2|short"]);
    assert_eq!(answer["hint"], "lines over 2000 characters are cut: 1");
}

#[test]
fn a_second_reading_of_the_same_lines_is_answered_briefly() {
    let host = FakeHost::new().file("a.txt", "one\n");
    let first = call(&host, json!({ "path": "a.txt" }));
    let expected = json!({
        "status": "unchanged", "path": "a.txt", "total_lines": 1, "file_size": 4, "dedup": true, "content_returned": false,
        "hint": UNCHANGED,
    });
    assert_eq!(call(&host, json!({ "path": "a.txt" })), expected);
    assert_eq!(call(&host, json!({ "path": "a.txt", "limit": 499 })), first);
    let host = host.file("a.txt", "one\n");
    assert_eq!(call(&host, json!({ "path": "a.txt" })), first);
}

#[test]
fn a_directory_is_called_a_directory() {
    let host = FakeHost::new().file("src/main.rs", "");
    let why = host.call(read_file::TOOL, r#"{"path": "src"}"#).unwrap_err();
    assert_eq!(why.message(), "/workspace/src is a directory, not a file; it holds: main.rs");
}

#[test]
fn a_missing_file_comes_with_names_like_it() {
    let host = FakeHost::new().file("readme.md", "");
    let why = host.call(read_file::TOOL, r#"{"path": "README.txt"}"#).unwrap_err();
    assert_eq!(why.message(), "/workspace/README.txt does not exist; did you mean: readme.md");
}

#[test]
fn binary_files_are_described() {
    let answer = read(b"\0\x01\x02");
    let expected = json!({
        "content": "", "total_lines": 0, "file_size": 3, "truncated": false, "is_binary": true, "is_image": false,
        "hint": "this is a binary file: read_file shows text only",
    });
    assert_eq!(answer, expected);
}

#[test]
fn images_are_described_with_their_size() {
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\xe0\x08\x06\0\0\0";
    let answer = read(png);
    assert_eq!((&answer["is_image"], &answer["mime_type"]), (&json!(true), &json!("image/png")));
    assert_eq!((&answer["width"], &answer["height"]), (&json!(640), &json!(480)));
    assert_eq!(answer["hint"], "this is an image (image/png) of 640 by 480 pixels: read_file shows text only");
}

#[test]
fn masked_secrets_are_counted_and_not_to_be_written_back() {
    let host = FakeHost::new().secret("hush").file("a.txt", "key = hush\nother = hush\n");
    let answer = call(&host, json!({ "path": "a.txt", "limit": 1 }));
    assert_eq!(answer["content"], "1|key = ****");
    let hint = answer["hint"].as_str().unwrap();
    assert!(
        hint.contains("secrets in these lines are masked: 1;") && hint.contains("must not be written back"),
        "{hint}"
    );
}

#[test]
fn the_schema_bounds_what_may_be_asked_for() {
    let schema = FakeHost::new().parameters(read_file::TOOL);
    assert_eq!(schema["required"], json!(["path"]));
    assert_eq!(schema["properties"]["offset"]["minimum"], 1);
    assert_eq!(schema["properties"]["limit"]["maximum"], MAX_LINES);
    assert_eq!(schema["properties"]["limit"]["default"], DEFAULT_LINES);
}
