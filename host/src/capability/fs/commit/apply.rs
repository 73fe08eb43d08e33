//! Putting drafts into their places, and everything back if one of them can't.

use std::{
    ffi::{CString, OsStr, OsString},
    fs::{File, Metadata},
    io,
    os::fd::{AsFd, OwnedFd},
};

use rustix::{
    fs::{AtFlags, RenameFlags, renameat, renameat_with, symlinkat, unlinkat},
    io::Errno,
};

use super::{
    super::fault::{Outcome, fault},
    draft::Draft,
    target::Target,
};
use crate::wit::latest::filesystem::{Fault, Reason};

/// What was done so far. Dropped before it is kept, everything is undone.
#[derive(Default)]
pub(in super::super) struct Applied(Vec<Done>);

/// One thing that was done. Names are in directories, known by their handles.
enum Done {
    Folder(OwnedFd, OsString),
    Draft(OwnedFd, OsString),
    Made(OwnedFd, OsString),
    /// The old file is still there by its handle, though it has no name any more.
    Replaced(OwnedFd, OsString, File),
    /// What a removed link led to.
    Unlinked(OwnedFd, OsString, CString),
    Renamed {
        source: (OwnedFd, OsString),
        target: (OwnedFd, OsString),
    },
}

impl Applied {
    pub(in super::super) fn made_folder(&mut self, parent: &OwnedFd, name: &OsStr) -> io::Result<()> {
        self.0.push(Done::Folder(parent.try_clone()?, name.to_owned()));
        Ok(())
    }

    pub(in super::super) fn drafted(&mut self, parent: &OwnedFd, name: &str) -> io::Result<()> {
        self.0.push(Done::Draft(parent.try_clone()?, name.into()));
        Ok(())
    }

    /// Puts a draft into its place.
    pub(in super::super) fn replace(&mut self, target: &Target<'_>, draft: Draft) -> Outcome<Metadata> {
        draft.still_fits(target)?;
        let (parent, name) = (draft.parent.as_fd(), target.name());
        if draft.is_new() {
            rename_to_new((parent, OsStr::new(&draft.name)), (parent, name)).map_err(|why| match why {
                Errno::EXIST => target.exists(),
                why => target.failed(&why.into()),
            })?;
        } else {
            renameat(parent, OsStr::new(&draft.name), parent, name).map_err(|why| target.failed(&why.into()))?;
        }
        self.0.retain(|done| !matches!(done, Done::Draft(_, drafted) if *drafted == *draft.name));
        // The rename is a change of the inode too: the version is that of now.
        let metadata = draft.file.metadata().map_err(|why| target.failed(&why));
        self.0.push(match draft.old {
            Some((old, _)) => Done::Replaced(draft.parent, name.clone(), old),
            None => Done::Made(draft.parent, name.clone()),
        });
        metadata
    }

    /// Removes a file, or a link and not what it leads to.
    pub(in super::super) fn remove(&mut self, target: &Target<'_>) -> Outcome<()> {
        let link = target.link()?;
        let old = if link.is_none() { target.open()? } else { None };
        let (parent, name) = (target.parent(self)?, target.name().clone());
        let unlink = || unlinkat(parent.as_fd(), &name, AtFlags::empty()).map_err(|why| target.failed(&why.into()));
        let done = match (link, old) {
            (Some(leads_to), _) => unlink().map(|()| Done::Unlinked(parent, name, leads_to)),
            (None, Some((old, _))) => unlink().map(|()| Done::Replaced(parent, name, old)),
            (None, None) => Err(target.missing()),
        };
        self.0.push(done?);
        Ok(())
    }

    /// Gives a file another name. Says whether folders had to be made.
    pub(in super::super) fn rename(&mut self, source: &Target<'_>, target: &Target<'_>) -> Outcome<(Metadata, bool)> {
        let (file, _) = source.open()?.ok_or_else(|| source.missing())?;
        let (from, to) = (source.parent(self)?, target.parent(self)?);
        rename_to_new((from.as_fd(), source.name()), (to.as_fd(), target.name())).map_err(|why| match why {
            Errno::EXIST => target.exists(),
            Errno::XDEV => {
                let message = format!(
                    "{} lies on another disk; write it anew there and remove the old one",
                    target.shown().display()
                );
                fault(Reason::Failed, message)
            }
            why => target.failed(&why.into()),
        })?;
        self.0.push(Done::Renamed { source: (from, source.name().clone()), target: (to, target.name().clone()) });
        let metadata = file.metadata().map_err(|why| target.failed(&why))?;
        Ok((metadata, target.needs_folders()))
    }

    /// Everything stays as it is now.
    pub(in super::super) fn keep(mut self) {
        self.0.clear();
    }

    /// Puts everything back, and says why.
    pub(in super::super) fn undo(mut self, why: Fault) -> Fault {
        match self.put_back() {
            Ok(()) => why,
            Err(stuck) => {
                let message = format!("{}; and what was done before could not be undone: {stuck}", why.message);
                fault(Reason::Failed, message)
            }
        }
    }

    /// In reverse order, as far as it goes; the first failure is told.
    fn put_back(&mut self) -> io::Result<()> {
        let mut result = Ok(());
        while let Some(done) = self.0.pop() {
            result = result.and(done.undo());
        }
        result
    }
}

impl Drop for Applied {
    fn drop(&mut self) {
        if let Err(why) = self.put_back() {
            tracing::error!("changes to files could not be undone: {why}");
        }
    }
}

impl Done {
    fn undo(self) -> io::Result<()> {
        match self {
            // Others may have put something into it meanwhile: then it stays.
            Self::Folder(parent, name) => match unlinkat(parent.as_fd(), &name, AtFlags::REMOVEDIR) {
                Err(Errno::NOTEMPTY) => Ok(()),
                result => Ok(result?),
            },
            Self::Draft(parent, name) | Self::Made(parent, name) => {
                Ok(unlinkat(parent.as_fd(), &name, AtFlags::empty())?)
            }
            Self::Replaced(parent, name, old) => restore(&parent, &name, &old),
            Self::Unlinked(parent, name, leads_to) => Ok(symlinkat(leads_to, parent.as_fd(), &name)?),
            Self::Renamed { source, target } => {
                Ok(rename_to_new((target.0.as_fd(), &target.1), (source.0.as_fd(), &source.1))?)
            }
        }
    }
}

/// Writes an old file's content back under its name.
fn restore(parent: &OwnedFd, name: &OsStr, old: &File) -> io::Result<()> {
    let (draft, mut file) = super::draft::create(parent, 0o600)?;
    let metadata = old.metadata()?;
    let written = super::draft::copy(Some(old), 0, metadata.len(), &mut file)
        .and_then(|()| super::draft::keep_mode(&file, &metadata))
        .and_then(|()| file.sync_all())
        .and_then(|()| Ok(renameat(parent.as_fd(), OsStr::new(&draft), parent.as_fd(), name)?));
    if written.is_err() {
        let _ = unlinkat(parent.as_fd(), OsStr::new(&draft), AtFlags::empty());
    }
    written
}

/// A rename that never takes another file's place, where the file system can promise that.
fn rename_to_new(from: (impl AsFd, &OsStr), to: (impl AsFd, &OsStr)) -> Result<(), Errno> {
    match renameat_with(&from.0, from.1, &to.0, to.1, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS) => renameat(from.0, from.1, to.0, to.1),
        result => result,
    }
}
