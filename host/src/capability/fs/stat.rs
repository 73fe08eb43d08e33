//! `stat`: what a path leads to.

use rustix::fs::OFlags;

use super::{
    fault::{Outcome, system},
    folders::Folders,
    open::describe,
};
use crate::{grant::Access, wit::latest::filesystem::Metadata};

pub(super) fn stat(folders: &Folders, path: &str) -> Outcome<Metadata> {
    let place = folders.place(path, Access::Read)?;
    // A mere handle: a pipe or a device is not opened by it.
    let found = place.open(OFlags::PATH)?;
    let metadata = found.file.metadata().map_err(|why| system(&place.shown, &why))?;
    let writable = place.folder.access == Access::Write && place.judge(&found.path, Access::Write).is_ok();
    Ok(describe(&metadata, writable))
}
