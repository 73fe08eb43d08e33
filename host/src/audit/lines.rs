//! Reads a log line by line, in constant memory whatever is in the file.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Take},
    path::PathBuf,
    vec,
};

use super::{
    AuditError, Line,
    chain::CUT_SHORT,
    files::{OwnFile, Snapshot},
};

/// Bytes of one line with its `\n`. Usually about 700; this is what the longest record takes, see there. Also bounds what is read
/// into memory at once.
pub(super) const LINE_BYTES: usize = 64 << 10;

const TOO_LONG: &str = "is longer than any audit line";

/// Lines that are whole, and what is wrong with the others.
pub(super) struct Lines {
    reader: BufReader<Take<File>>,
    path: PathBuf,
    text: Vec<u8>,
    /// The number of the line that was read last, from 1.
    pub(super) number: u64,
    /// The bytes that were read so far.
    pub(super) offset: u64,
}

impl Lines {
    /// The lines in the first `len` bytes.
    pub(super) fn new(OwnFile { file, path, .. }: OwnFile, len: u64) -> Self {
        Self { reader: BufReader::new(file.take(len)), path, text: Vec::new(), number: 0, offset: 0 }
    }

    /// The lines from this byte on, where one begins, in the first `len` bytes.
    pub(super) fn starting(mut log: OwnFile, offset: u64, len: u64) -> Result<Self, AuditError> {
        log.file.seek(SeekFrom::Start(offset)).map_err(|why| log.error(why))?;
        Ok(Self { offset, ..Self::new(log, len.saturating_sub(offset)) })
    }

    /// The next line; none at the end.
    pub(super) fn next(&mut self) -> Result<Option<Result<Line, &'static str>>, AuditError> {
        self.step().map_err(|why| AuditError::Io { path: self.path.clone(), why })
    }

    fn step(&mut self) -> io::Result<Option<Result<Line, &'static str>>> {
        self.text.clear();
        let count = (&mut self.reader).take(LINE_BYTES as u64).read_until(b'\n', &mut self.text)?;
        if count == 0 {
            return Ok(None);
        }
        self.number += 1;
        self.offset += count as u64;
        Ok(Some(match self.text.strip_suffix(b"\n") {
            Some(text) => Line::parse(text),
            None if count == LINE_BYTES => {
                self.offset += self.reader.skip_until(b'\n')? as u64;
                Err(TOO_LONG)
            }
            None => Err(CUT_SHORT),
        }))
    }
}

/// The lines of all files of a log, one file after the other.
pub(super) struct AllLines {
    full: vec::IntoIter<(u64, PathBuf)>,
    last: Option<(OwnFile, u64)>,
    current: Option<Lines>,
    /// The name of the file that is read, where it is a full one.
    pub(super) file: Option<String>,
}

impl AllLines {
    pub(super) fn of(snapshot: Snapshot) -> Self {
        Self { full: snapshot.full.into_iter(), last: snapshot.log, current: None, file: None }
    }

    /// The next line; none at the end of the last file.
    pub(super) fn next(&mut self) -> Result<Option<Result<Line, &'static str>>, AuditError> {
        loop {
            if let Some(lines) = &mut self.current
                && let Some(line) = lines.next()?
            {
                return Ok(Some(line));
            }
            match self.full.next() {
                Some((_, path)) => {
                    self.file = path.file_name().map(|name| name.to_string_lossy().into_owned());
                    // One that was moved away meanwhile is missed by whoever verifies.
                    let Some(log) = OwnFile::open_existing(path)? else { continue };
                    let len = log.file.metadata().map_err(|why| log.error(why))?.len();
                    self.current = Some(Lines::new(log, len));
                }
                None => {
                    let Some((log, len)) = self.last.take() else { return Ok(None) };
                    self.file = None;
                    self.current = Some(Lines::new(log, len));
                }
            }
        }
    }

    /// The number of the line that was read last, from 1, and where it ends, both in its file.
    pub(super) fn place(&self) -> (u64, u64) {
        self.current.as_ref().map_or((0, 0), |lines| (lines.number, lines.offset))
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            chain::Link,
            record::tests::{huge, record},
        },
        *,
    };

    fn lines(text: &[u8]) -> Lines {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        Lines::new(OwnFile::open_existing(file.path().into()).unwrap().unwrap(), text.len() as u64)
    }

    #[test]
    fn the_longest_record_makes_a_line_that_can_be_read() {
        let mut text = Vec::new();
        let last = Link { seq: u64::MAX - 1, ..Link::start() };
        last.extend(&mut text, &serde_json::to_string(&huge()).unwrap());
        assert!((LINE_BYTES / 2..LINE_BYTES).contains(&text.len()), "{}", text.len());
        assert_eq!(lines(&text).next().unwrap().unwrap().unwrap().seq, u64::MAX);
    }

    #[test]
    fn an_endless_line_costs_no_memory_and_those_after_it_are_read() {
        let mut text = vec![b'x'; 10 * LINE_BYTES];
        text.push(b'\n');
        Link::start().extend(&mut text, &serde_json::to_string(&record("a")).unwrap());
        let mut lines = lines(&text);
        assert_eq!(lines.next().unwrap(), Some(Err(TOO_LONG)));
        assert!(lines.text.capacity() <= 2 * LINE_BYTES);
        assert_eq!(lines.next().unwrap().unwrap().unwrap().record, record("a"));
        assert_eq!((lines.number, lines.offset), (2, text.len() as u64));
        assert_eq!(lines.next().unwrap(), None);
    }

    #[test]
    fn a_last_line_without_its_end_is_cut_short() {
        let mut text = Vec::new();
        Link::start().extend(&mut text, &serde_json::to_string(&record("a")).unwrap());
        text.pop();
        assert_eq!(lines(&text).next().unwrap(), Some(Err(CUT_SHORT)));
    }
}
