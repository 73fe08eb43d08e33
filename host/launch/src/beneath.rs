//! Paths that are opened without following a symlink.
//!
//! A command writes in the workspace, in its home and in its /tmp between two commands. A path there may lead elsewhere by the time it
//! is mounted, and the launcher has the rights of the host: it opens every path by descriptors, and a symlink on the way is an error.

use std::{
    os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
    path::{Component, Path, PathBuf},
};

use rustix::{
    fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, mkdirat, openat, openat2},
    io::{Errno, Result},
};

/// Opens an absolute path, or one below a descriptor, as a place in the file tree.
pub(crate) fn open(at: impl AsFd, path: &Path) -> Result<OwnedFd> {
    openat2(at, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::NO_SYMLINKS)
}

/// Opens an absolute path as a place in the file tree.
pub(crate) fn open_absolute(path: &Path) -> Result<OwnedFd> {
    open(CWD, path)
}

/// Opens a path below a descriptor and makes what is missing of it: folders, and at its end a folder or an empty file.
pub(crate) fn make(root: impl AsFd, path: &Path, is_folder: bool) -> Result<OwnedFd> {
    let names: Vec<&Path> = relative(path).collect();
    let Some((last, folders)) = names.split_last() else { return open(root, Path::new(".")) };
    let mut at: Option<OwnedFd> = None;
    for name in folders {
        at = Some(make_one(at.as_ref().map_or(root.as_fd(), AsFd::as_fd), name, true)?);
    }
    make_one(at.as_ref().map_or(root.as_fd(), AsFd::as_fd), last, is_folder)
}

/// Opens a name in a folder, and makes it if it is missing.
fn make_one(at: BorrowedFd<'_>, name: &Path, is_folder: bool) -> Result<OwnedFd> {
    match open_kind(at, name, is_folder) {
        // Another command of the task may make it at the same time.
        Err(Errno::NOENT) => {
            match if is_folder { mkdirat(at, name, Mode::from_raw_mode(0o755)) } else { touch(at, name) } {
                Ok(()) | Err(Errno::EXIST) => open_kind(at, name, is_folder),
                Err(why) => Err(why),
            }
        }
        opened => opened,
    }
}

/// Opens a folder, or what is none.
fn open_kind(at: BorrowedFd<'_>, name: &Path, is_folder: bool) -> Result<OwnedFd> {
    let kind = if is_folder { OFlags::DIRECTORY } else { OFlags::empty() };
    let flags = OFlags::PATH | OFlags::CLOEXEC | kind;
    let opened = openat2(at, name, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?;
    if !is_folder && is_directory(&opened)? {
        return Err(Errno::ISDIR);
    }
    Ok(opened)
}

/// Whether this is a folder.
pub(crate) fn is_directory(place: impl AsFd) -> Result<bool> {
    Ok(FileType::from_raw_mode(fstat(place)?.st_mode) == FileType::Directory)
}

/// A name of the place that a descriptor holds. The kernel resolves it to that very place.
pub(crate) fn name_of(place: &impl AsRawFd) -> PathBuf {
    format!("/proc/self/fd/{}", place.as_raw_fd()).into()
}

/// Whether a path is not there, or a symlink or a file stands in its way.
pub(crate) fn is_absent(why: Errno) -> bool {
    matches!(why, Errno::NOENT | Errno::LOOP | Errno::NOTDIR | Errno::ISDIR)
}

fn touch(at: BorrowedFd<'_>, name: &Path) -> Result<()> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(at, name, flags, Mode::from_raw_mode(0o600)).map(drop)
}

/// The names of a path below a root.
pub(crate) fn relative(path: &Path) -> impl Iterator<Item = &Path> {
    path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(Path::new(name)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    #[test]
    fn a_symlink_is_followed_nowhere_in_a_path() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        fs::create_dir_all(real.join("outside/deep")).unwrap();
        symlink("outside", real.join("link")).unwrap();
        let root = open_absolute(&real).unwrap();
        for path in ["link", "link/deep", "link/new"] {
            assert_eq!(open(&root, Path::new(path)).unwrap_err(), Errno::LOOP, "{path}");
            assert_eq!(open_absolute(&real.join(path)).unwrap_err(), Errno::LOOP, "{path}");
            assert_eq!(make(&root, Path::new(path), true).unwrap_err(), Errno::LOOP, "{path}");
        }
        assert!(!real.join("outside/new").exists());
    }

    #[test]
    fn what_is_missing_is_made_and_what_is_of_another_kind_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let root = open_absolute(&folder.path().canonicalize().unwrap()).unwrap();
        assert!(is_directory(make(&root, Path::new("/a/b"), true).unwrap()).unwrap());
        assert!(!is_directory(make(&root, Path::new("/a/c/file"), false).unwrap()).unwrap());
        assert_eq!(make(&root, Path::new("/a/c/file"), true).unwrap_err(), Errno::NOTDIR);
        assert_eq!(make(&root, Path::new("/a/c/file/d"), true).unwrap_err(), Errno::NOTDIR);
        assert_eq!(make(&root, Path::new("/a/b"), false).unwrap_err(), Errno::ISDIR);
    }
}
