//! Compiles new files beside the watching of the folders: a component may take minutes, and a grant that was revoked must not wait for it.

use std::{
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

use hermes_host::{
    Host, NewFile,
    component::{Digest, Refusal, Waker},
};

/// How long to wait with a file that could not be compiled through the machine's fault, the first time. Doubled each time: on a machine
/// that stays busy, or with a file that is slow on this one, compiling must not be all that the host does.
const RETRY_DELAY: Duration = Duration::from_secs(30);

/// The longest such wait.
const LONGEST_RETRY_DELAY: Duration = Duration::from_secs(3600);

/// Files on their way to being compiled.
pub(super) struct Ahead {
    todo: Sender<NewFile>,
    known: Arc<Known>,
}

/// What became of each file.
#[derive(Default)]
struct Known(Mutex<HashMap<PathBuf, FileState>>);

#[derive(Default)]
struct FileState {
    /// It is being compiled, or will be.
    is_underway: bool,
    failed: Option<FailedCompile>,
}

/// Bytes that could not be compiled, for a reason that may pass.
struct FailedCompile {
    digest: Digest,
    /// How often, one after the other.
    times: u32,
    again: Instant,
    /// Whether the watcher was told that it is time to try again.
    is_told: bool,
    why: Refusal,
}

fn retry_delay(times: u32) -> Duration {
    RETRY_DELAY.saturating_mul(1 << times.saturating_sub(1).min(16)).min(LONGEST_RETRY_DELAY)
}

impl Ahead {
    /// As many at once as there are processors. Whoever waits for changes is woken when one is done.
    pub(super) fn start(host: &Host, waker: &Waker) -> std::io::Result<Self> {
        let (todo, files) = channel();
        let (files, known) = (Arc::new(Mutex::new(files)), Arc::new(Known::default()));
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            let (host, waker, files, known) = (host.clone(), waker.clone(), Arc::clone(&files), Arc::clone(&known));
            thread::Builder::new().name("hermes-compile".into()).spawn(move || {
                while let Some(file) = next(&files) {
                    // One file that makes the host stumble must not keep the others out.
                    let result = catch_unwind(AssertUnwindSafe(|| host.compile_ahead(&file)));
                    known.done(&file.path, file.digest, result.unwrap_or_else(|_| Err(stumbled(&file))));
                    waker.wake();
                }
            })?;
        }
        Ok(Self { todo, known })
    }

    /// Takes these files on, but for those that are underway or failed just now. Answers why the latter did.
    pub(super) fn take(&self, files: Vec<NewFile>) -> Vec<Refusal> {
        let (mut known, now, mut refusals) = (self.known.lock(), Instant::now(), Vec::new());
        known.retain(|path, state| state.is_underway || files.iter().any(|file| file.path == *path));
        for file in files {
            let state = known.entry(file.path.clone()).or_default();
            if state.is_underway {
                continue;
            }
            // New bytes are not held back by the failures of old ones.
            state.failed.take_if(|failed| failed.digest != file.digest);
            match &state.failed {
                Some(failed) if failed.again > now => refusals.push(failed.why.clone()),
                _ => {
                    state.is_underway = true;
                    // The threads live as long as the sender.
                    let _ = self.todo.send(file);
                }
            }
        }
        refusals
    }

    /// Forgets what failed: what it may use has changed.
    pub(super) fn try_again(&self) {
        let mut known = self.known.lock();
        known.retain(|_, state| state.is_underway);
        known.values_mut().for_each(|state| state.failed = None);
    }

    /// Whether it is time to try a file again that failed. Told once.
    pub(super) fn is_due(&self) -> bool {
        let now = Instant::now();
        let mut is_due = false;
        for failed in self.known.lock().values_mut().filter_map(|state| state.failed.as_mut()) {
            let is_new = failed.again <= now && !failed.is_told;
            (is_due, failed.is_told) = (is_due || is_new, failed.is_told || is_new);
        }
        is_due
    }
}

impl Known {
    fn done(&self, path: &Path, digest: Digest, result: Result<(), Refusal>) {
        let mut known = self.lock();
        let Err(why) = result else { return drop(known.remove(path)) };
        let state = known.entry(path.to_owned()).or_default();
        let before = state.failed.as_ref().filter(|failed| failed.digest == digest).map_or(0, |failed| failed.times);
        let times = before.saturating_add(1);
        let again = Instant::now() + retry_delay(times);
        *state =
            FileState { is_underway: false, failed: Some(FailedCompile { digest, times, again, is_told: false, why }) };
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, FileState>> {
        // No code that can panic runs while it is held half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn stumbled(file: &NewFile) -> Refusal {
    let (place, reason) = (file.path.display().to_string(), "the host panicked while compiling it: please report this");
    Refusal { place, reason: reason.into() }
}

/// The next file; nothing when nobody sends any more.
fn next(files: &Mutex<Receiver<NewFile>>) -> Option<NewFile> {
    files.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_between_attempts_doubles_up_to_an_hour() {
        assert_eq!([1, 2, 3].map(|times| retry_delay(times).as_secs()), [30, 60, 120]);
        assert_eq!(retry_delay(u32::MAX), LONGEST_RETRY_DELAY);
    }

    #[test]
    fn failures_of_the_same_bytes_add_up_and_those_of_others_do_not() {
        let known = Known::default();
        let path = Path::new("a.wasm");
        let fail = |bytes: &[u8]| {
            known.done(path, Digest::of(bytes), Err(Refusal { place: "a.wasm".into(), reason: "late".into() }));
            known.lock().values().find_map(|state| state.failed.as_ref()).map(|failed| failed.times)
        };
        assert_eq!([fail(b"one"), fail(b"one"), fail(b"other")], [Some(1), Some(2), Some(1)]);
        known.done(path, Digest::of(b"other"), Ok(()));
        assert!(known.lock().is_empty());
    }
}
