//! Opening what is in an open folder. Links are never followed and nothing is waited for.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::{
    fs::{self, AtFlags, FileType, Mode, OFlags},
    io::Errno,
};

use super::skipped::Skip;

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A pipe without a writer would wait for one.
const FILE: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// An open regular file and its size.
pub(super) struct Regular<Fd> {
    pub(super) file: Fd,
    pub(super) size: u64,
}

/// A folder of a folder, by its name. An empty name is the folder itself, opened anew: who reads a folder moves its position.
pub(super) fn folder(at: BorrowedFd<'_>, name: &[u8]) -> Result<OwnedFd, Skip> {
    let name = if name.is_empty() { b"." } else { name };
    fs::openat(at, name, FOLDER, Mode::empty()).map_err(skip)
}

/// A folder some levels down.
pub(super) fn folder_below(start: BorrowedFd<'_>, path: &[u8]) -> Result<OwnedFd, Skip> {
    path.split(|byte| *byte == b'/')
        .filter(|name| !name.is_empty())
        .try_fold(folder(start, b"")?, |at, name| folder(at.as_fd(), name))
}

/// A file of a folder. What it is, is asked of the open file: the name may lead elsewhere by then.
pub(super) fn regular(at: BorrowedFd<'_>, name: &[u8], hard_links: bool) -> Result<Regular<OwnedFd>, Skip> {
    checked(fs::openat(at, name, FILE, Mode::empty()).map_err(skip)?, hard_links)
}

/// A file some levels down.
pub(super) fn regular_below(start: BorrowedFd<'_>, path: &[u8], hard_links: bool) -> Result<Regular<OwnedFd>, Skip> {
    match path.iter().rposition(|byte| *byte == b'/') {
        None => regular(start, path, hard_links),
        Some(slash) => {
            let (folders, name) = path.split_at(slash);
            regular(folder_below(start, folders)?.as_fd(), name.get(1..).unwrap_or_default(), hard_links)
        }
    }
}

/// An open file, if it is regular and its other names don't matter.
pub(super) fn checked<Fd: AsFd>(file: Fd, hard_links: bool) -> Result<Regular<Fd>, Skip> {
    let stat = fs::fstat(&file).map_err(skip)?;
    if !FileType::from_raw_mode(stat.st_mode).is_file() {
        return Err(Skip::NotRegular);
    }
    if stat.st_nlink > 1 && !hard_links {
        return Err(Skip::HardLinked);
    }
    Ok(Regular { file, size: stat.st_size as u64 })
}

/// What a name stands for, where the folder's list did not say it.
pub(super) fn kind(at: BorrowedFd<'_>, name: &[u8]) -> FileType {
    match fs::statat(at, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => FileType::from_raw_mode(stat.st_mode),
        Err(_) => FileType::Unknown,
    }
}

fn skip(why: Errno) -> Skip {
    match why {
        // Removed, or swapped for a link or a file, since the folder was listed.
        Errno::NOENT | Errno::NOTDIR | Errno::LOOP => Skip::Gone,
        // A socket.
        Errno::NXIO => Skip::NotRegular,
        _ => Skip::Unreadable,
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs::{File, create_dir_all, hard_link, write},
        os::unix::{fs::symlink, net::UnixListener},
    };

    use super::*;

    #[test]
    fn no_name_on_the_way_may_be_a_link() {
        let dir = tempfile::tempdir().unwrap();
        create_dir_all(dir.path().join("a/b")).unwrap();
        write(dir.path().join("a/b/f"), "text").unwrap();
        symlink("a", dir.path().join("link")).unwrap();
        symlink("f", dir.path().join("a/b/g")).unwrap();
        let root = File::open(dir.path()).unwrap();
        let file = |path: &str| regular_below(root.as_fd(), path.as_bytes(), true).map(|file| file.size);
        assert_eq!(file("a/b/f"), Ok(4));
        assert_eq!(file("a//b/f"), Ok(4));
        for path in ["link/b/f", "a/b/g", "a/b/none", "a/none/f", "a/b/f/f"] {
            assert_eq!(file(path), Err(Skip::Gone), "{path}");
        }
        assert!(folder_below(root.as_fd(), b"a/b/").is_ok());
        assert_eq!(folder_below(root.as_fd(), b"link").err(), Some(Skip::Gone));
    }

    #[test]
    fn only_regular_files_with_one_name_are_opened() {
        let dir = tempfile::tempdir().unwrap();
        let root = File::open(dir.path()).unwrap();
        let file = |name: &str, hard_links| regular(root.as_fd(), name.as_bytes(), hard_links).map(|_| ());
        rustix::fs::mknodat(&root, "pipe", FileType::Fifo, Mode::RUSR, 0).unwrap();
        let _socket = UnixListener::bind(dir.path().join("socket")).unwrap();
        for name in ["pipe", "socket", "."] {
            assert_eq!(file(name, true), Err(Skip::NotRegular), "{name}");
        }
        write(dir.path().join("one"), "").unwrap();
        hard_link(dir.path().join("one"), dir.path().join("two")).unwrap();
        assert_eq!(file("two", true), Ok(()));
        assert_eq!(file("two", false), Err(Skip::HardLinked));
        assert_eq!(skip(Errno::ACCESS), Skip::Unreadable);
        assert_eq!(kind(root.as_fd(), b"pipe"), FileType::Fifo);
        assert_eq!(kind(root.as_fd(), b"none"), FileType::Unknown);
    }
}
