//! Batches: results in the order of the calls, and company only where it is allowed.

pub(crate) mod ends;

use std::{
    fs,
    future::ready,
    os::unix::fs::symlink,
    path::Path,
    sync::{Arc, Mutex},
};

use futures_util::future::BoxFuture;
use hermes_host::{
    CallContext,
    dispatch::{BATCH_CALLS, BatchCall, BatchTooLarge, Hook, Outcome},
    wit::latest::{Call, Outcome as Told, Verdict},
};

use super::{
    guest,
    intercept::Takes,
    results::{PARALLEL_SAFE, READ_ONLY, fills, hints, json, place},
    start::builder,
};

/// Calls of one batch that may run at the same time.
const COMPANY: usize = 8;

/// A tool that waits and then answers the three digits that its arguments begin with: `{"n":"017"`.
fn waits(name: &str, claims: u8, milliseconds: u64) -> Vec<u8> {
    // The arguments lie behind the name, at the next multiple of eight.
    let (digits, claims) = (4096 + name.len().next_multiple_of(8) + 6, hints(claims));
    let text = format!(
        r#"(module
          (import "wasi:clocks/monotonic-clock@0.2.0" "subscribe-duration" (func $after (param i64) (result i32)))
          (import "wasi:io/poll@0.2.0" "[method]pollable.block" (func $block (param i32)))
          {claims}
          (func $handle (result i32)
            (call $block (call $after (i64.const {milliseconds}_000_000)))
            (call $answer (i32.const 1) (i32.const {digits}) (i32.const 3))))"#
    );
    guest::assemble(name, &text)
}

/// Notes when calls start and end, by their ids, which are their places in the batch.
#[derive(Default)]
struct Watch(Mutex<Vec<(bool, usize)>>);

impl Watch {
    fn note(&self, starts: bool, call: &Call) {
        self.0.lock().unwrap().push((starts, call.context.call_id.parse().unwrap()));
    }

    /// At which event a call started and at which it ended.
    fn span(&self, call: usize) -> (usize, usize) {
        let events = self.0.lock().unwrap();
        let at = |starts: bool| {
            let found: Vec<usize> = (0..events.len()).filter(|at| events[*at] == (starts, call)).collect();
            assert_eq!(found.len(), 1, "call {call}");
            found[0]
        };
        (at(true), at(false))
    }

    fn overlap(&self, one: usize, other: usize) -> bool {
        let (one, other) = (self.span(one), self.span(other));
        one.0 < other.1 && other.0 < one.1
    }

    fn started(&self, call: usize) -> bool {
        self.0.lock().unwrap().contains(&(true, call))
    }

    /// The most calls at one time.
    fn peak(&self) -> usize {
        let (mut now, mut most) = (0, 0);
        for (starts, _) in self.0.lock().unwrap().iter() {
            now = if *starts { now + 1 } else { now - 1 };
            most = most.max(now);
        }
        most
    }
}

impl Hook for Watch {
    fn name(&self) -> &str {
        "watch"
    }

    fn pre_tool_call<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Verdict> {
        self.note(true, call);
        Box::pin(ready(Verdict::Allow))
    }

    fn post_tool_call<'a>(&'a self, call: &'a Call, _: &'a Told) -> BoxFuture<'a, ()> {
        self.note(false, call);
        Box::pin(ready(()))
    }
}

/// A batch of these tools, each with its place as its id and as its first argument.
fn batch<'a>(calls: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<BatchCall> {
    let call = |(n, (name, path)): (usize, (&str, &str))| BatchCall {
        name: name.into(),
        arguments: serde_json::json!({"n": format!("{n:03}"), "path": path}).to_string(),
        call_id: Some(n.to_string()),
    };
    calls.into_iter().enumerate().map(call).collect()
}

fn kinds(outcomes: &[Outcome]) -> Vec<&'static str> {
    outcomes.iter().map(|outcome| outcome.result.as_ref().map_or_else(|error| error.kind.name(), |_| "ok")).collect()
}

