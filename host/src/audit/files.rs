//! The files, opened so that they are this user's and nobody else's.

use std::{
    fs::{self, File, Metadata, OpenOptions},
    io,
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use rustix::{fs::OFlags, io::Errno};

use super::{AuditError, head::Head};

/// The lines, in the host's home.
pub(super) const LOG: &str = "audit.jsonl";

/// Where they ended last.
pub(super) const HEAD: &str = "audit.head";

/// How often a log that is replaced while it is opened is opened again for one look.
const LOOKS: usize = 10;

/// The name of a full log, by the number of its last line.
pub(super) fn full_name(last: u64) -> String {
    format!("audit.{last:020}.jsonl")
}

/// The full logs, each with the number of its last line, the oldest first.
pub(super) fn full_logs(dir: &Path) -> Result<Vec<(u64, PathBuf)>, AuditError> {
    let error = |why| AuditError::Io { path: dir.into(), why };
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(why) => return Err(error(why)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let name = entry.map_err(error)?.file_name();
        let last = name.to_str().and_then(|name| name.strip_prefix("audit.")?.strip_suffix(".jsonl"));
        let last = last.and_then(|digits| digits.parse().ok()).filter(|last| *name == *full_name(*last));
        found.extend(last.map(|last| (last, dir.join(&name))));
    }
    found.sort();
    Ok(found)
}

/// An open file and where it was found.
pub(super) struct OwnFile {
    pub(super) file: File,
    pub(super) path: PathBuf,
    device: u64,
    inode: u64,
}

impl OwnFile {
    /// Opens a file for appending or overwriting, made with mode 0600 where it is missing.
    pub(super) fn open_or_make(path: PathBuf, append: bool) -> Result<Self, AuditError> {
        Self::open(path, File::options().read(true).write(true).append(append).create(true).mode(0o600))
    }

    /// Opens a file for reading, if it is there.
    pub(super) fn open_existing(path: PathBuf) -> Result<Option<Self>, AuditError> {
        match Self::open(path, File::options().read(true)) {
            Ok(file) => Ok(Some(file)),
            Err(AuditError::Io { why, .. }) if why.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(why) => Err(why),
        }
    }

    /// Links are not followed, and a FIFO is not waited for. Everything else is asked of the open file.
    fn open(path: PathBuf, options: &mut OpenOptions) -> Result<Self, AuditError> {
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC).bits() as i32;
        let opened = options.custom_flags(flags).open(&path).and_then(|file| Ok((file.metadata()?, file)));
        let (metadata, file) = match opened {
            Ok(opened) => opened,
            Err(why) if Errno::from_io_error(&why) == Some(Errno::LOOP) => {
                return Err(AuditError::Unsafe { path, why: "it is a symbolic link" });
            }
            Err(why) => return Err(AuditError::Io { path, why }),
        };
        match flaw(&metadata) {
            Some(why) => Err(AuditError::Unsafe { path, why }),
            None => Ok(Self { file, path, device: metadata.dev(), inode: metadata.ino() }),
        }
    }

    /// The file's length, if it is still the one at its path: else it was moved or removed, and what is written to it is lost.
    pub(super) fn len_in_place(&self) -> Option<u64> {
        let metadata = fs::symlink_metadata(&self.path).ok()?;
        (metadata.dev() == self.device && metadata.ino() == self.inode).then_some(metadata.len())
    }

    /// Which file it is.
    pub(super) fn identity(&self) -> (u64, u64) {
        (self.device, self.inode)
    }

    /// Whether the file still has a name. Cheaper than looking at its path, and enough for a file that goes with the log.
    pub(super) fn exists(&self) -> bool {
        self.file.metadata().is_ok_and(|metadata| metadata.nlink() > 0)
    }

    /// Waits until no other process has the file locked.
    pub(super) fn lock(&self) -> Result<(), AuditError> {
        self.wait(File::lock)
    }

    /// Waits until no other process is writing.
    pub(super) fn lock_shared(&self) -> Result<(), AuditError> {
        self.wait(File::lock_shared)
    }

    fn wait(&self, lock: fn(&File) -> io::Result<()>) -> Result<(), AuditError> {
        loop {
            match lock(&self.file) {
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                locked => return locked.map_err(|why| self.error(why)),
            }
        }
    }

    /// Lets the others go on.
    pub(super) fn unlock(&self) -> Result<(), AuditError> {
        self.file.unlock().map_err(|why| self.error(why))
    }

    /// Names the file.
    pub(super) fn error(&self, why: io::Error) -> AuditError {
        AuditError::Io { path: self.path.clone(), why }
    }
}

