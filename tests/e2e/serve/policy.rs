//! `[policy]` as clients meet it: on stdio and over the API.

use std::thread;

use serde_json::{Value, json};

use super::{
    PATIENCE, Serving, kind,
    pipe::{Pipe, error, result, text},
    until,
};
use crate::{cli::Place, guest};

fn place(policy: &str) -> Place {
    let place = Place::new();
    for name in ["good", "other", "third"] {
        place.drop_in(&format!("{name}.wasm"), &guest::good(name));
    }
    place.configure(&format!("[policy]\n{policy}"));
    place
}

fn names(tools: &Value) -> Vec<&str> {
    tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[test]
fn on_stdio_tools_are_denied_hidden_and_asked_about() {
    let place = place("good = \"ask\"\nother = { action = \"hidden\", client = \"pipe\" }\nthird = \"deny\"\n");
    let mut pipe = Pipe::legacy(&place, json!({"elicitation": {}}));
    let listed = result(pipe.request("tools/list", json!({})))["tools"].clone();
    let listed = names(&listed);
    assert!(listed.contains(&"good") && listed.contains(&"third") && !listed.contains(&"other"), "{listed:?}");
    let (_, why) = error(&pipe.request("tools/call", json!({"name": "other"})));
    assert!(why.contains("there is no tool"), "{why}");
    let denied = result(pipe.request("tools/call", json!({"name": "third"})));
    assert!(denied["isError"] == true && text(&denied).contains("by the policy"), "{denied}");
    let id = pipe.ask("tools/call", json!({"name": "good"}));
    let question = pipe.next();
    let message = question["params"]["message"].as_str().unwrap();
    assert!(message.contains("the operator wants to be asked, by the policy \"good\""), "{message}");
    pipe.reply(&question, json!({"action": "accept", "content": {"decision": "once"}}));
    assert_eq!(result(pipe.answer(&id))["isError"], false);
}

#[test]
fn a_client_that_cant_be_asked_is_refused() {
    let place = place("good = \"ask\"\n");
    let mut pipe = Pipe::legacy(&place, json!({}));
    let refused = result(pipe.request("tools/call", json!({"name": "good"})));
    assert!(refused["isError"] == true && text(&refused).contains("nobody to ask"), "{refused}");
}

#[test]
fn a_change_of_the_policy_is_told_to_clients_and_holds_at_once() {
    let place = place("");
    let mut pipe = Pipe::legacy(&place, json!({}));
    assert_eq!(result(pipe.request("tools/call", json!({"name": "good"})))["isError"], false);
    assert!(place.run(&["policy", "set", "good", "hidden"]).status.success());
    until(PATIENCE, || {
        let tools = result(pipe.request("tools/list", json!({})))["tools"].clone();
        !names(&tools).contains(&"good")
    });
    until(PATIENCE, || {
        pipe.request("ping", json!({}));
        pipe.heard.iter().any(|heard| heard["method"] == "notifications/tools/list_changed")
    });
    let (_, why) = error(&pipe.request("tools/call", json!({"name": "good"})));
    assert!(why.contains("there is no tool"), "{why}");
}

#[test]
fn over_the_api_tools_are_denied_hidden_and_asked_about() {
    let place = place(
        "good = { action = \"ask\", when = { \"/n\" = 1 } }\nother = { action = \"hidden\", client = \"http\" }\n\
         third = { action = \"deny\", why = \"not here\" }\n",
    );
    let serving = Serving::start(&place);
    let client = serving.client;
    let listed = client.get("/v1/tools?format=mcp").json()["tools"].clone();
    assert!(!names(&listed).contains(&"other") && names(&listed).contains(&"third"), "{listed}");
    assert_eq!(kind(&serving.call("other")), (404, "unknown-tool".to_owned()));
    let denied = serving.call("third");
    assert_eq!(kind(&denied), (403, "denied".to_owned()));
    assert!(denied.body.contains("not here"), "{denied:?}");
    assert_eq!(serving.call("good").status, 200, "its condition is not met");
    client.get("/v1/approvals");
    let call = thread::spawn(move || client.post("/v1/call", &json!({"name": "good", "arguments": {"n": 1}})));
    let questions = client.get("/v1/approvals?wait=20").json()["questions"].clone();
    assert!(questions[0]["reasons"][0].as_str().unwrap().contains("when /n is 1"), "{questions}");
    // A condition asks about such calls: an answer is for these arguments alone.
    let choices = questions[0]["choices"].to_string();
    assert!(!choices.contains("category"), "{choices}");
    let path = format!("/v1/approvals/{}", questions[0]["id"].as_str().unwrap());
    assert_eq!(client.post(&path, &json!({"answer": "deny"})).status, 200);
    assert_eq!(call.join().unwrap().status, 403);
}
