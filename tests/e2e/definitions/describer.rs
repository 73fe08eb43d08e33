//! Components that describe their tools anew for the company they are in, and those that fail at it.

use std::path::Path;

use hermes_host::{CallContext, Definitions, DefinitionsRequest, Host, registry::Selection};
use serde_json::{Value, json};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

use super::tool::{Tool, registering};
use crate::{cli::Place, guest, patience::PATIENCE, start};

/// What a module of the world `describing-tool` has besides its `$register` and `$describe`.
const REST: &str = r#"
    (func $check (result i32) (global.get $fine))
    (func $handle (result i32) (global.get $ok))
    (data (i32.const 144) "\00\00\00\00\a0\00\00\00\01\00\00\00")
    (data (i32.const 160) "\01\00\00\00\d0\00\00\00\02\00\00\00")
    (data (i32.const 208) "ok")
    (func (export "hermes:tool/describer@0.1.0#describe") (param i32 i32) (result i32)
      (call $describe (local.get 0) (local.get 1)))
    ;; The answer: one redescription of the tool "guide".
    (data (i32.const 512) "\20\02\00\00\01\00\00\00")
    (data (i32.const 544) "\40\02\00\00\05\00\00\00")
    (data (i32.const 576) "guide")
    (func $say (param $at i32) (param $length i32) (result i32)
      (i32.store (i32.const 552) (i32.const 1))
      (i32.store (i32.const 556) (local.get $at))
      (i32.store (i32.const 560) (local.get $length))
      (i32.const 512))
    (func $parameters (param $at i32) (param $length i32)
      (i32.store (i32.const 564) (i32.const 1))
      (i32.store (i32.const 568) (local.get $at))
      (i32.store (i32.const 572) (local.get $length)))
"#;

const REGISTERED: &str = "As registered.";

/// The component of the tool `guide` that describes itself by this function of a list of names, pointer and length.
fn guide(describe: &str) -> Vec<u8> {
    let tool = Tool { description: REGISTERED, ..Tool::named("guide") };
    let prelude = include_str!("../../guests/prelude.inc");
    let text = format!("(module {} {describe} {REST} {prelude})", registering(&[tool]));
    let mut module = wat::parse_str(&text).unwrap_or_else(|why| panic!("{why}\n{text}"));
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../wit")).unwrap();
    let world = resolve.select_world(&[package], Some("describing-tool")).unwrap();
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).unwrap();
    ComponentEncoder::default().module(&module).unwrap().encode().unwrap()
}

/// Says how many tools there are, in one digit.
fn counts() -> Vec<u8> {
    guide(
        r#"(data (i32.const 1024) "One of _ tools.")
        (func $describe (param $names i32) (param $count i32) (result i32)
          (i32.store8 (i32.const 1031) (i32.add (i32.const 0x30) (local.get $count)))
          (call $say (i32.const 1024) (i32.const 15)))"#,
    )
}

fn host(bytes: &[u8]) -> (Place, Host) {
    let place = Place::new();
    place.drop_in("guide.wasm", bytes);
    let host = start::builder(&place).build().unwrap();
    assert_eq!(host.catalogue().refusals(), []);
    (place, host)
}

fn definitions(host: &Host, without: &[&str]) -> Definitions {
    let toolsets = Selection { disabled: without.iter().map(ToString::to_string).collect(), ..Selection::default() };
    pollster::block_on(host.definitions(&DefinitionsRequest { toolsets, ..DefinitionsRequest::default() })).unwrap()
}

/// The definition of `guide` in the company of all but these toolsets.
fn shown(host: &Host, without: &[&str]) -> Value {
    let list = definitions(host, without);
    let at = list.names.iter().position(|name| name == "guide").unwrap();
    list.tools[at]["function"].clone()
}

