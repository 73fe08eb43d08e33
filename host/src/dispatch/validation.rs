//! Where arguments are checked. Nearly all are small and checked on the caller's thread, which costs less than handing them over. What
//! could take longer is checked on a thread of its own, within the call's time, so that no caller's executor waits for it.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::sync::Semaphore;

use super::{CallError, ErrorKind, arguments::prepare};
use crate::{
    registry::{Effort, Entry},
    sandbox::{Kill, KillReason, Limits, Sandbox},
};

/// Steps that checking may take on the caller's thread: under a millisecond with usual schemas, some forty with the slowest patterns.
/// Lower, and calls of a few kilobytes pay for another thread; higher, and a hostile schema holds up the serving thread. Attack 59.
pub(super) const INLINE_STEPS: u64 = 1_000_000;

/// Checks on threads of their own at the same time. A match of a pattern ends at its own bound and not at the deadline: without this,
/// every call could leave a busy thread behind for seconds. Attack 59.
pub(super) const OFFLOADED: usize = 4;

/// Checks arguments.
pub(crate) struct Validation(Arc<Semaphore>);

impl Default for Validation {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(OFFLOADED)))
    }
}

/// Arguments that a tool can rely on.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) arguments: String,
    /// What checking took of the call's time.
    pub(super) took: Duration,
}

impl Validation {
    /// Parses, coerces and validates on a thread of its own, within the call's time. Dropped, it ends the check at its next step.
    pub(super) async fn offload(
        &self,
        sandbox: &Sandbox,
        name: &str,
        entry: Option<&Arc<Entry>>,
        text: &str,
    ) -> Result<Prepared, CallError> {
        let (start, wall) = (Instant::now(), entry.map_or(Limits::HANDLE.wall, |entry| entry.component.limits.wall));
        let effort = Effort::until(start + wall);
        let _given_up = GiveUp(effort.clone());
        let (entry, text) = (entry.cloned(), text.to_owned());
        let late = || {
            let why = format!("checking the arguments took longer than {} s", wall.as_secs_f64());
            CallError::killed(name, &Kill::new(KillReason::Deadline, why), &[])
        };
        let checked = async {
            // Never closed.
            let permit = Arc::clone(&self.0).acquire_owned().await;
            let work = move || {
                // Held until the thread is free again, also where no caller waits for it any more.
                let _permit = permit;
                effort.spend(|| prepare(entry.as_deref(), &text))
            };
            sandbox.blocking(work).await
        };
        let checked = sandbox.within(wall, checked).await.ok_or_else(late)?;
        let checked = checked.map_err(|why| CallError::new(ErrorKind::Killed(KillReason::HostPanic), &why))?;
        Ok(Prepared { arguments: checked.ok_or_else(late)??, took: start.elapsed() })
    }
}

/// The same on this thread, for arguments that [`check_size`](super::check_size) let pass; nothing where it could take long.
pub(super) fn inline(entry: Option<&Entry>, text: &str) -> Result<Option<Prepared>, CallError> {
    if steps(entry, text)? > INLINE_STEPS {
        return Ok(None);
    }
    Ok(Some(Prepared { arguments: prepare(entry, text)?, took: Duration::ZERO }))
}

/// Steps that checking can take. A string of numbers may become as many values as it has bytes.
fn steps(entry: Option<&Entry>, text: &str) -> Result<u64, CallError> {
    let Some(entry) = entry else { return Ok(text.len() as u64) };
    let checker = entry.checker().map_err(|why| CallError::new(ErrorKind::Failed, &why))?;
    Ok(checker.cost.steps(text.len(), text.len()))
}

/// Ends the work when dropped.
struct GiveUp(Effort);

impl Drop for GiveUp {
    fn drop(&mut self) {
        self.0.give_up();
    }
}
