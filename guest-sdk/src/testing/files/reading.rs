//! Reading and listing the fake files.

use std::collections::BTreeMap;

use super::{FILES, Fault, File, Files, Known, fault, path};
use crate::fs::{Entry, Excerpt, Kind, LinesQuery, Listing, Metadata, Piece, Reason};

/// Bytes that the start of a file is judged by: text or not.
const HEAD: usize = 8 * 1024;

pub(crate) fn stat(path: &str) -> Result<Metadata, Fault> {
    FILES.with_borrow(|files| {
        files.permit(path)?;
        let path = path::inside(path)?;
        if files.tree.is_directory(&path) {
            return Ok(Metadata { kind: Kind::Directory, size: 0, modified: 0, version: 0, writable: true });
        }
        files.tree.file(&path).map(File::metadata)
    })
}

pub(crate) fn read(path: &str, offset: u64, length: u64) -> Result<Piece, Fault> {
    FILES.with_borrow(|files| {
        files.permit(path)?;
        let file = files.tree.file(&path::inside(path)?)?;
        let size = file.content.len();
        let start = usize::try_from(offset).unwrap_or(size).min(size);
        let end = start.saturating_add(usize::try_from(length).unwrap_or(size)).min(size);
        let (content, masked) = files.masked(file, start, end);
        Ok(Piece { metadata: file.metadata(), bytes: content[start..end].to_vec(), masked })
    })
}

pub(crate) fn lines(query: &LinesQuery) -> Result<Excerpt, Fault> {
    FILES.with_borrow_mut(|files| {
        files.permit(&query.path)?;
        let path = path::inside(&query.path)?;
        if query.first == 0 {
            return Err(fault(Reason::Invalid, "lines count from 1"));
        }
        let excerpt = files.excerpt(files.tree.file(&path)?, query);
        Ok(files.remember(path, query, excerpt))
    })
}

pub(crate) fn list(path: &str) -> Result<Listing, Fault> {
    FILES.with_borrow(|files| {
        files.permit(path)?;
        let path = path::inside(path)?;
        if files.tree.files.contains_key(&path) {
            return Err(fault(Reason::NotDirectory, format!("{} is not a directory", path::real(&path))));
        }
        if !files.tree.is_directory(&path) {
            return Err(files.tree.no_file(&path));
        }
        let mut kinds = BTreeMap::new();
        for below in path::below(&path, files.tree.files.keys()) {
            match below.split_once('/') {
                Some((name, _)) => kinds.insert(name, Kind::Directory),
                None => kinds.insert(below, Kind::File),
            };
        }
        let entries: Vec<_> = kinds.into_iter().map(|(name, kind)| Entry { name: name.to_owned(), kind }).collect();
        Ok(Listing { total: entries.len() as u64, entries })
    })
}

