//! A regular file, open for reading, with all that is known of it.

use std::{
    fs::{File, Metadata},
    hash::{DefaultHasher, Hash, Hasher},
    io,
    os::unix::fs::{FileExt, MetadataExt},
    path::PathBuf,
};

use rustix::fs::OFlags;

use super::{
    fault::{Outcome, fault, system},
    folders::{Folder, Folders, regular},
    limits::INLINE_BYTES,
};
use crate::{
    grant::Access,
    wit::latest::filesystem::{self as wit, Kind, Reason},
};

/// A file that may be read.
pub(super) struct Open<'a> {
    pub(super) file: File,
    pub(super) metadata: Metadata,
    pub(super) folder: &'a Folder,
    /// Its real path.
    pub(super) real: PathBuf,
    shown: PathBuf,
    local: bool,
    /// The operator's own words on writing it.
    writable: bool,
}

impl<'a> Open<'a> {
    pub(super) fn new(folders: &'a Folders, path: &str) -> Outcome<Self> {
        let place = folders.place(path, Access::Read)?;
        let found = place.open(OFlags::RDONLY)?;
        let metadata = found.file.metadata().map_err(|why| system(&place.shown, &why))?;
        regular(place.folder, &place.shown, &metadata)?;
        let writable = place.folder.access == Access::Write && place.judge(&found.path, Access::Write).is_ok();
        let real = place.real(&found.path);
        let local = place.opened.local;
        Ok(Self { file: found.file, metadata, folder: place.folder, real, shown: place.shown, local, writable })
    }

    /// Whether reading it is over before another thread could be asked to do it.
    pub(super) fn is_quick(&self) -> bool {
        self.local && self.metadata.len() <= INLINE_BYTES
    }

    pub(super) fn describe(&self) -> wit::Metadata {
        describe(&self.metadata, self.writable)
    }

    /// As many bytes as there are from a position on, at most `length`.
    pub(super) fn bytes(&self, from: u64, length: u64) -> Outcome<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
        let mut filled = 0;
        while filled < bytes.len() {
            match self.file.read_at(&mut bytes[filled..], from + filled as u64) {
                Ok(0) => break,
                Ok(more) => filled += more,
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                Err(why) => return Err(self.failed(&why)),
            }
        }
        bytes.truncate(filled);
        Ok(bytes)
    }

    pub(super) fn failed(&self, why: &io::Error) -> wit::Fault {
        system(&self.shown, why)
    }

    pub(super) fn too_large(&self, what: &str) -> wit::Fault {
        fault(Reason::TooLarge, format!("{} {what}", self.shown.display()))
    }
}

/// What the guest hears of a file.
pub(super) fn describe(metadata: &Metadata, writable: bool) -> wit::Metadata {
    wit::Metadata {
        kind: match metadata.file_type() {
            kind if kind.is_file() => Kind::File,
            kind if kind.is_dir() => Kind::Directory,
            kind if kind.is_symlink() => Kind::Link,
            _ => Kind::Other,
        },
        size: metadata.len(),
        modified: u64::try_from(metadata.mtime()).unwrap_or_default(),
        version: version(metadata),
        writable,
    }
}

/// Another number for other content: a write changes the times, a replacement the inode.
pub(super) fn version(metadata: &Metadata) -> u64 {
    let mut hasher = DefaultHasher::new();
    let times = (metadata.mtime(), metadata.mtime_nsec(), metadata.ctime(), metadata.ctime_nsec());
    (metadata.dev(), metadata.ino(), metadata.len(), times).hash(&mut hasher);
    hasher.finish()
}
