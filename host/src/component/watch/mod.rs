//! Tells when something in the tools folders changed, as soon as it is whole.
//!
//! A file counts once its writer closed it, or once it was moved into place ([`pending`]). A folder that was removed and made
//! again, renamed, mounted over, or is a link that now leads elsewhere, is found by looking at it once a second.

mod pending;

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, Sender, channel},
    time::{Duration, Instant, SystemTime},
};

use notify::{
    Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _,
    event::{Flag, ModifyKind},
};

use pending::Pending;

/// How often the folders are looked at: what is watched is a folder, and its name may come to mean another without an event.
const LOOK: Duration = Duration::from_secs(1);

/// How often, while one of them is not there: somebody is about to make it again.
const AWAY: Duration = Duration::from_millis(100);

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Some files changed, and they are whole.
    Files,
    /// Nothing yet.
    Nothing,
}

/// Watches folders. Files on a network file system that another machine changes make no events: they are seen with the next change
/// of another kind.
#[derive(Debug)]
pub struct Watcher {
    folders: Vec<PathBuf>,
    /// What the folders were when they were last looked at.
    seen: Vec<Option<Identity>>,
    /// Whether every folder that is there is watched.
    is_complete: bool,
    next_look: Instant,
    pending: Pending,
    events: Receiver<notify::Result<Event>>,
    sender: Sender<notify::Result<Event>>,
    /// Watches as long as it lives.
    watcher: RecommendedWatcher,
}

impl Watcher {
    /// Watches these folders, not what is below them.
    pub fn new(folders: &[PathBuf]) -> Result<Self, notify::Error> {
        let (sender, events) = channel();
        let seen = folders.iter().map(|folder| Identity::of(folder)).collect();
        let mut watcher = notify::recommended_watcher(sender.clone())?;
        for folder in folders {
            watcher.watch(folder, RecursiveMode::NonRecursive)?;
        }
        let (is_complete, next_look, pending) = (true, Instant::now() + LOOK, Pending::default());
        Ok(Self { folders: folders.into(), seen, is_complete, next_look, pending, events, sender, watcher })
    }

    /// Counts what happened before the folders were watched as a change: the next wait tells of it, once files that are being written are
    /// whole.
    pub fn catch_up(&mut self) {
        self.pending.change(Instant::now());
    }

    /// What ends a wait from another thread, as if files had changed.
    pub fn waker(&self) -> Waker {
        Waker(self.sender.clone())
    }

    /// Whether somebody is writing this file, by all that was heard until now.
    pub fn is_being_written(&mut self, path: &Path) -> bool {
        self.hear_all();
        self.pending.is_being_written(path)
    }

    fn hear_all(&mut self) {
        while let Ok(event) = self.events.try_recv() {
            self.hear(event);
        }
    }

    /// Waits for a change, at most this long. What is not whole by then is kept for the next time.
    pub fn wait(&mut self, most: Duration) -> Change {
        let deadline = Instant::now() + most;
        loop {
            // All of them, before anything is decided: the end of a file may be the last.
            self.hear_all();
            let now = Instant::now();
            if now >= self.next_look {
                self.look(now);
            }
            if self.pending.take(now) {
                return Change::Files;
            }
            if now >= deadline {
                return Change::Nothing;
            }
            let wake = self.pending.wake().map_or(deadline, |wake| wake.min(deadline)).min(self.next_look);
            if let Ok(event) = self.events.recv_timeout(wake.saturating_duration_since(now)) {
                self.hear(event);
            }
        }
    }

    fn hear(&mut self, event: notify::Result<Event>) {
        let now = Instant::now();
        match event {
            // Events were lost: anything may have happened.
            Err(_) => self.look_at_once(now),
            Ok(event) if event.need_rescan() => self.look_at_once(now),
            Ok(event) if event.paths.iter().any(|path| self.folders.contains(path)) => match event.kind {
                EventKind::Access(_) => {}
                EventKind::Modify(ModifyKind::Metadata(_)) => self.next_look = now,
                _ => {
                    // It is gone from its place, though it may look the same when it is back.
                    self.is_complete = false;
                    self.look_at_once(now);
                }
            },
            Ok(event) => self.pending.hear(&event, now),
        }
    }

    fn look_at_once(&mut self, now: Instant) {
        self.pending.change(now);
        self.next_look = now;
    }

    /// Looks whether the names still mean the folders that are watched.
    fn look(&mut self, now: Instant) {
        let seen: Vec<_> = self.folders.iter().map(|folder| Identity::of(folder)).collect();
        let away = if seen.contains(&None) { AWAY } else { LOOK };
        self.next_look = now + away;
        let is_same = seen == self.seen;
        if is_same && self.is_complete {
            return;
        }
        self.seen = seen;
        match self.watch_anew() {
            Ok(()) => {
                self.is_complete = true;
                // What happened before they were watched made no event.
                self.pending.change(now);
            }
            Err(why) => {
                // Once, not every second.
                if self.is_complete || !is_same {
                    tracing::warn!("failed to watch the folders, files may be taken up late: {why}");
                    self.pending.change(now);
                }
                self.is_complete = false;
                self.next_look = now + LOOK;
            }
        }
    }

    /// Watches all folders that are there with a new watcher: two names of one folder share a watch, so one can't be replaced alone.
    /// The old one ends when the new one works, so that nothing falls between.
    fn watch_anew(&mut self) -> Result<(), notify::Error> {
        let mut watcher = notify::recommended_watcher(self.sender.clone())?;
        let there = self.folders.iter().zip(&self.seen).filter(|(_, seen)| seen.is_some());
        // One that fails must not leave the others out.
        let watched: Vec<_> = there.map(|(folder, _)| watcher.watch(folder, RecursiveMode::NonRecursive)).collect();
        self.watcher = watcher;
        watched.into_iter().collect()
    }
}

/// Ends a wait from another thread.
#[derive(Clone, Debug)]
pub struct Waker(Sender<notify::Result<Event>>);

impl Waker {
    /// The next wait, or the one that is going on, tells of a change.
    pub fn wake(&self) {
        // Without a watcher nobody waits.
        let _ = self.0.send(Ok(Event::new(EventKind::Other).set_flag(Flag::Rescan)));
    }
}

/// What tells one folder from another that has its name, and what decides whether it can be watched. Numbers are used again, so
/// the birth counts, where the file system knows it.
#[derive(Debug, PartialEq, Eq)]
struct Identity {
    device: u64,
    number: u64,
    mode: u32,
    born: Option<SystemTime>,
}

impl Identity {
    /// Nothing where there is no folder.
    fn of(folder: &Path) -> Option<Self> {
        let metadata = fs::metadata(folder).ok().filter(fs::Metadata::is_dir)?;
        let born = metadata.created().ok();
        Some(Self { device: metadata.dev(), number: metadata.ino(), mode: metadata.mode(), born })
    }
}

#[cfg(test)]
mod tests;
