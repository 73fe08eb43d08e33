//! The log of one call: what the guest logged and printed, bounded.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::limits::{LOG_BYTES, LOG_LINE_BYTES};

/// How much a line matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Level {
    Trace,
    Debug,
    Info,
    Warn,
    Error,
}

/// One line of a call's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// How much it matters.
    pub level: Level,
    /// The text, without control characters.
    pub message: String,
}

/// How far a call has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Steps done.
    pub done: u64,
    /// Steps in all, where known.
    pub total: Option<u64>,
    /// What is being done.
    pub message: Option<String>,
}

/// The log of one call. Clones share it: the guest's stdout and stderr streams write to the same one.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallLog(Arc<Mutex<Lines>>);

#[derive(Debug, Default)]
struct Lines {
    lines: Vec<LogLine>,
    bytes: usize,
    dropped: usize,
}

impl CallLog {
    pub(crate) fn push(&self, level: Level, message: &str) {
        let mut log = self.lock();
        let message = crate::text::one_line(message, LOG_LINE_BYTES);
        if log.bytes + message.len() > LOG_BYTES {
            log.dropped += 1;
            return;
        }
        log.bytes += message.len();
        log.lines.push(LogLine { level, message });
    }

    /// The lines so far; a last one says how many were dropped.
    pub(crate) fn take(&self) -> Vec<LogLine> {
        let mut log = std::mem::take(&mut *self.lock());
        if log.dropped > 0 {
            let message = format!("{} more lines dropped: the log of one call holds {LOG_BYTES} bytes", log.dropped);
            log.lines.push(LogLine { level: Level::Warn, message });
        }
        log.lines
    }

    /// A line is pushed or it is not; a panic in between leaves nothing half done.
    fn lock(&self) -> MutexGuard<'_, Lines> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_is_bounded_and_says_what_it_dropped() {
        let log = CallLog::default();
        for _ in 0..100 {
            log.push(Level::Info, &"x".repeat(10_000));
        }
        let lines = log.take();
        assert!(lines.iter().map(|line| line.message.len()).sum::<usize>() < LOG_BYTES + 200);
        assert!(lines.last().unwrap().message.contains("more lines dropped"));
    }
}
