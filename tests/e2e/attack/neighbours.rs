//! Guests and their neighbours: what one does must not be felt by another, nor by who comes after.

use std::{pin::Pin, thread::available_parallelism};

use futures_util::{
    future::{join, join_all, join3, poll_immediate},
    stream::{FuturesUnordered, StreamExt},
};
use hermes_host::sandbox::{
    Control,
    limits::{COMPONENT_CALLS, CONCURRENT_CALLS, QUEUED_CALLS},
};
use tokio_util::sync::CancellationToken;

use super::*;

/// More fuel than any of these tests can burn.
const ENDLESS: &str = "fuel = 9_000_000_000_000_000_000";

type Call<'a> = Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;

/// A call that has begun: it runs or waits.
async fn begun<'a>(host: &'a Host, name: &'a str) -> Result<Call<'a>, Outcome> {
    let mut call: Call<'a> = Box::pin(host.call(name, "{}", CallContext::default()));
    match poll_immediate(&mut call).await {
        Some(outcome) => Err(outcome),
        None => Ok(call),
    }
}

/// So many calls that have begun.
async fn all_begun<'a>(host: &'a Host, name: &'a str, count: usize) -> Vec<Call<'a>> {
    let mut calls = Vec::new();
    for _ in 0..count {
        calls.push(begun(host, name).await.unwrap_or_else(|outcome| panic!("ended at once: {}", outcome.json())));
    }
    calls
}

/// Calls a tool and cancels it a moment later, when the guest is in the middle of it.
async fn cancelled(host: &Host, name: &str) -> (Outcome, Duration) {
    let token = CancellationToken::new();
    let control = Control { cancel: Some(token.clone()), progress: None };
    let call = host.call(name, "{}", CallContext { control, ..CallContext::default() });
    let cancel = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        token.cancel();
        Instant::now()
    };
    let (outcome, at) = join(call, cancel).await;
    (outcome, at.elapsed())
}

#[tokio::test(flavor = "multi_thread")]
pub(super) async fn neighbour_is_not_disturbed() {
    let stage = Stage::of("loops_in_handle").limits("loops_in_handle", &format!("timeout = \"300s\", {ENDLESS}"));
    let host = stage.host();
    let loopers = all_begun(&host, "loops_in_handle", 2 * available_parallelism().unwrap().get()).await;
    for _ in 0..50 {
        assert_good(&host);
    }
    for looper in loopers {
        assert!(poll_immediate(looper).await.is_none(), "it should still be at it");
    }
}

/// A call at 90 % of its time goes on while the deadlines of others strike: the epoch is everybody's, a deadline is not.
#[test]
pub(super) fn works_slowly() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    // A busy machine may wake the call too late. A deadline that strikes early does so in every round.
    some_round("a slow call ends before its deadline", |_| runtime.block_on(works_slowly_and_ends()));
}

async fn works_slowly_and_ends() -> bool {
    let stage = Stage::of("works_slowly")
        .limits("works_slowly", "timeout = \"2s\"")
        .limits("loops_in_handle", &format!("timeout = \"1s\", {ENDLESS}"))
        .limits("sleeps_forever", "timeout = \"1s\"");
    for name in ["loops_in_handle", "sleeps_forever"] {
        stage.add(name, &guest::attack(name));
    }
    let host = stage.host();
    let call = |name| host.call(name, "{}", CallContext::default());
    let (works, loops, sleeps) = join3(call("works_slowly"), call("loops_in_handle"), call("sleeps_forever")).await;
    assert_eq!([kind(&loops), kind(&sleeps)], ["deadline", "deadline"]);
    assert!(works.usage.duration >= Duration::from_millis(1800), "{}", works.json());
    kind(&works) == "\"ok\""
}

