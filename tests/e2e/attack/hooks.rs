//! Hooks that do their work, and hooks that fail at it: a guard that can't do its duty lets nothing pass.

use std::{fs, sync::Arc};

use hermes_host::{
    CallContext, Host,
    approval::{Answer, Approver, Question},
    component::{CompileLimits, Compiler, Digest},
    dispatch::Outcome,
    sandbox::Limits,
};

use super::{GRACE, PROGRAM, timed};
use crate::{cli::Place, guest};

/// A host with the good tool and this hook.
fn place(hook: &str) -> Place {
    let place = Place::new();
    place.drop_in("good.wasm", &guest::good("good"));
    place.drop_in("traps.wasm", &guest::attack("traps"));
    place.drop_hook(&format!("{hook}.wasm"), &guest::attack(hook));
    place
}

fn builder(place: &Place) -> hermes_host::HostBuilder {
    let worker = Compiler::Worker(PROGRAM.into(), CompileLimits::STANDARD);
    Host::builder().home(place.home()).tools(place.tools()).without_bundled().compiler(worker)
}

fn host(hook: &str) -> Host {
    let host = builder(&place(hook)).build().unwrap();
    assert_eq!(host.refused_hooks(), []);
    host
}

/// The call did not run or its result is withheld, and the reason names the hook.
fn assert_denied(outcome: &Outcome, reason: &str) {
    let error = outcome.result.as_ref().unwrap_err();
    assert_eq!(error.kind.name(), "denied", "{error}");
    assert!(error.message.contains(reason), "{error}");
}

fn call(host: &Host) -> Outcome {
    host.call_blocking("good", "{}", CallContext::default())
}

#[test]
pub(super) fn hook_blocks() {
    let host = host("hook_blocks");
    let before = host.sandbox().instances_made();
    let outcome = call(&host);
    assert_denied(&outcome, "good was not run: blocked by the hook hook_blocks: not on a Sunday");
    assert_eq!(host.sandbox().instances_made() - before, 1, "only the hook ran");
}

struct Says(Answer);

impl Approver for Says {
    fn ask<'a>(&'a self, question: &'a Question) -> futures_util::future::BoxFuture<'a, Answer> {
        let shown = question.shown();
        assert_eq!(shown.tool, "good");
        assert_eq!(shown.reasons, ["hook_asks: is this wise?"]);
        Box::pin(std::future::ready(self.0.clone()))
    }
}

