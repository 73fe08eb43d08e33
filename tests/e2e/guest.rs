//! Components from WAT text, so that a test says in ten lines what a guest does, bit by bit.
//!
//! A guest is a core module that leaves out everything it does not attack: [`assemble`] adds `tests/guests/prelude.inc`, which
//! speaks the canonical ABI, and a default for each of memory, `$register`, `$check` and `$handle` that the text does not
//! define. A guest that starts with `(component` is a whole component; unless it exports a provider (or is to be refused for
//! what it imports), `tests/guests/provider.inc` makes it a tool that works. A guest with the comment `;; world: hook` is a hook,
//! with `tests/guests/hook.inc` and defaults that allow and change nothing.

use std::{fs, path::PathBuf};

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// Added to every module.
const PRELUDE: &str = include_str!("../guests/prelude.inc");

/// Added to every hook.
const HOOK: &str = include_str!("../guests/hook.inc");

/// What stands for a definition that a hook's text does not have.
const HOOK_DEFAULTS: [(&str, &str); 5] = [
    ("(memory ", "(memory 1)"),
    ("(func $subscribe ", "(func $subscribe (result i32) (global.get $everything))"),
    ("(func $pre ", "(func $pre (result i32) (global.get $verdict))"),
    ("(func $post ", "(func $post)"),
    ("(func $transform ", "(func $transform (result i32) (global.get $unchanged))"),
];

/// Added to whole components.
const PROVIDER: &str = include_str!("../guests/provider.inc");

/// What stands for a definition that the guest's text does not have.
const DEFAULTS: [(&str, &str); 4] = [
    ("(memory ", "(memory 1)"),
    ("(func $register ", "(func $register (result i32) (global.get $tools))"),
    ("(func $check ", "(func $check (result i32) (global.get $fine))"),
    ("(func $handle ", "(func $handle (result i32) (global.get $ok))"),
];

/// The component of the attack `tests/guests/NAME.wat`.
pub(crate) fn attack(name: &str) -> Vec<u8> {
    assemble(name, &text(name))
}

/// Its text.
pub(crate) fn text(name: &str) -> String {
    let path = top().join("tests/guests").join(name).with_extension("wat");
    fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

/// A component whose one tool `name` answers the text "ok". Other names give other bytes.
pub(crate) fn good(name: &str) -> Vec<u8> {
    assemble(name, "(module)")
}

/// The component of a guest's text. Its tool is called `name` unless it registers something else.
pub(crate) fn assemble(name: &str, text: &str) -> Vec<u8> {
    let parse = |text: &str| wat::parse_str(text).unwrap_or_else(|why| panic!("{name}: {why}\n{text}"));
    let code = text.lines().find(|line| !line.trim_start().starts_with(";;")).unwrap_or_default();
    if code.trim_start().starts_with("(component") {
        return parse(&with_provider(name, text));
    }
    let encoding = encoding(text);
    let mut resolve = Resolve::default();
    let (own, _) = resolve.push_dir(top().join("wit")).unwrap();
    let package = resolve.push_str("imports.wit", include_str!("../guests/imports.wit")).unwrap();
    let (mut module, world) = if text.contains(";; world: hook") {
        let defaults = missing(text, &HOOK_DEFAULTS);
        let text = format!("{}\n{defaults}\n{HOOK})", opened(name, text));
        (parse(&text), resolve.select_world(&[own], Some("hook")).unwrap())
    } else {
        (parse(&completed(name, text, encoding)), resolve.select_world(&[package], Some("guest")).unwrap())
    };
    embed_component_metadata(&mut module, &resolve, world, encoding).unwrap();
    let component = ComponentEncoder::default().module(&module).and_then(|mut encoder| encoder.encode());
    component.unwrap_or_else(|why| panic!("{name}: {why:#}"))
}

/// How the guest writes its strings: UTF-8 unless a comment names another encoding.
fn encoding(text: &str) -> StringEncoding {
    if text.contains(";; strings: latin1+utf16") {
        StringEncoding::CompactUTF16
    } else if text.contains(";; strings: utf16") {
        StringEncoding::UTF16
    } else {
        StringEncoding::UTF8
    }
}

/// A module's text with the defaults, the prelude and the prelude's data.
fn completed(name: &str, text: &str, encoding: StringEncoding) -> String {
    format!("{}\n{}\n{PRELUDE}\n{})", opened(name, text), missing(text, &DEFAULTS), data(name, encoding))
}

/// The defaults for what the text does not define.
fn missing(text: &str, defaults: &[(&str, &str)]) -> String {
    let missing = defaults.iter().filter(|(marker, _)| !text.contains(marker));
    missing.map(|(_, default)| *default).collect::<Vec<_>>().join("\n")
}

/// The text of a component with a good tool in it, where it has none of its own.
fn with_provider(name: &str, text: &str) -> String {
    if text.contains("hermes:tool/provider@") {
        return text.into();
    }
    let module = completed(name, "(module $module)", StringEncoding::UTF8);
    format!("{}\n(core {}\n{PROVIDER})", opened(name, text), module.trim_start_matches('('))
}

/// The text without its last parenthesis: room for more. Imports come first in a module, so what is added comes last.
fn opened<'a>(name: &str, text: &'a str) -> &'a str {
    text.trim_end().strip_suffix(')').unwrap_or_else(|| panic!("{name}: the text does not end in a parenthesis"))
}

/// The memory below 1024: one definition and one answer, laid out as the canonical ABI has them, and their texts.
fn data(name: &str, encoding: StringEncoding) -> String {
    let (ok, parameters) = ("ok", r#"{"type":"object"}"#);
    let (ok_at, parameters_at, name_at) = (208, 224, 272);
    let length = |text: &str| text.len() as u32;
    // name, toolset, description, parameters; what follows them is zero: no output, no emoji, no environment, no claims.
    let definition =
        [name_at, length(name), name_at, length(name), name_at, length(name), parameters_at, length(parameters)];
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let text = |text: &str| match encoding {
        StringEncoding::UTF16 => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        _ => text.as_bytes().to_vec(),
    };
    let segments = [
        (16, words(&[32, 1])),
        (32, words(&definition)),
        (144, words(&[0, 160, 1])),
        (160, words(&[1, ok_at, length(ok)])),
        (ok_at, text(ok)),
        (parameters_at, text(parameters)),
        (name_at, text(name)),
    ];
    let segment = |(at, bytes): (u32, Vec<u8>)| {
        let bytes: String = bytes.iter().map(|byte| format!("\\{byte:02x}")).collect();
        format!("  (data (i32.const {at}) \"{bytes}\")\n")
    };
    segments.into_iter().map(segment).collect()
}

/// The workspace.
fn top() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}
