//! The log of one call: what the guest logged and printed, bounded.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::limits::{LOG_BYTES, LOG_LINE_BYTES, LOG_LINES};

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
    /// What a standard stream wrote since its last line end.
    unfinished: [(Option<Level>, Vec<u8>); 2],
}

impl Lines {
    fn push(&mut self, level: Level, message: &str) {
        let message = crate::text::one_line(message, LOG_LINE_BYTES);
        if self.bytes + message.len() > LOG_BYTES || self.lines.len() >= LOG_LINES {
            self.dropped += 1;
            return;
        }
        self.bytes += message.len();
        self.lines.push(LogLine { level, message });
    }

    fn finish(&mut self, level: Level, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        if !text.trim().is_empty() {
            self.push(level, &text);
        }
    }
}

/// A standard stream of the guest's.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stream {
    Out,
    Err,
}

impl CallLog {
    /// One line.
    pub(crate) fn push(&self, level: Level, message: &str) {
        self.lock().push(level, message);
    }

    /// Bytes of a standard stream: a line is logged when it ends or grows too long.
    pub(crate) fn write(&self, stream: Stream, level: Level, bytes: &[u8]) {
        let mut log = self.lock();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (kept, line) = &mut log.unfinished[stream as usize];
            *kept = Some(level);
            line.extend_from_slice(&piece[..piece.len().min(LOG_LINE_BYTES)]);
            if piece.ends_with(b"\n") || line.len() >= LOG_LINE_BYTES {
                let line = std::mem::take(line);
                log.finish(level, &line);
            }
        }
    }

    /// The lines so far; a last one says how many were dropped.
    pub(crate) fn take(&self) -> Vec<LogLine> {
        let mut log = std::mem::take(&mut *self.lock());
        for (level, line) in std::mem::take(&mut log.unfinished) {
            log.finish(level.unwrap_or(Level::Info), &line);
        }
        if log.dropped > 0 {
            let message = format!(
                "{} more lines dropped: the log of one call holds {LOG_LINES} lines, {LOG_BYTES} bytes",
                log.dropped
            );
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

    #[test]
    fn a_printed_line_is_one_line_however_many_writes_it_took() {
        let log = CallLog::default();
        for piece in ["Value", "Error", ": no\n\n", "and"] {
            log.write(Stream::Err, Level::Warn, piece.as_bytes());
            log.write(Stream::Out, Level::Info, b"x");
        }
        let messages: Vec<String> = log.take().into_iter().map(|line| line.message).collect();
        assert_eq!(messages, ["ValueError: no", "xxxx", "and"]);
    }
}
