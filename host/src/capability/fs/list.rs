//! `list`: what is in a directory.

use std::os::fd::AsFd;

use rustix::fs::{Dir, FileType, OFlags};

use super::{
    commit::is_draft,
    fault::{Outcome, fault, system},
    folders::Folders,
    limits::ENTRIES,
};
use crate::{
    grant::Access,
    wit::latest::filesystem::{Entry, Kind, Listing, Reason},
};

pub(super) fn list(folders: &Folders, path: &str) -> Outcome<Listing> {
    let place = folders.place(path, Access::Read)?;
    let found = place.open(OFlags::RDONLY | OFlags::DIRECTORY).map_err(|why| match why.reason {
        Reason::NotDirectory => fault(Reason::NotDirectory, format!("{} is not a directory", place.shown.display())),
        _ => why,
    })?;
    let failed = |why: rustix::io::Errno| system(&place.shown, &why.into());
    let mut entries = Vec::new();
    for entry in Dir::read_from(found.file.as_fd()).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name == "." || name == ".." || is_draft(name.as_bytes()) {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Directory,
            FileType::Symlink => Kind::Link,
            _ => Kind::Other,
        };
        entries.push(Entry { name, kind });
    }
    entries.sort_by(|one, other| one.name.cmp(&other.name));
    let total = entries.len() as u64;
    entries.truncate(ENTRIES);
    Ok(Listing { entries, total })
}
