//! Lines as they come.

use std::path::{Path, PathBuf};

use super::{
    AuditError, Filter, Line,
    files::{OwnFile, Snapshot},
    lines::Lines,
};

/// Reads what was appended since the last look, across files that became full meanwhile.
pub struct Follower {
    dir: PathBuf,
    filter: Filter,
    /// The number of the last line that was read.
    seen: u64,
    /// The file that was read last, and up to which byte.
    place: Option<((u64, u64), u64)>,
}

impl Follower {
    /// The first look reads all that is there.
    pub fn new(dir: &Path, filter: Filter) -> Self {
        Self { dir: dir.into(), filter, seen: 0, place: None }
    }

    /// The lines since the last look that the filter wants, the oldest first. A line that can't be read is an error, and the next ones
    /// follow.
    pub fn poll(&mut self) -> Result<Vec<Result<Line, AuditError>>, AuditError> {
        let Snapshot { full, log, .. } = Snapshot::take(&self.dir)?;
        let mut found = Vec::new();
        for (last, path) in full {
            if last <= self.seen {
                continue;
            }
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
            if let Some(file) = OwnFile::open_existing(path)? {
                let len = file.file.metadata().map_err(|why| file.error(why))?.len();
                self.read(file, len, name, &mut found)?;
            }
        }
        if let Some((file, len)) = log {
            self.read(file, len, None, &mut found)?;
        }
        Ok(found)
    }

    fn read(
        &mut self,
        file: OwnFile,
        len: u64,
        name: Option<String>,
        found: &mut Vec<Result<Line, AuditError>>,
    ) -> Result<(), AuditError> {
        let identity = file.identity();
        let offset = self.place.filter(|(known, offset)| *known == identity && *offset <= len);
        let mut lines = Lines::starting(file, offset.map_or(0, |(_, offset)| offset), len)?;
        while let Some(line) = lines.next()? {
            match line {
                Ok(line) => {
                    let is_new = line.seq > self.seen;
                    self.seen = self.seen.max(line.seq);
                    if is_new && self.filter.wants(&line) {
                        found.push(Ok(line));
                    }
                }
                Err(why) => found.push(Err(AuditError::Line { file: name.clone(), number: lines.number, why })),
            }
        }
        self.place = Some((identity, lines.offset));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{Audit, record::tests::record, verify},
        *,
    };

    #[test]
    fn every_line_comes_once_in_order_across_full_logs() {
        let dir = tempfile::tempdir().unwrap();
        let audit = Audit::open(dir.path()).unwrap();
        let mut follower = Follower::new(dir.path(), Filter::default());
        assert!(follower.poll().unwrap().is_empty());
        audit.rotate_at(2_000);
        let mut seen = Vec::new();
        for n in 0..40u64 {
            audit.append(record("x")).unwrap();
            // Sometimes several logs become full between two looks.
            if n % 7 == 0 {
                seen.extend(follower.poll().unwrap().into_iter().map(|line| line.unwrap().seq));
            }
        }
        seen.extend(follower.poll().unwrap().into_iter().map(|line| line.unwrap().seq));
        assert_eq!(seen, (1..=40).collect::<Vec<_>>());
        assert!(follower.poll().unwrap().is_empty());
        assert_eq!(verify(dir.path()).unwrap().faults, []);
    }
}
