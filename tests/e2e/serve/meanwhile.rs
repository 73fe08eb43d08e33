//! What passes between the server and a client while a call runs, or while none does.

use std::time::Instant;

use hermes_host::sandbox::limits::{COMPONENT_CALLS, CONCURRENT_CALLS};
use serde_json::{Value, json};

use super::{
    ENDLESS, guests,
    pipe::{Pipe, current, error, result, text, with_meta},
};
use crate::{cli::Place, guest};

fn place() -> Place {
    let place = Place::new();
    place.drop_in("good.wasm", &guest::good("good"));
    place.drop_in("reports.wasm", &guests::reports());
    place
}

/// As many loops as one component may run, again and again: those of the next round begin only if the cancelled ones are gone.
#[test]
fn a_cancelled_call_ends_its_guest_and_frees_its_permit() {
    let place = place();
    place.drop_in("loops.wasm", &guests::begins("loops", true));
    place.configure(&format!("[tools.loops]\n{ENDLESS}\n"));
    for is_current in [false, true] {
        let mut pipe = if is_current { Pipe::open(&place) } else { Pipe::legacy(&place, json!({})) };
        let params = |tool: &str| {
            let params = with_meta(json!({ "name": tool }), &[("progressToken", json!("begun"))]);
            if is_current { current(json!({}), params) } else { params }
        };
        for _ in 0..3 {
            let loops: Vec<Value> = (0..COMPONENT_CALLS).map(|_| pipe.ask("tools/call", params("loops"))).collect();
            for _ in &loops {
                pipe.wait_for("notifications/progress");
            }
            for id in &loops {
                pipe.cancel(id);
            }
        }
        let id = pipe.ask("tools/call", params("good"));
        assert_eq!(text(&result(pipe.answer(&id))), "ok");
    }
}

/// Attack 62.
#[test]
fn slow_calls_of_one_component_leave_permits_for_others() {
    let place = place();
    place.drop_in("sleeps.wasm", &guests::begins("sleeps", false));
    place.configure(&format!("[tools.sleeps]\n{ENDLESS}\n"));
    let mut pipe = Pipe::open(&place);
    let params = |tool: &str| {
        let params = with_meta(json!({ "name": tool }), &[("progressToken", json!("begun"))]);
        current(json!({}), params)
    };
    for _ in 0..CONCURRENT_CALLS + 1 {
        pipe.ask("tools/call", params("sleeps"));
    }
    for _ in 0..COMPONENT_CALLS {
        pipe.wait_for("notifications/progress");
    }
    // The sleepers never end, so this one is served beside them or never.
    let id = pipe.ask("tools/call", params("good"));
    assert_eq!(text(&result(pipe.answer(&id))), "ok");
}

/// A call's progress by its token, and its answer: in the order in which they came.
fn progress(pipe: &mut Pipe, params: Value) -> (Vec<Value>, Value) {
    let id = pipe.ask("tools/call", params);
    let mut told = Vec::new();
    loop {
        let message = pipe.next();
        match message.get("method") {
            None => {
                assert_eq!(message["id"], id);
                return (told, message["result"].clone());
            }
            Some(_) => told.push(message),
        }
    }
}

#[test]
fn progress_comes_before_the_result_under_the_clients_own_token() {
    let place = place();
    for is_current in [false, true] {
        let mut pipe = if is_current { Pipe::open(&place) } else { Pipe::legacy(&place, json!({})) };
        for token in [json!("a text"), json!(7), json!(0)] {
            let params = with_meta(json!({"name": "reports"}), &[("progressToken", token.clone())]);
            let params = if is_current { current(json!({}), params) } else { params };
            let (told, answer) = progress(&mut pipe, params);
            assert_eq!(text(&answer), "ok");
            let steps: Vec<(f64, Option<f64>, Option<&str>)> = told
                .iter()
                .map(|one| {
                    assert_eq!(
                        (&one["method"], &one["params"]["progressToken"]),
                        (&json!("notifications/progress"), &token)
                    );
                    let params = &one["params"];
                    (params["progress"].as_f64().unwrap(), params["total"].as_f64(), params["message"].as_str())
                })
                .collect();
            assert_eq!(steps, [(0.0, Some(2.0), None), (1.0, Some(2.0), Some("half")), (2.0, None, None)]);
        }
        // Nobody asked for it.
        let params =
            if is_current { current(json!({}), json!({"name": "reports"})) } else { json!({"name": "reports"}) };
        assert_eq!(progress(&mut pipe, params).0, [] as [Value; 0]);
    }
}