/// As many loops as there are permits, on a few cores: each ends at its deadline all the same. One component gets half of the
/// permits, so it takes several to hold all.
#[tokio::test(flavor = "multi_thread")]
pub(super) async fn deadlines_hold_under_full_load() {
    let (text, limits) = (guest::text("loops_in_handle"), format!("timeout = \"1s\", {ENDLESS}"));
    let names: Vec<String> = (0..7).map(|n| format!("loops{n}")).collect();
    let stage = names.iter().fold(Stage::with("other", &guest::good("other")), |stage, name| {
        stage.add(name, &guest::assemble(name, &text));
        stage.limits(name, &limits)
    });
    let host = stage.host();
    let mut loopers = FuturesUnordered::new();
    for (name, count) in names.iter().zip([32, 16, 8, 4, 2, 1, 1]) {
        loopers.extend((0..count).map(|_| host.call(name, "{}", CallContext::default())));
    }
    assert_eq!(loopers.len(), CONCURRENT_CALLS);
    while let Some(outcome) = loopers.next().await {
        assert_eq!(kind(&outcome), "deadline");
        let took = outcome.usage.duration;
        assert!(took <= Duration::from_secs(1) + GRACE, "{took:?}");
    }
    assert_good(&host);
}

/// Attack 62: however many calls of one component sleep, and however many more wait, another component's call is served.
#[tokio::test(flavor = "multi_thread")]
pub(super) async fn slow_calls_of_one_component_leave_permits_for_others() {
    let stage = Stage::of("sleeps_forever");
    stage.add("loops_in_handle", &guest::attack("loops_in_handle"));
    let stage = stage.limits("loops_in_handle", ENDLESS);
    let host = stage.host();
    let slow = all_begun(&host, "sleeps_forever", CONCURRENT_CALLS + QUEUED_CALLS / 4).await;
    assert_eq!(host.sandbox().calls_running(), COMPONENT_CALLS);
    let busy = all_begun(&host, "loops_in_handle", CONCURRENT_CALLS).await;
    assert_eq!(host.sandbox().calls_running(), COMPONENT_CALLS + COMPONENT_CALLS / 2);
    // No call is followed to its end here, so no permit is ever given back: the good tool is served at once or never.
    for _ in 0..3 {
        let outcome = tokio::time::timeout(PATIENCE, timed_call(&host, "good")).await;
        assert_eq!(kind(&outcome.expect("an answer").0), "\"ok\"");
    }
    drop((slow, busy));
}

#[tokio::test(flavor = "multi_thread")]
pub(super) async fn cancelled_calls_end_the_guest() {
    let stage = Stage::of("loops_in_handle").limits("loops_in_handle", ENDLESS);
    stage.add("sleeps_forever", &guest::attack("sleeps_forever"));
    let host = stage.host();
    for name in ["loops_in_handle", "sleeps_forever"] {
        let (outcome, took) = cancelled(&host, name).await;
        assert_eq!(kind(&outcome), "cancelled");
        assert!(took <= GRACE, "{name} took {took:?} to end");
    }
    assert_good(&host);
}

/// A call that waits for a permit can be cancelled too.
#[tokio::test(flavor = "multi_thread")]
pub(super) async fn a_call_in_the_queue_can_be_cancelled() {
    let host = Stage::of("sleeps_forever").host();
    let running = all_begun(&host, "sleeps_forever", COMPONENT_CALLS).await;
    let before = host.sandbox().instances_made();
    // None of the running calls is followed to its end here, so no permit would ever be free.
    let (outcome, took) = tokio::time::timeout(PATIENCE, cancelled(&host, "sleeps_forever")).await.expect("an answer");
    assert_eq!((kind(&outcome).as_str(), host.sandbox().instances_made()), ("cancelled", before));
    assert!(took <= GRACE, "it took {took:?} to end");
    drop(running);
}

/// Attack 26: a client that goes away again and again, in the middle of its calls.
#[tokio::test(flavor = "multi_thread")]
pub(super) async fn dropped_calls_leave_nothing_behind() {
    let stage = Stage::of("loops_in_handle").limits("loops_in_handle", ENDLESS);
    stage.add("sleeps_forever", &guest::attack("sleeps_forever"));
    let host = stage.host();
    for (name, times) in [("loops_in_handle", 50), ("sleeps_forever", 150)] {
        for _ in 0..times {
            drop(begun(&host, name).await.unwrap());
        }
        assert_good(&host);
    }
}

