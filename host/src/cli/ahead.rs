//! Compiles new files beside the watching of the folders: a component may take minutes, and a grant that was revoked must not wait for it.

use std::{
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
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

/// How long to wait with a file that could not be compiled through the machine's fault.
const AGAIN: Duration = Duration::from_secs(30);

/// Files on their way to being compiled.
pub(super) struct Ahead {
    todo: Sender<NewFile>,
    known: Arc<Known>,
}

/// What became of each file.
#[derive(Default)]
struct Known(Mutex<HashMap<PathBuf, State>>);

enum State {
    /// It is being compiled, or will be.
    Underway,
    /// These bytes could not be, for a reason that may pass.
    Failed { digest: Digest, again: Instant, why: Refusal },
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
                    known.done(&file, result.unwrap_or_else(|_| Err(stumbled(&file))));
                    waker.wake();
                }
            })?;
        }
        Ok(Self { todo, known })
    }

    /// Takes these files on, but for those that are underway or failed just now. Answers why the latter did.
    pub(super) fn take(&self, files: Vec<NewFile>) -> Vec<Refusal> {
        let (mut known, now, mut failed) = (self.known.lock(), Instant::now(), Vec::new());
        known.retain(|path, state| matches!(state, State::Underway) || files.iter().any(|file| file.path == *path));
        for file in files {
            match known.get(&file.path) {
                Some(State::Underway) => {}
                Some(State::Failed { digest, again, why }) if *digest == file.digest && *again > now => {
                    failed.push(why.clone());
                }
                _ => {
                    known.insert(file.path.clone(), State::Underway);
                    // The threads live as long as the sender.
                    let _ = self.todo.send(file);
                }
            }
        }
        failed
    }

    /// Forgets what failed: what it may use has changed.
    pub(super) fn try_again(&self) {
        self.known.lock().retain(|_, state| matches!(state, State::Underway));
    }

    /// Whether it is time to try a file again that failed. Told once: the next look finds it as if it were unknown.
    pub(super) fn is_due(&self) -> bool {
        let (mut known, now) = (self.known.lock(), Instant::now());
        let before = known.len();
        known.retain(|_, state| !matches!(state, State::Failed { again, .. } if *again <= now));
        known.len() < before
    }
}

impl Known {
    fn done(&self, file: &NewFile, result: Result<(), Refusal>) {
        let mut known = self.lock();
        match result {
            Ok(()) => drop(known.remove(&file.path)),
            Err(why) => {
                let failed = State::Failed { digest: file.digest, again: Instant::now() + AGAIN, why };
                known.insert(file.path.clone(), failed);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, State>> {
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
