//! A task that goes round in circles is warned, then stopped; whoever does not is left alone.

use std::{future::ready, sync::Arc, time::Duration};

use futures_util::future::{BoxFuture, join, join_all};
use hermes_host::{
    CallContext, Host,
    dispatch::{Hook, Outcome},
    sandbox::limits::{COMPONENT_CALLS, QUEUED_CALLS},
    wit::latest::{Call, Verdict},
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{
    batch::ends::{cancelled_by, until},
    cli::Place,
    guest,
    results::{IDEMPOTENT, JSON, OPEN_WORLD, READ_ONLY, fails, fills, hints, json, place, says},
    start::builder,
};

fn stage() -> Place {
    place(&[
        ("fails", fails("fails", "", "no such thing")),
        ("reads", says("reads", &hints(READ_ONLY), JSON, r#"{"found":[1]}"#)),
        ("repeats", guest::assemble("repeats", &format!("(module {})", hints(IDEMPOTENT)))),
        ("writes", guest::good("writes")),
    ])
}

fn in_task(task: &str) -> CallContext {
    CallContext { task_id: Some(task.into()), ..CallContext::default() }
}

/// One call in the task `t`.
fn call(host: &Host, tool: &str, arguments: &str) -> Outcome {
    host.call_blocking(tool, arguments, in_task("t"))
}

fn kind(outcome: &Outcome) -> &'static str {
    outcome.result.as_ref().map_or_else(|error| error.kind.name(), |_| "ok")
}

/// The warning, which is a member of the JSON if there is one.
fn warning(outcome: &Outcome) -> Option<String> {
    let found = json(outcome).get("_warning").map(|warning| warning.as_str().unwrap().to_owned());
    assert_eq!(found, outcome.warning);
    found
}

/// Makes a call again and again. It must be warned from one time on and stopped, without an instance, at another.
fn assert_goes_round(host: &Host, warned: usize, stopped: usize, call: impl Fn(usize) -> Outcome) -> Outcome {
    for time in 1..stopped {
        let outcome = call(time);
        assert_ne!(kind(&outcome), "stopped", "{time}");
        assert_eq!(warning(&outcome).is_some(), time >= warned, "{time}: {}", outcome.json());
    }
    let before = host.sandbox().instances_made();
    let outcome = call(stopped);
    assert_eq!(kind(&outcome), "stopped", "{}", outcome.json());
    assert_eq!(json(&outcome)["kind"], "stopped");
    assert_eq!(host.sandbox().instances_made(), before, "it ran");
    outcome
}

#[test]
fn the_same_failing_call_is_warned_at_the_second_and_stopped_at_the_sixth_attempt() {
    let place = stage();
    let host = builder(&place).build().unwrap();
    // The order of members and the spaces do not make it another call.
    let same = [r#"{"a":1,"b":2}"#, r#"{ "b": 2, "a": 1 }"#];
    let stopped = assert_goes_round(&host, 2, 6, |time| call(&host, "fails", same[time % 2]));
    assert!(stopped.json().contains("5 times with the same arguments"), "{}", stopped.json());
    let other = call(&host, "fails", "{}");
    assert_eq!(kind(&other), "failed", "other arguments may be tried");
    let reply = json(&other);
    assert_eq!((&reply["kind"], &reply["error"]), (&"failed".into(), &"no such thing".into()), "the rest stays");
    assert!(warning(&other).unwrap().contains("6 times in a row"));
}

#[test]
fn a_tool_that_fails_whatever_its_arguments_is_warned_at_3_and_stopped_after_8() {
    let place = stage();
    let host = builder(&place).build().unwrap();
    assert_goes_round(&host, 3, 9, |time| call(&host, "fails", &format!("{{\"n\":{time}}}")));
    assert_eq!(kind(&call(&host, "writes", "{}")), "ok", "other tools go on");
}

#[test]
fn the_same_result_of_a_tool_that_only_reads_or_may_be_repeated_is_warned_at_2_and_stopped_after_5() {
    let place = stage();
    let host = builder(&place).build().unwrap();
    for tool in ["reads", "repeats"] {
        assert_goes_round(&host, 2, 6, |_| call(&host, tool, "{}"));
        assert_eq!(kind(&call(&host, tool, r#"{"n":1}"#)), "ok", "other arguments may be tried");
    }
    // What may have changed something may be called again, and is a reason to look again.
    for _ in 0..10 {
        let outcome = call(&host, "writes", "{}");
        assert_eq!((outcome.json().as_str(), warning(&outcome)), ("\"ok\"", None));
    }
    assert_eq!((kind(&call(&host, "reads", "{}")), kind(&call(&host, "repeats", "{}"))), ("ok", "ok"));
}

#[test]
fn a_warning_is_a_member_of_the_result_and_a_result_that_is_no_object_becomes_one() {
    let place = stage();
    let host = builder(&place).build().unwrap();
    let second = |tool: &str| {
        call(&host, tool, "{}");
        call(&host, tool, "{}")
    };
    let object = second("reads");
    assert_eq!(json(&object)["found"], serde_json::json!([1]));
    assert!(warning(&object).unwrap().contains("same result 2 times"));
    assert_eq!(json(&second("repeats"))["result"], "ok");
    assert_eq!(object.result.unwrap().json(), r#"{"found":[1]}"#, "the reply itself stays");
}

#[test]
fn tasks_do_not_disturb_each_other_and_a_forgotten_one_starts_afresh() {
    let place = stage();
    let host = builder(&place).build().unwrap();
    assert_goes_round(&host, 2, 6, |_| call(&host, "fails", "{}"));
    let other = host.call_blocking("fails", "{}", in_task("u"));
    assert_eq!((kind(&other), warning(&other)), ("failed", None));
    // Another session does not make it another task.
    let session = CallContext { session_id: Some("new".into()), ..in_task("t") };
    assert_eq!(kind(&host.call_blocking("fails", "{}", session)), "stopped");
    host.reload().unwrap();
    assert_eq!(kind(&call(&host, "fails", "{}")), "stopped", "a reload lets nobody off");
    host.forget_task("u");
    assert_eq!(kind(&call(&host, "fails", "{}")), "stopped");
    host.forget_task("t");
    assert_goes_round(&host, 2, 6, |_| call(&host, "fails", "{}"));
}

#[test]
fn calls_without_a_task_are_never_warned_or_stopped() {
    let place = stage();
    let host = builder(&place).build().unwrap();
    for tool in ["fails", "reads"] {
        for _ in 0..12 {
            let outcome = host.call_blocking(tool, "{}", CallContext::default());
            assert_eq!((kind(&outcome) == "stopped", warning(&outcome)), (false, None));
        }
    }
}

#[test]
fn the_operator_can_leave_it_at_warnings_and_set_the_counts() {
    let place = stage();
    place.configure("[guardrails]\nstop = false");
    let host = builder(&place).build().unwrap();
    for time in 1..12 {
        let outcome = call(&host, "fails", "{}");
        assert_eq!((kind(&outcome), warning(&outcome).is_some()), ("failed", time >= 2));
    }
    place.configure("[guardrails]\nwarn = { same_call = 0, same_tool = 0 }\nstop = { same_call = 2 }");
    host.reload().unwrap();
    assert_goes_round(&host, usize::MAX, 3, |_| call(&host, "fails", "{}"));
}

struct Forbids;

impl Hook for Forbids {
    fn name(&self) -> &str {
        "forbids"
    }

    fn pre_tool_call<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Verdict> {
        let verdict = if call.name == "writes" { Verdict::Block("not now".into()) } else { Verdict::Allow };
        Box::pin(ready(verdict))
    }
}

#[test]
fn calls_that_a_hook_blocks_that_nobody_knows_or_that_break_the_schema_count_as_failures() {
    let place = stage();
    let host = builder(&place).hook(Arc::new(Forbids)).build().unwrap();
    for (tool, arguments, expected) in
        [("writes", "{}", "denied"), ("nobody", "{}", "unknown-tool"), ("reads", "[1]", "invalid-arguments")]
    {
        assert_goes_round(&host, 2, 6, |_| {
            let outcome = call(&host, tool, arguments);
            assert!(["stopped", expected].contains(&kind(&outcome)), "{}", outcome.json());
            outcome
        });
    }
}

#[test]
fn a_result_that_says_it_failed_counts_as_a_failure_wherever_it_comes_from() {
    let error = r#"{"error":"no such page"}"#;
    let tools =
        [("inside", says("inside", "", JSON, error)), ("outside", says("outside", &hints(OPEN_WORLD), JSON, error))];
    let place = place(&tools);
    let host = builder(&place).build().unwrap();
    for tool in ["inside", "outside"] {
        assert_goes_round(&host, 2, 6, |_| call(&host, tool, "{}"));
    }
}

#[test]
fn the_same_result_is_the_same_though_it_went_to_a_file() {
    let place = place(&[("large", fills("large", &hints(READ_ONLY), 100_001))]);
    let host = builder(&place).build().unwrap();
    let replies: Vec<Value> = (0..2).map(|_| json(&call(&host, "large", "{}"))).collect();
    assert_eq!(replies[0]["truncated"], true);
    assert!(replies[1]["_warning"].is_string(), "{}", replies[1]["note"]);
}

/// A guest that sleeps until it is ended, and one that fails.
fn sleeper() -> (Place, Host) {
    let tools = [("sleeps_forever", guest::attack("sleeps_forever")), ("fails", fails("fails", "", "no"))];
    let place = place(&tools);
    let host = builder(&place).build().unwrap();
    (place, host)
}

#[tokio::test]
async fn calls_that_were_cancelled_do_not_count() {
    let (_place, host) = sleeper();
    for _ in 0..8 {
        let cancel = CancellationToken::new();
        let before = host.sandbox().instances_made();
        let context = CallContext { task_id: Some("t".into()), ..cancelled_by(&cancel) };
        let (outcome, ()) = join(host.call("sleeps_forever", "{}", context), async {
            until(|| host.sandbox().instances_made() > before).await;
            cancel.cancel();
        })
        .await;
        assert_eq!((kind(&outcome), warning(&outcome)), ("cancelled", None));
    }
}

#[tokio::test]
async fn calls_that_found_no_place_do_not_count() {
    let (_place, host) = sleeper();
    let cancel = CancellationToken::new();
    let sleepers =
        (0..COMPONENT_CALLS + QUEUED_CALLS / 2).map(|_| host.call("sleeps_forever", "{}", cancelled_by(&cancel)));
    let busy = async {
        // No other call takes a sleeper's permit before it came.
        until(|| host.sandbox().instances_made() >= COMPONENT_CALLS).await;
        // A call that comes before the queue is full waits in it, and is dropped again.
        let ask = || {
            let call = host.call("sleeps_forever", "{}", CallContext::default());
            tokio::time::timeout(Duration::from_millis(20), call)
        };
        let mut tries = 0..500;
        while !ask().await.is_ok_and(|outcome| kind(&outcome) == "busy") {
            assert!(tries.next().is_some(), "the host never was busy");
        }
        for _ in 0..8 {
            let outcome = host.call("sleeps_forever", "{}", in_task("t")).await;
            assert_eq!((kind(&outcome), warning(&outcome)), ("busy", None));
        }
        cancel.cancel();
    };
    let (outcomes, ()) = join(join_all(sleepers), busy).await;
    assert!(outcomes.iter().all(|outcome| kind(outcome) == "cancelled"));
    let first = host.call("fails", "{}", in_task("t")).await;
    assert_eq!((kind(&first), warning(&first)), ("failed", None), "the first failure that counts");
}
