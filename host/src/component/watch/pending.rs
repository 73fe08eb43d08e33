//! What changed, which files are still being written, and when it is time to tell. It has no clock of its own.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use notify::{
    Event, EventKind,
    event::{AccessKind, AccessMode, ModifyKind},
};

use crate::component::scan::is_meant;

/// How long it must be quiet before a change is told. Between two files of one copy lie microseconds, so a copy of many makes one
/// change. More than this is felt by whoever waits for a dropped file. Attack 30.
const SETTLE: Duration = Duration::from_millis(10);

/// How long a writer that neither writes nor closes its file is waited for. Then the file is taken as it is: its writer may have
/// hung, or have told of its end while events were lost. When it is closed after all, that is a change of its own.
const STALLED: Duration = Duration::from_secs(2);

/// How long a change may be held back by files that are still being written, and by further changes. Then it is told; what is being
/// written is [not to be read](Pending::is_being_written). A slow download must not keep other tools out.
const HELD: Duration = Duration::from_millis(500);

/// Changes that were not told yet.
#[derive(Debug, Default)]
pub(super) struct Pending {
    /// Files whose writer has not closed them, and until when it is waited for.
    writing: HashMap<PathBuf, Instant>,
    change: Option<Held>,
}

/// A change that waits.
#[derive(Clone, Copy, Debug)]
struct Held {
    first: Instant,
    last: Instant,
}

impl Pending {
    /// Something changed, and all of it is there.
    pub(super) fn change(&mut self, now: Instant) {
        let first = self.change.map_or(now, |held| held.first);
        self.change = Some(Held { first, last: now });
    }

    /// Takes up what happened to files.
    pub(super) fn hear(&mut self, event: &Event, now: Instant) {
        for path in event.paths.iter().filter(|path| is_meant(path)) {
            self.hear_of(path, event.kind, now);
        }
    }

    fn hear_of(&mut self, path: &Path, kind: EventKind, now: Instant) {
        match kind {
            EventKind::Access(AccessKind::Close(AccessMode::Write)) => self.whole(path, now),
            // A file that is made to be written is opened in the same breath. A link is not.
            EventKind::Create(_) => self.write(path, now + SETTLE),
            EventKind::Access(AccessKind::Open(_)) if self.writing.contains_key(path) => {
                self.write(path, now + STALLED)
            }
            // Everybody may read.
            EventKind::Access(_) => {}
            EventKind::Modify(ModifyKind::Data(_)) => self.write(path, now + STALLED),
            // Whoever writes a file may set its mode, too, before it is whole.
            EventKind::Modify(ModifyKind::Metadata(_)) if self.writing.contains_key(path) => {}
            // It came or went in one step, or became readable.
            _ => self.whole(path, now),
        }
    }

    fn write(&mut self, path: &Path, until: Instant) {
        self.writing.insert(path.into(), until);
    }

    fn whole(&mut self, path: &Path, now: Instant) {
        self.writing.remove(path);
        self.change(now);
    }

    /// Whether a file's writer is waited for.
    pub(super) fn is_being_written(&self, path: &Path) -> bool {
        self.writing.contains_key(path)
    }

    /// Whether a change is to be told now. It is then forgotten.
    pub(super) fn take(&mut self, now: Instant) -> bool {
        let before = self.writing.len();
        self.writing.retain(|_, until| *until > now);
        if self.writing.len() < before {
            // It was waited for long enough: it need not settle, too.
            self.change.get_or_insert(Held { first: now, last: now.checked_sub(SETTLE).unwrap_or(now) });
        }
        let is_due = self.due().is_some_and(|due| due <= now);
        if is_due {
            self.change = None;
        }
        is_due
    }

    /// When to ask again, if nothing happens.
    pub(super) fn wake(&self) -> Option<Instant> {
        self.writing.values().copied().chain(self.due()).min()
    }

    fn due(&self) -> Option<Instant> {
        let held = self.change?;
        let latest = held.first + HELD;
        Some(if self.writing.is_empty() { latest.min(held.last + SETTLE) } else { latest })
    }
}

#[cfg(test)]
mod tests {
    use notify::event::{CreateKind, DataChange, MetadataKind, RemoveKind, RenameMode};

    use super::*;

