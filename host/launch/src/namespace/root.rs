//! The files of a command: a root of its own in which nothing lies but what the confinement names.
//!
//! Every source and every place is opened without following a symlink, and mounted by its descriptor: see [`beneath`].

use std::{
    fs,
    os::fd::{AsFd, OwnedFd},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{Mode, OFlags, StatVfsMountFlags, fstatvfs, openat, symlinkat},
    io::{Errno, Result},
    mount::{
        MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags, mount, mount_change,
        mount_remount, move_mount, open_tree, unmount,
    },
    process::{chdir, fchdir, pivot_root},
    thread::UnshareFlags,
};

use super::unshare;
use crate::{
    Confinement, Mount, MountAccess, Namespaces,
    beneath::{self, is_absent, name_of},
};

/// Devices that every program expects. `tty` is whatever terminal the process has, so its own.
pub(crate) const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];

/// Names in /dev that lead to the descriptors of the process.
const DESCRIPTORS: [(&str, &str); 4] = [
    ("/proc/self/fd", "fd"),
    ("/proc/self/fd/0", "stdin"),
    ("/proc/self/fd/1", "stdout"),
    ("/proc/self/fd/2", "stderr"),
];

/// The size of the root itself, which holds mount points and symlinks alone.
const ROOT_OPTIONS: &std::ffi::CStr = c"mode=0755,size=4m,nr_inodes=4k";

/// The size of /dev/shm: shared memory of a browser or a database under test.
const SHARED_MEMORY_OPTIONS: &std::ffi::CStr = c"mode=1777,size=512m";

/// A folder that can't be opened, in place of a hidden one.
const HIDDEN_OPTIONS: &std::ffi::CStr = c"mode=0000,size=4k,nr_inodes=2";

/// The list of mounts of this process.
const MOUNTS: &str = "/proc/self/mountinfo";

/// The file in the root that stands in place of hidden files.
const HIDDEN_FILE: &str = ".hidden";

/// Puts this process into a mount namespace in which only the files of the confinement exist.
pub(crate) fn build(namespaces: &Namespaces, confinement: &Confinement) -> std::result::Result<(), String> {
    unshare(UnshareFlags::NEWNS)?;
    let mounts = fs::read_to_string(MOUNTS).map_err(|why| format!("{MOUNTS} can't be read: {why}"))?;
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC).map_err(at("/"))?;
    let place = &*namespaces.root;
    mount("tmpfs", place, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, ROOT_OPTIONS).map_err(at(place))?;
    let mut root = Root {
        root: beneath::open_absolute(place).map_err(at(place))?,
        mounted: mount_points(&mounts),
        trees: Vec::new(),
        last_folder: None,
    };
    // Before the mounts: a workspace may lie in /dev/shm.
    root.devices()?;
    for entry in &confinement.mounts {
        match root.bind(entry) {
            Err(why) if entry.is_optional && is_absent(why) => {}
            bound => bound.map_err(at(&entry.target))?,
        }
    }
    for (target, place) in &confinement.symlinks {
        match root.link(target, place) {
            Err(why) if why == Errno::EXIST || is_absent(why) => {}
            linked => linked.map_err(at(place))?,
        }
    }
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC | MountFlags::RDONLY;
    root.file_system("proc", "/proc", flags, None).map_err(at("/proc"))?;
    root.hide(&confinement.hidden)?;
    // The old root lies beneath the new one after this, and is taken away.
    fchdir(&root.root).map_err(at(place))?;
    pivot_root(".", ".").map_err(at(place))?;
    unmount(".", UnmountFlags::DETACH).map_err(at("/"))?;
    chdir("/").map_err(at("/"))?;
    let flags = MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
    mount_remount("/", flags, c"").map_err(at("/"))
}

/// The root that is being built.
struct Root {
    root: OwnedFd,
    /// The mount points of this machine.
    mounted: Vec<PathBuf>,
    /// What was mounted so far, by its place. A place in one of these is found from its descriptor: another command of the task may
    /// rename folders of the home and of /tmp meanwhile, and a name would lead past the mount.
    trees: Vec<(PathBuf, OwnedFd)>,
    /// The folder that was opened last, without a mount on it since: neighbours follow each other.
    last_folder: Option<(PathBuf, OwnedFd)>,
}

