//! Hooks in the embedder's own code, and a person to ask: they hold for intercepted calls as for all others.

use std::{
    future::{pending, ready},
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::future::{BoxFuture, join};
use hermes_host::{
    CallContext, Host,
    approval::{Answer, Approver, Question},
    dispatch::{BatchCall, Hook, Outcome},
    wit::latest::{Call, Content, Outcome as Told, Verdict},
};
use tokio_util::sync::CancellationToken;

use super::{Seen, answers, audited, call, host, kind, line, see, stage, taken};
use crate::{
    batch::ends::{cancelled_by, until},
    cli::Place,
    patience::PATIENCE,
    start,
};

/// A hook that notes what it sees, and does as its function says before the call.
struct Watches<F> {
    name: &'static str,
    seen: Seen,
    verdict: F,
}

impl<F: Fn(&Call) -> Verdict + Send + Sync> Hook for Watches<F> {
    fn name(&self) -> &str {
        self.name
    }

    fn pre_tool_call<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Verdict> {
        see(&self.seen, format!("{} before {}", self.name, call.name));
        Box::pin(async { (self.verdict)(call) })
    }

    fn post_tool_call<'a>(&'a self, call: &'a Call, outcome: &'a Told) -> BoxFuture<'a, ()> {
        see(&self.seen, format!("{} after {}: {}", self.name, call.name, text(outcome)));
        Box::pin(ready(()))
    }

    fn transform_tool_result<'a>(&'a self, _: &'a Call, outcome: &'a Told) -> BoxFuture<'a, Option<Told>> {
        let other = format!("{}({})", self.name, text(outcome));
        Box::pin(ready(Some(Told::Reply(vec![Content::Text(other)]))))
    }
}

fn text(outcome: &Told) -> &str {
    match outcome {
        Told::Reply(content) => match content.as_slice() {
            [Content::Text(text)] => text,
            other => panic!("{other:?}"),
        },
        Told::Error(problem) => &problem.kind,
    }
}

fn watches(name: &'static str, seen: &Seen, verdict: Verdict) -> Arc<dyn Hook> {
    Arc::new(Watches { name, seen: Arc::clone(seen), verdict: move |_: &Call| verdict.clone() })
}

#[test]
fn hooks_see_intercepted_calls_in_the_order_they_were_given_and_each_what_the_one_before_it_left() {
    let (place, seen) = (stage(), Seen::default());
    let interceptor = answers("memory", &seen, "x");
    let host =
        host(start::builder(&place).interceptor(interceptor).hook(watches("a", &seen, Verdict::Allow)).hook(watches(
            "b",
            &seen,
            Verdict::Allow,
        )));
    assert_eq!(call(&host, "memory", "{}").json(), "\"b(a(x))\"");
    let expected = ["a before memory", "b before memory", "x {}", "a after memory: x", "b after memory: x"];
    assert_eq!(taken(&seen), expected);
    // A hook can't make a reply of an error.
    assert_eq!(kind(&call(&host, "todo", "{}")), "invalid-arguments");
    assert_eq!(taken(&seen), [""; 0]);
    assert_eq!(audited(&place), [line("memory", "ok"), line("todo", "invalid-arguments")]);
}

#[test]
fn a_hook_that_blocks_keeps_the_interceptor_and_the_hooks_after_it_from_being_asked() {
    let (place, seen) = (stage(), Seen::default());
    let host = host(
        start::builder(&place)
            .interceptor(answers("todo", &seen, "x"))
            .hook(watches("a", &seen, Verdict::Block("never".into())))
            .hook(watches("b", &seen, Verdict::Allow)),
    );
    let outcome = call(&host, "todo", r#"{"n":1}"#);
    assert_eq!(kind(&outcome), "denied");
    assert!(outcome.json().contains("blocked by the hook a: never"), "{}", outcome.json());
    assert_eq!(taken(&seen), ["a before todo"]);
    assert_eq!(audited(&place), [line("todo", "denied")]);
}

/// Panics at once or when it is polled, before the call or after it.
struct Panics {
    before: bool,
    at_once: bool,
}

impl Panics {
    fn now<'a, T: Send + 'a>(&'a self, here: bool, otherwise: T) -> BoxFuture<'a, T> {
        assert!(!(here && self.at_once), "at once");
        let late = here && !self.at_once;
        Box::pin(async move {
            assert!(!late, "late");
            otherwise
        })
    }
}

impl Hook for Panics {
    fn name(&self) -> &str {
        "panics"
    }

    fn pre_tool_call<'a>(&'a self, _: &'a Call) -> BoxFuture<'a, Verdict> {
        self.now(self.before, Verdict::Allow)
    }

    fn post_tool_call<'a>(&'a self, _: &'a Call, _: &'a Told) -> BoxFuture<'a, ()> {
        self.now(!self.before, ())
    }
}

