//! The log as a host's threads share it. Some lines may wait a moment for others, and are written together.
//!
//! While lines wait, the log stays locked: whoever reads it, or appends to it from another process, waits too, and so never sees
//! a log without them. What waiting risks is the death of this process, so a caller lets only those lines wait that tell of
//! nothing done outside the sandbox.

use std::{
    path::Path,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use super::{AuditError, LOG_BYTES, Record, append::Writer};

/// How long a line may wait. Others who want the log wait as long.
const WAIT: Duration = Duration::from_millis(10);

/// How many lines may wait: what a busy host calls in that time.
const WAITING: usize = 1_024;

/// How often lines that came while others were written are written while more may come. Then the callers wait for the last ones.
const BATCHES: usize = 3;

/// The log, for appending. Shared by threads; other processes may append to the same files.
pub struct Audit(Arc<Shared>);

/// Two locks, so that nobody who only adds a line waits until others are written. Who needs both takes `log` first.
struct Shared {
    log: Mutex<Log>,
    queue: Mutex<Queue>,
    wake: Condvar,
    /// Bytes of a log before the next one begins.
    full: AtomicU64,
}

struct Log {
    writer: Writer,
    /// The length of the log, while it is locked for lines that wait.
    len: u64,
}

struct Queue {
    waiting: Vec<Record>,
    /// Whether the log is locked, so that lines may wait.
    open: bool,
    closed: bool,
}

impl Audit {
    /// Opens the log in the host's home, made where it is missing.
    pub fn open(dir: &Path) -> Result<Self, AuditError> {
        let log = Mutex::new(Log { writer: Writer::open(dir)?, len: 0 });
        let queue = Mutex::new(Queue { waiting: Vec::new(), open: false, closed: false });
        let shared = Arc::new(Shared { log, queue, wake: Condvar::new(), full: AtomicU64::new(LOG_BYTES) });
        let writes = Arc::clone(&shared);
        let started = thread::Builder::new().name("hermes-audit".into()).spawn(move || writes.write_what_waits());
        started.map_err(|why| AuditError::Io { path: dir.into(), why })?;
        Ok(Self(shared))
    }

    /// Begins a new log from now on when one has this many bytes.
    pub fn rotate_at(&self, bytes: u64) {
        self.0.full.store(bytes, Ordering::Relaxed);
    }

    /// Appends one line, after those that wait. After an error the log has the lines it had before.
    pub fn append(&self, record: Record) -> Result<(), AuditError> {
        self.0.finish(&mut self.0.log(), Some(record))
    }

    /// Appends one line soon. An error means that lines before it could not be written, and this one is not taken.
    pub fn append_soon(&self, record: Record) -> Result<(), AuditError> {
        let Some(record) = self.0.queue().take(record) else { return Ok(()) };
        let mut log = self.0.log();
        let queue = self.0.queue();
        // Somebody else may have been faster, or as many lines wait as may.
        let (open, full, left) = (queue.open, queue.is_full(), !queue.waiting.is_empty());
        drop(queue);
        if open && full {
            return self.0.finish(&mut log, Some(record));
        }
        if !open {
            if left {
                self.0.finish(&mut log, None)?;
            }
            log.len = log.writer.lock(self.0.full.load(Ordering::Relaxed))?;
        }
        let mut queue = self.0.queue();
        queue.open = true;
        queue.waiting.push(record);
        if !open {
            self.0.wake.notify_one();
        }
        Ok(())
    }
}

impl Drop for Audit {
    fn drop(&mut self) {
        // Lines that are being written have been written when this is held.
        let mut log = self.0.log();
        self.0.queue().closed = true;
        let left = self.0.queue().waiting.len();
        if left > 0
            && let Err(why) = self.0.finish(&mut log, None)
        {
            tracing::error!("{left} audit lines are lost: {why}");
        }
        self.0.wake.notify_one();
    }
}

impl Queue {
    /// Lets a line wait, or gives it back where none may.
    fn take(&mut self, record: Record) -> Option<Record> {
        if !self.open || self.is_full() {
            return Some(record);
        }
        self.waiting.push(record);
        None
    }

    fn is_full(&self) -> bool {
        self.waiting.len() + 1 >= WAITING
    }
}

impl Shared {
    /// Lines stay whole whatever happens while they are held, so a panic elsewhere does not spoil them.
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a panic spoils of the log, the next append finds out.
    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the lines that wait when they have waited long enough, until the log is closed.
    fn write_what_waits(&self) {
        let mut queue = self.queue();
        while !queue.closed {
            if !queue.open {
                queue = self.wake.wait(queue).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            drop(queue);
            thread::sleep(WAIT);
            if let Err(why) = self.write_all() {
                tracing::error!("failed to write audit lines, which wait on: {why}");
            }
            queue = self.queue();
        }
    }

    /// Writes what waits, and most of what comes while that is written, and lets others at the log.
    fn write_all(&self) -> Result<(), AuditError> {
        let mut log = self.log();
        for _ in 0..BATCHES {
            let lines = {
                let mut queue = self.queue();
                if !queue.open {
                    return Ok(());
                }
                std::mem::take(&mut queue.waiting)
            };
            let written = log.append(&lines);
            if written.is_err() {
                self.put_back(lines);
                return written.and(log.writer.unlock());
            }
        }
        self.finish(&mut log, None)
    }

    /// Writes all that waits and this line, and lets others at the log. From here on no line may wait until it is locked again.
    fn finish(&self, log: &mut Log, last: Option<Record>) -> Result<(), AuditError> {
        let (mut lines, open) = {
            let mut queue = self.queue();
            (std::mem::take(&mut queue.waiting), std::mem::take(&mut queue.open))
        };
        if !open {
            match log.writer.lock(self.full.load(Ordering::Relaxed)) {
                Ok(len) => log.len = len,
                Err(why) => {
                    self.put_back(lines);
                    return Err(why);
                }
            }
        }
        let waited = lines.len();
        lines.extend(last);
        let written = log.append(&lines);
        if written.is_err() {
            // The caller of the last one knows; the others believe that theirs is written, so they are tried again.
            lines.truncate(waited);
            self.put_back(lines);
        }
        written.and(log.writer.unlock())
    }

    /// Lines that could not be written wait on, before those that came since.
    fn put_back(&self, mut lines: Vec<Record>) {
        let mut queue = self.queue();
        queue.open = false;
        lines.append(&mut queue.waiting);
        queue.waiting = lines;
    }
}

impl Log {
    /// Appends to the log, which is locked.
    fn append(&mut self, lines: &[Record]) -> Result<(), AuditError> {
        if lines.is_empty() {
            return Ok(());
        }
        self.len = self.writer.write(lines, self.len)?;
        Ok(())
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
        assert!(start.elapsed() < Duration::from_secs(120), "{:?}", start.elapsed());
        assert_eq!(calls(dir.path()), ["first", "second"]);
    }

    #[test]
    fn lines_that_can_not_be_written_wait_on_and_the_next_caller_hears_of_it() {
        let dir = tempfile::tempdir().unwrap();
        let audit = Audit::open(dir.path()).unwrap();
        audit.append_soon(record("kept")).unwrap();
        // A log that is no file any more can't be opened again.
        {
            let log = audit.0.log();
            audit.0.queue().open = false;
            log.writer.unlock().unwrap();
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
