//! Lists and calls of tools by MCP: what a client may rely on, whatever its revision.

use serde_json::{Value, json};

use super::{
    guests,
    pipe::{CURRENT, LEGACY, Pipe, current, error, result, text, work},
};
use crate::{
    cli::Place,
    definitions::tool::{Tool, component},
    guest,
};

/// What a tool of these tests promises of its result.
const OUTPUT: &str = r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#;

/// The bits of `hints` in wit/types.wit.
const READ_ONLY_IDEMPOTENT: u8 = 0b101;
const DESTRUCTIVE_OPEN_WORLD: u8 = 0b1010;

/// All pages of the list, by name.
fn pages(pipe: &mut Pipe, version: &str) -> Vec<Vec<Value>> {
    let (mut pages, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let params = cursor.take().map_or(json!({}), |cursor| json!({ "cursor": cursor }));
        let page = result(pipe.request("tools/list", for_revision(version, params)));
        pages.push(page["tools"].as_array().unwrap().clone());
        match page.get("nextCursor") {
            Some(next) => cursor = Some(next.as_str().unwrap().to_owned()),
            None => return pages,
        }
    }
}

fn for_revision(version: &str, params: Value) -> Value {
    if version == CURRENT { current(json!({}), params) } else { params }
}

fn tool(pipe: &mut Pipe, name: &str) -> Value {
    let list = pages(pipe, LEGACY).concat();
    list.iter().find(|tool| tool["name"] == name).unwrap_or_else(|| panic!("{name} is not listed")).clone()
}

