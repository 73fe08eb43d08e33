//! What models get: three forms held against golden files, each provider's rules, and descriptions that fit the list.
//!
//! `HERMES_WRITE_GOLDEN=1` writes `tests/golden` anew; what changed is then for the reader of the diff to judge.

mod describer;
mod search;
pub(crate) mod tool;

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use super::cli::{Place, parse, stderr, stdout};
use tool::{Tool, component};

/// One parameter for each rule of the providers.
const SCHEMA: &str = r##"{
    "type": "object",
    "definitions": {"spot": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city", "gone"]}},
    "properties": {
        "when": {"type": ["string", "null"], "format": "date-time", "description": "Day and hour."},
        "size": {"type": ["integer", "string"], "minimum": 1},
        "unit": {"anyOf": [{"type": "string", "enum": ["km/h", "knots"]}, {"type": "null"}], "default": "knots"},
        "code": {"type": "string", "pattern": "^[a-z]+$"},
        "level": {"type": "integer", "enum": [1, 2, 3]},
        "spot": {"$ref": "#/definitions/spot", "default": {}},
        "mood": {"type": ["string", "null"], "enum": ["good", "", null]},
        "either": {"oneOf": [{"type": "string"}, {"type": "number", "exclusiveMinimum": 0}]},
        "options": {"type": "object"},
        "list": {"type": "array", "items": {}},
        "anything": {}
    },
    "required": ["when", "gone"],
    "anyOf": [{"required": ["when"]}, {"required": ["size"]}]
}"##;

/// The tools of the golden files: one with every rule, one with nothing, one with all that MCP shows.
fn golden_place() -> Place {
    let place = Place::new();
    let all = Tool {
        toolset: "golden",
        description: "Has a parameter for each rule.",
        parameters: SCHEMA,
        ..Tool::named("rules")
    };
    let none = Tool { toolset: "golden", description: "Takes nothing.", parameters: "{}", ..Tool::named("bare") };
    let hinted = Tool {
        toolset: "golden",
        description: "Says what it gives and does: \"quotes\", <tags> and ünï.",
        parameters: r#"{"properties":{"n":{"type":"integer","minimum":1}},"required":["n"],"additionalProperties":false}"#,
        output: Some(r#"{"type":"object","properties":{"sum":{"type":["integer","null"]}}}"#),
        hints: 0b01101,
        ..Tool::named("hinted")
    };
    // Neither the files' names nor the order within one decide.
    place.drop_in("a.wasm", &component(&[all, none], "", ""));
    place.drop_in("b.wasm", &hinted.component());
    place
}

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/golden").join(name)
}

fn definitions(place: &Place, arguments: &[&str]) -> Value {
    let output = place.run(&[&["definitions"], arguments].concat());
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""), "{arguments:?}");
    parse(&output)
}

/// The names in a list of the OpenAI form.
fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|one| one["function"]["name"].as_str().unwrap()).collect()
}

fn description<'a>(list: &'a Value, tool: &str) -> &'a str {
    let found = list.as_array().unwrap().iter().find(|one| one["function"]["name"] == tool);
    found.unwrap_or_else(|| panic!("{tool} is not in {list}"))["function"]["description"].as_str().unwrap()
}

#[test]
fn the_forms_and_the_providers_rules_are_those_of_the_golden_files() {
    let place = golden_place();
    for (file, arguments) in [
        ("openai.json", ["--format", "openai"]),
        ("anthropic.json", ["--format", "anthropic"]),
        ("mcp.json", ["--format", "mcp"]),
        ("gemini.json", ["--provider", "gemini"]),
        ("moonshot.json", ["--provider", "moonshot"]),
        ("xai.json", ["--provider", "xai"]),
        ("llamacpp.json", ["--provider", "llamacpp"]),
    ] {
        let run = || place.run(&[&["definitions", "--toolset", "golden"], &arguments[..]].concat());
        let text = stdout(&run());
        assert_eq!(text, stdout(&run()), "{file}: the same state gives another text");
        if std::env::var_os("HERMES_WRITE_GOLDEN").is_some() {
            fs::write(golden(file), &text).unwrap();
        }
        let expected = fs::read_to_string(golden(file)).unwrap_or_default();
        assert_eq!(text, expected, "{file}: HERMES_WRITE_GOLDEN=1 writes it anew");
    }
}

