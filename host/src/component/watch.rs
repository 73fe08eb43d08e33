//! Tells when something in the tools folders changed.

use std::{
    path::PathBuf,
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    time::{Duration, Instant},
};

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

/// How long the folders must be quiet before a change counts: copying a file makes many events. Attack 30.
const QUIET: Duration = Duration::from_millis(150);

/// How long a change may be held back by further ones.
const PATIENCE: Duration = Duration::from_secs(2);

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Some files changed, and it is quiet now.
    Files,
    /// Nothing yet.
    Nothing,
}

/// Watches folders.
#[derive(Debug)]
pub struct Watcher {
    events: Receiver<notify::Result<notify::Event>>,
    _watcher: RecommendedWatcher,
}

impl Watcher {
    /// Watches these folders, not what is below them.
    pub fn new(folders: &[PathBuf]) -> Result<Self, notify::Error> {
        let (sender, events) = channel();
        let mut watcher = notify::recommended_watcher(sender)?;
        for folder in folders {
            watcher.watch(folder, RecursiveMode::NonRecursive)?;
        }
        Ok(Self { events, _watcher: watcher })
    }

    /// Waits for a change, at most this long.
    pub fn wait(&self, most: Duration) -> Change {
        let deadline = Instant::now() + most;
        loop {
            match self.events.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(event) if !matters(&event) => {}
                Ok(_) => break,
                Err(_) => return Change::Nothing,
            }
        }
        let patience = Instant::now() + PATIENCE;
        while Instant::now() < patience && !matches!(self.events.recv_timeout(QUIET), Err(RecvTimeoutError::Timeout)) {}
        Change::Files
    }
}

/// Reading a file is an event too; an error may have hidden anything.
fn matters(event: &notify::Result<notify::Event>) -> bool {
    event.as_ref().map_or(true, |event| !matches!(event.kind, EventKind::Access(_)))
}