fn names(pages: &[Vec<Value>]) -> Vec<String> {
    pages.iter().flatten().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_list_is_the_same_every_time_in_the_order_of_names_and_in_pages() {
    let place = Place::new();
    // Files and definitions against the order of the names.
    for part in 0..5 {
        let names: Vec<String> = (0..50).rev().map(|n| format!("many_{:03}", n * 5 + part)).collect();
        let tools: Vec<Tool<'_>> = names.iter().map(|name| Tool { toolset: "many", ..Tool::named(name) }).collect();
        place.drop_in(&format!("part{}.wasm", 5 - part), &component(&tools, "", ""));
    }
    let mut old = Pipe::legacy(&place, json!({}));
    let first = pages(&mut old, LEGACY);
    assert!(first.len() == 2 && first[0].len() == 200, "{:?}", first.iter().map(Vec::len).collect::<Vec<_>>());
    let found = names(&first);
    assert!(found.is_sorted() && found.len() > 250, "{found:?}");
    assert!((0..250).all(|n| found.contains(&format!("many_{n:03}"))));
    for _ in 0..2 {
        assert_eq!(pages(&mut old, LEGACY), first);
    }
    let mut new = Pipe::open(&place);
    assert_eq!(pages(&mut new, CURRENT), pages(&mut new, CURRENT));
    assert_eq!(names(&pages(&mut new, CURRENT)), found);
    for cursor in [json!("../many_001"), json!(""), json!("x".repeat(100))] {
        let (code, why) = error(&old.request("tools/list", json!({ "cursor": cursor })));
        assert_eq!(code, -32602, "{cursor}: {why}");
    }
}

/// How long a list holds is a word of 2026-07-28, where clients must be told. Earlier schemas do not have it.
#[test]
fn how_long_a_list_holds_is_told_to_those_who_ask_by_the_current_revision() {
    let place = Place::new();
    let list = |mut pipe: Pipe, version| {
        let page = result(pipe.request("tools/list", for_revision(version, json!({}))));
        page.as_object().unwrap().keys().filter(|key| *key != "tools").cloned().collect::<Vec<_>>()
    };
    let mut told = list(Pipe::open(&place), CURRENT);
    told.sort();
    assert_eq!(told, ["_meta", "cacheScope", "resultType", "ttlMs"]);
    assert_eq!(list(Pipe::legacy(&place, json!({})), LEGACY), [] as [&str; 0]);
}

#[test]
fn a_call_answers_with_text_and_structure() {
    let place = Place::new();
    let arguments = json!({"name": "calculate", "arguments": {"expression": "6*7"}});
    let mut pipe = Pipe::legacy(&place, json!({}));
    let answered = result(pipe.request("tools/call", arguments.clone()));
    assert_eq!(answered["structuredContent"]["result"], "42");
    assert_eq!(serde_json::from_str::<Value>(&text(&answered)).unwrap(), answered["structuredContent"]);
    assert_eq!((&answered["isError"], answered.get("resultType")), (&json!(false), None));
    let mut pipe = Pipe::open(&place);
    let answered = result(pipe.request("tools/call", current(json!({}), arguments)));
    assert_eq!((&answered["structuredContent"]["result"], &answered["resultType"]), (&json!("42"), &json!("complete")));
}

#[test]
fn bad_arguments_are_for_the_model_and_a_tool_that_is_not_there_for_the_client() {
    let place = Place::new();
    let mut pipe = Pipe::legacy(&place, json!({}));
    for (arguments, says) in [
        (json!({}), "argument expression is missing"),
        (json!({"expression": {"a": 1}}), "argument expression"),
        (json!({"expression": "1", "digits": "many"}), "argument digits"),
    ] {
        let answered = pipe.call("calculate", arguments);
        assert_eq!(answered["isError"], true, "{answered}");
        assert!(text(&answered).contains(says), "{answered}");
        assert_eq!(answered["_meta"]["hermes-host/kind"], "invalid-arguments");
    }
    let (code, why) = error(&pipe.request("tools/call", json!({"name": "calculat", "arguments": {}})));
    assert_eq!(code, -32602);
    assert!(why.contains("calculate"), "{why}");
    // The tool that calls others is there: what it does not find was misspelt by the model.
    for (tool, says) in [("tool_call", "calculate"), ("tool_describe", "tool_search")] {
        let answered = pipe.call(tool, json!({"name": "calculat"}));
        assert_eq!(answered["isError"], true, "{answered}");
        assert_eq!(answered["_meta"]["hermes-host/kind"], "unknown-tool");
        assert!(text(&answered).contains(says), "{answered}");
    }
}

#[test]
fn a_tool_that_breaks_its_own_output_schema_has_failed() {
    let place = Place::new();
    for (name, json) in [("keeps", r#"{"n":3}"#), ("breaks", r#"{"n":"three"}"#)] {
        let promising = Tool { output: Some(OUTPUT), ..Tool::named(name) };
        place.drop_in(&format!("{name}.wasm"), &guests::answers(promising, json));
    }
    let mut pipe = Pipe::legacy(&place, json!({}));
    assert_eq!(tool(&mut pipe, "keeps")["outputSchema"], serde_json::from_str::<Value>(OUTPUT).unwrap());
    let kept = pipe.call("keeps", json!({}));
    assert_eq!((&kept["structuredContent"], &kept["isError"]), (&json!({"n": 3}), &json!(false)));
    let broken = pipe.call("breaks", json!({}));
    assert_eq!((broken.get("structuredContent"), &broken["isError"]), (None, &json!(true)));
    assert!(text(&broken).contains("output schema"), "{broken}");
}

/// Before 2026-07-28 a structured result is an object, and clients refuse another.
#[test]
fn a_structure_that_is_no_object_is_for_those_who_know_it() {
    let place = Place::new();
    let lists = Tool { output: Some(r#"{"type":"array","items":{"type":"integer"}}"#), ..Tool::named("lists") };
    place.drop_in("lists.wasm", &guests::answers(lists, "[1,2]"));
    let mut pipe = Pipe::legacy(&place, json!({}));
    assert_eq!(tool(&mut pipe, "lists").get("outputSchema"), None);
    let answered = pipe.call("lists", json!({}));
    assert_eq!((answered.get("structuredContent"), text(&answered).as_str()), (None, "[1,2]"));
    let mut pipe = Pipe::open(&place);
    let params = current(json!({}), json!({"name": "lists"}));
    assert_eq!(result(pipe.request("tools/call", params))["structuredContent"], json!([1, 2]));
}

#[test]
fn annotations_are_what_a_tool_could_do_and_not_what_it_says() {
    let place = Place::new();
    let claims = [("harmless", READ_ONLY_IDEMPOTENT), ("honest", 0), ("terrible", DESTRUCTIVE_OPEN_WORLD)];
    for (name, hints) in claims {
        place.drop_in(&format!("{name}.wasm"), &guests::could_use_files(name, hints));
    }
    place.drop_in("idle.wasm", &Tool { hints: DESTRUCTIVE_OPEN_WORLD, ..Tool::named("idle") }.component());
    let folder = work(&place);
    for (name, access) in [("harmless", "--write"), ("honest", "--read")] {
        let output = place.run(&["grant", name, access, folder.to_str().unwrap()]);
        assert!(output.status.success(), "{output:?}");
    }
    let changes =
        json!({"readOnlyHint": false, "destructiveHint": true, "idempotentHint": false, "openWorldHint": false});
    let changes_nothing =
        json!({"readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false});
    let mut pipe = Pipe::legacy(&place, json!({}));
    for (name, expected) in [
        // It may write, whatever it claims.
        ("harmless", &changes),
        // It may read, or nothing at all.
        ("honest", &changes_nothing),
        ("terrible", &changes_nothing),
        ("idle", &changes_nothing),
        // The bundled components are the host's own word.
        ("read_file", &changes_nothing),
        ("calculate", &changes_nothing),
    ] {
        let annotations = tool(&mut pipe, name)["annotations"].clone();
        for (hint, value) in expected.as_object().unwrap() {
            assert_eq!(&annotations[hint], value, "{hint} of {name}");
        }
    }
    assert_eq!(tool(&mut pipe, "terminal")["annotations"]["destructiveHint"], true);
    // What was taken away is gone from the list, too.
    assert!(place.run(&["revoke", "harmless"]).status.success());
    pipe.wait_for("notifications/tools/list_changed");
    assert_eq!(tool(&mut pipe, "harmless")["annotations"]["readOnlyHint"], true);
}

#[test]
fn a_trap_is_an_error_of_that_call_alone() {
    let place = Place::new();
    place.drop_in("traps.wasm", &guest::attack("traps"));
    place.drop_in("good.wasm", &guest::good("good"));
    let mut pipe = Pipe::legacy(&place, json!({}));
    let answered = pipe.call("traps", json!({}));
    assert_eq!((&answered["isError"], &answered["_meta"]["hermes-host/kind"]), (&json!(true), &json!("trap")));
    pipe.assert_good(json!({"name": "good"}));
}