/// Whether two calls must not meet: one of them runs alone, or both touch one place and one of them writes. Places are real.
fn enemies(one: (&str, &str), other: (&str, &str)) -> bool {
    let alone = |call: (&str, &str)| call.0 == "alone";
    let on_path = |call: (&str, &str)| call.0 != "calm";
    let writes = |call: (&str, &str)| call.0 != "read_file";
    let (a, b) = (Path::new(one.1), Path::new(other.1));
    let one_place = a.starts_with(b) || b.starts_with(a);
    alone(one) || alone(other) || on_path(one) && on_path(other) && one_place && (writes(one) || writes(other))
}

#[tokio::test]
async fn of_200_mixed_calls_results_keep_their_order_and_only_those_meet_that_may_and_they_do() {
    let place = place(&[
        ("calm", waits("calm", PARALLEL_SAFE, 10)),
        ("alone", waits("alone", READ_ONLY, 1)),
        ("read_file", waits("read_file", READ_ONLY, 10)),
        // Claiming to be safe does not help a tool that is known to write to paths.
        ("write_file", waits("write_file", PARALLEL_SAFE, 10)),
        ("patch", waits("patch", 0, 10)),
    ]);
    // `b` is another name for `a`.
    let workspace = fs::canonicalize(place.root.path()).unwrap();
    fs::create_dir(workspace.join("a")).unwrap();
    fs::write(workspace.join("a/x"), "").unwrap();
    symlink("a", workspace.join("b")).unwrap();
    symlink("a/x", workspace.join("link")).unwrap();
    fs::create_dir(workspace.join("c")).unwrap();
    let absolute = workspace.join("b/./y").display().to_string();
    // As it is written, and where it leads.
    let paths = [
        ("a/x", "/a/x"),
        ("b/x", "/a/x"),
        ("link", "/a/x"),
        ("./c/../a/y", "/a/y"),
        (absolute.as_str(), "/a/y"),
        ("b", "/a"),
        ("b/new/deep", "/a/new/deep"),
        ("c/1", "/c/1"),
        ("c/2", "/c/2"),
        ("c/22", "/c/22"),
        ("~/z", "/home/z"),
    ];
    let names = ["calm", "read_file", "calm", "write_file", "patch", "calm", "read_file", "read_file", "alone", "calm"];
    // A mix without pattern that is the same in every run, with a stretch that could fill every place.
    let mut state = 7_u32;
    let mut any = |most: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) as usize % most
    };
    let mixed: Vec<(&str, (&str, &str))> = (0..200)
        .map(|n| (if (50..80).contains(&n) { "calm" } else { names[any(names.len())] }, paths[any(paths.len())]))
        .collect();
    let watch = Arc::new(Watch::default());
    let host = builder(&place).workspace(&workspace).hook(Arc::clone(&watch) as _).build().unwrap();
    let calls = batch(mixed.iter().map(|(name, (written, _))| (*name, *written)));
    let outcomes = host.call_batch(&calls, CallContext::default(), None).await.unwrap();

    let expected: Vec<String> = (0..200).map(|n| format!("\"{n:03}\"")).collect();
    assert_eq!(outcomes.iter().map(Outcome::json).collect::<Vec<_>>(), expected);
    assert_eq!(watch.peak(), COMPANY);
    let real = |n: usize| (mixed[n].0, mixed[n].1.1);
    let mut start = 0;
    for n in 0..200 {
        for earlier in (0..n).filter(|earlier| enemies(real(*earlier), real(n))) {
            let (ended, started) = (watch.span(earlier).1, watch.span(n).0);
            assert!(ended < started, "{n} {:?} met {earlier} {:?}", mixed[n], mixed[earlier]);
        }
        // Nobody in between is an enemy, so nobody had to wait.
        if (start..n).any(|earlier| enemies(real(earlier), real(n))) {
            start = n;
        }
        for friend in (start..n).filter(|_| n - start < COMPANY) {
            assert!(watch.overlap(friend, n), "{n} {:?} waited for {friend} {:?}", mixed[n], mixed[friend]);
        }
    }
}

