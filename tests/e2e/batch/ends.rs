//! Batches that would never end: deadlines, cancelling and dropping end their guests for good.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::future::{join, join_all};
use hermes_host::{
    CallContext, Host, audit,
    dispatch::{BatchCall, Outcome},
    sandbox::{Control, limits::COMPONENT_CALLS},
};
use tokio_util::sync::CancellationToken;

use super::{Watch, batch, kinds, waits};
use crate::{
    cli::Place,
    guest,
    patience::PATIENCE,
    results::{PARALLEL_SAFE, hints, place},
    start::builder,
};

/// Time enough for the calls that end to do so on a busy machine.
const DEADLINE: Duration = Duration::from_secs(3);

/// Guests that never end by themselves, nor by their own limits within this test, and others beside them.
fn endless() -> (Place, Arc<Watch>, Host) {
    let spins = "(func $handle (result i32) (loop $for_ever (br $for_ever)) unreachable)";
    let place = place(&[
        ("quick", waits("quick", PARALLEL_SAFE, 0)),
        ("alone", waits("alone", 0, 0)),
        ("spins", guest::assemble("spins", &format!("(module {} {spins})", hints(PARALLEL_SAFE)))),
        ("sleeps", waits("sleeps", PARALLEL_SAFE, 10_000_000)),
    ]);
    let limits = "limits = { timeout = \"300s\", fuel = 9_000_000_000_000_000_000 }";
    place.configure(&format!("[tools.spins]\n{limits}\n[tools.sleeps]\n{limits}"));
    let watch = Arc::new(Watch::default());
    let host = builder(&place).hook(Arc::clone(&watch) as _).build().unwrap();
    (place, watch, host)
}

/// Four that never end after one that does; `alone` and what follows wait for them.
fn endless_batch() -> Vec<BatchCall> {
    batch(["quick", "spins", "sleeps", "spins", "sleeps", "alone", "quick"].map(|name| (name, "")))
}

/// Waits for what must happen.
pub(crate) async fn until(mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < PATIENCE, "it never happened");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

pub(crate) fn cancelled_by(token: &CancellationToken) -> CallContext {
    CallContext { control: Control { cancel: Some(token.clone()), ..Control::default() }, ..CallContext::default() }
}

