//! Compiles new components in the background: one may take minutes, and neither the start of a server nor a grant that was revoked must
//! wait for it.

use std::{
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

use tokio::sync::watch;

use super::{Host, NewFile};
use crate::component::{Digest, Origin, Refusal, worker};

/// How long to wait with a component that could not be compiled through the machine's fault, the first time. Doubled each time: on a
/// machine that stays busy, or with a file that is slow on this one, compiling must not be all that the host does.
const RETRY_DELAY: Duration = Duration::from_secs(30);

/// The longest such wait.
const LONGEST_RETRY_DELAY: Duration = Duration::from_secs(3600);

/// Compiles what [`Host::refresh`] and [`HostBuilder::build_cached`](super::HostBuilder::build_cached) left for later.
#[derive(Debug)]
pub struct BackgroundCompiler {
    small: Sender<NewFile>,
    /// Compiled one at a time, on a thread of their own. One compilation uses all processors, and a Python tool of 18 MB takes 20 CPU
    /// seconds: small tools, which take a fraction of one, must not wait for it.
    large: Sender<NewFile>,
    states: Arc<CompileStates>,
}

/// What became of each component that had to be compiled.
#[derive(Debug, Default)]
pub(super) struct CompileStates {
    files: Mutex<HashMap<String, FileState>>,
    /// Whether the components of the start were taken on.
    is_started: AtomicBool,
    /// Tells of every change.
    changed: watch::Sender<()>,
}

#[derive(Debug)]
struct FileState {
    file: NewFile,
    phase: Phase,
    /// Whether it was there when the host started. Calls wait for such a component; of a file that is dropped later nothing is expected
    /// until it is taken up.
    is_of_start: bool,
    /// How often these bytes failed, one time after the other.
    failures: u32,
}

#[derive(Debug)]
enum Phase {
    /// It is being compiled, or will be.
    Underway,
    /// It is compiled, and the next look at the folders takes it up.
    Compiled,
    Failed(FailedCompile),
}

/// Bytes that could not be compiled, for a reason that may pass.
#[derive(Debug)]
struct FailedCompile {
    again: Instant,
    /// Whether the watcher was told that it is time to try again.
    is_told: bool,
    why: Refusal,
}

fn retry_delay(times: u32) -> Duration {
    RETRY_DELAY.saturating_mul(1 << times.saturating_sub(1).min(16)).min(LONGEST_RETRY_DELAY)
}

impl BackgroundCompiler {
    /// Starts the threads. `on_done` is called when one component is done: then it is time for another [`Host::refresh`].
    pub fn start(host: &Host, on_done: impl Fn() + Clone + Send + 'static) -> std::io::Result<Self> {
        let states = Arc::clone(&host.0.compile_states);
        let (small, small_files) = channel();
        let (large, large_files) = channel();
        let start = |files: &Arc<Mutex<Receiver<NewFile>>>| {
            let (host, states, files, on_done) =
                (host.clone(), Arc::clone(&states), Arc::clone(files), on_done.clone());
            let work = move || {
                while let Some(file) = next(&files) {
                    // One file that makes the host panic must not keep the others out.
                    let result = catch_unwind(AssertUnwindSafe(|| host.compile_ahead(&file)));
                    states.done(&file, result.unwrap_or_else(|_| Err(panicked(&file))));
                    on_done();
                }
            };
            thread::Builder::new().name("hermes-compile".into()).spawn(work).map(drop)
        };
        let small_files = Arc::new(Mutex::new(small_files));
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            start(&small_files)?;
        }
        start(&Arc::new(Mutex::new(large_files)))?;
        Ok(Self { small, large, states })
    }

    /// Takes these components on, but for those that are underway or failed a short time ago. Bundled ones come first, then small ones.
    pub fn take(&self, mut files: Vec<NewFile>) {
        files.sort_by_key(|file| (file.origin != Origin::Bundled, file.size));
        for file in self.states.take(files, Instant::now()) {
            let queue = if file.size > worker::LARGE as u64 { &self.large } else { &self.small };
            // The threads live as long as the sender.
            let _ = queue.send(file);
        }
    }

    /// Forgets what failed: what it may use has changed.
    pub fn try_again(&self) {
        self.states.lock().retain(|_, state| !matches!(state.phase, Phase::Failed(_)));
    }

    /// Whether it is time to try a component again that failed. Told once.
    pub fn is_due(&self) -> bool {
        let now = Instant::now();
        let mut is_due = false;
        for state in self.states.lock().values_mut() {
            if let Phase::Failed(failed) = &mut state.phase {
                let is_new = failed.again <= now && !failed.is_told;
                (is_due, failed.is_told) = (is_due || is_new, failed.is_told || is_new);
            }
        }
        is_due
    }
}

