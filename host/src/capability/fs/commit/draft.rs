//! The new content of a file, written in full beside it before it takes its place.

use std::{
    ffi::OsStr,
    fs::{File, Metadata},
    io::{self, Write},
    os::{
        fd::{AsFd, OwnedFd},
        unix::fs::{FileExt, MetadataExt},
    },
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
};

use rustix::{
    fs::{Gid, Mode, OFlags, Uid, fchmod, fchown, fstatvfs, openat},
    io::Errno,
};

use super::{
    super::{
        fault::{Outcome, fault, system},
        limits::{DISK_RESERVE, INODE_RESERVE, WRITTEN_BYTES},
        open::version,
    },
    apply::Applied,
    target::Target,
    uncovered,
};
use crate::{
    sandbox::limits::MIB,
    wit::latest::filesystem::{Reason, Splice},
};

/// What the names of drafts start with. Lists and searches leave them out.
const PREFIX: &str = ".hermes-draft-";

/// How many names are tried: other hosts may work in the same folder.
const NAMES: usize = 100;

/// Whether a name is that of a draft.
pub(in super::super) fn is_draft(name: &[u8]) -> bool {
    name.starts_with(PREFIX.as_bytes())
}

pub(in super::super) struct Draft {
    pub(super) parent: OwnedFd,
    pub(super) name: String,
    pub(super) file: File,
    /// The file whose place it takes, and its version then.
    pub(super) old: Option<(File, Metadata)>,
    made_folders: bool,
}

impl Draft {
    /// A draft of a whole file.
    pub(super) fn of_content(target: &Target<'_>, content: &[u8], applied: &mut Applied) -> Outcome<Self> {
        let old = target.open()?;
        Self::new(target, old, content.len() as u64, applied, |file, _| file.write_all(content))
    }

    /// A draft of a file with some pieces replaced.
    pub(super) fn of_splices(target: &Target<'_>, splices: &[Splice], applied: &mut Applied) -> Outcome<Self> {
        let old = target.open()?.ok_or_else(|| target.missing())?;
        let size = old.1.len();
        let removed: u64 = splices.iter().map(|splice| splice.length).sum();
        let added: u64 = splices.iter().map(|splice| splice.bytes.len() as u64).sum();
        let draft = Self::new(target, Some(old), size - removed + added, applied, |file, old| {
            let mut from = 0;
            for splice in splices {
                copy(old, from, splice.offset, file)?;
                file.write_all(&splice.bytes)?;
                from = splice.offset + splice.length;
            }
            copy(old, from, size, file)
        })?;
        if let Some((old, _)) = &draft.old {
            uncovered::refuse(target, old, &draft.file, splices)?;
        }
        Ok(draft)
    }

    fn new(
        target: &Target<'_>,
        old: Option<(File, Metadata)>,
        size: u64,
        applied: &mut Applied,
        fill: impl FnOnce(&mut File, Option<&File>) -> io::Result<()>,
    ) -> Outcome<Self> {
        if size > WRITTEN_BYTES {
            let message =
                format!("{} would have {size} bytes; at most {WRITTEN_BYTES} are written", target.shown().display());
            return Err(fault(Reason::TooLarge, message));
        }
        let parent = target.parent(applied)?;
        reserve(&parent, target.shown(), size)?;
        // Nobody else reads a draft of a file that is there: its mode comes with its content.
        let mode = if old.is_some() { 0o600 } else { 0o666 };
        let failed = |why: &io::Error| target.failed(why);
        let (name, mut file) = create(&parent, mode).map_err(|why| failed(&why))?;
        applied.drafted(&parent, &name).map_err(|why| failed(&why))?;
        fill(&mut file, old.as_ref().map(|(file, _)| file)).map_err(|why| failed(&why))?;
        if let Some((_, metadata)) = &old {
            keep_mode(&file, metadata).map_err(|why| failed(&why))?;
        }
        file.sync_all().map_err(|why| failed(&why))?;
        Ok(Self { parent, name, file, old, made_folders: target.needs_folders() })
    }

    pub(super) fn is_new(&self) -> bool {
        self.old.is_none()
    }

    pub(super) fn made_folders(&self) -> bool {
        self.made_folders
    }

    /// Whether what it takes the place of is still what it was made for.
    pub(super) fn still_fits(&self, target: &Target<'_>) -> Outcome<()> {
        let now = target.existing()?.as_ref().map(version);
        let then = self.old.as_ref().map(|(_, metadata)| version(metadata));
        match (then, now) {
            (None, Some(_)) => Err(target.exists()),
            (then, now) if then != now => Err(target.changed()),
            _ => Ok(()),
        }
    }
}

/// A file under a name of its own.
pub(super) fn create(parent: &OwnedFd, mode: u32) -> io::Result<(String, File)> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    for _ in 0..NAMES {
        let name = format!("{PREFIX}{:x}-{:x}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match openat(parent.as_fd(), OsStr::new(&name), flags, Mode::from_bits_truncate(mode)) {
            Ok(file) => return Ok((name, File::from(file))),
            Err(Errno::EXIST) => {}
            Err(why) => return Err(why.into()),
        }
    }
    Err(io::Error::other("the folder is full of drafts that were left behind; delete the files .hermes-draft-*"))
}

/// Permissions stay; the owner too, where the system lets us.
pub(super) fn keep_mode(file: &File, old: &Metadata) -> io::Result<()> {
    let new = file.metadata()?;
    if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
        let kept = fchown(file.as_fd(), Some(Uid::from_raw(old.uid())), Some(Gid::from_raw(old.gid())));
        // Only the administrator gives files away.
        kept.or_else(|why| if why == Errno::PERM { Ok(()) } else { Err(why) })?;
    }
    Ok(fchmod(file.as_fd(), Mode::from_bits_truncate(old.mode() & 0o777))?)
}

/// Whether enough of the disk stays free.
pub(in super::super) fn reserve(disk: impl AsFd, shown: &Path, size: u64) -> Outcome<()> {
    let disk = fstatvfs(disk).map_err(|why| system(shown, &why.into()))?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    // Some file systems do not count inodes.
    let inodes = if disk.f_files == 0 { u64::MAX } else { disk.f_favail };
    if free < size.saturating_add(DISK_RESERVE) || inodes < INODE_RESERVE {
        let message = format!("{}: the disk is nearly full; nothing is written there", shown.display());
        return Err(fault(Reason::TooLarge, message));
    }
    Ok(())
}

/// The bytes of a file from one position to another.
pub(super) fn copy(from: Option<&File>, start: u64, end: u64, to: &mut File) -> io::Result<()> {
    let Some(from) = from else { return Ok(()) };
    let mut buffer = vec![0; MIB.min((end - start) as usize)];
    let mut at = start;
    while at < end {
        let wanted = buffer.len().min((end - at) as usize);
        match from.read_at(&mut buffer[..wanted], at)? {
            0 => return Err(io::Error::other("the file became shorter while it was read")),
            some => {
                to.write_all(&buffer[..some])?;
                at += some as u64;
            }
        }
    }
    Ok(())
}