/// As many guests of one component as may run at the same time: no other run holds a permit, or there would be fewer.
async fn assert_all_places_are_free(host: &Host) {
    let (before, cancel) = (host.sandbox().instances_made(), CancellationToken::new());
    let call = |n: usize| {
        let context = CallContext { call_id: Some((1_000 + n).to_string()), ..cancelled_by(&cancel) };
        host.call("sleeps", "{}", context)
    };
    let all_run = async {
        until(|| host.sandbox().instances_made() - before == COMPONENT_CALLS).await;
        cancel.cancel();
    };
    let (outcomes, ()) = join(join_all((0..COMPONENT_CALLS).map(call)), all_run).await;
    assert!(kinds(&outcomes).iter().all(|kind| *kind == "cancelled"));
    let again = join_all((0..COMPONENT_CALLS).map(|n| {
        let context = CallContext { call_id: Some((2_000 + n).to_string()), ..CallContext::default() };
        host.call("quick", r#"{"n":"077"}"#, context)
    }));
    assert!(again.await.iter().all(|outcome| outcome.json() == "\"077\""));
}

#[tokio::test]
async fn a_deadline_ends_guests_that_never_would_and_frees_their_places() {
    let (_place, watch, host) = endless();
    let (start, deadline) = (Instant::now(), DEADLINE);
    let outcomes = host.call_batch(&endless_batch(), CallContext::default(), Some(deadline)).await.unwrap();
    let took = start.elapsed();
    assert!((deadline..PATIENCE).contains(&took), "{took:?}");
    assert_eq!(kinds(&outcomes), ["ok", "deadline", "deadline", "deadline", "deadline", "deadline", "deadline"]);
    assert_eq!(outcomes[0].json(), "\"000\"", "what was done before the deadline stays");
    assert_eq!([4, 5, 6].map(|call| watch.started(call)), [true, false, false]);
    assert_all_places_are_free(&host).await;
}

#[tokio::test]
async fn a_call_that_never_started_before_the_deadline_says_so() {
    let (_place, watch, host) = endless();
    let deadline = Some(DEADLINE);
    let outcomes = host.call_batch(&endless_batch(), CallContext::default(), deadline).await.unwrap();
    assert_eq!([4, 5].map(|call| watch.started(call)), [true, false]);
    // A model must know which of its calls may have changed something.
    let message = |at: usize| outcomes[at].result.as_ref().unwrap_err().message.clone();
    assert_ne!(message(4), message(5), "a call that ran and one that never started");
    assert_eq!(message(5), message(6));
}

#[tokio::test]
async fn cancelling_a_batch_ends_its_guests_and_frees_their_places() {
    let (_place, watch, host) = endless();
    let cancel = CancellationToken::new();
    let (calls, started) = (endless_batch(), || (1..5).all(|call| watch.started(call)));
    let batch = host.call_batch(&calls, cancelled_by(&cancel), None);
    let ((outcomes, ended), cancelled) = join(async { (batch.await.unwrap(), Instant::now()) }, async {
        until(started).await;
        cancel.cancel();
        Instant::now()
    })
    .await;
    assert!(ended - cancelled < PATIENCE, "{:?}", ended - cancelled);
    assert_eq!(kinds(&outcomes)[1..], ["cancelled"; 6]);
    assert_eq!([5, 6].map(|call| watch.started(call)), [false, false]);
    assert_all_places_are_free(&host).await;
}

#[tokio::test]
async fn dropping_a_batch_ends_its_guests_and_leaves_a_line_for_each() {
    let (place, watch, host) = endless();
    let calls = endless_batch();
    tokio::select! {
        _ = host.call_batch(&calls, CallContext::default(), None) => panic!("it ended by itself"),
        () = until(|| (1..5).all(|call| watch.started(call))) => {}
    }
    let lines: Vec<_> = audit::read(&place.home(), &audit::Filter::default()).unwrap().map(Result::unwrap).collect();
    assert_eq!(lines.iter().filter(|line| line.record.outcome == "dropped").count(), 4);
    assert_all_places_are_free(&host).await;
}

/// A hook that never ends by itself before a call that would be quick, and how a batch of that call ended.
async fn held_by_a_hook(on_failure: &str) -> (Outcome, usize) {
    let place = place(&[("quick", waits("quick", PARALLEL_SAFE, 0))]);
    place.drop_hook("slow.wasm", &guest::attack("hook_loops_before"));
    let limits = "limits = { timeout = \"300s\", fuel = 9_000_000_000_000_000_000 }";
    place.configure(&format!("[hooks.slow]\non_failure = \"{on_failure}\"\n{limits}"));
    let host = builder(&place).build().unwrap();
    let (before, start, deadline) = (host.sandbox().instances_made(), Instant::now(), DEADLINE);
    let calls = batch([("quick", "")]);
    let mut outcomes = host.call_batch(&calls, CallContext::default(), Some(deadline)).await.unwrap();
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
    (outcomes.remove(0), host.sandbox().instances_made() - before)
}

#[tokio::test]
async fn a_deadline_that_meets_a_hook_is_the_batchs_and_not_the_hooks_failure() {
    let (outcome, instances) = held_by_a_hook("block").await;
    assert_eq!(instances, 1, "only the hook ran");
    assert_eq!(kinds(&[outcome]), ["deadline"]);
}

#[tokio::test]
async fn a_call_whose_hook_was_ended_by_the_deadline_does_not_run_after_it() {
    let (outcome, instances) = held_by_a_hook("allow").await;
    assert_eq!(instances, 1, "only the hook ran: {}", outcome.json());
    assert_eq!(kinds(&[outcome]), ["deadline"]);
}

#[test]
fn a_call_that_was_given_up_before_it_started_does_not_run() {
    let place = place(&[("quick", waits("quick", 0, 0)), ("good", guest::good("good"))]);
    let host = builder(&place).build().unwrap();
    let (before, cancel) = (host.sandbox().instances_made(), CancellationToken::new());
    cancel.cancel();
    let outcomes = ["quick", "good"].map(|tool| host.call_blocking(tool, "{}", cancelled_by(&cancel)));
    assert_eq!(kinds(&outcomes), ["cancelled", "cancelled"]);
    assert_eq!(host.sandbox().instances_made(), before);
}
