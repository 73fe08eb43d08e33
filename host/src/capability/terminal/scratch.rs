//! A folder of the host's own for as long as it lives, and the removal of those whose host was killed.

use std::{
    env, fs,
    fs::{File, Permissions},
    io::{self, Read, Write},
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    time::Duration,
};

use tempfile::TempDir;

/// What the names of such folders begin with.
const PREFIX: &str = "hermes-host-terminal-";

/// The file in it that a living host has locked. The kernel unlocks it for a dead one.
const LOCK: &str = "lock";

/// What stands in that file: a folder without it is not ours, whatever its name.
const OURS: &str = "a folder of hermes-host, removed once its host is gone\n";

/// A folder younger than this may not have been locked yet.
const YOUNG: Duration = Duration::from_secs(60);

/// A folder that nobody else can look into, removed when it is dropped.
#[derive(Debug)]
pub(crate) struct ScratchDir {
    folder: TempDir,
    _lock: File,
}

impl ScratchDir {
    /// A new one outside the workspace, after a look for those whose host is gone. Commands write in the workspace: there one could swap
    /// the folders of a task for symlinks.
    pub(crate) fn new(workspace: &Path) -> io::Result<Self> {
        let places = [env::temp_dir(), "/tmp".into(), "/var/tmp".into(), "/dev/shm".into()];
        let is_outside = |place: &PathBuf| fs::canonicalize(place).is_ok_and(|real| !real.starts_with(workspace));
        let place = places.into_iter().find(is_outside).ok_or_else(|| {
            io::Error::other("every folder for temporary files lies in the workspace: set TMPDIR to one outside")
        })?;
        // By its real name: the launcher follows no symlink.
        let place = fs::canonicalize(place)?;
        remove_left(&place, YOUNG);
        Self::new_in(&place)
    }

    /// A new one for what no command of this machine reaches.
    pub(crate) fn in_temporary() -> io::Result<Self> {
        let place = env::temp_dir();
        remove_left(&place, YOUNG);
        Self::new_in(&place)
    }

    fn new_in(place: &Path) -> io::Result<Self> {
        let mut folder = tempfile::Builder::new();
        let folder = folder.prefix(PREFIX).permissions(Permissions::from_mode(0o700)).tempdir_in(place)?;
        let mut lock = File::create_new(folder.path().join(LOCK))?;
        lock.lock()?;
        lock.write_all(OURS.as_bytes())?;
        Ok(Self { folder, _lock: lock })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

fn remove_left(place: &Path, young: Duration) {
    let own = rustix::process::getuid().as_raw();
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().to_string_lossy().starts_with(PREFIX)
            && entry.metadata().is_ok_and(|found| found.is_dir() && found.uid() == own);
        if is_ours && is_left(&entry.path(), young) {
            // Another host may be removing it, too.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn is_left(folder: &Path, young: Duration) -> bool {
    let Ok(mut lock) = File::open(folder.join(LOCK)) else { return false };
    let mut says = String::new();
    if Read::by_ref(&mut lock).take(OURS.len() as u64 + 1).read_to_string(&mut says).is_err() || says != OURS {
        return false;
    }
    let age = lock.metadata().and_then(|found| found.modified()).ok().and_then(|made| made.elapsed().ok());
    age.is_some_and(|age| age >= young) && lock.try_lock().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_folder_of_a_dead_host_is_removed() {
        let place = tempfile::tempdir().unwrap();
        let living = ScratchDir::new_in(place.path()).unwrap();
        let dead = place.path().join(format!("{PREFIX}dead"));
        fs::create_dir(&dead).unwrap();
        fs::write(dead.join(LOCK), OURS).unwrap();
        let strange = place.path().join(format!("{PREFIX}strange"));
        fs::create_dir(&strange).unwrap();
        fs::write(strange.join(LOCK), "mine").unwrap();
        remove_left(place.path(), YOUNG);
        assert!(dead.exists(), "it may be about to be locked");
        remove_left(place.path(), Duration::ZERO);
        assert!(!dead.exists());
        assert!(living.path().exists() && strange.exists());
        assert_eq!(living.path().metadata().unwrap().mode() & 0o777, 0o700);
    }
}