/// The parameters of the tool with every rule.
fn rules(place: &Place, arguments: &[&str]) -> Value {
    let list = definitions(place, &[&["--toolset", "golden"], arguments].concat());
    assert_eq!(names(&list), ["bare", "hinted", "rules"], "the order is that of the names");
    list[2]["function"]["parameters"].clone()
}

/// All nodes of a schema, values left out.
fn nodes(schema: &Value) -> Vec<&serde_json::Map<String, Value>> {
    let Value::Object(node) = schema else { return vec![] };
    let below = node.iter().flat_map(|(key, value)| match key.as_str() {
        "properties" | "$defs" => value.as_object().unwrap().values().flat_map(nodes).collect(),
        "anyOf" | "oneOf" | "allOf" => value.as_array().unwrap().iter().flat_map(nodes).collect(),
        "items" => nodes(value),
        _ => vec![],
    });
    std::iter::once(node).chain(below).collect()
}

#[test]
fn every_provider_gets_schemas_by_its_own_rules() {
    let place = golden_place();
    let rules = |provider: &str| rules(&place, &["--provider", provider]);
    let standard = rules("standard");
    let of = |schema: &Value, name: &str| schema["properties"][name].clone();
    assert_eq!(standard.get("anyOf"), None, "the top offers a choice");
    assert_eq!(standard["required"], json!(["when"]));
    assert_eq!(of(&standard, "when")["nullable"], true);
    assert_eq!(of(&standard, "size"), json!({"anyOf": [{"type": "integer", "minimum": 1}, {"type": "string"}]}));
    assert_eq!(of(&standard, "spot"), json!({"$ref": "#/$defs/spot"}), "a default beside a reference");
    assert_eq!(of(&standard, "options"), json!({"type": "object", "properties": {}}));
    assert!(of(&standard, "unit").get("anyOf").is_none() && of(&standard, "unit")["default"] == "knots");

    let gemini = rules("gemini");
    let allowed = "type format title description nullable enum maxItems minItems properties required minProperties \
                   maxProperties minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum";
    for node in nodes(&gemini) {
        assert!(node.keys().all(|key| allowed.split_whitespace().any(|allowed| allowed == key)), "{node:?}");
    }
    assert_eq!(of(&gemini, "level"), json!({"type": "integer"}), "a choice of numbers");
    assert_eq!(of(&gemini, "spot")["properties"], json!({"city": {"type": "string"}}));
    assert_eq!(of(&gemini, "spot")["required"], json!(["city"]));

    let moonshot = rules("moonshot");
    for node in nodes(&moonshot) {
        assert_ne!(node.contains_key("type"), node.contains_key("anyOf"), "{node:?}");
        assert!(!node.contains_key("nullable") && !node.contains_key("$ref"), "{node:?}");
        assert_ne!(node.get("type"), Some(&json!("null")));
        if node.get("type") == Some(&json!("object")) {
            assert!(node["required"].is_array(), "{node:?}");
        }
    }
    assert_eq!(of(&moonshot, "mood")["enum"], json!(["good"]));
    assert_eq!(of(&moonshot, "anything"), json!({"type": "string"}));

    let (xai, llama) = (rules("xai"), rules("llamacpp"));
    assert_eq!((of(&xai, "unit").get("enum"), of(&xai, "level")["enum"].clone()), (None, json!([1, 2, 3])));
    assert!(of(&standard, "unit").get("enum").is_some() && of(&llama, "unit").get("enum").is_some());
    for key in ["pattern", "format"] {
        assert!(nodes(&llama).iter().all(|node| !node.contains_key(key)), "{key}");
        assert!(nodes(&xai).iter().any(|node| node.contains_key(key)), "{key}");
    }
    let mcp = definitions(&place, &["--toolset", "golden", "--format", "mcp", "--provider", "gemini"]);
    assert_eq!(mcp[2]["inputSchema"], serde_json::from_str::<Value>(SCHEMA).unwrap(), "MCP has the schema as it is");
}

