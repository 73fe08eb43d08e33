//! `[policy]`: what happens to calls by tool, arguments and client, and what `hermes-host policy` says and writes.

use std::fs;

use hermes_host::CallContext;
use serde_json::{Value, json};

use super::{
    cli::{Place, assert_wrong, parse, stderr, stdout},
    guest, start,
};

/// A place with two tools and this policy.
fn place(policy: &str) -> Place {
    let place = Place::new();
    for name in ["good", "other"] {
        place.drop_in(&format!("{name}.wasm"), &guest::good(name));
    }
    place.configure(&format!("# mine\n[policy]\n{policy}"));
    place
}

fn call(place: &Place, tool: &str, arguments: &str) -> Value {
    parse(&place.run(&["call", tool, arguments]))
}

fn names(place: &Place) -> Vec<String> {
    let definitions = parse(&place.run(&["definitions", "--format", "mcp"]));
    definitions.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_denied_call_is_refused_with_the_rule_and_the_reason() {
    let place = place(
        "good = [{ action = \"deny\", when = { \"/path\" = { glob = \"*.env\" } }, why = \"edit secrets by hand\" }, \"allow\"]\n\
         \"*\" = \"deny\"\n",
    );
    let denied = call(&place, "good", r#"{"path": "a/.env"}"#);
    assert_eq!(denied["kind"], "denied");
    let text = denied["error"].as_str().unwrap();
    for word in ["\"good\" when /path is like \"*.env\"", "edit secrets by hand", "[policy] in hermes.toml"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    assert_eq!(call(&place, "good", r#"{"path": "a/env"}"#), "ok");
    assert!(call(&place, "other", "{}")["error"].as_str().unwrap().contains("\"*\""));
    // The call in a tool_call is the call of that tool.
    let inside = call(&place, "tool_call", r#"{"name": "other", "arguments": {}}"#);
    assert_eq!(inside["kind"], "denied", "{inside}");
}

#[test]
fn a_hidden_tool_is_in_no_list_and_can_not_be_called() {
    let place = place("good = \"hidden\"\n");
    let names = names(&place);
    assert!(names.contains(&"other".into()) && !names.contains(&"good".into()), "{names:?}");
    for (tool, arguments) in [("good", "{}"), ("tool_call", r#"{"name": "good"}"#)] {
        let answer = call(&place, tool, arguments);
        assert_eq!(answer["kind"], "unknown-tool", "{answer}");
    }
    let near = call(&place, "goood", "{}");
    assert!(!near["error"].as_str().unwrap().contains("good or") && !near.to_string().contains("mean good"), "{near}");
    assert_eq!(call(&place, "tool_describe", r#"{"name": "good"}"#)["kind"], "unknown-tool");
    let found = call(&place, "tool_search", r#"{"query": "good"}"#);
    assert!(!found["tools"].as_array().unwrap().iter().any(|tool| tool["name"] == "good"), "{found}");
    assert!(stdout(&place.run(&["list"])).contains("good"), "the operator sees every tool");
}

#[test]
fn a_rule_for_a_client_holds_for_that_client_alone() {
    let place =
        place("good = { action = \"deny\", client = \"cli\" }\nother = { action = \"hidden\", client = \"x*\" }\n");
    assert_eq!(call(&place, "good", "{}")["kind"], "denied");
    let host = start::builder(&place).build().unwrap();
    let call = |tool: &str, client: Option<&str>| {
        let client = client.map(str::to_owned);
        host.call_blocking(tool, "{}", CallContext { client, ..CallContext::default() }).json()
    };
    assert_eq!(call("good", None), "\"ok\"");
    assert_eq!(call("good", Some("claude-code")), "\"ok\"");
    assert_eq!(call("other", None), "\"ok\"");
    assert!(call("other", Some("xy")).contains("unknown-tool"));
    let output = place.run(&["definitions", "--format", "mcp", "--client", "xy"]);
    assert!(!stdout(&output).contains("\"name\":\"other\"") && stdout(&output).contains("good"), "{output:?}");
}

#[test]
fn a_rule_for_a_toolset_holds_for_its_tools_alone() {
    let place = place("\"*\" = { action = \"deny\", toolset = \"mine\" }\n[toolsets.mine]\ntools = [\"good\"]\n");
    assert_eq!(call(&place, "good", "{}")["kind"], "denied");
    assert_eq!(call(&place, "other", "{}"), "ok");
    let place = Place::new();
    place.configure("[policy]\n\"*\" = { action = \"deny\", toolset = \"nowhere\" }\n");
    assert!(stderr(&place.run(&["list"])).contains("has no effect"));
}

#[test]
fn a_hook_that_blocks_comes_before_the_policy_and_allow_takes_nothing_back() {
    let place = place("good = \"allow\"\nother = \"deny\"\n");
    place.drop_hook("guard.wasm", &guest::attack("hook_blocks"));
    for tool in ["good", "other"] {
        let answer = call(&place, tool, "{}");
        assert!(answer["error"].as_str().unwrap().contains("blocked by the hook"), "{answer}");
    }
}

#[test]
fn check_names_the_rule_that_decides_or_none() {
    let place = place("good = [{ action = \"ask\", when = { \"/n\" = 1 } }, \"deny\"]\n\"o*\" = \"hidden\"\n");
    let check = |arguments: &[&str]| parse(&place.run(&[&["policy", "check", "--json"], arguments].concat()));
    let asked = check(&["good", r#"{"n": 1.0}"#]);
    assert_eq!((&asked["action"], &asked["position"]), (&json!("ask"), &json!(1)));
    assert_eq!(asked["rule"]["text"], "\"good\" when /n is 1");
    assert_eq!(check(&["good"])["position"], 2);
    assert_eq!(check(&["other"])["action"], "hidden");
    let none = check(&["calculate", r#"{"expression": "1"}"#]);
    assert_eq!((&none["action"], &none["rule"]), (&json!("allow"), &json!(null)));
    let text = place.run(&["policy", "check", "good"]);
    assert_eq!(stdout(&text), "deny: the call is refused\n  by rule 2: \"good\"\n");
    let none = place.run(&["policy", "check", "calculate", r#"{"expression": "1"}"#]);
    assert!(stdout(&none).contains("no rule matches"), "{none:?}");
    let unknown = place.run(&["policy", "check", "nowhere"]);
    assert!(unknown.status.success() && stderr(&unknown).contains("there is no tool"), "{unknown:?}");
    let refused = place.run(&["policy", "check", "calculate", "{}"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr(&refused).contains("before the policy is asked"), "{refused:?}");
    let listed = stdout(&place.run(&["policy"]));
    assert!(listed.starts_with("  1. ask \"good\" when /n is 1\n") && listed.contains("3. hidden \"o*\""), "{listed}");
}

#[test]
fn set_writes_the_file_and_keeps_its_comments() {
    let place = place("\"*\" = \"allow\" # all\n");
    let set = |tool: &str, action: &str| place.run(&["policy", "set", tool, action]);
    assert!(set("good", "deny").status.success());
    let file = || fs::read_to_string(place.home().join("hermes.toml")).unwrap();
    assert_eq!(file(), "# mine\n[policy]\ngood = \"deny\"\n\"*\" = \"allow\" # all\n");
    assert_eq!(call(&place, "good", "{}")["kind"], "denied");
    assert!(set("good", "allow").status.success());
    assert_eq!(call(&place, "good", "{}"), "ok");
    assert!(set("mcp__*", "hidden").status.success() && file().contains("\"mcp__*\" = \"hidden\""));
    assert_wrong(&set("a b", "deny"), &["matches no tool's name"]);
    assert_wrong(&set("good", "maybe"), &["maybe", "allow, ask, deny, hidden"]);
    place.configure("[policy]\n[[policy.good]]\naction = \"ask\"\n");
    assert_wrong(&set("good", "deny"), &["change it by hand"]);
    let fresh = Place::bare();
    assert!(fresh.run(&["policy", "set", "terminal", "ask"]).status.success());
    assert_eq!(fs::read_to_string(fresh.home().join("hermes.toml")).unwrap(), "[policy]\nterminal = \"ask\"\n");
}

#[test]
fn mistakes_and_the_old_place_are_refused_with_what_to_write() {
    let place = Place::bare();
    for (config, words) in [
        ("[approval]\ntools = [\"write_file\"]\n", ["approval.tools", "\"write_file\" = \"ask\""]),
        ("[policy]\nt = { action = \"ask\", wen = {} }\n", ["unknown field", "wen"]),
        ("[policy]\nt = \"no\"\n", ["unknown variant", "hidden"]),
    ] {
        place.configure(config);
        assert_wrong(&place.run(&["list"]), &words);
    }
}