    const CREATE: EventKind = EventKind::Create(CreateKind::File);
    const OPEN: EventKind = EventKind::Access(AccessKind::Open(AccessMode::Any));
    const WRITE: EventKind = EventKind::Modify(ModifyKind::Data(DataChange::Any));
    const CLOSE: EventKind = EventKind::Access(AccessKind::Close(AccessMode::Write));
    const MODE: EventKind = EventKind::Modify(ModifyKind::Metadata(MetadataKind::Any));
    const MOVED_IN: EventKind = EventKind::Modify(ModifyKind::Name(RenameMode::To));
    const REMOVE: EventKind = EventKind::Remove(RemoveKind::File);

    /// One millisecond after another.
    struct Clock(Pending, Instant);

    impl Clock {
        fn new() -> Self {
            Self(Pending::default(), Instant::now())
        }

        fn hear(&mut self, path: &str, kinds: &[EventKind]) {
            for kind in kinds {
                self.0.hear(&Event::new(*kind).add_path(path.into()), self.1);
            }
        }

        /// After how long a change is told, if nothing else happens.
        fn told_after(&mut self) -> Option<Duration> {
            let start = self.1;
            while let Some(wake) = self.0.wake() {
                assert!(wake >= self.1 || self.0.due().is_some(), "it would be asked for ever");
                self.1 = self.1.max(wake);
                if self.0.take(self.1) {
                    return Some(self.1 - start);
                }
            }
            None
        }

        fn pass(&mut self, time: Duration) {
            self.1 += time;
        }
    }

    #[test]
    fn what_is_whole_is_told_once_it_is_quiet() {
        for kinds in
            [&[CREATE, OPEN, WRITE, CLOSE][..], &[MOVED_IN], &[REMOVE], &[MODE], &[OPEN, WRITE, CLOSE], &[CREATE]]
        {
            let mut clock = Clock::new();
            clock.hear("/t/a.wasm", kinds);
            assert_eq!(clock.told_after(), Some(SETTLE), "{kinds:?}");
            assert_eq!(clock.told_after(), None, "{kinds:?}: told twice");
        }
    }

    #[test]
    fn reading_and_files_that_are_no_components_are_nothing() {
        let mut clock = Clock::new();
        clock.hear("/t/a.wasm", &[OPEN]);
        for path in ["/t/.a.wasm", "/t/a.wasm~", "/t/a.txt", "/t/a", "/t/a.wasm.part"] {
            clock.hear(path, &[CREATE, OPEN, WRITE, MODE, CLOSE, REMOVE]);
        }
        assert_eq!(clock.told_after(), None);
    }

    #[test]
    fn a_file_that_is_being_written_holds_back_the_others() {
        let mut clock = Clock::new();
        clock.hear("/t/a.wasm", &[CREATE, OPEN, WRITE]);
        clock.hear("/t/b.wasm", &[MOVED_IN]);
        clock.pass(HELD / 2);
        clock.hear("/t/a.wasm", &[WRITE, MODE]);
        assert!(!clock.0.take(clock.1));
        clock.hear("/t/a.wasm", &[CLOSE]);
        assert_eq!(clock.told_after(), Some(SETTLE));
    }

    #[test]
    fn a_writer_that_stalls_is_waited_for_and_then_no_longer() {
        let mut clock = Clock::new();
        clock.hear("/t/a.wasm", &[CREATE, OPEN, WRITE]);
        assert_eq!(clock.told_after(), Some(STALLED));
        clock.hear("/t/a.wasm", &[CLOSE]);
        assert_eq!(clock.told_after(), Some(SETTLE), "its end is a change of its own");
    }

    #[test]
    fn a_writer_that_never_ends_holds_others_back_for_a_while_only() {
        let mut clock = Clock::new();
        clock.hear("/t/b.wasm", &[MOVED_IN]);
        let mut held = Duration::ZERO;
        while !clock.0.take(clock.1) {
            clock.hear("/t/a.wasm", &[WRITE]);
            clock.pass(SETTLE / 2);
            held += SETTLE / 2;
        }
        assert_eq!(held, HELD);
        assert!(clock.0.is_being_written(Path::new("/t/a.wasm")) && !clock.0.is_being_written(Path::new("/t/b.wasm")));
    }

    #[test]
    fn files_that_come_one_after_another_are_one_change() {
        let mut clock = Clock::new();
        for _ in 0..50 {
            clock.hear("/t/a.wasm", &[CREATE, OPEN, WRITE, CLOSE]);
            clock.pass(SETTLE / 2);
            assert!(!clock.0.take(clock.1));
        }
        assert!(clock.told_after().is_some());
    }
}
