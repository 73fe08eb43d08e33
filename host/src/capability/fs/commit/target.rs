//! Where a change lies: the real path of a file that is there, or of one that will be.

use std::{
    ffi::{CString, OsString},
    fs::{File, Metadata},
    io,
    os::{
        fd::{AsFd, OwnedFd},
        unix::fs::MetadataExt,
    },
    path::{Path, PathBuf},
};

use rustix::{
    fs::{Mode, OFlags, mkdirat, openat, readlinkat},
    io::Errno,
};

use super::{
    super::{
        beneath,
        fault::{Outcome, denied, fault, system},
        folders::{Folders, Place, regular},
        permit::Permit,
    },
    apply::Applied,
};
use crate::{
    grant::{Access, Secrets},
    wit::latest::filesystem::{Fault, Reason},
};

pub(in super::super) struct Target<'a> {
    place: Place<'a>,
    /// The nearest directory that exists, without links.
    base: PathBuf,
    /// Directories to make in it.
    missing: Vec<OsString>,
    name: OsString,
    /// The whole real path: one file has one.
    pub(in super::super) real: PathBuf,
}

impl<'a> Target<'a> {
    pub(in super::super) fn new(folders: &'a Folders, path: &str, permit: &'a Permit) -> Outcome<Self> {
        let place = folders.place(path, Access::Write)?.permitting(permit);
        let (base, rest) = resolve(&place, &place.path)?;
        // Joining nothing would leave a slash at the end.
        let real = if rest.as_os_str().is_empty() { base.clone() } else { base.join(&rest) };
        place.judge(&real, Access::Write)?;
        let mut missing: Vec<OsString> = rest.iter().map(OsString::from).collect();
        let (base, name) = match (missing.pop(), base.parent(), base.file_name()) {
            (Some(name), _, _) => (base, name),
            (None, Some(parent), Some(name)) => (parent.to_owned(), name.to_owned()),
            (None, ..) => return Err(fault(Reason::IsDirectory, format!("{} is a directory", place.shown.display()))),
        };
        let real = place.real(&real);
        Ok(Self { place, base, missing, name, real })
    }

    /// The place of a name itself: of a link, and not of what it leads to. Its directory must exist.
    pub(in super::super) fn of_name(folders: &'a Folders, path: &str, permit: &'a Permit) -> Outcome<Self> {
        let place = folders.place(path, Access::Write)?.permitting(permit);
        let (Some(above), Some(name)) = (place.path.parent(), place.path.file_name().map(OsString::from)) else {
            return Err(fault(Reason::IsDirectory, format!("{} is a directory", place.shown.display())));
        };
        let (base, rest) = resolve(&place, above)?;
        let path = base.join(&rest).join(&name);
        place.judge(&path, Access::Write)?;
        if !rest.as_os_str().is_empty() {
            return Err(fault(Reason::NotFound, format!("{} does not exist", place.shown.display())));
        }
        let real = place.real(&path);
        Ok(Self { place, base, missing: Vec::new(), name, real })
    }

    pub(in super::super) fn shown(&self) -> &Path {
        &self.place.shown
    }

    pub(in super::super) fn name(&self) -> &OsString {
        &self.name
    }

    /// Whether it lies on a disk that answers by itself.
    pub(in super::super) fn is_local(&self) -> bool {
        self.place.opened.local
    }

    /// Whether secrets are masked in what is read here.
    pub(in super::super) fn is_masked(&self) -> bool {
        self.place.folder.secrets == Secrets::Masked
    }

    /// The file that is there now, open for reading.
    pub(in super::super) fn open(&self) -> Outcome<Option<(File, Metadata)>> {
        if !self.missing.is_empty() {
            return Ok(None);
        }
        let judge = |path: &Path| self.place.judge(path, Access::Write);
        let path = self.base.join(&self.name);
        let found = match beneath::open(&self.place.opened.dir, &path, OFlags::RDONLY, judge) {
            Ok(found) => found,
            Err(beneath::Refused::System(why)) if why.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(refused) => return Err(refused.fault(self.shown())),
        };
        let metadata = found.file.metadata().map_err(|why| self.failed(&why))?;
        regular(self.place.folder, self.shown(), &metadata)?;
        if metadata.mode() & 0o222 == 0 {
            return Err(denied(self.shown(), "is write-protected (chmod u+w allows changes)"));
        }
        Ok(Some((found.file, metadata)))
    }

