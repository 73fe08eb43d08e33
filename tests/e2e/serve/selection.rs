//! `run --toolset`, `--without` and `--tool`: what an agent gets beside its own tools.

use serde_json::{Value, json};

use super::{
    Serving, kind,
    pipe::{LEGACY, Pipe, error, result, text},
};
use crate::{
    cli::{Place, assert_wrong, parse, stderr},
    guest,
};

fn names(pipe: &mut Pipe) -> Vec<String> {
    let tools = result(pipe.request("tools/list", json!({})))["tools"].clone();
    tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

fn start(place: &Place, options: &[&str]) -> Pipe {
    let mut pipe = Pipe::with(place, options);
    pipe.initialize(LEGACY, json!({}));
    pipe
}

#[test]
fn an_agent_has_what_was_chosen_and_nothing_else() {
    let place = Place::new();
    place.drop_in("good.wasm", &guest::good("good"));
    for (options, listed, missing) in [
        (&["--toolset", "file"][..], &["patch", "read_file", "search_files", "write_file"][..], "terminal"),
        (
            &["--toolset", "file", "--without", "read_file", "--tool", "good"],
            &["good", "patch", "search_files", "write_file"],
            "read_file",
        ),
        (&["--tool", "good", "--tool", "terminal"], &["good", "terminal"], "process"),
    ] {
        let mut pipe = start(&place, options);
        assert_eq!(names(&mut pipe), listed, "{options:?}");
        let (code, why) = error(&pipe.request("tools/call", json!({"name": missing, "arguments": {}})));
        assert_eq!(code, -32602, "{why}");
        // Nor is it found or called by the host's own tools.
        let answered = pipe.call("tool_call", json!({"name": missing, "arguments": {}}));
        assert_eq!(answered["_meta"]["hermes-host/kind"], "unknown-tool", "{answered}");
        let found = text(&pipe.call("tool_search", json!({"query": missing, "limit": 20})));
        assert!(!found.contains(&format!("\"name\":\"{missing}\"")), "{found}");
    }
    let mut pipe = start(&place, &["--without", "file", "--without", "calculate"]);
    let left = names(&mut pipe);
    assert!(left.contains(&"terminal".into()) && left.contains(&"good".into()), "{left:?}");
    assert!(!left.contains(&"read_file".into()) && !left.contains(&"calculate".into()), "{left:?}");
}

#[test]
fn the_http_api_has_no_more_than_was_chosen() {
    let place = Place::new();
    let mut command = place.command(&["run", "--http", "127.0.0.1:0", "--toolset", "file", "--tool", "calculate"]);
    let serving = Serving::with_token(&mut command);
    let listed = |query: &str| -> Vec<String> {
        let tools = serving.client.get(&format!("/v1/tools?format=mcp{query}")).json()["tools"].clone();
        tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(listed(""), ["calculate", "patch", "read_file", "search_files", "write_file"]);
    assert_eq!(listed("&without=file"), ["calculate"]);
    assert_eq!(listed("&toolset=terminal"), [""; 0], "a caller's toolsets narrow, and add nothing");
    let call = |body: Value| serving.client.post("/v1/call", &body);
    assert_eq!(call(json!({"name": "calculate", "arguments": {"expression": "1"}})).status, 200);
    assert_eq!(kind(&call(json!({"name": "terminal"}))), (404, "unknown-tool".to_owned()));
    assert_eq!(kind(&call(json!({"name": "terminal", "toolsets": ["terminal"]}))), (404, "unknown-tool".to_owned()));
}

#[test]
fn a_misspelt_toolset_stops_the_start_and_a_tool_may_come_later() {
    let place = Place::new();
    for option in ["--toolset", "--without"] {
        assert_wrong(&place.run(&["run", "--stdio", option, "termnal"]), &["termnal", "terminal"]);
    }
    let mut pipe = start(&place, &["--tool", "later"]);
    assert_eq!(names(&mut pipe), [""; 0]);
    place.drop_in("later.wasm", &guest::good("later"));
    pipe.wait_for("notifications/tools/list_changed");
    assert_eq!(names(&mut pipe), ["later"]);
    assert!(pipe.end().stderr.contains("no tool \"later\" yet"));
}

#[test]
fn what_is_pasted_carries_the_choice() {
    let place = Place::bare();
    let options = ["--toolset", "file", "--without", "patch", "--tool", "calculate", "--results", "json"];
    let printed = place.run(&[&["run", "--print-config", "claude-desktop"], &options[..]].concat());
    let arguments = parse(&printed)["mcpServers"]["hermes-host"]["args"].clone();
    let words: Vec<String> = serde_json::from_value(arguments).unwrap();
    assert!(words.windows(options.len()).any(|part| part == options), "{words:?} {}", stderr(&printed));
}
