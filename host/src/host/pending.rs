//! Waiting for components that are being compiled in the background.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use super::{Current, Host, NewFile, bridge::Bridge};
use crate::{
    component::{Component, Role},
    dispatch::REPORT_INTERVAL,
    sandbox::{Control, Limits, Progress, limits::CATALOGUE_WALL},
};

impl Host {
    /// What is loaded, once it can answer a call of this tool. While a component that nothing is known of yet is being compiled, it may be
    /// the one that offers the tool; while a hook is, calls are blocked. So the call waits for both, as long as a call may take. Then it
    /// is told which component it waited for in vain.
    pub(super) async fn current_for(&self, tool: &str, control: &Control) -> (Arc<Current>, Option<String>) {
        match self.0.compile_states.is_idle() {
            true => (self.0.current.load_full(), None),
            // In a box, since every call would carry its size.
            false => Box::pin(self.awaited(tool, control)).await,
        }
    }

    async fn awaited(&self, tool: &str, control: &Control) -> (Arc<Current>, Option<String>) {
        let (started, mut reported) = (Instant::now(), None);
        let mut changed = self.0.compile_states.subscribe();
        loop {
            // In this order: a component is pending until it is loaded.
            let pending = self.0.compile_states.pending();
            let current = self.0.current.load_full();
            let is_known = self.is_known(&current, tool);
            let Some(awaited) = pending.iter().find(|file| file.is_hook() || !is_known) else { return (current, None) };
            let waited = started.elapsed();
            let Some(left) = Limits::HANDLE.wall.checked_sub(waited).filter(|left| !left.is_zero()) else {
                return (current, Some(awaited.shown()));
            };
            if reported.replace(waited.as_secs()) != Some(waited.as_secs()) {
                control.report(compiling(awaited, waited));
            }
            tokio::select! {
                _ = self.sandbox().within(left.min(REPORT_INTERVAL), changed.changed()) => {}
                () = control.cancelled() => return (current, None),
            }
        }
    }

    fn is_known(&self, current: &Current, tool: &str) -> bool {
        let is_taken_over = || self.0.pipeline.interceptors.iter().any(|interceptor| interceptor.takes(tool));
        Bridge::named(tool).is_some() || current.catalogue.get(tool).is_some() || is_taken_over()
    }

    /// Whether a component can't be asked anything, since its code is being compiled.
    pub(super) fn is_being_compiled(&self, component: &Component) -> bool {
        component.prepared_before().is_none() && self.0.compile_states.is_underway(&component.digest)
    }

    /// Waits a moment for what is being compiled, right after the start: many clients ask for the list of tools once and never again. What
    /// takes longer is told as a change.
    pub(super) async fn settled(&self) {
        let mut changed = self.0.compile_states.subscribe();
        while !self.0.compile_states.pending().is_empty() {
            let Some(left) = CATALOGUE_WALL.checked_sub(self.0.started.elapsed()) else { return };
            if self.sandbox().within(left, changed.changed()).await.is_none() {
                return;
            }
        }
    }
}

fn compiling(file: &NewFile, waited: Duration) -> Progress {
    let message = format!("waiting for {} to be compiled, {} s", file.shown(), waited.as_secs());
    Progress { done: waited.as_secs(), total: None, message: Some(message) }
}

impl NewFile {
    fn is_hook(&self) -> bool {
        self.role() == Role::Hook
    }

    /// The name and size, for messages.
    pub fn shown(&self) -> String {
        format!("{}.wasm, {}", self.name, megabytes(self.size))
    }
}

/// A size as people read it: `18 MB`, `0.3 MB`.
pub fn megabytes(bytes: u64) -> String {
    const MB: f64 = 1e6;
    let megabytes = bytes as f64 / MB;
    if megabytes < 9.95 { format!("{megabytes:.1} MB") } else { format!("{megabytes:.0} MB") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_shown_with_the_digits_that_matter() {
        assert_eq!([40_000, 300_000, 9_940_000, 18_400_000].map(megabytes), ["0.0 MB", "0.3 MB", "9.9 MB", "18 MB"]);
    }
}