    /// What the name leads to, where it is a link itself.
    pub(in super::super) fn link(&self) -> Outcome<Option<CString>> {
        if self.needs_folders() {
            return Ok(None);
        }
        let parent = self.parent(&mut Applied::default())?;
        match readlinkat(parent.as_fd(), &self.name, Vec::new()) {
            Ok(leads_to) => Ok(Some(leads_to)),
            Err(Errno::INVAL | Errno::NOENT) => Ok(None),
            Err(why) => Err(self.failed(&why.into())),
        }
    }

    /// Whether there is something that may be removed: a link, or a file, whose metadata is given.
    pub(in super::super) fn removable(&self) -> Outcome<Option<Metadata>> {
        match self.link()? {
            Some(_) => Ok(None),
            None => Ok(Some(self.existing()?.ok_or_else(|| self.missing())?)),
        }
    }

    /// Whether there is a file that may get another name.
    pub(in super::super) fn movable(&self, target: &Self) -> Outcome<()> {
        if self.link()?.is_some() {
            return Err(denied(self.shown(), "is a link, which is not moved; move what it leads to, or remove it"));
        }
        self.existing()?.ok_or_else(|| self.missing())?;
        if self.is_masked() && !target.is_masked() {
            let why =
                "is not moved: secrets are masked where it lies, and shown where it would go; write it anew there";
            return Err(denied(self.shown(), why));
        }
        Ok(())
    }

    pub(in super::super) fn existing(&self) -> Outcome<Option<Metadata>> {
        Ok(self.open()?.map(|(_, metadata)| metadata))
    }

    /// A handle of the directory that the file is in. Makes it where it is missing.
    pub(in super::super) fn parent(&self, applied: &mut Applied) -> Outcome<OwnedFd> {
        // The way to it was judged with the file's; another one, if somebody swapped it for a link, was not.
        let judge = |path: &Path| if path == self.base { Ok(()) } else { self.place.judge(path, Access::Write) };
        let found = beneath::open(&self.place.opened.dir, &self.base, OFlags::RDONLY | OFlags::DIRECTORY, judge)
            .map_err(|refused| refused.fault(self.shown()))?;
        let mut parent = OwnedFd::from(found.file);
        for name in &self.missing {
            match mkdirat(parent.as_fd(), name, Mode::from_bits_truncate(0o777)) {
                Ok(()) => applied.made_folder(&parent, name).map_err(|why| self.failed(&why))?,
                // Somebody else made it meanwhile, or another change of this commit.
                Err(Errno::EXIST) => {}
                Err(why) => return Err(self.failed(&why.into())),
            }
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            parent = openat(parent.as_fd(), name, flags, Mode::empty()).map_err(|why| self.failed(&why.into()))?;
        }
        Ok(parent)
    }

    pub(in super::super) fn needs_folders(&self) -> bool {
        !self.missing.is_empty()
    }

    pub(in super::super) fn failed(&self, why: &io::Error) -> Fault {
        system(self.shown(), why)
    }

    pub(in super::super) fn missing(&self) -> Fault {
        fault(Reason::NotFound, format!("{} does not exist", self.shown().display()))
    }

    pub(in super::super) fn exists(&self) -> Fault {
        fault(Reason::Exists, format!("{} already exists", self.shown().display()))
    }

    pub(in super::super) fn changed(&self) -> Fault {
        fault(Reason::Changed, format!("{} has changed since it was read; read it again", self.shown().display()))
    }
}

/// The part of a path in a place's folder that exists, without links, and what is left of it.
fn resolve(place: &Place<'_>, path: &Path) -> Outcome<(PathBuf, PathBuf)> {
    let dir = &place.opened.dir;
    let mut existing = path;
    loop {
        let found = if existing.as_os_str().is_empty() { Ok(PathBuf::new()) } else { dir.canonicalize(existing) };
        match found {
            Ok(real) => {
                let real = if real == Path::new(".") { PathBuf::new() } else { real };
                let rest = path.strip_prefix(existing).unwrap_or(Path::new("")).to_owned();
                return Ok((real, rest));
            }
            Err(why) if why.kind() == io::ErrorKind::NotFound => {
                if dir.symlink_metadata(existing).is_ok() {
                    return Err(denied(&place.shown, "goes through a link that leads nowhere"));
                }
                existing = existing.parent().unwrap_or(Path::new(""));
            }
            Err(why) => return Err(system(&place.shown, &why)),
        }
    }
}
