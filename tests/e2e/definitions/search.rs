//! Tools that are searched for instead of listed: when, by whom, and that nobody finds what is not theirs.

use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use hermes_host::{
    CallContext, Definitions, DefinitionsRequest, Host,
    dispatch::{ErrorKind, Hook},
    registry::{SearchMode, Selection},
    wit::latest::{Call, Verdict},
};
use serde_json::{Value, json};

use super::{definitions, description, names, tool::Tool};
use crate::{
    cli::{Place, parse, stdout},
    start,
};

const BRIDGE: [&str; 3] = ["tool_call", "tool_describe", "tool_search"];

/// A core tool, and two of which each has a toolset of its own.
fn place() -> Place {
    let place = Place::new();
    let core = Tool { toolset: "todo", description: "Keeps a list of tasks.", ..Tool::named("todo") };
    let parameters = r#"{"properties":{"city":{"type":"string"}},"required":["city"]}"#;
    let weather =
        Tool { toolset: "weather", description: "Says whether it will rain.", parameters, ..Tool::named("forecast") };
    let bank = Tool { toolset: "bank", description: "Moves money. Not for rain.", ..Tool::named("transfer") };
    for tool in [core, weather, bank] {
        place.drop_in(&format!("{}.wasm", tool.name), &tool.component());
    }
    place
}

#[test]
fn tools_outside_the_core_are_searched_for_when_their_schemas_outgrow_the_budget() {
    let place = place();
    let listed = |arguments: &[&str]| {
        names(&definitions(
            &place,
            &[&["--without", "calc", "--without", "file", "--without", "terminal"], arguments].concat(),
        ))
        .join(" ")
    };
    let (all, few) = ("forecast todo transfer", "todo tool_call tool_describe tool_search");
    assert_eq!(listed(&[]), all, "20,000 tokens are enough for three");
    assert_eq!((listed(&["--search", "on"]).as_str(), listed(&["--search", "off"]).as_str()), (few, all));
    // What the two take is a tenth of a window that is a little larger than ten times that.
    let tokens = |tool: &str| {
        let list = parse(&place.run(&["list", "--json"]));
        let found = list["tools"].as_array().unwrap().iter().find(|one| one["name"] == tool).unwrap()["tokens"].clone();
        found.as_u64().unwrap()
    };
    let both = tokens("forecast") + tokens("transfer");
    let window = |tenths: u64| listed(&["--context-window", &(tenths * 10).to_string()]);
    assert_eq!((window(both / 10 * 10).as_str(), window(both / 10 * 10 + 10).as_str()), (few, all), "{both} tokens");
    assert_eq!(listed(&["--context-window", "10", "--search", "off"]), all);
    assert_eq!(listed(&["--toolset", "todo", "--search", "on"]), "todo", "there is nothing to search for");
    place.configure("[tool_search]\nbudget = 10");
    assert_eq!(listed(&["--context-window", "1000000"]), few, "the operator's budget holds");
    place.configure("[tool_search]\nenabled = \"on\"");
    assert_eq!((listed(&[]).as_str(), listed(&["--search", "off"]).as_str()), (few, all));
    place.configure("context_window = 100");
    assert_eq!((listed(&[]).as_str(), listed(&["--context-window", "1000000"]).as_str()), (few, all));
}

#[test]
fn a_listed_description_does_not_name_a_tool_that_has_to_be_searched_for() {
    let place = place();
    let core = Tool { toolset: "memory", description: "Keeps facts. Rain is for `forecast`.", ..Tool::named("memory") };
    place.drop_in("memory.wasm", &core.component());
    let list = definitions(&place, &["--search", "off"]);
    assert_eq!(description(&list, "memory"), "Keeps facts. Rain is for `forecast`.");
    let list = definitions(&place, &["--search", "on"]);
    assert!(!names(&list).contains(&"forecast"));
    assert_eq!(description(&list, "memory"), "Keeps facts.");
}

