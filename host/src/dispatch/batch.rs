//! Several calls at once: what may run at the same time does, the rest in order.

use std::{
    future::Future,
    ops::Range,
    path::Path,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use futures_util::{StreamExt, stream};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{CallError, ErrorKind, Outcome, Safety, normalise};
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
        let arguments: Option<Value> = serde_json::from_str(arguments).ok();
        let path = arguments.as_ref().and_then(|arguments| arguments.get("path")?.as_str());
        let home = std::env::home_dir();
        return match path.and_then(|path| normalise(workspace, path, home.as_deref())) {
            Some(path) => Safety::Path { path: fs::real(&path), writes: !definition.hints.read_only },
            None => Safety::Barrier,
        };
    }
    if definition.hints.parallel_safe { Safety::Parallel } else { Safety::Barrier }
}

/// Runs the segments one after the other and the calls of each at the same time. Outcomes come in the order of the calls. At
/// the deadline `cancel` ends the guests that run; what has not started never does.
pub(crate) async fn run<F: Future<Output = Outcome>>(
    sandbox: &Sandbox,
    segments: &[Range<usize>],
    deadline: Duration,
    cancel: &CancellationToken,
    call: impl Fn(usize) -> F,
) -> Vec<Outcome> {
    let count = segments.last().map_or(0, |last| last.end);
    let outcomes: Mutex<Vec<Option<Outcome>>> = Mutex::new((0..count).map(|_| None).collect());
    let put = |at: usize, outcome: Outcome| {
        if let Some(slot) = outcomes.lock().unwrap_or_else(PoisonError::into_inner).get_mut(at) {
            *slot = Some(outcome);
        }
    };
    let all = async {
        for segment in segments {
            let started = stream::iter(segment.clone()).map(|at| {
                let call = &call;
                async move {
                    if !cancel.is_cancelled() {
                        put(at, call(at).await);
                    }
                }
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
    let ended = |outcome: Option<Outcome>| match outcome {
        Some(Outcome { result: Err(error), .. }) if late && is_cancelled(&error) => overdue(deadline),
        Some(outcome) => outcome,
        None if late => overdue(deadline),
        None => CallError::new(ErrorKind::Killed(KillReason::Cancelled), "the batch was given up").into(),
    };
    let outcomes = std::mem::take(&mut *outcomes.lock().unwrap_or_else(PoisonError::into_inner));
    outcomes.into_iter().map(ended).collect()
}

fn is_cancelled(error: &CallError) -> bool {
    error.kind == ErrorKind::Killed(KillReason::Cancelled)
}

fn overdue(deadline: Duration) -> Outcome {
    let text = format!("the batch took longer than {} s", deadline.as_secs_f64());
    CallError::new(ErrorKind::Killed(KillReason::Deadline), &text).into()
}
