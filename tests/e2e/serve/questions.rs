//! Questions to the person behind a client before 2026-07-28: they come while the call is open, and nothing runs before the answer.

mod sessions;

use std::fs;

use serde_json::{Value, json};

use super::{
    PATIENCE, guests,
    pipe::{LEGACY, Pipe, error, result, text, work},
    until,
};
use crate::{cli::Place, definitions::tool::Tool, guest};

/// What a [`promising`] tool says of its results, and what the one says that takes its place.
const OUTPUT: &str = r#"{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}"#;
const OTHER_OUTPUT: &str = r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#;

/// Leaves a line behind each time it runs, and needs a person's approval.
pub(super) const COMMAND: &str = "echo ran >> ran; rm -rf src";

/// A host whose terminal asks, with two tools that ask for themselves. One of them may.
pub(super) fn place() -> Place {
    let place = Place::new();
    place.drop_in("good.wasm", &guest::good("good"));
    place.drop_in("asks.wasm", &guests::asks("asks", "who"));
    place.drop_in("may_not.wasm", &guests::asks("may_not", "who"));
    place.drop_in("poses.wasm", &guests::asks("poses", "hermes-host.approval"));
    for name in ["asks", "poses"] {
        let output = place.run(&["grant", name, "--ask"]);
        assert!(output.status.success(), "{output:?}");
    }
    place
}

/// A tool that asks and promises what its result is like, and may ask.
pub(super) fn promising(place: &Place, name: &str) {
    place.drop_in(&format!("{name}.wasm"), &guests::asks_as(Tool { output: Some(OUTPUT), ..Tool::named(name) }));
    let output = place.run(&["grant", name, "--ask"]);
    assert!(output.status.success(), "{output:?}");
}