#[test]
fn the_three_are_called_like_tools() {
    let place = place();
    let call = |tool: &str, arguments: Value| {
        let output = place.run(&["call", tool, &arguments.to_string()]);
        (output.status.code().unwrap(), parse(&output))
    };
    let (code, found) = call("tool_search", json!({"query": "will it rain", "limit": "1"}));
    assert_eq!(code, 0);
    assert_eq!(found["tools"], json!([{"name": "forecast", "description": "Says whether it will rain."}]));
    let (code, shown) = call("tool_describe", json!({"name": "forecast"}));
    assert_eq!((code, &shown["description"]), (0, &json!("Says whether it will rain.")));
    assert_eq!(shown["parameters"]["required"], json!(["city"]));
    assert_eq!(call("tool_call", json!({"name": "forecast", "arguments": {"city": "Rome"}})), (0, json!("ok")));
    let (code, error) = call("tool_call", json!({"name": "forecast", "arguments": {}}));
    assert_eq!((code, &error["kind"]), (1, &json!("invalid-arguments")));
    assert!(error["error"].as_str().unwrap().contains("city"), "{error}");
    let (code, error) = call("tool_call", json!({"name": "forecst"}));
    assert_eq!((code, &error["kind"]), (2, &json!("unknown-tool")));
    assert_eq!(call("tool_describe", json!({"name": "nobody"})).0, 2);
    assert_eq!(call("tool_search", json!({"words": "rain"})).1["kind"], "invalid-arguments");
    assert_eq!(call("tool_call", json!({"name": "tool_call", "arguments": {}})).1["kind"], "invalid-arguments");
    let audit = stdout(&place.run(&["audit", "--json"]));
    let tools: Vec<Value> =
        audit.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["tool"].clone()).collect();
    let expected = [
        "tool_search",
        "tool_describe",
        "forecast",
        "forecast",
        "forecst",
        "tool_describe",
        "tool_search",
        "tool_call",
    ];
    assert_eq!(json!(tools), json!(expected), "the audit names the real tool");
}

/// Writes down which tools it sees.
#[derive(Default)]
struct Sees(Mutex<Vec<String>>);

impl Hook for Sees {
    fn name(&self) -> &str {
        "sees"
    }

    fn pre_tool_call<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Verdict> {
        self.0.lock().unwrap().push(format!("{} {}", call.name, call.arguments));
        Box::pin(std::future::ready(Verdict::Allow))
    }
}

fn only(toolset: &str) -> Selection {
    Selection { enabled: Some(vec![toolset.into()]), ..Selection::default() }
}

fn offered(host: &Host, toolsets: Selection) -> Definitions {
    let request = DefinitionsRequest { toolsets, search: Some(SearchMode::On), ..DefinitionsRequest::default() };
    pollster::block_on(host.definitions(&request)).unwrap()
}

#[test]
fn what_is_outside_the_callers_toolsets_is_neither_found_nor_described_nor_called() {
    let place = place();
    let sees = Arc::new(Sees::default());
    let host = start::builder(&place).hook(Arc::<Sees>::clone(&sees)).build().unwrap();
    let offer = offered(&host, only("weather"));
    assert_eq!((offer.names.as_slice(), offer.deferred), (&BRIDGE.map(str::to_owned)[..], vec!["forecast".to_owned()]));
    let call = |tool: &str, arguments: Value| {
        let context = CallContext { toolsets: Some(only("weather")), ..CallContext::default() };
        host.call_blocking(tool, &arguments.to_string(), context)
    };
    let found: Value = serde_json::from_str(&call("tool_search", json!({"query": "money rain todo"})).json()).unwrap();
    assert_eq!((&found["searched"], &found["tools"][0]["name"]), (&json!(1), &json!("forecast")));
    assert_eq!(found["tools"].as_array().unwrap().len(), 1);
    assert_eq!(call("tool_describe", json!({"name": "transfer"})).result.unwrap_err().kind, ErrorKind::UnknownTool);
    let before = host.sandbox().instances_made();
    let error = call("tool_call", json!({"name": "transfer", "arguments": {}})).result.unwrap_err();
    assert_eq!(error.kind, ErrorKind::UnknownTool, "{error}");
    assert_eq!((host.sandbox().instances_made(), sees.0.lock().unwrap().len()), (before, 0));
    assert_eq!(call("tool_call", json!({"name": "forecast", "arguments": {"city": "Rome"}})).json(), "\"ok\"");
    assert_eq!(*sees.0.lock().unwrap(), [r#"forecast {"city":"Rome"}"#], "the hook sees the real call");
    let misspelt = CallContext { toolsets: Some(only("wether")), ..CallContext::default() };
    let error = host.call_blocking("tool_search", r#"{"query":"rain"}"#, misspelt).result.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Denied, "{error}");
}
