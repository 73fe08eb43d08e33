//! Reads the lines that somebody asks for.

use std::path::Path;

use jiff::Timestamp;

use super::{AuditError, Line, files::Snapshot, lines::AllLines};

/// Which lines are wanted. All of them by default.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Those of this tool.
    pub tool: Option<String>,
    /// Those of this time or later.
    pub since: Option<Timestamp>,
    /// Those of this call.
    pub call: Option<String>,
}

impl Filter {
    pub(super) fn wants(&self, line: &Line) -> bool {
        self.call.as_ref().is_none_or(|call| *call == line.record.call)
            && self.tool.as_ref().is_none_or(|tool| *tool == line.record.tool)
            && self.since.is_none_or(|since| line.record.time >= since)
    }
}

/// The lines that are in the log now and that the filter wants, oldest first. A line that can't be read is an error, and the
/// next ones follow. Whether lines are missing is only known after [`super::verify`].
pub fn read(dir: &Path, filter: &Filter) -> Result<Entries, AuditError> {
    Ok(Entries { lines: Some(AllLines::of(Snapshot::take(dir)?)), filter: filter.clone() })
}

/// What [`read`] finds.
pub struct Entries {
    lines: Option<AllLines>,
    filter: Filter,
}

impl Iterator for Entries {
    type Item = Result<Line, AuditError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let lines = self.lines.as_mut()?;
            match lines.next() {
                Ok(Some(Ok(line))) if self.filter.wants(&line) => return Some(Ok(line)),
                Ok(Some(Ok(_))) => {}
                Ok(Some(Err(why))) => {
                    let (number, _) = lines.place();
                    return Some(Err(AuditError::Line { file: lines.file.clone(), number, why }));
                }
                Ok(None) => return None,
                // The next try would fail the same way.
                Err(why) => {
                    self.lines = None;
                    return Some(Err(why));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Write};

    use super::{
        super::{Audit, Record, files::LOG, record::tests::record},
        *,
    };

    #[test]
    fn the_filter_wants_a_tool_and_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let audit = Audit::open(dir.path()).unwrap();
        for (hour, tool) in [(7, "a"), (8, "a"), (9, "b"), (10, "a")] {
            let time = format!("2026-11-16T{hour:02}:00:00Z").parse().unwrap();
            audit.append(Record { time, tool: tool.into(), ..record("x") }).unwrap();
        }
        let seqs =
            |filter: Filter| -> Vec<u64> { read(dir.path(), &filter).unwrap().map(|line| line.unwrap().seq).collect() };
        let since = Some("2026-11-16T08:00:00Z".parse().unwrap());
        assert_eq!(seqs(Filter::default()), [1, 2, 3, 4]);
        assert_eq!(seqs(Filter { tool: Some("a".into()), ..Filter::default() }), [1, 2, 4]);
        assert_eq!(seqs(Filter { tool: Some("a".into()), since, call: None }), [2, 4]);
    }

    #[test]
    fn a_bad_line_is_an_error_and_the_next_ones_follow() {
        let dir = tempfile::tempdir().unwrap();
        let audit = Audit::open(dir.path()).unwrap();
        audit.append(record("a")).unwrap();
        let mut file = fs::OpenOptions::new().append(true).open(dir.path().join(LOG)).unwrap();
        file.write_all(b"garbage\n").unwrap();
        audit.append(record("b")).unwrap();
        let read: Vec<_> = read(dir.path(), &Filter::default()).unwrap().collect();
        assert_eq!(read.len(), 3);
        assert_eq!(read[0].as_ref().unwrap().record.call, "a");
        assert!(read[1].as_ref().unwrap_err().to_string().starts_with("line 2 of the audit log is not an audit line"));
        assert_eq!(read[2].as_ref().unwrap().record.call, "b");
    }
}
