//! Components that these tests put behind the server.

use crate::{
    definitions::tool::{Tool, component},
    guest,
};

/// The form of [`asks`].
const FORM: &str = r#"{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}"#;

/// Answers with a JSON text, and says what that is like.
pub(super) fn answers(tool: Tool<'_>, json: &str) -> Vec<u8> {
    let (data, length) = (data(1024, json), json.len());
    let handle =
        format!("(func $handle (result i32) (call $answer (i32.const 0) (i32.const 1024) (i32.const {length})))");
    component(&[tool], "", &format!("{data} {handle}"))
}

/// Could look at files, and never does. Its hints are what it claims.
pub(super) fn could_use_files(name: &str, hints: u8) -> Vec<u8> {
    let stat = r#"(import "hermes:tool/filesystem@0.1.0" "stat" (func (param i32 i32 i32)))"#;
    component(&[Tool { hints, ..Tool::named(name) }], stat, "")
}

/// Logs "a detail" and "a warning", and reports 0 and 1 of 2, then 2 of it knows not how many.
pub(super) fn reports() -> Vec<u8> {
    let imports = r#"(import "hermes:tool/log@0.1.0" "log" (func $log (param i32 i32 i32)))
        (import "hermes:tool/log@0.1.0" "progress" (func $progress (param i64 i32 i64 i32 i32 i32)))"#;
    let handle = r#"(data (i32.const 1024) "a detail") (data (i32.const 1040) "a warning") (data (i32.const 1056) "half")
        (func $handle (result i32)
          (call $log (i32.const 1) (i32.const 1024) (i32.const 8))
          (call $log (i32.const 3) (i32.const 1040) (i32.const 9))
          (call $progress (i64.const 0) (i32.const 1) (i64.const 2) (i32.const 0) (i32.const 0) (i32.const 0))
          (call $progress (i64.const 1) (i32.const 1) (i64.const 2) (i32.const 1) (i32.const 1056) (i32.const 4))
          (call $progress (i64.const 2) (i32.const 0) (i64.const 0) (i32.const 0) (i32.const 0) (i32.const 0))
          (global.get $ok))"#;
    component(&[Tool::named("reports")], imports, handle)
}

/// Says that it has begun, and never comes back: it sleeps, or works.
pub(super) fn begins(name: &str, works: bool) -> Vec<u8> {
    let imports = r#"(import "hermes:tool/log@0.1.0" "progress" (func $progress (param i64 i32 i64 i32 i32 i32)))
        (import "wasi:clocks/monotonic-clock@0.2.0" "subscribe-duration" (func $after (param i64) (result i32)))
        (import "wasi:io/poll@0.2.0" "[method]pollable.block" (func $block (param i32)))"#;
    let rest = match works {
        true => "(loop $for_ever (br $for_ever))",
        false => "(call $block (call $after (i64.const -1)))",
    };
    let handle = format!(
        "(func $handle (result i32)
          (call $progress (i64.const 0) (i32.const 0) (i64.const 0) (i32.const 0) (i32.const 0) (i32.const 0))
          {rest} unreachable)"
    );
    component(&[Tool::named(name)], imports, &handle)
}

/// Asks who is there, under this name, and answers with what it heard: the form, "declined", "dismissed" or why nobody was asked.
pub(super) fn asks(tool: &str, name: &str) -> Vec<u8> {
    asking(Tool::named(tool), name, FORM, "", "")
}

/// The same as this tool, which may promise something of its result.
pub(super) fn asks_as(tool: Tool<'_>) -> Vec<u8> {
    asking(tool, "who", FORM, "", "")
}

/// The same with another form.
pub(super) fn asks_with(tool: &str, form: &str) -> Vec<u8> {
    asking(Tool::named(tool), "who", form, "", "")
}

/// The same after 20 reports.
pub(super) fn reports_and_asks(tool: &str) -> Vec<u8> {
    let import = r#"(import "hermes:tool/log@0.1.0" "progress" (func $progress (param i64 i32 i64 i32 i32 i32)))"#;
    let report = |n: usize| {
        format!(
            "(call $progress (i64.const {n}) (i32.const 0) (i64.const 0) (i32.const 0) (i32.const 0) (i32.const 0))\n"
        )
    };
    asking(Tool::named(tool), "who", FORM, import, &(0..20).map(report).collect::<String>())
}

/// Asks twice with a second between, and answers with what it heard last.
pub(super) fn asks_twice(tool: &str) -> Vec<u8> {
    let imports = r#"(import "wasi:io/poll@0.2.0" "[method]pollable.block" (func $block (param i32)))
        (import "wasi:clocks/monotonic-clock@0.2.0" "subscribe-duration" (func $after (param i64) (result i32)))"#;
    let before = "(call $question) (call $block (call $after (i64.const 1000000000)))";
    asking(Tool::named(tool), "who", FORM, imports, before)
}

/// Asks after it did something else.
fn asking(tool: Tool<'_>, name: &str, form: &str, imports: &str, before: &str) -> Vec<u8> {
    let import = r#"(import "hermes:tool/ask@0.1.0" "ask" (func $ask (param i32 i32 i32 i32 i32 i32 i32)))"#;
    let texts = [(1024, name), (1100, "who is there?"), (1200, "declined"), (1210, "dismissed"), (1300, form)];
    let texts = texts.map(|(at, text)| data(at, text)).join("\n");
    let (name, form) = (name.len(), form.len());
    // At 2048: whether it failed; how it was answered; a text's place and length.
    assert!(1300 + form <= 2048, "the form lies where the answer comes");
    let handle = format!(
        r#"(func $said (param $kind i32) (result i32)
          (call $answer (local.get $kind) (i32.load (i32.const 2056)) (i32.load (i32.const 2060))))
        (func $question
          (call $ask (i32.const 1024) (i32.const {name}) (i32.const 1100) (i32.const 13) (i32.const 1300) (i32.const {form})
            (i32.const 2048)))
        (func $handle (result i32)
          {before}
          (call $question)
          (if (i32.load8_u (i32.const 2048)) (then (return (call $said (i32.const 1)))))
          (if (i32.eq (i32.load8_u (i32.const 2052)) (i32.const 1))
            (then (return (call $answer (i32.const 1) (i32.const 1200) (i32.const 8)))))
          (if (i32.eq (i32.load8_u (i32.const 2052)) (i32.const 2))
            (then (return (call $answer (i32.const 1) (i32.const 1210) (i32.const 9)))))
          (call $said (i32.const 0)))"#
    );
    component(&[tool], &format!("{import} {imports}"), &format!("{texts} {handle}"))
}

/// Prints a line to its stdout, and answers "ok".
pub(super) fn prints(name: &str, line: &str) -> Vec<u8> {
    let (text, stolen) = (guest::text("prints_to_stdout"), r#"(data (i32.const 1024) "{\"stolen\": true}\n")"#);
    assert!(text.contains(stolen) && text.contains("(i32.const 17)"), "the guest has changed: {text}");
    let length = format!("(i32.const {})", line.len());
    guest::assemble(name, &text.replace(stolen, &data(1024, line)).replace("(i32.const 17)", &length))
}

fn data(at: usize, text: &str) -> String {
    let bytes: String = text.bytes().map(|byte| format!("\\{byte:02x}")).collect();
    format!("(data (i32.const {at}) \"{bytes}\")")
}
