//! The operator's file on the disk: read only where nobody else can write it, replaced in one step, by one at a time.

use std::{
    fs::{DirBuilder, File, Permissions},
    io::{self, Read, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown},
    path::{Path, PathBuf},
};

use rustix::fs::OFlags;

/// Bytes of the file. A grant is a few lines.
const FILE_BYTES: u64 = 1 << 20;

/// The text of a regular file that nobody else can write: it decides what strangers' code may do.
pub(super) fn read_own(path: &Path) -> io::Result<String> {
    let flags = (OFlags::NONBLOCK | OFlags::CLOEXEC).bits() as i32;
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    if metadata.mode() & 0o022 != 0 {
        return Err(io::Error::other("other users can write to it; run chmod go-w on it"));
    }
    let mut text = String::new();
    if metadata.len() <= FILE_BYTES {
        // It may grow while it is read.
        file.take(FILE_BYTES + 1).read_to_string(&mut text)?;
    }
    match metadata.len().max(text.len() as u64) {
        size if size > FILE_BYTES => Err(io::Error::other(format!("it has {size} bytes; the limit is {FILE_BYTES}"))),
        _ => Ok(text),
    }
}

/// The file while it is changed: whoever else wants to change it waits.
pub(super) struct Locked {
    /// The file itself, where the operator's path is a link.
    path: PathBuf,
    /// As it was found; nothing where there is no file yet.
    found: Option<String>,
    /// Unlocked when it is dropped.
    _lock: File,
}

impl Locked {
    /// Waits for its turn and reads the file. Its folder is made where it is missing, for this user alone, unless the operator
    /// named the file: then a missing folder is more likely a slip.
    pub(super) fn open(path: &Path, named: bool) -> io::Result<Self> {
        let path = real(path, named)?;
        let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
            return Err(io::Error::other("it is no path of a file"));
        };
        // The file itself is replaced by every change, so a lock on it would hold for a file that is gone.
        let lock = folder.join(format!(".{name}.lock"));
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC).bits() as i32;
        let mut options = File::options();
        let lock = options.write(true).create(true).truncate(false).mode(0o600).custom_flags(flags).open(&lock);
        let lock = lock.map_err(|why| io::Error::new(why.kind(), format!("failed to lock it: {why}")))?;
        loop {
            match lock.lock() {
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                locked => break locked?,
            }
        }
        let found = found(&path)?;
        Ok(Self { path, found, _lock: lock })
    }

    /// What was found.
    pub(super) fn text(&self) -> &str {
        self.found.as_deref().unwrap_or_default()
    }

    /// Puts a text in the file's place, whole or not at all. Mode and owner stay; a new file is for this user alone.
    pub(super) fn replace(&self, text: &str) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        let mut file = tempfile::Builder::new().prefix(".hermes-").suffix(".tmp").tempfile_in(folder)?;
        file.write_all(text.as_bytes())?;
        match std::fs::metadata(&self.path) {
            Ok(old) => keep_owner_and_mode(file.as_file(), &old)?,
            Err(why) if why.kind() == io::ErrorKind::NotFound => {}
            Err(why) => return Err(why),
        }
        file.as_file().sync_all()?;
        // An editor knows nothing of the lock.
        if found(&self.path)? != self.found {
            return Err(io::Error::other("another program changed it meanwhile; run the command again"));
        }
        file.persist(&self.path).map_err(|why| why.error)?;
        File::open(folder)?.sync_all()
    }
}

fn keep_owner_and_mode(file: &File, old: &std::fs::Metadata) -> io::Result<()> {
    if old.mode() & 0o200 == 0 {
        return Err(io::Error::other("it is read-only; run chmod u+w on it"));
    }
    let new = file.metadata()?;
    if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
        fchown(file, Some(old.uid()), Some(old.gid()))?;
    }
    file.set_permissions(Permissions::from_mode(old.mode() & 0o777))
}

fn found(path: &Path) -> io::Result<Option<String>> {
    match read_own(path) {
        Ok(text) => Ok(Some(text)),
        Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(why) => Err(why),
    }
}

/// Where the file is, or would be.
fn real(path: &Path, named: bool) -> io::Result<PathBuf> {
    match std::fs::canonicalize(path) {
        Err(why) if why.kind() == io::ErrorKind::NotFound => {}
        found => return found,
    }
    if path.is_symlink() {
        return Err(io::Error::other("it is a link that leads nowhere; make the file that it names, or remove it"));
    }
    let path = std::path::absolute(path)?;
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Ok(path) };
    if !named {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    Ok(folder.canonicalize()?.join(name))
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o777
    }

    #[test]
    fn a_new_file_is_for_this_user_alone_and_an_old_one_keeps_its_mode() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("home/hermes.toml");
        Locked::open(&path, false).unwrap().replace("a = 1").unwrap();
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        Locked::open(&path, true).unwrap().replace("a = 2").unwrap();
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), mode(&path)), ("a = 2", 0o644));
        let left: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(left.len(), 2, "a temporary file was left: {left:?}");
    }

    #[test]
    fn a_link_stays_and_what_it_names_is_changed() {
        let dir = tempfile::tempdir().unwrap();
        let [real, link] = ["real.toml", "hermes.toml"].map(|name| dir.path().join(name));
        symlink(&real, &link).unwrap();
        assert!(Locked::open(&link, false).err().unwrap().to_string().contains("leads nowhere"));
        fs::write(&real, "a = 1").unwrap();
        Locked::open(&link, false).unwrap().replace("a = 2").unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&real).unwrap(), "a = 2");
    }

    #[test]
    fn what_others_can_write_or_nobody_may_write_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("hermes.toml");
        fs::write(&path, "a = 1").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o620)).unwrap();
        assert!(Locked::open(&path, false).err().unwrap().to_string().contains("chmod go-w"));
        fs::set_permissions(&path, Permissions::from_mode(0o400)).unwrap();
        let why = Locked::open(&path, false).unwrap().replace("a = 2").unwrap_err();
        assert!(why.to_string().contains("chmod u+w"), "{why}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "a = 1");
    }

    #[test]
    fn an_editors_change_is_not_written_over() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("hermes.toml");
        fs::write(&path, "a = 1").unwrap();
        let locked = Locked::open(&path, false).unwrap();
        fs::write(&path, "a = 7").unwrap();
        assert!(locked.replace("a = 2").unwrap_err().to_string().contains("run the command again"));
        assert_eq!(fs::read_to_string(&path).unwrap(), "a = 7");
    }

    #[test]
    fn a_named_file_in_a_missing_folder_is_a_slip() {
        let dir = tempfile::tempdir().unwrap();
        assert!(Locked::open(&dir.path().join("none/hermes.toml"), true).is_err());
        assert!(!dir.path().join("none").exists());
    }
}
