//! `read-directory`: the entries of a directory, bounded and charged to the call's memory for as long as the guest keeps the stream.

use std::{fs::File, os::fd::AsFd, sync::Arc, vec};

use rustix::{
    fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, statat},
    io::Errno,
};
use wasmtime::component::{Resource, ResourceTable};
use wasmtime_wasi::p2::{
    FsResult,
    bindings::filesystem::types::{self, DescriptorType, DirectoryEntry, DirectoryEntryStream, ErrorCode},
};

use super::{
    super::{
        commit::is_draft,
        limits::{LISTED_BYTES, LISTED_ENTRIES},
    },
    guarded::Guarded,
};
use crate::sandbox::{MemoryAccount, MemoryCharge};

/// Bytes that one entry takes beside its name. A vector that grows holds room for as many again.
const ENTRY_BYTES: usize = 2 * size_of::<ListedEntry>();

/// The entries of one directory that a guest has not taken yet. wasmtime's own type for this can be made by wasmtime alone, so this
/// one lies in the table in its place.
#[derive(Debug)]
pub(super) struct DirectoryListing {
    entries: vec::IntoIter<ListedEntry>,
    _charge: MemoryCharge,
}

#[derive(Debug)]
struct ListedEntry {
    /// Nothing where it is not UTF-8.
    name: Option<String>,
    kind: DescriptorType,
}

impl DirectoryListing {
    /// Reads a directory. Blocks.
    pub(super) fn read(directory: &File, memory: &Arc<MemoryAccount>) -> FsResult<Self> {
        let full = ErrorCode::InsufficientMemory;
        let mut charge = memory.charge(0).ok_or(full)?;
        let (mut entries, mut bytes) = (Vec::new(), 0);
        // Opened anew: the handle may be of the kind that only names a directory, and two listings must not share a position.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = openat(directory.as_fd(), c".", flags, Mode::empty()).map_err(failed)?;
        for entry in Dir::new(opened).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") || is_draft(name.to_bytes()) {
                continue;
            }
            let size = name.count_bytes() + ENTRY_BYTES;
            bytes += size;
            if entries.len() == LISTED_ENTRIES || bytes > LISTED_BYTES {
                return Err(ErrorCode::Overflow.into());
            }
            if !charge.grow(size) {
                return Err(full.into());
            }
            let kind = match entry.file_type() {
                // Some file systems do not say.
                FileType::Unknown => match statat(directory.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                    // It was removed meanwhile.
                    Err(Errno::NOENT) => continue,
                    Err(why) => return Err(failed(why).into()),
                },
                kind => kind,
            };
            entries.push(ListedEntry { name: name.to_str().ok().map(str::to_owned), kind: descriptor_type(kind) });
        }
        Ok(Self { entries: entries.into_iter(), _charge: charge })
    }

    /// Puts it where the guest's handle leads.
    pub(super) fn push(self, table: &mut ResourceTable) -> FsResult<Resource<DirectoryEntryStream>> {
        Ok(Resource::new_own(table.push(self)?.rep()))
    }
}

fn failed(why: Errno) -> ErrorCode {
    std::io::Error::from(why).into()
}

fn descriptor_type(kind: FileType) -> DescriptorType {
    match kind {
        FileType::RegularFile => DescriptorType::RegularFile,
        FileType::Directory => DescriptorType::Directory,
        FileType::Symlink => DescriptorType::SymbolicLink,
        FileType::BlockDevice => DescriptorType::BlockDevice,
        FileType::CharacterDevice => DescriptorType::CharacterDevice,
        _ => DescriptorType::Unknown,
    }
}

impl types::HostDirectoryEntryStream for Guarded<'_> {
    async fn read_directory_entry(
        &mut self,
        stream: Resource<DirectoryEntryStream>,
    ) -> FsResult<Option<DirectoryEntry>> {
        let listing = Resource::<DirectoryListing>::new_borrow(stream.rep());
        let Some(entry) = self.open().table.get_mut(&listing)?.entries.next() else { return Ok(None) };
        let name = entry.name.ok_or(ErrorCode::IllegalByteSequence)?;
        Ok(Some(DirectoryEntry { type_: entry.kind, name }))
    }

    fn drop(&mut self, stream: Resource<DirectoryEntryStream>) -> wasmtime::Result<()> {
        self.open().table.delete(Resource::<DirectoryListing>::new_own(stream.rep()))?;
        Ok(())
    }
}