impl Root {
    /// Makes a file or folder appear at its place.
    fn bind(&mut self, entry: &Mount) -> Result<()> {
        let source = beneath::open_absolute(&entry.source)?;
        let place = self.make(&entry.target, beneath::is_directory(&source)?)?;
        let tree = attach(&source, &place)?;
        self.last_folder.take_if(|(folder, _)| folder.starts_with(&entry.target));
        match entry.access {
            MountAccess::Write => restrict(&tree, MountFlags::empty())?,
            MountAccess::Read => {
                restrict(&tree, MountFlags::RDONLY)?;
                self.protect(&entry.source, &tree)?;
            }
        }
        self.trees.push((entry.target.clone(), tree));
        Ok(())
    }

    /// The innermost mount that holds a path, and the path from there.
    fn base<'a>(&self, path: &'a Path) -> (&OwnedFd, &'a Path) {
        let holders = self.trees.iter().filter(|(target, _)| path != target && path.starts_with(target));
        let innermost = holders.max_by_key(|(target, _)| target.as_os_str().len());
        match innermost.and_then(|(target, tree)| Some((tree, path.strip_prefix(target).ok()?))) {
            Some(found) => found,
            None => (&self.root, path),
        }
    }

    /// Opens a place in the root, and makes what is missing of it.
    fn make(&mut self, place: &Path, is_folder: bool) -> Result<OwnedFd> {
        let (Some(folder), Some(name)) = (place.parent(), place.file_name()) else {
            return beneath::make(&self.root, place, is_folder);
        };
        let opened = match self.last_folder.take() {
            Some((path, opened)) if path == folder => opened,
            _ => match self.trees.iter().rev().find(|(target, _)| target == folder) {
                Some((_, tree)) => beneath::open(tree, Path::new("."))?,
                None => {
                    let (base, below) = self.base(folder);
                    beneath::make(base, below, true)?
                }
            },
        };
        let made = beneath::make(&opened, Path::new(name), is_folder);
        self.last_folder = Some((folder.to_owned(), opened));
        made
    }

    /// Makes the file systems that are mounted below a source read-only, too: a remount reaches one mount alone.
    fn protect(&self, source: &Path, tree: &OwnedFd) -> Result<()> {
        let below = self.mounted.iter().filter_map(|point| point.strip_prefix(source).ok());
        for below in below.filter(|below| !below.as_os_str().is_empty()) {
            match beneath::open(tree, below) {
                // Another mount covers it.
                Err(why) if is_absent(why) => {}
                opened => restrict(&opened?, MountFlags::RDONLY)?,
            }
        }
        Ok(())
    }

    fn link(&mut self, target: &Path, place: &Path) -> Result<()> {
        let (Some(folder), Some(name)) = (place.parent(), place.file_name()) else { return Err(Errno::INVAL) };
        symlinkat(target, self.make(folder, true)?, name)
    }

    fn file_system(&self, kind: &str, place: &str, flags: MountFlags, data: Option<&std::ffi::CStr>) -> Result<()> {
        mount(kind, name_of(&beneath::make(&self.root, Path::new(place), true)?), kind, flags, data)
    }

    fn devices(&mut self) -> std::result::Result<(), String> {
        for name in DEVICES {
            let device = Path::new("/dev").join(name);
            self.device(&device).map_err(at(&device))?;
        }
        for (target, name) in DESCRIPTORS {
            self.link(Path::new(target), &Path::new("/dev").join(name)).map_err(at("/dev"))?;
        }
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        self.file_system("tmpfs", "/dev/shm", flags, Some(SHARED_MEMORY_OPTIONS)).map_err(at("/dev/shm"))?;
        // Terminals that the command makes itself: those of the machine are not in here.
        let (flags, options) = (MountFlags::NOSUID | MountFlags::NOEXEC, c"newinstance,ptmxmode=0666,mode=0620");
        self.file_system("devpts", "/dev/pts", flags, Some(options)).map_err(at("/dev/pts"))?;
        self.link(Path::new("pts/ptmx"), Path::new("/dev/ptmx")).map_err(at("/dev/ptmx"))
    }

    /// A device can be written to through a mount that is read-only, but its mode and owner stay as they are.
    fn device(&mut self, device: &Path) -> Result<()> {
        let place = self.make(device, false)?;
        let tree = attach(&beneath::open_absolute(device)?, &place)?;
        restrict(&tree, MountFlags::RDONLY | MountFlags::NOEXEC)
    }

    /// Covers what the command may not read.
    fn hide(&self, hidden: &[PathBuf]) -> std::result::Result<(), String> {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
        openat(&self.root, HIDDEN_FILE, flags, Mode::empty()).map_err(at(HIDDEN_FILE))?;
        let empty = beneath::open(&self.root, Path::new(HIDDEN_FILE)).map_err(at(HIDDEN_FILE))?;
        for path in hidden {
            let (base, below) = self.base(path);
            let below: PathBuf = beneath::relative(below).collect();
            match beneath::open(base, &below) {
                // What is not in the root needs no cover, and a symlink leads to what has one of its own. What this user may not
                // reach the command may not, either.
                Err(why) if is_absent(why) || why == Errno::ACCESS => {}
                opened => opened.and_then(|place| cover(&place, &empty)).map_err(at(path))?,
            }
        }
        Ok(())
    }
}

