//! Tools that the embedder's own code answers for.

mod watched;

use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use hermes_host::{
    CallContext, DefinitionsRequest, Host, HostBuilder, audit,
    dispatch::{CallError, ErrorKind, Intercepted, Interceptor, Outcome},
    wit::latest::{Call, Content},
};

use super::{cli::Place, guest, results::json, start};

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
pub(crate) struct Takes<F>(pub(crate) &'static str, pub(crate) F);

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
