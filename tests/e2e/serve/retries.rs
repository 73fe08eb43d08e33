//! Questions by 2026-07-28: a call that needs a person comes back unfinished, and its retry brings the answer. Whoever retries holds
//! nothing but a name and a seal, and what comes back is believed only with both.

use std::{collections::BTreeSet, process::Command};

use serde_json::{Value, json};

use super::{
    PATIENCE, Serving,
    client::Reply,
    guests, kind,
    pipe::{Pipe, current, error, result, text, work},
    post::{answered, post},
    questions::{assert_blocked, command, place, promising, replace, runs, wait_for},
    until,
};
use crate::cli::Place;

/// The name of the host's own question.
const APPROVAL: &str = "hermes-host.approval";

/// Calls that may wait for a retry at the same time.
const WAITING: usize = 16;

fn params(params: Value) -> Value {
    current(json!({"elicitation": {}}), params)
}

/// The same call with what came back.
fn retry(call: &Value, state: &str, responses: Value) -> Value {
    let mut retry = call.clone();
    retry["requestState"] = json!(state);
    retry["inputResponses"] = responses;
    params(retry)
}

fn decide(decision: &str) -> Value {
    json!({ APPROVAL: {"action": "accept", "content": {"decision": decision}} })
}

/// A result that wants something: what it asks for, and its state.
fn wanted(result: &Value) -> (Value, String) {
    assert_eq!(result["resultType"], "input_required", "{result}");
    let state = result["requestState"].as_str().unwrap_or_else(|| panic!("no state: {result}"));
    (result["inputRequests"].clone(), state.to_owned())
}

/// Calls the command: the state of its question.
fn asked(pipe: &mut Pipe) -> String {
    let answered = result(pipe.request("tools/call", params(command())));
    let (requests, state) = wanted(&answered);
    assert_eq!(requests[APPROVAL]["method"], "elicitation/create", "{requests}");
    assert!(requests[APPROVAL]["params"]["requestedSchema"]["properties"]["decision"].is_object(), "{requests}");
    state
}

/// The state brings nothing back: what the client is told.
fn assert_lost(pipe: &mut Pipe, what: &str, params: Value) -> String {
    let answer = pipe.request("tools/call", params);
    let (code, why) = error(&answer);
    assert_eq!(code, -32602, "{what}: {why}");
    why
}

#[test]
fn the_retry_runs_the_command_and_only_the_first_one_does() {
    let place = place();
    let mut pipe = Pipe::open(&place);
    let state = asked(&mut pipe);
    assert_eq!(runs(&place), 0, "nothing runs before the answer");
    let answered = result(pipe.request("tools/call", retry(&command(), &state, decide("once"))));
    assert_eq!((&answered["isError"], &answered["resultType"]), (&json!(false), &json!("complete")), "{answered}");
    assert_eq!(runs(&place), 1);
    for _ in 0..3 {
        assert_lost(&mut pipe, "a state that was used", retry(&command(), &state, decide("once")));
    }
    assert_eq!(runs(&place), 1);
}

/// Attack 52: many retries of one call at the same time.
#[test]
fn of_retries_that_race_one_wins() {
    let place = place();
    let mut pipe = Pipe::open(&place);
    let state = asked(&mut pipe);
    let requests: Vec<Value> =
        (0..10).map(|_| pipe.prepare("tools/call", retry(&command(), &state, decide("once")))).collect();
    pipe.raw(requests.iter().map(|one| format!("{one}\n")).collect::<String>().as_bytes());
    let answers: Vec<Value> = requests.iter().map(|one| pipe.answer(&one["id"])).collect();
    assert_eq!(answers.iter().filter(|answer| answer.get("result").is_some()).count(), 1, "{answers:?}");
    assert_eq!(runs(&place), 1);
}

#[test]
fn no_is_no() {
    let place = place();
    let mut pipe = Pipe::open(&place);
    for (response, why) in [
        (json!({"action": "decline"}), "refused"),
        (json!({"action": "cancel"}), "closed without an answer"),
        (json!({"action": "accept", "content": {"decision": "deny", "reason": "not on a Sunday"}}), "not on a Sunday"),
    ] {
        let state = asked(&mut pipe);
        assert_blocked(
            &result(pipe.request("tools/call", retry(&command(), &state, json!({ APPROVAL: response })))),
            why,
        );
    }
    assert_eq!(runs(&place), 0);
}