#[test]
fn what_the_operator_names_wrongly_is_wrong_usage() {
    let place = golden_place();
    for (arguments, message) in [
        (["--toolset", "goldn"], "did you mean golden"),
        (["--without", "goldn"], "did you mean golden"),
        (["--format", "xml"], "expected openai, anthropic or mcp"),
        (["--provider", "openai"], "standard, gemini, moonshot, xai, llamacpp"),
        (["--search", "maybe"], "expected auto, on or off"),
        (["--context-window", "big"], "invalid digit"),
    ] {
        let output = place.run(&[&["definitions"], &arguments[..]].concat());
        assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(2), ""), "{arguments:?}");
        assert!(stderr(&output).contains(message), "{}", stderr(&output));
    }
}

#[test]
fn toolsets_add_up_and_what_is_taken_away_is_gone() {
    let place = golden_place();
    let all = definitions(&place, &["--without", "file", "--without", "terminal"]);
    assert_eq!(names(&all), ["bare", "calculate", "convert_time", "convert_units", "hinted", "rules"]);
    let of = |arguments: &[&str]| names(&definitions(&place, arguments)).join(" ");
    assert_eq!(of(&["--toolset", "golden", "--toolset", "calc"]), names(&all).join(" "));
    assert_eq!(of(&["--without", "calc", "--without", "file", "--without", "terminal"]), "bare hinted rules");
    assert_eq!(of(&["--toolset", "golden", "--without", "all"]), "");
    assert_eq!(of(&["--toolset", "web"]), "", "a toolset of tools that are not loaded");
}

/// A tool whose check fails.
fn broken(tool: Tool<'_>) -> Vec<u8> {
    component(&[tool], "", "(func $check (result i32) unreachable)")
}

#[test]
fn tools_that_can_not_work_are_left_out() {
    let place = golden_place();
    place.drop_in("c.wasm", &broken(Tool { toolset: "golden", ..Tool::named("broken") }));
    let unset = Tool { toolset: "golden", required_env: &["HERMES_TEST_NOBODY_SETS_THIS"], ..Tool::named("unset") };
    place.drop_in("d.wasm", &unset.component());
    assert_eq!(names(&definitions(&place, &["--toolset", "golden"])), ["bare", "hinted", "rules"]);
}

#[test]
fn a_description_never_names_a_tool_that_is_not_in_the_list() {
    let place = Place::new();
    let text = "Reads a page. Find pages with page_find first. Then web_search helps. Returns text.";
    let parameters = r#"{"properties":{"url":{"type":"string","description":"An address. See `page_find`."}}}"#;
    let reads = Tool { description: text, parameters, ..Tool::named("page_read") };
    place.drop_in("read.wasm", &reads.component());
    let list = |arguments: &[&str]| {
        let list = definitions(&place, arguments);
        let parameter = list.as_array().unwrap().iter().find(|one| one["function"]["name"] == "page_read").unwrap();
        let parameter = parameter["function"]["parameters"]["properties"]["url"]["description"].as_str().unwrap();
        (description(&list, "page_read").to_owned(), parameter.to_owned())
    };
    let with = "Reads a page. Find pages with page_find first. Returns text.";
    let (without, address) = ("Reads a page. Returns text.", "An address.");
    // In the list, then in a toolset that was not asked for, then unable to work. No tool of the name web_search is there at all.
    place.drop_in("find.wasm", &Tool::named("page_find").component());
    assert_eq!(list(&[]), (with.into(), "An address. See `page_find`.".into()));
    assert_eq!(list(&["--toolset", "page_read"]), (without.into(), address.into()));
    assert_eq!(list(&["--without", "page_find"]), (without.into(), address.into()));
    place.drop_in("find.wasm", &broken(Tool::named("page_find")));
    assert_eq!(list(&[]), (without.into(), address.into()));
    place.drop_in("search.wasm", &Tool::named("web_search").component());
    assert!(list(&[]).0.contains("Then web_search helps."));
}
