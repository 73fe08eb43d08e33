//! How many file descriptors guests hold through WASI: one call, and all calls of this process.

use std::sync::{
    Arc, LazyLock,
    atomic::{AtomicUsize, Ordering},
};

use rustix::process::{Resource, getrlimit};

use super::super::limits::{OPEN_FILES, OPEN_FILES_OF_PROCESS};
use crate::sandbox::MemoryCharge;

/// The descriptors of all guests. One for the process, since the kernel counts them by process, however many hosts it has.
#[derive(Debug)]
struct OpenFileLimit {
    most: usize,
    held: AtomicUsize,
}

static OF_PROCESS: LazyLock<Arc<OpenFileLimit>> = LazyLock::new(|| {
    // Half of what the kernel allows: the host needs its own for connections, commands, the cache and the log.
    let allowed = getrlimit(Resource::Nofile).current.map_or(usize::MAX, |soft| (soft / 2) as usize);
    Arc::new(OpenFileLimit { most: allowed.min(OPEN_FILES_OF_PROCESS), held: AtomicUsize::new(0) })
});

/// Why a file is not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TooManyOpen {
    /// The call itself holds as many as it may.
    OfCall,
    /// All calls together do.
    OfProcess,
}

/// The descriptors of one call.
#[derive(Debug)]
pub(super) struct CallFiles {
    held: AtomicUsize,
    process: Arc<OpenFileLimit>,
}

impl Default for CallFiles {
    fn default() -> Self {
        Self { held: AtomicUsize::new(0), process: Arc::clone(&OF_PROCESS) }
    }
}

impl CallFiles {
    /// So many descriptors more, released on drop. A call gets them only while no fewer stay free for others than it holds itself:
    /// the first file of a call is opened although another call took all it could.
    pub(super) fn lease(self: &Arc<Self>, count: usize) -> Result<OpenFiles, TooManyOpen> {
        let of_call = |held: usize| held.checked_add(count).filter(|held| *held <= OPEN_FILES);
        let before = self.held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, of_call);
        let before = before.map_err(|_| TooManyOpen::OfCall)?;
        // Taken from the call already: what follows gives it back where there is none.
        let mut files = OpenFiles { call: Arc::clone(self), count, of_process: 0 };
        let of_process = |held: usize| {
            let free = self.process.most.saturating_sub(held);
            (before + count <= free).then_some(held + count)
        };
        let taken = self.process.held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, of_process);
        taken.map_err(|_| TooManyOpen::OfProcess)?;
        files.of_process = count;
        Ok(files)
    }
}

/// Descriptors that are held.
#[derive(Debug)]
pub(super) struct OpenFiles {
    call: Arc<CallFiles>,
    count: usize,
    of_process: usize,
}

impl Drop for OpenFiles {
    fn drop(&mut self) {
        self.call.held.fetch_sub(self.count, Ordering::Relaxed);
        self.call.process.held.fetch_sub(self.of_process, Ordering::Relaxed);
    }
}

/// What the host holds for one open file. Its handle and every stream that was made from it share the lease: a stream keeps the file
/// open after the handle is gone.
#[derive(Debug)]
pub(super) struct DescriptorLease {
    _files: OpenFiles,
    /// A copy in memory, in which secrets are masked.
    _copy: Option<MemoryCharge>,
}

impl DescriptorLease {
    pub(super) fn new(files: OpenFiles, copy: Option<MemoryCharge>) -> Self {
        Self { _files: files, _copy: copy }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(process: &Arc<OpenFileLimit>) -> Arc<CallFiles> {
        Arc::new(CallFiles { held: AtomicUsize::new(0), process: Arc::clone(process) })
    }

    fn process(most: usize) -> Arc<OpenFileLimit> {
        Arc::new(OpenFileLimit { most, held: AtomicUsize::new(0) })
    }

    /// As many as one call gets.
    fn all(call: &Arc<CallFiles>) -> (Vec<OpenFiles>, TooManyOpen) {
        let mut files = Vec::new();
        loop {
            match call.lease(1) {
                Ok(file) => files.push(file),
                Err(why) => return (files, why),
            }
        }
    }

    #[test]
    fn a_call_holds_its_limit_and_gets_released_files_again() {
        let process = process(10 * OPEN_FILES);
        let call = call(&process);
        let (mut files, why) = all(&call);
        assert_eq!((files.len(), why), (OPEN_FILES, TooManyOpen::OfCall));
        assert_eq!(process.held.load(Ordering::Relaxed), OPEN_FILES);
        files.pop();
        assert_eq!(call.lease(2).unwrap_err(), TooManyOpen::OfCall);
        files.push(call.lease(1).unwrap());
        drop(files);
        assert_eq!((call.held.load(Ordering::Relaxed), process.held.load(Ordering::Relaxed)), (0, 0));
    }

    #[test]
    fn a_newcomer_opens_a_file_after_others_took_all_they_could() {
        let process = process(64);
        let calls: Vec<_> = (0..6).map(|_| call(&process)).collect();
        let held: Vec<_> = calls.iter().map(all).collect();
        let counts: Vec<usize> = held.iter().map(|(files, _)| files.len()).collect();
        assert_eq!(counts, [32, 16, 8, 4, 2, 1]);
        assert!(held.iter().all(|(_, why)| *why == TooManyOpen::OfProcess));
        let newcomer = call(&process).lease(1).unwrap();
        assert_eq!(call(&process).lease(1).unwrap_err(), TooManyOpen::OfProcess);
        drop((held, newcomer));
        assert_eq!(process.held.load(Ordering::Relaxed), 0);
    }
}