impl CompileStates {
    /// Hears of every change of [`pending`](Self::pending).
    pub(super) fn subscribe(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// The components of the start of which nothing is known until they are compiled. What is loaded is to be looked at after this: a
    /// component is pending until it is taken up.
    pub(super) fn pending(&self) -> Vec<NewFile> {
        let is_pending =
            |state: &&FileState| state.is_of_start && !matches!(state.phase, Phase::Failed(_)) && !state.file.is_listed;
        self.lock().values().filter(is_pending).map(|state| state.file.clone()).collect()
    }

    /// Whether there is nothing to wait for.
    pub(super) fn is_idle(&self) -> bool {
        self.lock().is_empty()
    }

    /// Whether these bytes are being compiled.
    pub(super) fn is_underway(&self, digest: &Digest) -> bool {
        self.lock().values().any(|state| matches!(state.phase, Phase::Underway) && state.file.digest == *digest)
    }

    /// Why these bytes could not be compiled the last time.
    pub(super) fn failure(&self, file: &NewFile) -> Option<Refusal> {
        match self.lock().get(&file.place()) {
            Some(FileState { file: known, phase: Phase::Failed(failed), .. }) if known.digest == file.digest => {
                Some(failed.why.clone())
            }
            _ => None,
        }
    }

    /// The files that are to be compiled now. Whatever is not among the new files any more was taken up, or is gone.
    fn take(&self, files: Vec<NewFile>, now: Instant) -> Vec<NewFile> {
        let is_first = !self.is_started.swap(true, Ordering::Relaxed);
        let mut states = self.lock();
        states.retain(|place, state| {
            matches!(state.phase, Phase::Underway) || files.iter().any(|file| file.place() == *place)
        });
        let mut taken = Vec::new();
        for file in files {
            let waits = match states.get(&file.place()) {
                Some(FileState { phase: Phase::Underway, .. }) => true,
                // New bytes are not held back by the failures of old ones.
                Some(FileState { file: known, phase: Phase::Failed(failed), .. }) => {
                    known.digest == file.digest && failed.again > now
                }
                _ => false,
            };
            if !waits {
                let before = states.get(&file.place()).filter(|state| state.file.digest == file.digest);
                let failures = before.map_or(0, |state| state.failures);
                let is_of_start = is_first || before.is_some_and(|state| state.is_of_start);
                let phase = Phase::Underway;
                states.insert(file.place(), FileState { file: file.clone(), phase, is_of_start, failures });
                taken.push(file);
            }
        }
        drop(states);
        self.changed.send_replace(());
        taken
    }

    fn done(&self, file: &NewFile, result: Result<(), Refusal>) {
        let mut states = self.lock();
        let before = states.get(&file.place());
        let is_of_start = before.is_some_and(|state| state.is_of_start);
        let before = before.map_or(0, |state| state.failures);
        let (phase, failures) = match result {
            Ok(()) => (Phase::Compiled, 0),
            Err(why) => {
                let times = before.saturating_add(1);
                let again = Instant::now() + retry_delay(times);
                (Phase::Failed(FailedCompile { again, is_told: false, why }), times)
            }
        };
        states.insert(file.place(), FileState { file: file.clone(), phase, is_of_start, failures });
        drop(states);
        self.changed.send_replace(());
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, FileState>> {
        // No code that can panic runs while it is held half changed.
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn panicked(file: &NewFile) -> Refusal {
    Refusal::new(&file.place(), "the host panicked while compiling it: please report this")
}

/// The next file; nothing when the sender is gone.
fn next(files: &Mutex<Receiver<NewFile>>) -> Option<NewFile> {
    files.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::component::Role;

    fn file(bytes: &'static [u8]) -> NewFile {
        NewFile::of(&crate::component::ComponentFile::held("a", Origin::Registered, bytes.into()), Role::Tool)
    }

    fn late() -> Result<(), Refusal> {
        Err(Refusal::new("a", "late"))
    }

    #[test]
    fn the_wait_between_attempts_doubles_up_to_an_hour() {
        assert_eq!([1, 2, 3].map(|times| retry_delay(times).as_secs()), [30, 60, 120]);
        assert_eq!(retry_delay(u32::MAX), LONGEST_RETRY_DELAY);
    }

    #[test]
    fn failures_of_the_same_bytes_add_up_and_those_of_others_do_not() {
        let states = CompileStates::default();
        let fail = |file: NewFile| {
            // As if every wait were over.
            let later = Instant::now() + 2 * LONGEST_RETRY_DELAY;
            assert_eq!(states.take(vec![file.clone()], later).len(), 1);
            states.done(&file, late());
            states.lock().values().map(|state| state.failures).collect::<Vec<_>>()
        };
        assert_eq!([fail(file(b"one")), fail(file(b"one")), fail(file(b"other"))], [[1], [2], [1]]);
    }

    #[test]
    fn a_failure_is_not_tried_again_at_once_unless_the_bytes_change() {
        let (states, now) = (CompileStates::default(), Instant::now());
        states.take(vec![file(b"one")], now);
        assert!(states.take(vec![file(b"one")], now).is_empty(), "it is underway");
        states.done(&file(b"one"), late());
        assert_eq!(states.failure(&file(b"one")), Some(Refusal::new("a", "late")));
        assert_eq!(states.failure(&file(b"other")), None);
        assert!(states.pending().is_empty());
        assert!(states.take(vec![file(b"one")], now).is_empty());
        assert_eq!(states.take(vec![file(b"other")], now), [file(b"other")]);
    }

    #[test]
    fn a_component_is_pending_until_the_look_that_takes_it_up() {
        let (states, now) = (CompileStates::default(), Instant::now());
        let mut listed = file(b"listed");
        listed.is_listed = true;
        states.take(vec![file(b"one")], now);
        assert_eq!(states.pending(), [file(b"one")]);
        assert!(states.is_underway(&file(b"one").digest));
        states.done(&file(b"one"), Ok(()));
        assert_eq!(states.pending(), [file(b"one")]);
        states.take(vec![listed], now);
        assert!(states.pending().is_empty(), "what it offers is known");
        states.take(vec![file(b"dropped")], now);
        assert!(states.pending().is_empty(), "it came after the start");
    }
}