/// Mounts a copy of what is mounted at a source, with all below it, at a place. Gives the mount.
fn attach(source: &OwnedFd, place: &OwnedFd) -> Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH
        | OpenTreeFlags::AT_RECURSIVE;
    let tree = open_tree(source, "", flags)?;
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    move_mount(&tree, "", place, "", flags)?;
    Ok(tree)
}

/// Adds flags to a mount. Those that a user namespace may not take away stay.
fn restrict(mounted: &OwnedFd, flags: MountFlags) -> Result<()> {
    let flags = flags | MountFlags::BIND | MountFlags::NOSUID | locked_flags(mounted)?;
    mount_remount(name_of(mounted), flags, c"")
}

fn cover(place: &OwnedFd, empty: &OwnedFd) -> Result<()> {
    if beneath::is_directory(place)? {
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::RDONLY;
        return mount("tmpfs", name_of(place), "tmpfs", flags, HIDDEN_OPTIONS);
    }
    restrict(&attach(empty, place)?, MountFlags::RDONLY)
}

/// The mount points of this mount namespace, from the text of /proc/self/mountinfo, proc_pid_mountinfo(5).
fn mount_points(text: &str) -> Vec<PathBuf> {
    let points = text.lines().filter_map(|line| line.split(' ').nth(4));
    // Blanks, tabs, line breaks and backslashes are written in octal.
    let unescaped = |point: &str| {
        [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
            .iter()
            .fold(point.to_owned(), |point, (escape, character)| point.replace(escape, character))
    };
    points.map(|point| PathBuf::from(unescaped(point))).collect()
}

/// The flags that a user namespace may not take away from a mount that it did not make.
fn locked_flags(mounted: impl AsFd) -> Result<MountFlags> {
    let found = fstatvfs(mounted)?.f_flag;
    let flags = [
        (StatVfsMountFlags::RDONLY, MountFlags::RDONLY),
        (StatVfsMountFlags::NODEV, MountFlags::NODEV),
        (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
        (StatVfsMountFlags::NOATIME, MountFlags::NOATIME),
        (StatVfsMountFlags::NODIRATIME, MountFlags::NODIRATIME),
        (StatVfsMountFlags::RELATIME, MountFlags::RELATIME),
    ];
    Ok(flags.into_iter().filter(|(locked, _)| found.contains(*locked)).map(|(_, flag)| flag).collect())
}

fn at(path: impl AsRef<Path>) -> impl Fn(Errno) -> String {
    move |why| format!("the kernel refuses a mount at {}: {why}", path.as_ref().display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mount_points_are_read_with_their_blanks() {
        let text = "22 1 8:1 / / rw - ext4 /dev/a rw\n30 22 0:26 / /mnt/a\\040b rw,nosuid shared:9 - tmpfs none rw\n";
        assert_eq!(mount_points(text), [Path::new("/"), Path::new("/mnt/a b")]);
    }
}
