//! The log as a host's threads share it. Some lines may wait a moment for others, and are written together.
//!
//! While lines wait, the log stays locked: whoever reads it, or appends to it from another process, waits too, and so never sees
//! a log without them. What waiting risks is the death of this process, so a caller lets only those lines wait that tell of
//! nothing done outside the sandbox.

use std::{
    path::Path,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use super::{AuditError, Record, append::Writer};

/// How long a line may wait. Others who want the log wait as long.
const WAIT: Duration = Duration::from_millis(10);

/// How many lines may wait: what a busy host calls in that time.
const WAITING: usize = 1_024;

/// The log, for appending. Shared by threads; other processes may append to the same files.
pub struct Audit(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    wake: Condvar,
}

struct State {
    writer: Writer,
    waiting: Vec<Record>,
    /// The length of the log, while it is locked for lines that wait.
    locked: Option<u64>,
    closed: bool,
}

impl Audit {
    /// Opens the log in the host's home, made where it is missing.
    pub fn open(dir: &Path) -> Result<Self, AuditError> {
        let state = State { writer: Writer::open(dir)?, waiting: Vec::new(), locked: None, closed: false };
        let shared = Arc::new(Shared { state: Mutex::new(state), wake: Condvar::new() });
        let writes = Arc::clone(&shared);
        let started = thread::Builder::new().name("hermes-audit".into()).spawn(move || writes.write_what_waits());
        started.map_err(|why| AuditError::Io { path: dir.into(), why })?;
        Ok(Self(shared))
    }

    /// Appends one line, after those that wait. After an error the log has the lines it had before.
    pub fn append(&self, record: Record) -> Result<(), AuditError> {
        let mut state = self.0.lock();
        state.waiting.push(record);
        let written = state.write();
        if written.is_err() {
            // The caller knows; the others believe that theirs is written, so they are tried again.
            state.waiting.pop();
        }
        written
    }

    /// Appends one line soon. An error means that lines before it could not be written, and this one is not taken.
    pub fn append_soon(&self, record: Record) -> Result<(), AuditError> {
        let mut state = self.0.lock();
        if state.locked.is_none() {
            if !state.waiting.is_empty() {
                state.write()?;
            }
            state.locked = Some(state.writer.lock()?);
            self.0.wake.notify_one();
        }
        state.waiting.push(record);
        if state.waiting.len() < WAITING { Ok(()) } else { state.write() }
    }
}

impl Drop for Audit {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.closed = true;
        if !state.waiting.is_empty()
            && let Err(why) = state.write()
        {
            tracing::error!("{} audit lines are lost: {why}", state.waiting.len());
        }
        self.0.wake.notify_one();
    }
}

impl Shared {
    /// Lines stay whole whatever happens while they are held, so a panic elsewhere does not spoil them.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the lines that wait when they have waited long enough, until the log is closed.
    fn write_what_waits(&self) {
        let mut state = self.lock();
        while !state.closed {
            if state.locked.is_none() {
                state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            drop(state);
            thread::sleep(WAIT);
            state = self.lock();
            if state.locked.is_some()
                && let Err(why) = state.write()
            {
                tracing::error!("failed to write audit lines, which wait on: {why}");
            }
        }
    }
}

impl State {
    /// Writes all that waits, and lets others at the log.
    fn write(&mut self) -> Result<(), AuditError> {
        let len = match self.locked.take() {
            Some(len) => len,
            None => self.writer.lock()?,
        };
        let written = self.writer.write(&self.waiting, len);
        if written.is_ok() {
            self.waiting.clear();
        }
        written.and(self.writer.unlock())
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, time::Instant};

    use super::{
        super::{Filter, read, record::tests::record, verify},
        *,
    };

    fn calls(dir: &Path) -> Vec<String> {
        read(dir, &Filter::default()).unwrap().map(|line| line.unwrap().record.call).collect()
    }

    #[test]
    fn a_reader_never_misses_a_line_that_waits() {
        let dir = tempfile::tempdir().unwrap();
        let audit = Audit::open(dir.path()).unwrap();
        let mut expected = Vec::new();
        for n in 0..20 {
            let call = format!("call-{n}");
            expected.push(call.clone());
            if n % 3 == 2 {
                audit.append(record(&call)).unwrap()
            } else {
                audit.append_soon(record(&call)).unwrap()
            }
            assert_eq!(calls(dir.path()), expected);
        }
        assert_eq!(verify(dir.path()).unwrap().faults, []);
    }

    #[test]
    fn many_lines_wait_together_and_none_is_lost_when_the_log_is_closed() {
        let dir = tempfile::tempdir().unwrap();
        let audit = Audit::open(dir.path()).unwrap();
        (0..3 * WAITING).for_each(|_| audit.append_soon(record("x")).unwrap());
        drop(audit);
        let report = verify(dir.path()).unwrap();
        assert_eq!((report.lines, report.faults.as_slice()), (3 * WAITING as u64, &[][..]));
    }

    #[test]
    fn another_writer_waits_for_the_lines_that_wait_and_no_longer() {
        let dir = tempfile::tempdir().unwrap();
        let (one, other) = (Audit::open(dir.path()).unwrap(), Audit::open(dir.path()).unwrap());
        one.append_soon(record("first")).unwrap();
        let start = Instant::now();
        other.append(record("second")).unwrap();
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
        assert_eq!(calls(dir.path()), ["first", "second"]);
    }

    #[test]
    fn lines_that_can_not_be_written_wait_on_and_the_next_caller_hears_of_it() {
        let dir = tempfile::tempdir().unwrap();
        let audit = Audit::open(dir.path()).unwrap();
        audit.append_soon(record("kept")).unwrap();
        // A log that is no file any more can't be opened again.
        {
            let mut state = audit.0.lock();
            state.locked = None;
            state.writer.unlock().unwrap();
        }
        fs::rename(dir.path().join("audit.jsonl"), dir.path().join("moved")).unwrap();
        fs::create_dir(dir.path().join("audit.jsonl")).unwrap();
        assert!(audit.append_soon(record("refused")).is_err());
        assert!(audit.append(record("refused")).is_err());
        fs::remove_dir(dir.path().join("audit.jsonl")).unwrap();
        fs::rename(dir.path().join("moved"), dir.path().join("audit.jsonl")).unwrap();
        audit.append(record("next")).unwrap();
        assert_eq!(calls(dir.path()), ["kept", "next"]);
    }
}
