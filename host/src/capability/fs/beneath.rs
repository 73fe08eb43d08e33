//! The one way from a granted folder's handle to what lies beneath it.
//!
//! Nothing is ever opened through a symbolic link. A path with links is first resolved, inside the folder, to one without; what
//! is then opened is that path and no other, so names can be judged by their text. Whoever swaps a directory for a link in between
//! gets an error.

use std::{
    fs::File,
    io,
    os::fd::AsFd,
    path::{Path, PathBuf},
};

use cap_std::fs::Dir;
use rustix::{
    fs::{Mode, OFlags, ResolveFlags, openat2},
    io::Errno,
};

use super::fault::{Outcome, system};
use crate::wit::latest::filesystem::Fault;

/// Something open, and its path in the folder without links.
#[derive(Debug)]
pub(crate) struct Beneath {
    pub(super) file: File,
    pub(super) path: PathBuf,
}

/// Opens a path. `judge` hears the real path before anything is opened there.
pub(super) fn open(
    folder: &Dir,
    path: &Path,
    flags: OFlags,
    judge: impl Fn(&Path) -> Outcome<()>,
) -> Result<Beneath, Refused> {
    judge(path)?;
    match straight(folder, path, flags) {
        Ok(file) => Ok(Beneath { file, path: path.to_owned() }),
        Err(Errno::LOOP | Errno::NOSYS) => {
            let real = folder.canonicalize(path)?;
            judge(&real)?;
            let file = straight(folder, &real, flags).or_else(|why| old_kernel(why, folder, &real, flags))?;
            Ok(Beneath { file, path: real })
        }
        Err(why) => Err(Refused::System(why.into())),
    }
}

/// Who said no.
#[derive(Debug)]
pub(super) enum Refused {
    Judge(Fault),
    System(io::Error),
}

impl Refused {
    /// As the guest hears it.
    pub(super) fn fault(self, path: &Path) -> Fault {
        match self {
            Self::Judge(fault) => fault,
            Self::System(why) => system(path, &why),
        }
    }
}

impl From<Fault> for Refused {
    fn from(fault: Fault) -> Self {
        Self::Judge(fault)
    }
}

impl From<io::Error> for Refused {
    fn from(why: io::Error) -> Self {
        Self::System(why)
    }
}

/// In one step of the kernel: beneath the folder, through no link of any kind.
fn straight(folder: &Dir, path: &Path, flags: OFlags) -> Result<File, Errno> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let way = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let flags = flags | if flags.contains(OFlags::PATH) { OFlags::CLOEXEC } else { ALWAYS };
    // The kernel answers EAGAIN when something was renamed while it looked: it could not be sure.
    for _ in 0..TRIES {
        match openat2(folder.as_fd(), path, flags, Mode::empty(), way) {
            Err(Errno::AGAIN) => {}
            result => return result.map(File::from),
        }
    }
    Err(Errno::AGAIN)
}

/// How often a path is tried while others rename along it.
const TRIES: usize = 16;

/// No controlling terminal, nothing inherited, and no waiting for the other end of a pipe.
const ALWAYS: OFlags = OFlags::CLOEXEC.union(OFlags::NOCTTY).union(OFlags::NONBLOCK);

/// Kernels before 5.6, and containers that hide the call: step by step, as cap-std does it.
fn old_kernel(why: Errno, folder: &Dir, real: &Path, flags: OFlags) -> io::Result<File> {
    use cap_std::fs::{OpenOptions, OpenOptionsExt};
    if why != Errno::NOSYS {
        return Err(why.into());
    }
    let mut options = OpenOptions::new();
    options.read(true).custom_flags((flags | ALWAYS | OFlags::NOFOLLOW).bits().cast_signed());
    folder.open_with(real, &options).map(cap_std::fs::File::into_std)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::{super::fault::fault, *};
    use crate::wit::latest::filesystem::Reason;

    fn judged(path: &Path) -> Outcome<()> {
        if path.ends_with("secret") { Err(fault(Reason::Denied, "judged")) } else { Ok(()) }
    }

    #[test]
    fn a_link_is_judged_by_what_it_leads_to() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("secret"), "x").unwrap();
        std::fs::create_dir(place.path().join("sub")).unwrap();
        std::fs::write(place.path().join("sub/open"), "y").unwrap();
        symlink("secret", place.path().join("innocent")).unwrap();
        symlink("sub", place.path().join("short")).unwrap();
        let folder = Dir::open_ambient_dir(place.path(), cap_std::ambient_authority()).unwrap();
        let open = |path: &str| super::open(&folder, Path::new(path), OFlags::RDONLY, judged);
        assert_eq!(open("innocent").unwrap_err().fault(Path::new("x")).message, "judged");
        assert_eq!(open("short/open").unwrap().path, Path::new("sub/open"));
        assert!(super::open(&folder, Path::new("sub"), OFlags::PATH, judged).is_ok());
    }

    #[test]
    fn what_leaves_the_folder_is_not_opened() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("outside"), "x").unwrap();
        std::fs::create_dir(place.path().join("in")).unwrap();
        symlink("../outside", place.path().join("in/up")).unwrap();
        symlink(place.path().join("outside"), place.path().join("in/absolute")).unwrap();
        symlink("loop", place.path().join("in/loop")).unwrap();
        let folder = Dir::open_ambient_dir(place.path().join("in"), cap_std::ambient_authority()).unwrap();
        for path in ["up", "absolute", "loop", "../outside", "/etc/passwd", "./../outside"] {
            assert!(super::open(&folder, Path::new(path), OFlags::RDONLY, judged).is_err(), "{path}");
        }
    }
}