fn flaw(metadata: &Metadata) -> Option<&'static str> {
    if !metadata.is_file() {
        Some("it is not a regular file")
    } else if metadata.uid() != rustix::process::geteuid().as_raw() {
        Some("it belongs to another user")
    } else if metadata.mode() & 0o022 != 0 {
        Some("other users can write to it")
    } else {
        None
    }
}

/// The log as it was between two appends.
pub(super) struct Snapshot {
    /// The logs that are full, each with the number of its last line, the oldest first. They do not change any more.
    pub(super) full: Vec<(u64, PathBuf)>,
    /// The lines after those and how many bytes they are; none where there is no log.
    pub(super) log: Option<(OwnFile, u64)>,
    /// Where they ended; none where it is missing or unreadable.
    pub(super) head: Option<Head>,
}

impl Snapshot {
    /// The lock is held for a moment only: what was appended is never changed, so it can be read without one.
    pub(super) fn take(dir: &Path) -> Result<Self, AuditError> {
        for _ in 0..LOOKS {
            let log = OwnFile::open_existing(dir.join(LOG))?;
            if let Some(log) = &log {
                log.lock_shared()?;
                if log.len_in_place().is_none() {
                    // It became full meanwhile.
                    continue;
                }
            }
            return Self::of(dir, log);
        }
        Err(AuditError::Io { path: dir.join(LOG), why: io::Error::other("it is replaced again and again") })
    }

    /// The log is locked, so it does not become full while the others are looked for.
    fn of(dir: &Path, log: Option<OwnFile>) -> Result<Self, AuditError> {
        let full = full_logs(dir)?;
        let head = match OwnFile::open_existing(dir.join(HEAD))? {
            Some(head) => Head::read(&head.file).map_err(|why| head.error(why))?,
            None => None,
        };
        let Some(log) = log else { return Ok(Self { full, log: None, head }) };
        let len = log.file.metadata().map_err(|why| log.error(why))?.len();
        log.unlock()?;
        Ok(Self { full, log: Some((log, len)), head })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::{
        super::{Audit, Filter, read, record::tests::record, verify},
        *,
    };

    fn refused(dir: &Path) -> String {
        let error = Audit::open(dir).err().unwrap();
        assert!(matches!(error, AuditError::Unsafe { .. }), "{error}");
        assert!(verify(dir).is_err());
        error.to_string()
    }

    #[test]
    fn the_files_are_for_their_owner_only() {
        let dir = tempfile::tempdir().unwrap();
        Audit::open(&dir.path().join("home")).unwrap().append(record("a")).unwrap();
        for name in [LOG, HEAD] {
            let metadata = fs::metadata(dir.path().join("home").join(name)).unwrap();
            assert_eq!(metadata.permissions().mode() & 0o777, 0o600, "{name}");
        }
    }

    #[test]
    fn links_are_not_followed() {
        for name in [LOG, HEAD] {
            let dir = tempfile::tempdir().unwrap();
            let target = dir.path().join("target");
            fs::write(&target, "precious").unwrap();
            symlink(&target, dir.path().join(name)).unwrap();
            assert!(refused(dir.path()).contains("symbolic link"));
            assert_eq!(fs::read(&target).unwrap(), b"precious");
        }
    }

    #[test]
    fn files_that_others_can_write_are_refused() {
        for (name, mode) in [(LOG, 0o620), (LOG, 0o602), (HEAD, 0o622)] {
            let dir = tempfile::tempdir().unwrap();
            Audit::open(dir.path()).unwrap().append(record("a")).unwrap();
            fs::set_permissions(dir.path().join(name), PermissionsExt::from_mode(mode)).unwrap();
            assert!(refused(dir.path()).contains("other users can write"));
        }
    }

    #[test]
    fn what_is_not_a_regular_file_is_refused_without_waiting() {
        for name in [LOG, HEAD] {
            let dir = tempfile::tempdir().unwrap();
            let made = std::process::Command::new("mkfifo").arg(dir.path().join(name)).status().unwrap();
            assert!(made.success());
            assert!(refused(dir.path()).contains("not a regular file"));
        }
    }

    #[test]
    fn reading_makes_no_files() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(verify(dir.path()).unwrap().faults, []);
        assert_eq!(read(dir.path(), &Filter::default()).unwrap().count(), 0);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