impl Files {
    /// The content with its secrets masked, and how many of them lie between the two positions.
    fn masked(&self, file: &File, start: usize, end: usize) -> (Vec<u8>, u32) {
        let mut content = file.content.to_vec();
        let mut masked = 0;
        for secret in self.secrets.iter().filter(|secret| !secret.is_empty()) {
            let mut at = 0;
            while let Some(bytes) = content.get_mut(at..at + secret.len()) {
                if bytes == secret.as_slice() {
                    bytes.iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b'*');
                    masked += u32::from(at < end && at + secret.len() > start);
                }
                at += 1;
            }
        }
        (content, masked)
    }

    fn excerpt(&self, file: &File, query: &LinesQuery) -> Excerpt {
        let skip = usize::try_from(query.first - 1).unwrap_or(usize::MAX);
        let all = || file.content.split_inclusive(|byte| *byte == b'\n');
        let wanted = || all().skip(skip).take(query.count as usize);
        let before: usize = all().take(skip).map(<[u8]>::len).sum();
        let length: usize = wanted().map(<[u8]>::len).sum();
        let (content, masked) = self.masked(file, before, before + length);
        let mut bytes = Vec::new();
        let mut at = before;
        for line in wanted() {
            let shown = &content[at..at + line.len()];
            // The line break is one more than the width.
            if line.len() > query.width as usize + 1 {
                bytes.extend_from_slice(&shown[..query.width as usize]);
                bytes.push(b'\n');
            } else {
                bytes.extend_from_slice(shown);
            }
            at += line.len();
        }
        Excerpt {
            metadata: file.metadata(),
            bytes,
            given: wanted().count() as u32,
            total: all().count() as u64,
            binary: file.content.iter().take(HEAD).any(|byte| *byte == 0),
            masked,
            seen: 0,
        }
    }

    /// Notes that the task was given these lines, and says how often it was before.
    fn remember(&mut self, path: String, query: &LinesQuery, excerpt: Excerpt) -> Excerpt {
        if excerpt.given == 0 {
            return excerpt;
        }
        let version = excerpt.metadata.version;
        let known = self.tree.known.entry(path).or_insert(Known { version, whole: false });
        let whole = u64::from(excerpt.given) == excerpt.total;
        *known = Known { version, whole: whole || (known.whole && known.version == version) };
        let times = self.given.entry((version, query.first, query.count, query.width)).or_default();
        *times += 1;
        Excerpt { seen: *times - 1, ..excerpt }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::FakeHost;

    fn ask(path: &str, first: u64, count: u32, width: u32) -> Excerpt {
        lines(&LinesQuery { path: path.into(), first, count, width }).unwrap()
    }

    #[test]
    fn lines_are_counted_and_cut_as_the_host_does() {
        let _host = FakeHost::new().file("a", "one\ntwo\n\nthree");
        let excerpt = ask("a", 2, 2, 100);
        assert_eq!((excerpt.bytes.as_slice(), excerpt.given, excerpt.total), (b"two\n\n".as_slice(), 2, 4));
        // A line that is cut ends with a line break all the same.
        assert_eq!(ask("a", 1, 9, 3).bytes, b"one\ntwo\n\nthr\n");
        assert_eq!(ask("a", 1, 2, 1).bytes, b"o\nt\n");
        assert_eq!(ask("a", 9, 2, 9).given, 0);
    }

    #[test]
    fn a_line_break_at_the_end_starts_no_line() {
        let _host = FakeHost::new().file("a", "one\n").file("empty", "").file("binary", [b'a', 0]);
        assert_eq!(ask("a", 1, 9, 9).total, 1);
        assert_eq!(ask("empty", 1, 9, 9).total, 0);
        assert!(ask("binary", 1, 9, 9).binary);
    }

    #[test]
    fn what_was_given_before_is_counted_until_it_changes() {
        let host = FakeHost::new().file("a", "one\ntwo");
        assert_eq!([ask("a", 1, 9, 9).seen, ask("./a", 1, 9, 9).seen, ask("a", 2, 9, 9).seen], [0, 1, 0]);
        let _host = host.file("a", "one\ntwo");
        assert_eq!(ask("a", 1, 9, 9).seen, 0);
    }

    #[test]
    fn secrets_are_masked_in_their_place() {
        let _host = FakeHost::new().secret("hush").file("a", "x = hush\ny = hush\n");
        let excerpt = ask("a", 2, 1, 100);
        assert_eq!((excerpt.bytes.as_slice(), excerpt.masked), (b"y = ****\n".as_slice(), 1));
        assert_eq!(read("a", 0, 6).unwrap().bytes, b"x = **");
    }

    #[test]
    fn a_directory_is_called_a_directory() {
        let _host = FakeHost::new().file("src/lib.rs", "").file("src/a/b.rs", "");
        assert_eq!(read("src", 0, 1).unwrap_err().reason, Reason::IsDirectory);
        assert_eq!(read("src/lib.rs/x", 0, 1).unwrap_err().reason, Reason::NotDirectory);
        assert_eq!(list("src/lib.rs").unwrap_err().reason, Reason::NotDirectory);
        let listing = list("./src").unwrap();
        let entries: Vec<_> = listing.entries.iter().map(|entry| (entry.name.as_str(), entry.kind)).collect();
        assert_eq!(entries, [("a", Kind::Directory), ("lib.rs", Kind::File)]);
        assert_eq!(stat(".").unwrap().kind, Kind::Directory);
    }
}