/// Attack 51. After all of it the call still waits for its own answer.
#[test]
fn a_state_is_for_its_own_call_and_unchanged() {
    let (place, other_place) = (place(), place());
    let (mut pipe, mut other) = (Pipe::open(&place), Pipe::open(&other_place));
    let (state, foreign) = (asked(&mut pipe), asked(&mut other));
    // Who forges states learns nothing of how near they came.
    let mut told = BTreeSet::new();
    for at in (0..state.len()).filter(|at| at % 7 == 0).chain([state.len() - 1]) {
        let letter = if state.as_bytes()[at] == b'A' { "B" } else { "A" };
        let flipped = format!("{}{letter}{}", &state[..at], &state[at + 1..]);
        told.insert(assert_lost(&mut pipe, &flipped, retry(&command(), &flipped, decide("once"))));
    }
    let longer = [format!("{state}A"), format!("{state}="), state[1..].to_owned(), state[..state.len() / 2].to_owned()];
    for changed in longer.iter().map(String::as_str).chain(["", ".", "rs1..", "null", foreign.as_str()]) {
        told.insert(assert_lost(&mut pipe, changed, retry(&command(), changed, decide("once"))));
    }
    let other_arguments = json!({"name": "terminal", "arguments": {"command": "echo ran >> ran; rm -rf ."}});
    let more_arguments =
        json!({"name": "terminal", "arguments": {"command": command()["arguments"]["command"], "workdir": "/"}});
    let other_tool = json!({"name": "good", "arguments": command()["arguments"]});
    for call in [other_arguments, more_arguments, other_tool, json!({"name": "terminal"})] {
        told.insert(assert_lost(&mut pipe, &call.to_string(), retry(&call, &state, decide("once"))));
    }
    assert_eq!((runs(&place), runs(&other_place)), (0, 0));
    result(pipe.request("tools/call", retry(&command(), &state, decide("once"))));
    result(other.request("tools/call", retry(&command(), &foreign, decide("once"))));
    assert_eq!((runs(&place), runs(&other_place)), (1, 1));
    told.insert(assert_lost(&mut pipe, "a state that was used", retry(&command(), &state, decide("once"))));
    assert_eq!(told.len(), 1, "{told:?}");
}

/// Who says that nobody can be asked brings no answers either.
#[test]
fn a_state_from_a_client_that_shows_no_forms_is_refused() {
    let place = place();
    let mut pipe = Pipe::open(&place);
    let state = asked(&mut pipe);
    for (call, state) in
        [(command(), state.as_str()), (json!({"name": "good"}), "rs1.forged"), (json!({"name": "good"}), "")]
    {
        let mut retry = call;
        retry["requestState"] = json!(state);
        retry["inputResponses"] = decide("once");
        assert_lost(&mut pipe, state, current(json!({}), retry));
    }
    assert_eq!(runs(&place), 0);
}

#[test]
fn a_retry_without_its_answer_is_asked_again_with_another_state() {
    let place = place();
    let mut pipe = Pipe::open(&place);
    let mut state = asked(&mut pipe);
    for (responses, complains) in [
        (json!({}), false),
        (json!({"other": {"action": "accept", "content": {"decision": "once"}}}), false),
        (json!({APPROVAL: {"action": "accept", "content": {"decision": "yes"}}}), true),
        (json!({APPROVAL: {"action": "accept", "content": {"reason": "why not"}}}), true),
        (json!({APPROVAL: {"action": "perhaps"}}), true),
        (json!({APPROVAL: 7}), true),
    ] {
        let answered = result(pipe.request("tools/call", retry(&command(), &state, responses.clone())));
        let (requests, next) = wanted(&answered);
        let message = requests[APPROVAL]["params"]["message"].as_str().unwrap();
        assert_eq!(message.contains("was not taken"), complains, "{responses}: {message}");
        assert_ne!(next, state);
        assert_lost(&mut pipe, "the state before", retry(&command(), &state, decide("once")));
        state = next;
    }
    assert_eq!(runs(&place), 0);
    result(pipe.request("tools/call", retry(&command(), &state, decide("once"))));
    assert_eq!(runs(&place), 1);
}

