//! What WASI does by names, on the ways of our own interface.

use std::{
    fs::FileTimes,
    hash::{DefaultHasher, Hash, Hasher},
    os::{fd::AsFd, unix::fs::MetadataExt},
    time::{Duration, SystemTime},
};

use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, renameat, unlinkat};
use wasmtime_wasi::p2::bindings::{
    clocks::wall_clock::Datetime,
    filesystem::types::{DescriptorStat, DescriptorType, MetadataHashValue, NewTimestamp},
};

use super::super::{
    budget::Budget,
    commit::{Applied, Target, reserve},
    fault::{Outcome, fault, system},
    folders::Folders,
    permit::NO_PERMIT,
};
use crate::{grant::Access, wit::latest::filesystem::Reason};

/// The place of what a name leads to, whose directory exists.
fn target<'a>(folders: &'a Folders, path: &str) -> Outcome<Target<'a>> {
    let target = Target::new(folders, path, &NO_PERMIT)?;
    match target.needs_folders() {
        true => Err(fault(Reason::NotFound, "its directory does not exist")),
        false => Ok(target),
    }
}

pub(super) fn make_directory(folders: &Folders, budget: &Budget, path: &str) -> Outcome<()> {
    let target = target(folders, path)?;
    budget.take(0, 1)?;
    let parent = target.parent(&mut Applied::default())?;
    reserve(&parent, target.shown(), 0)?;
    mkdirat(parent.as_fd(), target.name(), Mode::from_bits_truncate(0o777)).map_err(|why| target.failed(&why.into()))
}

pub(super) fn remove_directory(folders: &Folders, budget: &Budget, path: &str) -> Outcome<()> {
    let target = Target::of_name(folders, path, &NO_PERMIT)?;
    budget.take(0, 1)?;
    let parent = target.parent(&mut Applied::default())?;
    unlinkat(parent.as_fd(), target.name(), AtFlags::REMOVEDIR).map_err(|why| target.failed(&why.into()))
}

pub(super) fn remove_file(folders: &Folders, budget: &Budget, path: &str) -> Outcome<()> {
    let target = Target::of_name(folders, path, &NO_PERMIT)?;
    target.removable()?;
    budget.take(0, 1)?;
    let parent = target.parent(&mut Applied::default())?;
    unlinkat(parent.as_fd(), target.name(), AtFlags::empty()).map_err(|why| target.failed(&why.into()))
}

/// A file takes another name, and the place of the one that has it: that is how programs replace a file in one step.
pub(super) fn rename(folders: &Folders, budget: &Budget, path: &str, new: &str) -> Outcome<()> {
    let (source, target) = (Target::of_name(folders, path, &NO_PERMIT)?, self::target(folders, new)?);
    source.movable(&target)?;
    target.existing()?;
    budget.take(0, 1)?;
    let (from, to) = (source.parent(&mut Applied::default())?, target.parent(&mut Applied::default())?);
    renameat(from.as_fd(), source.name(), to.as_fd(), target.name()).map_err(|why| target.failed(&why.into()))
}

pub(super) fn times(accessed: NewTimestamp, modified: NewTimestamp) -> FileTimes {
    let time = |stamp| match stamp {
        NewTimestamp::NoChange => None,
        NewTimestamp::Now => Some(SystemTime::now()),
        NewTimestamp::Timestamp(at) => {
            SystemTime::UNIX_EPOCH.checked_add(Duration::new(at.seconds, at.nanoseconds.min(999_999_999)))
        }
    };
    let times = time(accessed).map_or_else(FileTimes::new, |at| FileTimes::new().set_accessed(at));
    time(modified).map_or(times, |at| times.set_modified(at))
}

pub(super) fn set_times(folders: &Folders, path: &str, times: FileTimes) -> Outcome<()> {
    let target = target(folders, path)?;
    let (file, _) = target.open()?.ok_or_else(|| target.missing())?;
    file.set_times(times).map_err(|why| target.failed(&why))
}

fn metadata(folders: &Folders, path: &str) -> Outcome<std::fs::Metadata> {
    let place = folders.place(path, Access::Read)?;
    let found = place.open(OFlags::PATH)?;
    found.file.metadata().map_err(|why| system(&place.shown, &why))
}

pub(super) fn stat(folders: &Folders, path: &str) -> Outcome<DescriptorStat> {
    let metadata = metadata(folders, path)?;
    let kind = metadata.file_type();
    let time = |seconds: i64, nanoseconds: i64| {
        Some(Datetime { seconds: seconds.try_into().ok()?, nanoseconds: nanoseconds.try_into().ok()? })
    };
    Ok(DescriptorStat {
        type_: match () {
            () if kind.is_dir() => DescriptorType::Directory,
            () if kind.is_file() => DescriptorType::RegularFile,
            () => DescriptorType::Unknown,
        },
        link_count: metadata.nlink(),
        size: metadata.len(),
        data_access_timestamp: time(metadata.atime(), metadata.atime_nsec()),
        data_modification_timestamp: time(metadata.mtime(), metadata.mtime_nsec()),
        status_change_timestamp: time(metadata.ctime(), metadata.ctime_nsec()),
    })
}

/// A number for the file itself, whatever it holds.
pub(super) fn identity(folders: &Folders, path: &str) -> Outcome<MetadataHashValue> {
    let metadata = metadata(folders, path)?;
    let hash = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        (salt, metadata.dev(), metadata.ino()).hash(&mut hasher);
        hasher.finish()
    };
    Ok(MetadataHashValue { lower: hash(0), upper: hash(1) })
}