/// Puts another in its place, whose results are of another kind, and waits until the list has it. `list`: the params for that.
pub(super) fn replace(place: &Place, name: &str, pipe: &mut Pipe, list: &Value) {
    let other = Tool { output: Some(OTHER_OUTPUT), ..Tool::named(name) };
    place.drop_in(&format!("{name}.wasm"), &guests::answers(other, r#"{"n":3}"#));
    let schema: Value = serde_json::from_str(OTHER_OUTPUT).unwrap();
    until(PATIENCE, || {
        let tools = result(pipe.request("tools/list", list.clone()))["tools"].clone();
        tools.as_array().unwrap().iter().any(|tool| tool["name"] == name && tool["outputSchema"] == schema)
    });
}

/// Adds to the operator's file how long a question waits.
pub(super) fn wait_for(place: &Place, time: &str) {
    let file = place.home().join("hermes.toml");
    let config = fs::read_to_string(&file).unwrap();
    fs::write(file, format!("{config}\n[approval]\ntimeout = \"{time}\"\n")).unwrap();
}

pub(super) fn command() -> Value {
    json!({"name": "terminal", "arguments": {"command": COMMAND}})
}

/// How often the command ran.
pub(super) fn runs(place: &Place) -> usize {
    fs::read_to_string(work(place).join("ran")).unwrap_or_default().lines().count()
}

/// The call did not do it, and the model is told why.
pub(super) fn assert_blocked(answered: &Value, why: &str) {
    assert_eq!(answered["isError"], true, "{answered}");
    assert!(text(answered).contains("\nstatus: blocked\n"), "{answered}");
    assert!(text(answered).contains(why), "{why:?} is not in {answered}");
}

fn asking(place: &Place) -> Pipe {
    Pipe::legacy(place, json!({"elicitation": {}}))
}

/// Calls, and waits for the question: the call's id and the question.
fn asked(pipe: &mut Pipe, params: Value) -> (Value, Value) {
    let id = pipe.ask("tools/call", params);
    let question = pipe.next();
    assert_eq!(question["method"], "elicitation/create", "{question}");
    (id, question)
}

#[test]
fn a_person_is_asked_and_once_is_once() {
    let place = place();
    let mut pipe = asking(&place);
    let (id, question) = asked(&mut pipe, command());
    let params = &question["params"];
    assert!(params["message"].as_str().unwrap().contains(COMMAND), "{params}");
    let form = &params["requestedSchema"];
    assert_eq!((&form["type"], &form["required"]), (&json!("object"), &json!(["decision"])));
    let choices = form["properties"]["decision"]["enum"].as_array().unwrap();
    assert!(choices.contains(&json!("once")) && choices.contains(&json!("deny")), "{form}");
    assert!(!choices.contains(&json!("always-category")), "a kind that destroys is not allowed for good: {form}");
    let decision = &form["properties"]["decision"];
    assert_eq!(decision["enumNames"][0], "Yes, this once");
    assert_eq!(decision.get("default"), None, "nothing is chosen in the person's place");
    assert!(params["message"].as_str().unwrap().contains("60 s it counts as refused"), "{params}");
    assert_eq!(runs(&place), 0, "nothing runs before the answer");
    pipe.reply(&question, json!({"action": "accept", "content": {"decision": "once"}}));
    let answered = result(pipe.answer(&id));
    assert_eq!((&answered["isError"], runs(&place)), (&json!(false), 1), "{answered}");
    let (id, question) = asked(&mut pipe, command());
    pipe.reply(&question, json!({"action": "decline"}));
    assert_blocked(&result(pipe.answer(&id)), "refused");
    assert_eq!(runs(&place), 1);
}

#[test]
fn no_is_no_however_it_is_said() {
    let place = place();
    let mut pipe = asking(&place);
    for (answer, why) in [
        (json!({"action": "decline"}), "refused"),
        (json!({"action": "cancel"}), "closed without an answer"),
        // What is beside a refusal does not turn it.
        (json!({"action": "decline", "content": {"decision": "always"}}), "refused"),
        (json!({"action": "accept", "content": {"decision": "deny", "reason": "not on a Sunday"}}), "not on a Sunday"),
        (json!({"nonsense": true}), "refused"),
    ] {
        let (id, question) = asked(&mut pipe, command());
        pipe.reply(&question, answer);
        assert_blocked(&result(pipe.answer(&id)), why);
    }
    let (id, question) = asked(&mut pipe, command());
    pipe.send(&json!({"jsonrpc": "2.0", "id": question["id"], "error": {"code": -32601, "message": "no"}}));
    assert_blocked(&result(pipe.answer(&id)), "refused");
    assert_eq!(runs(&place), 0);
}

#[test]
fn what_is_no_answer_is_asked_again_but_not_for_ever() {
    let place = place();
    let mut pipe = asking(&place);
    let no_answers =
        [json!({"decision": "yes"}), json!({"decision": ["once"]}), json!({"approved": true, "Decision": "once"})];
    let (id, mut question) = asked(&mut pipe, command());
    for (n, content) in no_answers.into_iter().enumerate() {
        pipe.reply(&question, json!({"action": "accept", "content": content}));
        if n < 2 {
            let again = pipe.next();
            assert_ne!(again["id"], question["id"]);
            assert!(again["params"]["message"].as_str().unwrap().contains("was not taken"), "{again}");
            question = again;
        }
    }
    assert_blocked(&result(pipe.answer(&id)), "no answer");
    // One that comes in time counts.
    let (id, question) = asked(&mut pipe, command());
    pipe.reply(&question, json!({"action": "accept", "content": {"reason": "why not"}}));
    let again = pipe.next();
    assert_eq!(runs(&place), 0);
    pipe.reply(&again, json!({"action": "accept", "content": {"decision": "once"}}));
    assert_eq!(result(pipe.answer(&id))["isError"], false);
    assert_eq!(runs(&place), 1);
}

/// Clients with a bare yes and no show no fields. Hermes Agent 0.19 accepts with `{}`.
#[test]
fn a_bare_yes_is_once_and_a_tools_form_still_wants_its_fields() {
    let place = place();
    let mut pipe = asking(&place);
    let yeses = [
        json!({"action": "accept", "content": {}}),
        json!({"action": "accept"}),
        json!({"action": "accept", "content": null}),
    ];
    for (n, yes) in yeses.iter().enumerate() {
        // Asked each time: it was for one run, and nothing was remembered.
        let (id, question) = asked(&mut pipe, command());
        pipe.reply(&question, yes.clone());
        let answered = result(pipe.answer(&id));
        assert_eq!((&answered["isError"], runs(&place)), (&json!(false), n + 1), "{answered}");
    }
    let (id, mut question) = asked(&mut pipe, json!({"name": "asks"}));
    for (n, yes) in yeses.iter().enumerate() {
        pipe.reply(&question, yes.clone());
        if n < 2 {
            question = pipe.next();
            assert!(question["params"]["message"].as_str().unwrap().contains("was not taken"), "{question}");
        }
    }
    assert!(!text(&result(pipe.answer(&id))).contains('{'));
}

#[test]
fn an_answer_that_comes_too_late_or_to_another_question_runs_nothing() {
    let place = place();
    wait_for(&place, "1s");
    let mut pipe = asking(&place);
    let yes = json!({"action": "accept", "content": {"decision": "once"}});
    let (id, question) = asked(&mut pipe, command());
    pipe.reply(&json!({"id": 4711}), yes.clone());
    assert_blocked(&result(pipe.answer(&id)), "nobody answered within 1 s");
    pipe.reply(&question, yes.clone());
    pipe.assert_good(json!({"name": "good"}));
    // Nor does one to a call that was given up.
    let (id, question) = asked(&mut pipe, command());
    pipe.cancel(&id);
    pipe.reply(&question, yes);
    pipe.assert_good(json!({"name": "good"}));
    assert!(pipe.end().status.success());
    assert_eq!(runs(&place), 0);
}

/// A dialog that nobody takes back stays on the screen, and its answer means nothing.
#[test]
fn a_question_that_is_over_is_taken_back() {
    let place = place();
    wait_for(&place, "1s");
    let mut pipe = asking(&place);
    let (id, question) = asked(&mut pipe, command());
    assert_blocked(&result(pipe.answer(&id)), "nobody answered");
    assert_taken_back(&mut pipe, &question);
    let (id, question) = asked(&mut pipe, command());
    pipe.cancel(&id);
    assert_taken_back(&mut pipe, &question);
}

fn assert_taken_back(pipe: &mut Pipe, question: &Value) {
    let is_it = |one: &Value| one["method"] == "notifications/cancelled";
    let taken = match pipe.heard.iter().position(is_it) {
        Some(at) => pipe.heard.remove(at),
        None => pipe.wait_for("notifications/cancelled"),
    };
    assert_eq!(taken["params"]["requestId"], question["id"]);
}

#[test]
fn a_client_that_shows_no_forms_is_told_no_at_once() {
    let place = place();
    for capabilities in [json!({}), json!({"elicitation": {"url": {}}}), json!({"sampling": {}, "roots": {}})] {
        let mut pipe = Pipe::legacy(&place, capabilities);
        // A question that waited would say that nobody answered in time.
        assert_blocked(&pipe.call("terminal", json!({"command": COMMAND})), "nobody to ask");
        assert!(text(&pipe.call("asks", json!({}))).contains("nobody to ask"));
        assert_eq!(pipe.heard, [] as [Value; 0], "it was asked all the same");
    }
    assert_eq!(runs(&place), 0);
}

#[test]
fn every_revision_that_shows_forms_is_asked() {
    let place = place();
    for (version, capability) in [("2025-06-18", json!({})), (LEGACY, json!({"form": {}}))] {
        let mut pipe = Pipe::open(&place);
        pipe.initialize(version, json!({ "elicitation": capability }));
        let (id, question) = asked(&mut pipe, command());
        pipe.reply(&question, json!({"action": "decline"}));
        assert_blocked(&result(pipe.answer(&id)), "refused");
    }
}

#[test]
fn for_the_session_is_for_this_client_and_no_other() {
    let place = place();
    let mut pipe = asking(&place);
    let (id, question) = asked(&mut pipe, command());
    pipe.reply(&question, json!({"action": "accept", "content": {"decision": "session"}}));
    result(pipe.answer(&id));
    assert_eq!(pipe.call("terminal", json!({"command": COMMAND}))["isError"], false);
    assert_eq!((runs(&place), &pipe.heard), (2, &Vec::new()));
    let mut other = asking(&place);
    let (id, question) = asked(&mut other, command());
    other.reply(&question, json!({"action": "decline"}));
    assert_blocked(&result(other.answer(&id)), "refused");
    assert_eq!(runs(&place), 2);
}

/// One component gets a permit only while it holds fewer than are free: half of 64.
#[test]
fn questions_that_wait_leave_permits_for_other_calls() {
    let place = place();
    let mut pipe = asking(&place);
    for _ in 0..80 {
        pipe.ask("tools/call", command());
    }
    let asked = |pipe: &Pipe| pipe.heard.iter().filter(|one| one["method"] == "elicitation/create").count();
    while asked(&pipe) < 32 {
        let message = pipe.next();
        assert_eq!(message["method"], "elicitation/create", "{message}");
        pipe.heard.push(message);
    }
    pipe.assert_good(json!({"name": "good"}));
    assert_eq!((asked(&pipe), pipe.answers.len(), runs(&place)), (32, 0, 0));
}

#[test]
fn a_tool_hears_what_the_person_said_and_nothing_that_does_not_fit_its_form() {
    let place = place();
    let mut pipe = asking(&place);
    let said = |pipe: &mut Pipe, answers: &[Value]| {
        let id = pipe.ask("tools/call", json!({"name": "asks"}));
        for answer in answers {
            let question = pipe.next();
            assert!(question["params"]["message"].as_str().unwrap().contains("component asks"), "{question}");
            pipe.reply(&question, answer.clone());
        }
        text(&result(pipe.answer(&id)))
    };
    let given = |content: Value| json!({"action": "accept", "content": content});
    assert_eq!(said(&mut pipe, &[given(json!({"name": "Ada"}))]), r#"{"name":"Ada"}"#);
    assert_eq!(said(&mut pipe, &[json!({"action": "decline"})]), "declined");
    assert_eq!(said(&mut pipe, &[json!({"action": "cancel"})]), "dismissed");
    let fits_late =
        [given(json!({"name": 7})), given(json!({"name": "Bo", "admin": true})), given(json!({"name": "Bo"}))];
    assert_eq!(said(&mut pipe, &fits_late), r#"{"name":"Bo"}"#);
    let never_fits = [given(json!({})), json!({"action": "accept"}), given(json!([1]))];
    assert!(!said(&mut pipe, &never_fits).contains('{'));
}

#[test]
fn a_tool_asks_by_grant_alone_and_not_in_the_hosts_name() {
    let place = place();
    let mut pipe = asking(&place);
    assert!(text(&pipe.call("may_not", json!({}))).contains("not granted"));
    assert!(text(&pipe.call("poses", json!({}))).contains("name"));
    assert_eq!(pipe.heard, [] as [Value; 0]);
    let (code, why) = error(&pipe.request("tools/call", json!({"name": "asks", "requestState": "rs1.x"})));
    assert_eq!(code, -32602, "{why}");
}

/// What a tool asks for with a form that no client has, it must hear is its own mistake: that nobody is there would send it elsewhere.
#[test]
fn a_form_that_no_client_shows_is_the_tools_mistake() {
    let place = place();
    let field = |field: &str| format!(r#"{{"type":"object","properties":{{"a":{field}}}}}"#);
    for (name, form, says) in [
        ("password", field(r#"{"type":"string","format":"password"}"#), "format"),
        ("spoofs", field("{\"type\":\"string\",\"enum\":[\"\u{202e}on\"]}"), "hidden"),
    ] {
        place.drop_in(&format!("{name}.wasm"), &guests::asks_with(name, &form));
        assert!(place.run(&["grant", name, "--ask"]).status.success());
        let mut pipe = asking(&place);
        let answered = text(&pipe.call(name, json!({})));
        assert!(answered.contains(says), "{answered}");
        assert_eq!(pipe.heard, [] as [Value; 0]);
    }
}

/// Its code is gone when it ends, and its result is held against what that code promised.
#[test]
fn a_call_that_asked_ends_by_the_schema_it_began_with() {
    let place = Place::new();
    promising(&place, "promises");
    let mut pipe = asking(&place);
    let (id, question) = asked(&mut pipe, json!({"name": "promises"}));
    replace(&place, "promises", &mut pipe, &json!({}));
    pipe.reply(&question, json!({"action": "accept", "content": {"name": "Ada"}}));
    let answered = result(pipe.answer(&id));
    assert_eq!((&answered["structuredContent"], &answered["isError"]), (&json!({"name": "Ada"}), &json!(false)));
    assert_eq!(pipe.call("promises", json!({}))["structuredContent"], json!({"n": 3}));
}