/// A call whose hook panics, with what came of it and whether it ran.
fn panicked(hook: Panics) -> (Outcome, bool) {
    let (place, seen) = (stage(), Seen::default());
    let builder = start::builder(&place).interceptor(answers("todo", &seen, "secret"));
    let outcome = call(&host(builder.hook(Arc::new(hook))), "todo", r#"{"n":1}"#);
    assert!(outcome.result.is_err() && !outcome.json().contains("secret"), "{}", outcome.json());
    assert_eq!(audited(&place), [line("todo", kind(&outcome))]);
    (outcome, !taken(&seen).is_empty())
}

#[test]
fn a_hook_that_panics_blocks_the_call_or_withholds_its_result() {
    for before in [true, false] {
        for at_once in [true, false] {
            assert_eq!(panicked(Panics { before, at_once }).1, !before, "whether it ran");
        }
    }
}

#[test]
fn a_hook_that_panics_is_named_wherever_it_does() {
    for (before, at_once) in [(true, false), (false, false), (true, true), (false, true)] {
        let (outcome, _) = panicked(Panics { before, at_once });
        assert_eq!(kind(&outcome), "denied", "at once: {at_once}: {}", outcome.json());
        assert!(outcome.json().contains("the hook panics failed"), "{}", outcome.json());
    }
}

struct Person(Seen, Answer);

impl Approver for Person {
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        let shown = question.shown();
        see(&self.0, format!("{} {}", shown.text, shown.reasons.join(" and ")));
        Box::pin(ready(self.1.clone()))
    }
}

#[test]
fn whoever_is_asked_sees_the_arguments_as_the_tool_gets_them_and_every_reason() {
    let (place, seen, asked) = (stage(), Seen::default(), Seen::default());
    for (decision, expected, outcome, approval) in
        [(Answer::ONCE, "ok", "ok", "approved"), (Answer::refuse("no"), "denied", "refused", "refused")]
    {
        let builder = start::builder(&place).interceptor(answers("todo", &seen, "x"));
        let asks = |name, why: &str| watches(name, &Seen::default(), Verdict::Ask(why.into()));
        let builder = builder.hook(asks("a", "sure?")).hook(asks("b", "really?"));
        let host = host(builder.approver(Arc::new(Person(Arc::clone(&asked), decision))));
        assert_eq!(kind(&call(&host, "todo", r#"{"n":" 7 "}"#)), expected);
        assert_eq!(taken(&asked), [r#"{"n":7} a: sure? and b: really?"#]);
        let ran: &[&str] = if expected == "ok" { &[r#"x {"n":7}"#] } else { &[] };
        assert_eq!(taken(&seen), ran);
        assert_eq!(audited(&place).pop().unwrap(), ("todo".into(), outcome.into(), Some(approval.into())));
    }
}

/// Never answers.
struct Away(Seen);

impl Approver for Away {
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        see(&self.0, question.shown().tool);
        Box::pin(pending())
    }
}

fn asking(place: &Place, asked: &Seen) -> Host {
    let hook = watches("a", &Seen::default(), Verdict::Ask("sure?".into()));
    host(start::builder(place).hook(hook).approver(Arc::new(Away(Arc::clone(asked)))))
}

#[tokio::test]
async fn a_batch_does_not_wait_for_a_person_past_its_deadline() {
    let (place, asked) = (stage(), Seen::default());
    let host = asking(&place, &asked);
    let calls = vec![BatchCall { name: "todo".into(), arguments: r#"{"n":1}"#.into(), call_id: None }; 2];
    let start = Instant::now();
    let outcomes = host.call_batch(&calls, CallContext::default(), Some(Duration::from_secs(2))).await.unwrap();
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
    assert_eq!(outcomes.iter().map(kind).collect::<Vec<_>>(), ["deadline", "deadline"]);
    assert_eq!(taken(&asked), ["todo"], "the second never started");
    // Both have their line; only the first got as far as a person.
    let lines = [Some("asked".to_owned()), None].map(|approval| ("todo".to_owned(), "cancelled".to_owned(), approval));
    assert_eq!(audited(&place), lines);
}

/// A call that is given up as soon as somebody was asked about it.
async fn cancelled_when_asked(host: &Host, asked: &Seen) -> Outcome {
    let cancel = CancellationToken::new();
    let call = host.call("todo", r#"{"n":1}"#, cancelled_by(&cancel));
    let (outcome, ()) = join(tokio::time::timeout(PATIENCE, call), async {
        until(|| !asked.lock().unwrap().is_empty()).await;
        cancel.cancel();
    })
    .await;
    outcome.expect("it still waits")
}

#[tokio::test]
async fn cancelling_a_call_does_not_wait_for_a_person() {
    let (place, asked) = (stage(), Seen::default());
    let host = asking(&place, &asked);
    assert_eq!(kind(&cancelled_when_asked(&host, &asked).await), "cancelled");
    assert_eq!(audited(&place), [("todo".into(), "cancelled".into(), Some("asked".into()))]);
}

/// A hook that never comes to a verdict.
struct Undecided(Seen);

impl Hook for Undecided {
    fn name(&self) -> &str {
        "undecided"
    }

    fn pre_tool_call<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Verdict> {
        see(&self.0, call.name.clone());
        Box::pin(pending())
    }
}

#[tokio::test]
async fn cancelling_a_call_does_not_wait_for_a_hook() {
    let (place, asked) = (stage(), Seen::default());
    let host = host(start::builder(&place).hook(Arc::new(Undecided(Arc::clone(&asked)))));
    assert_eq!(kind(&cancelled_when_asked(&host, &asked).await), "cancelled");
}
