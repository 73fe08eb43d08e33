//! Several calls at once: what may run at the same time does, the rest in order.

use std::{
    future::Future,
    ops::Range,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use futures_util::{StreamExt, stream};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{CallError, ErrorKind, Outcome, Safety, plan};
use crate::{
    capability::fs,
    registry::{Entry, never_parallel, path_scoped},
    sandbox::{KillReason, Sandbox},
};

/// Calls in one batch. Models send a handful; a thousand is a program, and more is an attack on the host.
pub const BATCH_CALLS: usize = 1_000;

/// Calls of one batch that run at the same time: one caller must not take every place.
pub(super) const BATCH_PARALLEL: usize = 8;

/// How long a batch may take where its caller says nothing else.
pub const BATCH_WALL: Duration = Duration::from_secs(420);

/// Calls that are planned at a time: more than run at the same time by far, and few enough to be looked at again and again.
const WINDOW: usize = 64;

/// Bytes of a path that is followed: what the system itself takes.
const PATH_BYTES: usize = 4 << 10;

/// How long after the deadline guests may take to end before their calls are dropped.
const BATCH_GRACE: Duration = Duration::from_secs(1);

/// One call of a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BatchCall {
    /// The tool.
    pub name: String,
    /// Its arguments: the text of a JSON object.
    pub arguments: String,
    /// Made up where empty.
    pub call_id: Option<String>,
}

/// More calls than a batch may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the batch has {0} calls; the limit is {BATCH_CALLS}: send them in several batches")]
pub struct BatchTooLarge(pub usize);

/// What a call shares with others, by its tool's claims and its arguments.
pub(crate) fn safety(entry: Option<&Entry>, arguments: &str, workspace: &Path) -> Safety {
    let Some(definition) = entry.map(|entry| &entry.definition) else { return Safety::Barrier };
    let named = |list: &[String]| list.contains(&definition.name);
    if named(never_parallel()) {
        return Safety::Barrier;
    }
    if named(path_scoped()) {
        return match only_path(arguments, workspace) {
            Some(path) => Safety::Path { path, writes: !definition.hints.read_only },
            None => Safety::Barrier,
        };
    }
    if definition.hints.parallel_safe { Safety::Parallel } else { Safety::Barrier }
}

/// The one path that a call is about, as the file system has it now. Nothing where that can't be said: the arguments are no
/// object, or a patch names files of its own, or the path goes back out of what does not exist.
fn only_path(arguments: &str, workspace: &Path) -> Option<PathBuf> {
    super::arguments::check_size(arguments).ok()?;
    let arguments: Value = serde_json::from_str(arguments).ok()?;
    let path = arguments.get("path")?.as_str().filter(|path| !path.is_empty() && path.len() <= PATH_BYTES)?;
    if arguments.get("patch").is_some_and(|patch| !patch.is_null()) {
        return None;
    }
    let from_home = path.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
    match from_home {
        Some(rest) => fs::real(&std::env::home_dir()?.join(rest.trim_start_matches('/'))),
        None => fs::real(&workspace.join(path)),
    }
}

/// Runs the calls, those that may at the same time and the others in turn. Outcomes come in the order of the calls. At the
/// deadline `cancel` ends the guests that run; what has not started never does.
pub(crate) async fn run<F: Future<Output = Outcome>>(
    sandbox: &Sandbox,
    count: usize,
    deadline: Duration,
    cancel: &CancellationToken,
    safety: impl Fn(usize) -> Option<Safety>,
    call: impl Fn(usize) -> F,
) -> Vec<Outcome> {
    let outcomes: Mutex<Vec<Option<Outcome>>> = Mutex::new((0..count).map(|_| None).collect());
    let put = |at: usize, outcome: Outcome| {
        if let Some(slot) = outcomes.lock().unwrap_or_else(PoisonError::into_inner).get_mut(at) {
            *slot = Some(outcome);
        }
    };
    let all = async {
        let mut next = 0;
        while next < count {
            let segment = segment(next, &safety);
            next = segment.end;
            let started = stream::iter(segment).map(|at| {
                let call = &call;
                async move { put(at, call(at).await) }
            });
            started.buffer_unordered(BATCH_PARALLEL).collect::<()>().await;
        }
    };
    let mut all = std::pin::pin!(all);
    let late = sandbox.within(deadline, &mut all).await.is_none();
    if late {
        cancel.cancel();
        // Whoever does not end now is dropped, and with it its guest.
        let _ended = sandbox.within(BATCH_GRACE, &mut all).await;
    }
    let outcomes = std::mem::take(&mut *outcomes.lock().unwrap_or_else(PoisonError::into_inner));
    outcomes.into_iter().map(|outcome| ended(outcome, late.then_some(deadline))).collect()
}

/// The calls from `first` on that run at the same time. Looked at when their turn comes: what ran before may have made links.
fn segment(first: usize, safety: &impl Fn(usize) -> Option<Safety>) -> Range<usize> {
    let window: Vec<Safety> = (first..first + WINDOW).map_while(safety).collect();
    let length = plan(&window).first().map_or(1, |segment| segment.end);
    first..first + length
}

/// What came of a call whose batch may have been late.
fn ended(outcome: Option<Outcome>, late: Option<Duration>) -> Outcome {
    let Some(deadline) = late else {
        let given_up = || CallError::new(ErrorKind::Killed(KillReason::Cancelled), "the batch was given up").into();
        return outcome.unwrap_or_else(given_up);
    };
    let overdue = |what: &str| {
        let text = format!("the batch took longer than {} s, and {what}", deadline.as_secs_f64());
        CallError::new(ErrorKind::Killed(KillReason::Deadline), &text)
    };
    match outcome {
        None => overdue("this call did not end").into(),
        Some(outcome) => match &outcome.result {
            Err(error) if error.kind == ErrorKind::Killed(KillReason::Cancelled) => {
                let ran = outcome.usage.duration > Duration::ZERO;
                let what = if ran { "this call was ended" } else { "this call was not started" };
                Outcome { result: Err(overdue(what)), ..outcome }
            }
            _ => outcome,
        },
    }
}