#[test]
fn a_tool_describes_itself_anew_when_its_company_changes() {
    let (_place, host) = host(&counts());
    assert_eq!(shown(&host, &[])["description"], "One of 1 tools.");
    host.register("a", guest::good("a")).unwrap();
    host.register("b", guest::good("b")).unwrap();
    assert_eq!(shown(&host, &[])["description"], "One of 3 tools.");
    assert_eq!(shown(&host, &["b"])["description"], "One of 2 tools.", "two callers, each with a list of its own");
    host.deregister("a").unwrap();
    assert_eq!(shown(&host, &[])["description"], "One of 2 tools.");
    let described = host.call_blocking("tool_describe", r#"{"name":"guide"}"#, CallContext::default()).json();
    assert!(described.contains("One of 2 tools."), "{described}");
    let registered = host.catalogue().get("guide").unwrap().definition.description.clone();
    assert_eq!(registered, REGISTERED, "what is registered stays");
}

#[test]
fn the_same_company_is_asked_about_once() {
    let (_place, host) = host(&counts());
    host.register("a", guest::good("a")).unwrap();
    let made = |without: &[&str]| {
        let before = host.sandbox().instances_made();
        shown(&host, without);
        host.sandbox().instances_made() - before
    };
    assert_eq!(made(&[]), 3, "two checks and one description");
    assert_eq!(made(&[]), 0);
    assert_eq!(made(&["a"]), 1);
    assert_eq!((made(&[]), made(&["a"])), (0, 0), "callers take turns");
}

#[test]
fn another_schema_is_for_the_model_and_calls_are_held_against_the_registered_one() {
    let schema = r#"{\22properties\22:{\22n\22:{\22type\22:\22integer\22}},\22required\22:[\22n\22]}"#;
    let (_place, host) = host(&guide(&format!(
        r#"(data (i32.const 1024) "{schema}")
        (func $describe (param i32 i32) (result i32)
          (call $parameters (i32.const 1024) (i32.const {}))
          (i32.const 512))"#,
        schema.replace("\\22", "\"").len()
    )));
    let shown = shown(&host, &[]);
    assert_eq!(shown["parameters"]["required"], json!(["n"]));
    assert_eq!(shown["description"], REGISTERED, "what was not said stays");
    assert_eq!(host.call_blocking("guide", "{}", CallContext::default()).json(), "\"ok\"");
}

#[test]
fn a_new_description_names_no_tool_that_is_not_in_the_list_either() {
    let (_place, host) = host(&guide(
        r#"(data (i32.const 1024) "Guides. Then use other_tool.")
        (func $describe (param i32 i32) (result i32) (call $say (i32.const 1024) (i32.const 28)))"#,
    ));
    host.register("other", guest::good("other_tool")).unwrap();
    assert_eq!(shown(&host, &[])["description"], "Guides. Then use other_tool.");
    assert_eq!(shown(&host, &["other_tool"])["description"], "Guides.");
}

/// Whatever it does, the tool is offered as it was registered, works, and the others are there.
fn assert_left_alone(describe: &str) {
    let (_place, host) = host(&guide(describe));
    host.register("good", guest::good("good")).unwrap();
    let start = std::time::Instant::now();
    assert_eq!(shown(&host, &[])["description"], REGISTERED);
    assert_eq!(definitions(&host, &[]).names, ["good", "guide"]);
    assert!(start.elapsed() < PATIENCE);
    assert_eq!(host.call_blocking("guide", "{}", CallContext::default()).json(), "\"ok\"");
    let before = host.sandbox().instances_made();
    shown(&host, &[]);
    assert_eq!(host.sandbox().instances_made(), before, "it is asked again about the same company");
}

#[test]
fn a_describer_that_never_ends_leaves_the_tool_as_it_was_registered() {
    assert_left_alone("(func $describe (param i32 i32) (result i32) (loop $for_ever (br $for_ever)) unreachable)");
}

#[test]
fn a_describer_that_traps_or_answers_from_nowhere_leaves_the_tool_as_it_was_registered() {
    assert_left_alone("(func $describe (param i32 i32) (result i32) unreachable)");
    assert_left_alone("(func $describe (param i32 i32) (result i32) (i32.const -8))");
    assert_left_alone("(func $describe (param i32 i32) (result i32) (call $say (i32.const -8) (i32.const 100)))");
}

#[test]
fn a_describer_that_talks_rubbish_leaves_the_tool_as_it_was_registered() {
    // Of a tool that is not its own.
    assert_left_alone(
        r#"(data (i32.const 1024) "Mine now.")
        (func $describe (param i32 i32) (result i32)
          (i32.store8 (i32.const 576) (i32.const 0x47))
          (call $say (i32.const 1024) (i32.const 9)))"#,
    );
    // A good description beside a schema that is none: one bad part refuses all of it.
    for schema in ["nonsense", "[1,2,3]", r#"{\22$ref\22:\22http://elsewhere/\22}"#] {
        let length = schema.replace("\\22", "\"").len();
        assert_left_alone(&format!(
            r#"(data (i32.const 1024) "Fine.") (data (i32.const 1040) "{schema}")
            (func $describe (param i32 i32) (result i32)
              (call $parameters (i32.const 1040) (i32.const {length}))
              (call $say (i32.const 1024) (i32.const 5)))"#
        ));
    }
    // More than a mebibyte.
    assert_left_alone("(func $describe (param i32 i32) (result i32) (call $say (i32.const 0) (i32.const 1500000)))");
}