/// The answer with the question ends the request, and nothing can be told about that after it.
#[test]
fn progress_comes_before_the_question_that_ends_a_request() {
    let place = place();
    place.drop_in("asks.wasm", &guests::reports_and_asks("asks"));
    let output = place.run(&["grant", "asks", "--ask"]);
    assert!(output.status.success(), "{output:?}");
    let mut pipe = Pipe::open(&place);
    for round in 0..10 {
        let token = json!(format!("round {round}"));
        let params = with_meta(json!({"name": "asks"}), &[("progressToken", token.clone())]);
        let (told, answer) = progress(&mut pipe, current(json!({"elicitation": {}}), params));
        assert_eq!(answer["resultType"], "input_required", "{answer}");
        let steps: Vec<f64> = told.iter().map(|one| one["params"]["progress"].as_f64().unwrap()).collect();
        assert_eq!(steps, (0..20).map(f64::from).collect::<Vec<_>>());
        assert!(told.iter().all(|one| one["params"]["progressToken"] == token), "{told:?}");
    }
}

/// What a client hears of a tool's log: levels and texts.
fn log(told: &[Value]) -> Vec<(&str, &str)> {
    let messages = told.iter().filter(|one| one["method"] == "notifications/message");
    messages.map(|one| (one["params"]["level"].as_str().unwrap(), one["params"]["data"].as_str().unwrap())).collect()
}

#[test]
fn a_client_hears_as_much_of_the_log_as_it_wants() {
    let place = place();
    let mut pipe = Pipe::legacy(&place, json!({}));
    assert_eq!(log(&progress(&mut pipe, json!({"name": "reports"})).0), []);
    let (detail, warning) = (("debug", "a detail"), ("warning", "a warning"));
    for (level, expected) in [("warning", vec![warning]), ("debug", vec![detail, warning]), ("emergency", vec![])] {
        assert_eq!(result(pipe.request("logging/setLevel", json!({ "level": level }))), json!({}));
        assert_eq!(log(&progress(&mut pipe, json!({"name": "reports"})).0), expected, "{level}");
    }
    // From 2026-07-28 on each request says it for itself.
    let mut pipe = Pipe::open(&place);
    let params = current(json!({}), json!({"name": "reports"}));
    let wanted = with_meta(params.clone(), &[("io.modelcontextprotocol/logLevel", json!("warning"))]);
    assert_eq!(log(&progress(&mut pipe, wanted).0), [warning]);
    assert_eq!(log(&progress(&mut pipe, params).0), []);
}

#[test]
fn clients_before_2026_are_told_of_a_dropped_and_a_removed_file() {
    let place = place();
    let mut pipe = Pipe::legacy(&place, json!({}));
    pipe.assert_good(json!({"name": "good"}));
    place.drop_in("late.wasm", &guest::good("late"));
    pipe.wait_for("notifications/tools/list_changed");
    assert_eq!(text(&pipe.call("late", json!({}))), "ok");
    std::fs::remove_file(place.tools().join("late.wasm")).unwrap();
    pipe.wait_for("notifications/tools/list_changed");
    let (code, _) = error(&pipe.request("tools/call", json!({"name": "late"})));
    assert_eq!(code, -32602);
}

#[test]
fn a_subscription_is_confirmed_first_and_told_of_what_it_asked_for() {
    let place = place();
    let mut pipe = Pipe::open(&place);
    let listen = |what: &str| {
        let mut wanted = json!({});
        wanted[what] = json!(true);
        current(json!({}), json!({ "notifications": wanted }))
    };
    let subscription = |message: &Value| message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"].clone();
    // This server has no prompts: what is not there is left out of the confirmation.
    let prompts = pipe.ask("subscriptions/listen", listen("promptsListChanged"));
    let confirmed = pipe.next();
    assert_eq!(confirmed["method"], "notifications/subscriptions/acknowledged");
    assert_eq!((subscription(&confirmed), &confirmed["params"]["notifications"]), (prompts, &json!({})));
    let tools = pipe.ask("subscriptions/listen", listen("toolsListChanged"));
    let confirmed = pipe.next();
    assert_eq!(confirmed["params"]["notifications"], json!({"toolsListChanged": true}));
    assert_eq!(subscription(&confirmed), tools);
    place.drop_in("late.wasm", &guest::good("late"));
    let told = pipe.next();
    assert_eq!((&told["method"], subscription(&told)), (&json!("notifications/tools/list_changed"), tools.clone()));
    // Who gave it up hears no more of it.
    pipe.cancel(&tools);
    place.drop_in("later.wasm", &guest::good("later"));
    let called = || current(json!({}), json!({"name": "later"}));
    let start = Instant::now();
    while pipe.request("tools/call", called()).get("error").is_some() {
        assert!(start.elapsed() < super::PATIENCE, "the file is never loaded");
    }
    assert_eq!(pipe.heard, [] as [Value; 0]);
    assert!(pipe.end().status.success());
}