/// A place is free when the guest in it is gone, not sooner: who takes it must find everything a call needs.
#[tokio::test(flavor = "multi_thread")]
pub(super) async fn the_place_of_a_dropped_call_can_be_used() {
    let stage = Stage::of("loops_in_handle").limits("loops_in_handle", ENDLESS);
    stage.add("sleeps_forever", &guest::attack("sleeps_forever"));
    let host = stage.host();
    for name in ["sleeps_forever", "loops_in_handle", "sleeps_forever"] {
        drop(all_begun(&host, name, CONCURRENT_CALLS).await);
        let next = (0..CONCURRENT_CALLS).map(|_| host.call("good", "{}", CallContext::default()));
        for outcome in join_all(next).await {
            assert_eq!(outcome.json(), "\"ok\"", "after {name}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
pub(super) async fn more_calls_than_may_wait_are_refused_as_busy() {
    let host = Stage::of("sleeps_forever").host();
    let calls = all_begun(&host, "sleeps_forever", COMPONENT_CALLS + QUEUED_CALLS / 2).await;
    for _ in 0..3 {
        let outcome = begun(&host, "sleeps_forever").await.err().expect("refused at once");
        assert_eq!(kind(&outcome), "busy");
        // Another component has its own share.
        assert_good(&host);
    }
    drop(calls);
    assert_good(&host);
}

/// Attack 48: every call is the first.
#[tokio::test(flavor = "multi_thread")]
pub(super) async fn counts_its_calls() {
    let host = Stage::of("counts_its_calls").host();
    for _ in 0..20 {
        assert_eq!(timed(&host, "counts_its_calls").0.json(), "\"11\"");
    }
    let at_once = (0..2 * CONCURRENT_CALLS).map(|_| host.call("counts_its_calls", "{}", CallContext::default()));
    for outcome in join_all(at_once).await {
        assert_eq!(outcome.json(), "\"11\"");
    }
    assert_good(&host);
}

/// Attack 48: neither a call that ended well nor one that was ended leaves anything in the slots that the next one gets, whether
/// that is a call of the same component or of another.
#[tokio::test(flavor = "multi_thread")]
pub(super) async fn looks_for_leftovers() {
    const NAMES: [&str; 3] = ["looks_for_leftovers", "another", "traps_after"];
    let text = guest::text("looks_for_leftovers");
    let stage = Stage::of(NAMES[0]);
    stage.add(NAMES[1], &guest::assemble(NAMES[1], &text.replace("(memory 3)", "(memory 4)")));
    stage.add(NAMES[2], &guest::assemble(NAMES[2], &text.replace(";; end", "unreachable")));
    // It finds what is there: data in another place is no leftover, but looks like one.
    stage
        .add("finds", &guest::assemble("finds", &text.replace("(data (i32.const 131072)", "(data (i32.const 140000)")));
    let host = stage.host();
    assert_eq!(kind(&timed(&host, "finds").0), "\"cleandirty\"");
    let clean = |name: &str, outcome: &Outcome| match name {
        "traps_after" => assert_eq!(kind(outcome), "trap", "{}", outcome.json()),
        _ => assert_eq!(kind(outcome), "\"clean\"", "{name}: {}", outcome.json()),
    };
    for name in NAMES.repeat(10) {
        clean(name, &timed(&host, name).0);
    }
    // All slots at once, so that components get each other's.
    for name in NAMES.repeat(2) {
        let at_once = (0..CONCURRENT_CALLS).map(|_| host.call(name, "{}", CallContext::default()));
        join_all(at_once).await.iter().for_each(|outcome| clean(name, outcome));
    }
    assert_good(&host);
}