/// A client with a bare yes and no has no field to send.
#[test]
fn a_bare_yes_in_a_retry_is_once() {
    let place = place();
    let mut pipe = Pipe::open(&place);
    for (n, yes) in [json!({"action": "accept", "content": {}}), json!({"action": "accept"})].into_iter().enumerate() {
        let state = asked(&mut pipe);
        result(pipe.request("tools/call", retry(&command(), &state, json!({ APPROVAL: yes }))));
        assert_eq!(runs(&place), n + 1);
    }
}

#[test]
fn an_answer_that_nobody_asked_for_approves_nothing() {
    let place = place();
    let mut pipe = Pipe::open(&place);
    for _ in 0..3 {
        let mut eager = command();
        eager["inputResponses"] = decide("always");
        wanted(&result(pipe.request("tools/call", params(eager))));
    }
    // Nor was anything kept of it.
    asked(&mut pipe);
    assert_eq!(runs(&place), 0);
}

#[test]
fn a_client_that_shows_no_forms_is_told_no() {
    let place = place();
    let mut pipe = Pipe::open(&place);
    for capabilities in [json!({}), json!({"elicitation": {"url": {}}})] {
        let answered = result(pipe.request("tools/call", current(capabilities, command())));
        assert_eq!(answered["resultType"], "complete");
        assert_blocked(&answered, "nobody to ask");
    }
    assert_eq!(runs(&place), 0);
}

/// Fills all places of calls that wait.
fn fill(pipe: &mut Pipe) -> Vec<String> {
    let ids: Vec<Value> = (0..WAITING).map(|_| pipe.ask("tools/call", params(command()))).collect();
    ids.iter().map(|id| wanted(&result(pipe.answer(id))).1).collect()
}

#[test]
fn one_too_many_is_told_so_and_disturbs_nobody() {
    let place = place();
    let mut pipe = Pipe::open(&place);
    let states = fill(&mut pipe);
    for call in [command(), json!({"name": "asks"})] {
        assert_too_many(&result(pipe.request("tools/call", params(call))));
    }
    pipe.assert_good(params(json!({"name": "good"})));
    // Each that was there first still has its answer, and leaves its place.
    for state in &states {
        let answered = result(pipe.request("tools/call", retry(&command(), state, decide("once"))));
        assert_eq!(answered["isError"], false, "{answered}");
    }
    assert_eq!(runs(&place), WAITING);
    fill(&mut pipe);
}

fn assert_too_many(answered: &Value) {
    assert_eq!((&answered["resultType"], &answered["isError"]), (&json!("complete"), &json!(true)), "{answered}");
    assert!(text(answered).contains("too many"), "{answered}");
}

/// A call that has its place keeps it, however many wait for one: else it would be ended half-way.
#[test]
fn with_all_places_taken_a_retry_that_brings_no_answer_is_asked_again() {
    let place = place();
    let mut pipe = Pipe::open(&place);
    let wrong = json!({APPROVAL: {"action": "accept", "content": {"decision": "yes"}}});
    let mut requests = Vec::new();
    for state in fill(&mut pipe) {
        requests.push(pipe.prepare("tools/call", retry(&command(), &state, wrong.clone())));
        requests.push(pipe.prepare("tools/call", params(command())));
    }
    pipe.raw(requests.iter().map(|one| format!("{one}\n")).collect::<String>().as_bytes());
    for pair in requests.chunks(2) {
        wanted(&result(pipe.answer(&pair[0]["id"])));
        assert_too_many(&result(pipe.answer(&pair[1]["id"])));
    }
    assert_eq!(runs(&place), 0);
}