#[test]
pub(super) fn hook_asks() {
    let place = place("hook_asks");
    assert_denied(&call(&builder(&place).build().unwrap()), "nobody to ask");
    let asked = |decision| call(&builder(&place).approver(Arc::new(Says(decision))).build().unwrap());
    assert_denied(&asked(Answer::refuse("no")), "is this wise?");
    assert_eq!(asked(Answer::ONCE).json(), "\"ok\"");
    let audit = place.run(&["audit", "--json"]);
    let approvals: Vec<String> = crate::cli::stdout(&audit)
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["approval"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(approvals, ["refused", "refused", "approved"]);
}

#[test]
pub(super) fn hook_rewrites() {
    let host = host("hook_rewrites");
    assert_eq!(call(&host).json(), "\"rewritten\"");
    let failed = host.call_blocking("traps", "{}", CallContext::default());
    assert_eq!(failed.result.unwrap_err().kind.name(), "trap", "an error never becomes a reply");
}

#[test]
pub(super) fn hook_withholds() {
    let host = host("hook_withholds");
    assert_denied(&call(&host), "withheld by the hook hook_withholds: secret");
    let failed = host.call_blocking("traps", "{}", CallContext::default()).result.unwrap_err();
    assert_eq!((failed.kind.name(), failed.message.as_str()), ("trap", "secret"), "an error keeps its kind");
}

#[test]
pub(super) fn hook_loops_before() {
    let host = host("hook_loops_before");
    let (outcome, took) = timed(&host, "good");
    assert_denied(&outcome, "good was not run: the hook hook_loops_before failed: it was ended (out-of-fuel)");
    assert!(took < Limits::HANDLE.wall + GRACE, "{took:?}");
}

#[test]
pub(super) fn hook_loops_after() {
    let (outcome, took) = timed(&host("hook_loops_after"), "good");
    assert_denied(&outcome, "good has run, but its result is withheld: the hook hook_loops_after failed");
    assert!(took < Limits::HANDLE.wall + GRACE, "{took:?}");
}

#[test]
pub(super) fn hook_traps_in_transform() {
    let place = place("hook_traps_in_transform");
    assert_denied(&call(&builder(&place).build().unwrap()), "result is withheld");
    place.configure("[hooks.hook_traps_in_transform]\non_failure = \"allow\"");
    assert_eq!(call(&builder(&place).build().unwrap()).json(), "\"ok\"");
}

/// A file in the hooks folder that can't be loaded blocks every call until the operator lets it pass.
fn assert_broken(hook: &str, reason: &str) {
    let place = place(hook);
    let host = builder(&place).build().unwrap();
    let refused = host.refused_hooks();
    assert!(refused.len() == 1 && refused[0].reason.contains(reason), "{refused:?}");
    assert_denied(&call(&host), "could not be loaded");
    place.configure(&format!("[hooks.{hook}]\non_failure = \"allow\""));
    host.reload().unwrap();
    assert_eq!(call(&host).json(), "\"ok\"");
}

#[test]
pub(super) fn hook_subscribes_to_nothing() {
    assert_broken("hook_subscribes_to_nothing", "subscribes to no point");
}

#[test]
pub(super) fn hook_loops_in_subscribe() {
    assert_broken("hook_loops_in_subscribe", "subscribe was ended (out-of-fuel)");
}

#[test]
fn a_tool_in_the_hooks_folder_and_a_hook_among_the_tools_are_told_where_they_belong() {
    let place = Place::new();
    place.drop_in("good.wasm", &guest::good("good"));
    place.drop_in("stray.wasm", &guest::attack("hook_blocks"));
    let host = builder(&place).build().unwrap();
    assert!(host.catalogue().refusals()[0].reason.contains("put it into the hooks folder"));
    assert_eq!(call(&host).json(), "\"ok\"");
    place.drop_hook("tool.wasm", &guest::good("other"));
    host.reload().unwrap();
    assert!(host.refused_hooks()[0].reason.contains("put it into the tools folder"));
    assert_denied(&call(&host), "could not be loaded");
}

#[test]
fn a_hook_is_taken_up_and_let_go_by_a_reload_and_is_bound_to_its_bytes() {
    let place = Place::new();
    place.drop_in("good.wasm", &guest::good("good"));
    let host = builder(&place).build().unwrap();
    let first = host.generation();
    assert_eq!(call(&host).json(), "\"ok\"");
    let bytes = guest::attack("hook_rewrites");
    place.drop_hook("guard.wasm", &bytes);
    host.reload().unwrap();
    assert_eq!(call(&host).json(), "\"rewritten\"");
    assert_eq!(host.generation(), first + 1);
    place.configure(&format!("[hooks.guard]\ndigest = \"{}\"", Digest::of(&bytes)));
    host.reload().unwrap();
    assert_eq!(call(&host).json(), "\"rewritten\"");
    place.drop_hook("guard.wasm", &guest::attack("hook_withholds"));
    host.reload().unwrap();
    assert_denied(&call(&host), "other bytes");
    fs::remove_file(place.hooks().join("guard.wasm")).unwrap();
    host.reload().unwrap();
    assert_denied(&call(&host), "there is no such file");
    place.configure("");
    host.reload().unwrap();
    assert_eq!(call(&host).json(), "\"ok\"");
}

#[test]
fn the_sdks_example_hook_takes_addresses_out_of_results_and_keeps_keys_in() {
    let place = Place::new();
    let example = |name: &str| fs::read(format!("{}/../target/examples/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    place.drop_in("hello.wasm", &example("hello.wasm"));
    place.drop_hook("redact.wasm", &example("redact.wasm"));
    let host = builder(&place).build().unwrap();
    let hello = |name: &str| {
        let arguments = serde_json::json!({"name": name}).to_string();
        host.call_blocking("hello", &arguments, CallContext::default())
    };
    assert_eq!(hello("ada@example.org").json(), "\"Hello, [redacted]!\"");
    assert_eq!(hello("Ada").json(), "\"Hello, Ada!\"");
    assert_denied(&hello("-----BEGIN OPENSSH PRIVATE KEY-----"), "blocked by the hook redact");
}

/// A call that came in such a moment would be one that the guard never saw.
#[test]
fn no_call_runs_without_a_hook_that_is_on_its_way() {
    let place = Place::new();
    place.drop_in("good.wasm", &guest::good("good"));
    let host = builder(&place).build().unwrap();
    assert_eq!(call(&host).json(), "\"ok\"");
    place.drop_hook("guard.wasm", &guest::attack("hook_blocks"));
    let new = host.refresh(&|_| false).unwrap();
    assert_denied(&call(&host), "still being written or compiled");
    for file in &new {
        host.compile_ahead(file).unwrap();
    }
    assert_eq!((new.len(), host.refresh(&|_| false).unwrap()), (1, Vec::new()));
    assert_denied(&call(&host), "not on a Sunday");

    // It stays while other bytes are written, and what could not be loaded blocks while it is mended.
    place.drop_hook("guard.wasm", b"half of a hook");
    host.refresh(&|_| true).unwrap();
    assert_denied(&call(&host), "not on a Sunday");
    host.refresh(&|_| false).unwrap();
    assert_denied(&call(&host), "could not be loaded");
    host.refresh(&|_| true).unwrap();
    assert_denied(&call(&host), "still being written or compiled");
    fs::remove_file(place.hooks().join("guard.wasm")).unwrap();
    host.refresh(&|_| false).unwrap();
    assert_eq!(call(&host).json(), "\"ok\"");
}
