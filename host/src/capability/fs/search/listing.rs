//! The names in a folder, many at a time.

use std::os::fd::AsFd;

use rustix::fs::{FileType, RawDir};

use super::skipped::Skip;

/// Names that are held at once. A folder with more is worked through in rounds, so one with millions takes no more memory.
const ROUND: usize = 4_096;

/// Some or all of the names in a folder. `.` and `..` are not among them.
#[derive(Default)]
pub(super) struct Listing {
    names: Vec<u8>,
    /// What each is, and where its name ends.
    entries: Vec<(FileType, usize)>,
    /// Whether these are the last of the folder.
    pub(super) last: bool,
}

impl Listing {
    /// Reads the next round in place of the one before.
    pub(super) fn read<Fd: AsFd>(&mut self, folder: &mut RawDir<'_, Fd>) -> Result<(), Skip> {
        self.names.clear();
        self.entries.clear();
        while self.entries.len() < ROUND {
            let Some(entry) = folder.next() else {
                self.last = true;
                return Ok(());
            };
            let entry = entry.map_err(|_| Skip::Unreadable)?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                self.names.extend_from_slice(name);
                self.entries.push((entry.file_type(), self.names.len()));
            }
        }
        self.last = false;
        Ok(())
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn has(&self, name: &[u8]) -> bool {
        self.iter().any(|(other, _)| other == name)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], FileType)> {
        let mut start = 0;
        self.entries.iter().map(move |(kind, end)| {
            let name = self.names.get(start..*end).unwrap_or_default();
            start = *end;
            (name, *kind)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs::File};

    use super::*;

    #[test]
    fn every_name_comes_once_however_many_there_are() {
        let dir = tempfile::tempdir().unwrap();
        let names: BTreeSet<String> = (0..ROUND + 10).map(|n| format!("file {n}")).collect();
        names.iter().for_each(|name| drop(File::create(dir.path().join(name)).unwrap()));
        let mut buffer = Vec::with_capacity(8_192);
        let mut raw = RawDir::new(File::open(dir.path()).unwrap(), buffer.spare_capacity_mut());
        let (mut listing, mut seen, mut rounds) = (Listing::default(), BTreeSet::new(), 0);
        while !listing.last {
            listing.read(&mut raw).unwrap();
            rounds += 1;
            assert!(listing.len() <= ROUND);
            for (name, kind) in listing.iter() {
                assert_eq!(kind, FileType::RegularFile);
                assert!(seen.insert(String::from_utf8(name.to_vec()).unwrap()));
            }
        }
        assert_eq!((rounds, seen), (2, names));
        assert!(listing.iter().all(|(name, _)| listing.has(name)) && !listing.has(b"."));
    }
}
