//! What an embedder adds in its own code: interceptors that answer for tools, hooks that watch them, a person to ask.

use std::{
    future::{pending, ready},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use futures_util::future::{BoxFuture, join};
use hermes_host::{
    CallContext, DefinitionsRequest, Host, HostBuilder, audit,
    dispatch::{
        ApprovalRequest, Approver, BatchCall, CallError, Decision, ErrorKind, Hook, Intercepted, Interceptor, Outcome,
    },
    wit::latest::{Call, Content, Outcome as Told, Verdict},
};
use tokio_util::sync::CancellationToken;

use super::{
    batch::ends::{cancelled_by, until},
    cli::Place,
    guest,
    results::json,
    start,
};

const SCHEMA: &str = r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#;

/// A place with the component `todo`, which wants an integer and answers "ok".
fn stage() -> Place {
    let (length, schema) = (SCHEMA.len(), SCHEMA.replace('"', "\\22"));
    let text = format!(
        r#"(module (data (i32.const 1024) "{schema}")
          (func $register (result i32) (call $define (i32.const 3) (i32.const 1024) (i32.const {length})) (global.get $tools)))"#
    );
    let place = Place::new();
    place.drop_in("todo.wasm", &guest::assemble("todo", &text));
    place
}

/// What happened, in order.
type Seen = Arc<Mutex<Vec<String>>>;

fn see(seen: &Seen, what: String) {
    seen.lock().unwrap().push(what);
}

fn taken(seen: &Seen) -> Vec<String> {
    std::mem::take(&mut *seen.lock().unwrap())
}

/// Takes the calls of one tool over, as its function says.
struct Takes<F>(&'static str, F);

impl<F: Fn(&Call) -> Option<Intercepted> + Send + Sync> Interceptor for Takes<F> {
    fn takes(&self, tool: &str) -> bool {
        tool == self.0
    }

    fn handle<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Option<Intercepted>> {
        Box::pin(async { (self.1)(call) })
    }
}

/// An interceptor that notes the arguments and answers a text.
fn answers(tool: &'static str, seen: &Seen, text: &'static str) -> Arc<dyn Interceptor> {
    let seen = Arc::clone(seen);
    Arc::new(Takes(tool, move |call: &Call| {
        see(&seen, format!("{text} {}", call.arguments));
        Some(Ok(vec![Content::Text(text.into())]))
    }))
}

fn declines(tool: &'static str) -> Arc<dyn Interceptor> {
    Arc::new(Takes(tool, |_: &Call| None))
}

fn call(host: &Host, tool: &str, arguments: &str) -> Outcome {
    host.call_blocking(tool, arguments, CallContext::default())
}

fn kind(outcome: &Outcome) -> &'static str {
    outcome.result.as_ref().map_or_else(|error| error.kind.name(), |_| "ok")
}

/// Tool, outcome and approval of every call in the audit.
fn audited(place: &Place) -> Vec<(String, String, Option<String>)> {
    let lines = audit::read(&place.home(), &audit::Filter::default()).unwrap().map(|line| line.unwrap().record);
    lines.map(|line| (line.tool, line.outcome, line.approval)).collect()
}

fn line(tool: &str, outcome: &str) -> (String, String, Option<String>) {
    (tool.into(), outcome.into(), None)
}

fn host(builder: HostBuilder) -> Host {
    builder.build().unwrap()
}