#[test]
fn a_call_that_goes_on_after_its_answer_may_ask_again_whoever_came_meanwhile() {
    let place = place();
    place.drop_in("asks_twice.wasm", &guests::asks_twice("asks_twice"));
    assert!(place.run(&["grant", "asks_twice", "--ask"]).status.success());
    let mut pipe = Pipe::open(&place);
    let call = json!({"name": "asks_twice"});
    let (_, state) = wanted(&result(pipe.request("tools/call", params(call.clone()))));
    for _ in 1..WAITING {
        asked(&mut pipe);
    }
    let who = |name: &str| json!({"who": {"action": "accept", "content": {"name": name}}});
    // It works for a second, and the next one comes while it does.
    let works = pipe.ask("tools/call", retry(&call, &state, who("Ada")));
    assert_too_many(&result(pipe.request("tools/call", params(command()))));
    let (_, state) = wanted(&result(pipe.answer(&works)));
    let answered = result(pipe.request("tools/call", retry(&call, &state, who("Bo"))));
    assert_eq!(text(&answered), r#"{"name":"Bo"}"#);
    // At its end it leaves the place.
    asked(&mut pipe);
}

#[test]
fn a_call_that_is_never_retried_ends_and_leaves_its_place() {
    let place = place();
    wait_for(&place, "4s");
    let mut pipe = Pipe::open(&place);
    let states = fill(&mut pipe);
    let answered = result(pipe.request("tools/call", params(command())));
    assert_eq!(answered["resultType"], "complete", "there is no place yet: {answered}");
    // Calls end in the order in which they came: with as many new ones, all of the first have.
    let mut places = 0;
    until(PATIENCE, || {
        let answered = result(pipe.request("tools/call", params(command())));
        places += usize::from(answered["resultType"] == "input_required");
        places == WAITING
    });
    for state in states {
        assert_lost(&mut pipe, "a state of another time", retry(&command(), &state, decide("once")));
    }
    pipe.assert_good(params(json!({"name": "good"})));
    assert_eq!(runs(&place), 0);
}

#[test]
fn calls_that_wait_end_with_the_host() {
    let place = place();
    let mut pipe = Pipe::open(&place);
    let states = fill(&mut pipe);
    let ended = pipe.end();
    assert!(ended.status.success() && ended.took < PATIENCE, "{:?} after {:?}", ended.status, ended.took);
    // The next process has another seal, whatever home it has.
    let mut pipe = Pipe::open(&place);
    assert_lost(&mut pipe, "a state of another process", retry(&command(), &states[0], decide("once")));
    assert_eq!(runs(&place), 0);
}

/// A command that runs here reaches this port as well as its agent does.
#[test]
fn without_the_token_nobody_calls_or_approves_over_mcp() {
    let place = place();
    let serving = Serving::spawn(&mut in_work(&place));
    let mut call = post(&serving.client, json!({"elicitation": {}}), command());
    assert_eq!(kind(&Reply::read(&mut call).expect("a reply")), (401, "unauthorized".to_owned()));
    assert_eq!(runs(&place), 0);
}

#[test]
fn with_a_token_a_retry_over_http_brings_the_answer_once() {
    let place = place();
    let serving = Serving::with_token(&mut in_work(&place));
    let call = |params: Value| answered(post(&serving.client, json!({"elicitation": {}}), params));
    let (requests, state) = wanted(&result(call(command())));
    // Between its requests this client is nobody, so nothing can hold for its session.
    let choices = requests[APPROVAL]["params"]["requestedSchema"]["properties"]["decision"]["enum"].as_array().unwrap();
    assert!(choices.contains(&json!("once")) && !choices.contains(&json!("session")), "{choices:?}");
    let mut retry = command();
    retry["requestState"] = json!(state);
    retry["inputResponses"] = decide("once");
    assert_eq!(result(call(retry.clone()))["isError"], false);
    assert_eq!(error(&call(retry)).0, -32602);
    assert_eq!(runs(&place), 1);
}

/// However a call ends, it is counted once, with all of its time.
#[test]
fn every_call_is_counted_once_however_it_ends() {
    let place = place();
    place.drop_in("sleeps.wasm", &guests::begins("sleeps", false));
    wait_for(&place, "4s");
    let serving = Serving::with_token(&mut in_work(&place));
    let stream = |params: Value| post(&serving.client, json!({"elicitation": {}}), params);
    let call = |params: Value| result(answered(stream(params)));
    let counted = || serving.figure("hermes_call_duration_seconds_count");
    let (_, state) = wanted(&call(command()));
    assert_eq!(counted(), 0.0, "it still waits");
    let mut retry = command();
    retry["requestState"] = json!(state);
    retry["inputResponses"] = decide("once");
    assert_eq!(call(retry)["isError"], false);
    assert_eq!(counted(), 1.0);
    let sleeps = stream(json!({"name": "sleeps"}));
    serving.until("hermes_calls_running", |running| running == 1.0);
    drop(sleeps);
    let given_up = "hermes_calls_total{tool=\"sleeps\",outcome=\"cancelled\"} 1\n";
    until(PATIENCE, || serving.client.get("/metrics").body.contains(given_up));
    // As many as may wait are never retried, and one is too many.
    for _ in 0..=WAITING {
        call(command());
    }
    let all = (1 + WAITING + 1 + 1) as f64;
    serving.until("hermes_call_duration_seconds_count", |counted| counted == all);
    assert!(serving.figure("hermes_call_duration_seconds_sum") > 3.0 * WAITING as f64);
    call(json!({"name": "good"}));
    assert_eq!(counted(), all + 1.0);
}

/// A server whose commands work in the folder that [`runs`] looks into.
pub(super) fn in_work(place: &Place) -> Command {
    let mut command = place.command(&["run", "--http", "127.0.0.1:0"]);
    command.arg("--workspace").arg(work(place)).env_remove("HERMES_HOST_TOKEN");
    command
}

fn asks(place: &Place) -> (Pipe, Value) {
    (Pipe::open(place), json!({"name": "asks"}))
}

#[test]
fn a_tools_question_is_answered_by_its_name() {
    let place = place();
    let (mut pipe, call) = asks(&place);
    let who = |response: Value| json!({ "who": response });
    for (response, heard) in [
        (json!({"action": "accept", "content": {"name": "Ada"}}), r#"{"name":"Ada"}"#),
        (json!({"action": "decline"}), "declined"),
        (json!({"action": "cancel"}), "dismissed"),
    ] {
        let (requests, state) = wanted(&result(pipe.request("tools/call", params(call.clone()))));
        assert_eq!(requests["who"]["params"]["requestedSchema"]["required"], json!(["name"]), "{requests}");
        let answered = result(pipe.request("tools/call", retry(&call, &state, who(response))));
        assert_eq!(text(&answered), heard);
        assert_lost(&mut pipe, "a state that was used", retry(&call, &state, json!({})));
    }
    let nobody = result(pipe.request("tools/call", current(json!({}), call)));
    assert!(text(&nobody).contains("nobody to ask"), "{nobody}");
}

/// A client may know a tool's questions: its own words to it are no approval of anything.
#[test]
fn a_tools_question_may_be_answered_before_it_is_asked() {
    let place = place();
    let (mut pipe, call) = asks(&place);
    let mut eager = call.clone();
    eager["inputResponses"] = json!({"who": {"action": "accept", "content": {"name": "Ada"}}});
    assert_eq!(text(&result(pipe.request("tools/call", params(eager)))), r#"{"name":"Ada"}"#);
    let mut wrong = call.clone();
    wrong["inputResponses"] = json!({"who": {"action": "accept", "content": {"name": 7}}});
    let (requests, state) = wanted(&result(pipe.request("tools/call", params(wrong))));
    assert!(requests["who"]["params"]["message"].as_str().unwrap().contains("was not taken"), "{requests}");
    // The state of a tool's question decides nothing of the host's.
    assert_lost(&mut pipe, "the state of another call", retry(&command(), &state, decide("once")));
    let answered = result(pipe.request("tools/call", retry(&call, &state, json!({"who": {"action": "decline"}}))));
    assert_eq!((text(&answered).as_str(), runs(&place)), ("declined", 0));
}

#[test]
fn a_call_that_waited_ends_by_the_schema_it_began_with() {
    let place = Place::new();
    promising(&place, "promises");
    let mut pipe = Pipe::open(&place);
    let call = json!({"name": "promises"});
    let (_, state) = wanted(&result(pipe.request("tools/call", params(call.clone()))));
    replace(&place, "promises", &mut pipe, &params(json!({})));
    let response = json!({"who": {"action": "accept", "content": {"name": "Ada"}}});
    let answered = result(pipe.request("tools/call", retry(&call, &state, response)));
    assert_eq!((&answered["structuredContent"], &answered["isError"]), (&json!({"name": "Ada"}), &json!(false)));
}