#[tokio::test]
async fn a_link_that_an_earlier_call_made_is_another_name_for_the_calls_after_it() {
    let place = place(&[("write_file", waits("write_file", 0, 10))]);
    let workspace = fs::canonicalize(place.root.path()).unwrap();
    fs::create_dir(workspace.join("a")).unwrap();
    let new = workspace.join("new");
    // Stands for a tool like `terminal`: it runs alone, and afterwards the folders are not what they were.
    let links = Takes("links", move |_: &Call| {
        symlink("a", &new).unwrap();
        Some(Ok(Vec::new()))
    });
    let watch = Arc::new(Watch::default());
    let builder = builder(&place).workspace(&workspace).interceptor(Arc::new(links)).hook(Arc::clone(&watch) as _);
    let host = builder.build().unwrap();
    let calls = batch([("links", ""), ("write_file", "a/x"), ("write_file", "new/x")]);
    let outcomes = host.call_batch(&calls, CallContext::default(), None).await.unwrap();
    assert_eq!(kinds(&outcomes), ["ok", "ok", "ok"]);
    assert!(!watch.overlap(1, 2), "two calls wrote to one file at the same time");
}

#[tokio::test]
async fn a_call_that_fails_or_that_nobody_knows_disturbs_no_other() {
    let place = place(&[("calm", waits("calm", PARALLEL_SAFE, 5)), ("traps", guest::attack("traps"))]);
    let host = builder(&place).build().unwrap();
    let mut calls = batch(["calm", "traps", "calm", "nobody", "calm", "calm"].map(|name| (name, "")));
    calls[4].arguments = "[no JSON".into();
    let outcomes = host.call_batch(&calls, CallContext::default(), None).await.unwrap();
    assert_eq!(kinds(&outcomes), ["ok", "trap", "ok", "unknown-tool", "invalid-arguments", "ok"]);
    assert_eq!([0, 2, 5].map(|at| outcomes[at].json()), ["\"000\"", "\"002\"", "\"005\""]);
}

#[tokio::test]
async fn a_batch_of_more_than_1_000_calls_is_refused_before_any_runs() {
    let place = place(&[("quick", waits("quick", PARALLEL_SAFE, 0))]);
    let host = builder(&place).build().unwrap();
    let before = host.sandbox().instances_made();
    let mut calls = batch(vec![("quick", ""); BATCH_CALLS + 1]);
    let refused = host.call_batch(&calls, CallContext::default(), None).await.unwrap_err();
    assert_eq!(refused, BatchTooLarge(1_001));
    assert_eq!(host.sandbox().instances_made(), before);
    calls.pop();
    let outcomes = host.call_batch(&calls, CallContext::default(), None).await.unwrap();
    assert_eq!((outcomes.len(), outcomes[999].json().as_str()), (1_000, "\"999\""));
}

#[tokio::test]
async fn of_a_turn_past_200_000_characters_the_largest_results_go_to_files_first() {
    let sizes = [("p60", 60_000), ("p95", 95_000), ("p80", 80_000), ("p15", 15_000)];
    let place = place(&sizes.map(|(name, chars)| (name, fills(name, "", chars))));
    let host = builder(&place).build().unwrap();
    let run = |names: Vec<&'static str>| {
        let host = &host;
        async move {
            let calls = batch(names.into_iter().map(|name| (name, "")));
            let outcomes = host.call_batch(&calls, CallContext::default(), None).await.unwrap();
            assert!(outcomes.iter().map(|outcome| outcome.json().chars().count()).sum::<usize>() <= 200_000);
            outcomes.iter().map(|outcome| json(outcome)["file"].as_str().map(str::to_owned)).collect::<Vec<_>>()
        }
    };
    let files = run(vec!["p60", "p95", "p80", "p15"]).await;
    assert_eq!(files.iter().map(Option::is_some).collect::<Vec<_>>(), [false, true, false, false]);
    assert_eq!(fs::read_to_string(files[1].as_ref().unwrap()).unwrap(), "a".repeat(95_000));
    let files = run(vec!["p60", "p95", "p80", "p15", "p60", "p15"]).await;
    assert_eq!(files.iter().map(Option::is_some).collect::<Vec<_>>(), [false, true, true, false, false, false]);
}

#[tokio::test]
async fn a_turn_of_many_middling_results_is_within_the_bound_too() {
    let place = place(&[("page", fills("page", &hints(PARALLEL_SAFE), 1_600))]);
    let host = builder(&place).build().unwrap();
    let calls = batch(vec![("page", ""); 200]);
    let outcomes = host.call_batch(&calls, CallContext::default(), None).await.unwrap();
    let shown: usize = outcomes.iter().map(|outcome| outcome.json().chars().count()).sum();
    assert!(shown <= 200_000, "{shown} characters");
}