#[tokio::test]
async fn an_embedder_answers_in_a_components_place_and_its_schema_stays() {
    let (place, seen) = (stage(), Seen::default());
    let host = host(start::builder(&place).interceptor(answers("todo", &seen, "taken")));
    let definitions = host.definitions(&DefinitionsRequest::default()).await.unwrap();
    assert_eq!(definitions.names, ["todo"]);
    assert_eq!(definitions.tools[0].pointer("/function/parameters/required"), Some(&serde_json::json!(["n"])));
    let before = host.sandbox().instances_made();
    let outcome = host.call("todo", r#"{"n":"5"}"#, CallContext::default()).await;
    assert_eq!(outcome.json(), "\"taken\"");
    assert_eq!(taken(&seen), [r#"taken {"n":5}"#], "the arguments were not coerced");
    for bad in ["{}", r#"{"n":"five"}"#, "no JSON"] {
        let outcome = host.call("todo", bad, CallContext::default()).await;
        assert_eq!(kind(&outcome), "invalid-arguments", "{bad}: {}", outcome.json());
    }
    assert_eq!(taken(&seen), [""; 0], "asked though the arguments were not valid");
    assert_eq!(host.sandbox().instances_made(), before, "an instance was made");
    let invalid = || line("todo", "invalid-arguments");
    assert_eq!(audited(&place), [line("todo", "ok"), invalid(), invalid(), invalid()]);
}

#[test]
fn the_first_interceptor_that_does_not_decline_answers_and_at_last_the_component() {
    let (place, seen) = (stage(), Seen::default());
    let start = || start::builder(&place);
    let declined = host(start().interceptor(declines("todo")));
    let before = declined.sandbox().instances_made();
    assert_eq!(call(&declined, "todo", r#"{"n":1}"#).json(), "\"ok\"");
    assert_eq!(declined.sandbox().instances_made() - before, 1);
    let (first, second) = (answers("todo", &seen, "first"), answers("todo", &seen, "second"));
    let other = answers("memory", &seen, "other");
    let host = host(start().interceptor(other).interceptor(declines("todo")).interceptor(first).interceptor(second));
    assert_eq!(call(&host, "todo", r#"{"n":1}"#).json(), "\"first\"");
    assert_eq!(taken(&seen).len(), 1);
}

#[test]
fn a_tool_that_only_an_interceptor_knows_works_and_is_unknown_when_it_declines() {
    let (place, seen) = (stage(), Seen::default());
    let picky = Takes("memory", |call: &Call| {
        let error = CallError { kind: ErrorKind::Unavailable, message: "not yet".into() };
        match call.arguments.as_str() {
            r#"{"a":1}"# => Some(Ok(vec![Content::Json("[1]".into())])),
            r#"{"a":2}"# => Some(Err(error)),
            r#"{"a":3}"# => panic!("lost my memory"),
            _ => None,
        }
    });
    let host = host(start::builder(&place).interceptor(Arc::new(picky)).interceptor(answers("todo", &seen, "todo")));
    assert_eq!(call(&host, "memory", r#"{"a": 1}"#).json(), "[1]");
    assert_eq!(
        json(&call(&host, "memory", r#"{"a":2}"#)),
        serde_json::json!({"error": "not yet", "kind": "unavailable"})
    );
    assert_eq!(kind(&call(&host, "memory", r#"{"a":3}"#)), "host-panic");
    assert_eq!(kind(&call(&host, "memory", "{}")), "unknown-tool");
    assert_eq!(kind(&call(&host, "memories", r#"{"a":1}"#)), "unknown-tool");
    let outcomes = ["ok", "unavailable", "host-panic", "unknown-tool"].map(|outcome| line("memory", outcome));
    assert_eq!(audited(&place), [&outcomes[..], &[line("memories", "unknown-tool")]].concat());
}

#[test]
fn a_large_answer_of_an_interceptor_goes_to_a_file_like_any_other() {
    let place = stage();
    let large = |tool| Arc::new(Takes(tool, |_: &Call| Some(Ok(vec![Content::Text("a".repeat(100_001))]))));
    let host = host(start::builder(&place).interceptor(large("todo")).interceptor(large("memory")));
    for tool in ["todo", "memory"] {
        let length = call(&host, tool, r#"{"n":1}"#).json().len();
        assert!(length < 3_000, "{tool} answered {length} bytes");
    }
}

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
    fn now<T: Send>(&self, here: bool, otherwise: T) -> BoxFuture<'_, T> {
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

#[test]
fn a_hook_that_panics_blocks_the_call_or_withholds_its_result_and_is_named() {
    let (place, seen) = (stage(), Seen::default());
    for (before, at_once) in [(true, false), (false, false), (true, true), (false, true)] {
        let builder = start::builder(&place).interceptor(answers("todo", &seen, "secret"));
        let host = host(builder.hook(Arc::new(Panics { before, at_once })));
        let outcome = call(&host, "todo", r#"{"n":1}"#);
        assert!(outcome.result.is_err() && !outcome.json().contains("secret"), "{}", outcome.json());
        assert_eq!(taken(&seen).is_empty(), before, "whether it ran");
        assert_eq!(kind(&outcome), "denied", "at once: {at_once}: {}", outcome.json());
        assert!(outcome.json().contains("the hook panics failed"), "{}", outcome.json());
    }
    assert_eq!(audited(&place).len(), 4);
}

struct Person(Seen, Decision);

impl Approver for Person {
    fn approve<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, Decision> {
        see(&self.0, format!("{} {}", request.call.arguments, request.reasons.join(" and ")));
        Box::pin(ready(self.1.clone()))
    }
}

#[test]
fn whoever_is_asked_sees_the_arguments_as_the_tool_gets_them_and_every_reason() {
    let (place, seen, asked) = (stage(), Seen::default(), Seen::default());
    for (decision, expected, approval) in
        [(Decision::Approve, "ok", "approved"), (Decision::Refuse("no".into()), "denied", "refused")]
    {
        let builder = start::builder(&place).interceptor(answers("todo", &seen, "x"));
        let asks = |name, why: &str| watches(name, &Seen::default(), Verdict::Ask(why.into()));
        let builder = builder.hook(asks("a", "sure?")).hook(asks("b", "really?"));
        let host = host(builder.approver(Arc::new(Person(Arc::clone(&asked), decision))));
        assert_eq!(kind(&call(&host, "todo", r#"{"n":" 7 "}"#)), expected);
        assert_eq!(taken(&asked), [r#"{"n":7} a: sure? and b: really?"#]);
        let ran: &[&str] = if expected == "ok" { &[r#"x {"n":7}"#] } else { &[] };
        assert_eq!(taken(&seen), ran);
        assert_eq!(audited(&place).pop().unwrap(), ("todo".into(), expected.into(), Some(approval.into())));
    }
}

/// Never answers.
struct Away(Seen);

impl Approver for Away {
    fn approve<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, Decision> {
        see(&self.0, request.call.name.clone());
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
    let outcomes = host.call_batch(&calls, CallContext::default(), Some(Duration::from_millis(200))).await.unwrap();
    assert!(start.elapsed() < Duration::from_millis(1_700), "{:?}", start.elapsed());
    assert_eq!(outcomes.iter().map(kind).collect::<Vec<_>>(), ["deadline", "deadline"]);
    assert_eq!(taken(&asked), ["todo"], "the second never started");
    assert_eq!(audited(&place), [("todo".into(), "dropped".into(), Some("asked".into()))]);
}

#[tokio::test]
async fn cancelling_a_call_does_not_wait_for_a_person() {
    let (place, asked) = (stage(), Seen::default());
    let host = asking(&place, &asked);
    let cancel = CancellationToken::new();
    let call = host.call("todo", r#"{"n":1}"#, cancelled_by(&cancel));
    let (outcome, ()) = join(tokio::time::timeout(Duration::from_secs(5), call), async {
        until(|| !asked.lock().unwrap().is_empty()).await;
        cancel.cancel();
    })
    .await;
    assert_eq!(kind(&outcome.expect("it still waits")), "cancelled");
}
