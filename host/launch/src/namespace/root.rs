//! The files of a command: a root of its own in which nothing lies but what the confinement names.

use std::{
    fs::{self, File},
    io,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{StatVfsMountFlags, statvfs},
    mount::{
        MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind_recursive, mount_change, mount_remount,
        unmount,
    },
    process::{chdir, pivot_root},
    thread::UnshareFlags,
};

use super::unshare;
use crate::{Confinement, MountAccess, Namespaces};

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

/// The file in the root that stands in place of hidden files.
const HIDDEN_FILE: &str = ".hidden";

/// Puts this process into a mount namespace in which only the files of the confinement exist.
pub(crate) fn build(namespaces: &Namespaces, confinement: &Confinement) -> Result<(), String> {
    unshare(UnshareFlags::NEWNS)?;
    let root = &*namespaces.root;
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC).map_err(at("/"))?;
    mount("tmpfs", root, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, ROOT_OPTIONS).map_err(at(root))?;
    for entry in &confinement.mounts {
        bind(&entry.source, &inside(root, &entry.target), entry.access == MountAccess::Read)?;
    }
    for (target, place) in &confinement.symlinks {
        let place = inside(root, place);
        place.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| symlink(target, &place)).map_err(on(&place))?;
    }
    devices(root)?;
    let proc = inside(root, Path::new("/proc"));
    fs::create_dir_all(&proc).map_err(on(&proc))?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC | MountFlags::RDONLY;
    mount("proc", &proc, "proc", flags, None).map_err(at(&proc))?;
    hide(root, &confinement.hidden)?;
    // The old root lies beneath the new one after this, and is taken away.
    chdir(root).map_err(at(root))?;
    pivot_root(".", ".").map_err(at(root))?;
    unmount(".", UnmountFlags::DETACH).map_err(at("/"))?;
    chdir("/").map_err(at("/"))?;
    let flags = MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
    mount_remount("/", flags, c"").map_err(at("/"))
}

/// Makes a file or folder appear at a place of the root.
fn bind(source: &Path, place: &Path, read_only: bool) -> Result<(), String> {
    let found = fs::symlink_metadata(source).map_err(on(source))?;
    make_place(place, found.is_dir()).map_err(on(place))?;
    mount_bind_recursive(source, place).map_err(at(source))?;
    let mut flags = MountFlags::BIND | MountFlags::NOSUID | locked_flags(place)?;
    if read_only {
        flags |= MountFlags::RDONLY;
    }
    mount_remount(place, flags, c"").map_err(at(place))
}

/// The flags that a user namespace may not take away from a mount that it did not make.
fn locked_flags(place: &Path) -> Result<MountFlags, String> {
    let found = statvfs(place).map_err(at(place))?.f_flag;
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

/// Makes the mount point, unless an earlier mount brought one.
fn make_place(place: &Path, folder: bool) -> io::Result<()> {
    if folder {
        return fs::create_dir_all(place);
    }
    place.parent().map_or(Ok(()), fs::create_dir_all)?;
    match File::create_new(place) {
        Err(why) if why.kind() != io::ErrorKind::AlreadyExists => Err(why),
        _ => Ok(()),
    }
}

fn devices(root: &Path) -> Result<(), String> {
    let dev = inside(root, Path::new("/dev"));
    for name in DEVICES {
        let device = dev.join(name);
        make_place(&device, false).map_err(on(&device))?;
        mount_bind_recursive(Path::new("/dev").join(name), &device).map_err(at(&device))?;
    }
    for (target, name) in DESCRIPTORS {
        symlink(target, dev.join(name)).map_err(on(&dev))?;
    }
    let shared = dev.join("shm");
    fs::create_dir(&shared).map_err(on(&shared))?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    mount("tmpfs", &shared, "tmpfs", flags, SHARED_MEMORY_OPTIONS).map_err(at(&shared))?;
    // Terminals that the command makes itself: those of the machine are not in here.
    let terminals = dev.join("pts");
    fs::create_dir(&terminals).map_err(on(&terminals))?;
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    mount("devpts", &terminals, "devpts", flags, c"newinstance,ptmxmode=0666,mode=0620").map_err(at(&terminals))?;
    symlink("pts/ptmx", dev.join("ptmx")).map_err(on(&dev))
}

/// Covers what the command may not read.
fn hide(root: &Path, hidden: &[PathBuf]) -> Result<(), String> {
    let empty = root.join(HIDDEN_FILE);
    File::create_new(&empty)
        .and_then(|file| file.set_permissions(fs::Permissions::from_mode(0)))
        .map_err(on(&empty))?;
    for place in hidden.iter().map(|path| inside(root, path)) {
        // What is not in the root needs no cover, and a symlink leads to what has one of its own.
        let Ok(found) = fs::symlink_metadata(&place) else { continue };
        if found.is_dir() {
            let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::RDONLY;
            mount("tmpfs", &place, "tmpfs", flags, HIDDEN_OPTIONS).map_err(at(&place))?;
        } else if !found.is_symlink() {
            mount_bind_recursive(&empty, &place).map_err(at(&place))?;
        }
    }
    Ok(())
}

/// An absolute path below the root that is being built.
fn inside(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

fn at(path: impl AsRef<Path>) -> impl Fn(rustix::io::Errno) -> String {
    move |why| format!("the kernel refuses a mount at {}: {why}", path.as_ref().display())
}

fn on(path: &Path) -> impl Fn(io::Error) -> String + '_ {
    move |why| format!("{} can't be made: {why}", path.display())
}
