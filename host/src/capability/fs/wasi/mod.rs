//! WASI's files: the granted folders as preopened directories, under the rules of `hermes:tool/filesystem`.
//!
//! What opens, makes, moves or removes something is done here, by real paths, in the same way as our own interface does it. What
//! a guest then does with an open file is left to wasmtime; only what is written is looked at, and counted. Links, hard or symbolic,
//! are made by nobody.

mod change;
mod open;
mod stream;
mod written;

use std::{
    collections::HashMap,
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use wasmtime::component::{HasData, Linker, Resource};
use wasmtime_wasi::{
    FsPerms, OpenMode,
    filesystem::{Descriptor, Dir, WasiFilesystemCtxView, WasiFilesystemView},
    p2::{
        DynInputStream, DynOutputStream, FsError, FsResult,
        bindings::filesystem::{
            preopens,
            types::{
                self, Advice, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry, DirectoryEntryStream,
                ErrorCode, MetadataHashValue, NewTimestamp, OpenFlags, PathFlags,
            },
        },
    },
};

use self::{open::Wish, stream::Counted, written::Written};
use super::{
    budget::Budget, commit::is_draft, fault::Outcome, folders::Folders, host::elsewhere, limits::WRITTEN_BYTES,
};
use crate::{
    capability::Capability,
    grant::Access,
    sandbox::CallState,
    wit::latest::filesystem::{Fault, Reason},
};

/// What a guest holds, by its handles.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// The real paths of directories.
    directories: HashMap<u32, PathBuf>,
    /// The files that it may write.
    written: HashMap<u32, Arc<Written>>,
}

/// Puts these files in the place of wasmtime's own.
pub(in super::super) fn link(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    linker.allow_shadowing(true);
    types::add_to_linker::<CallState, Guarded<'static>>(linker, |state| Guarded(state))?;
    preopens::add_to_linker::<CallState, Guarded<'static>>(linker, |state| Guarded(state))?;
    linker.allow_shadowing(false);
    Ok(())
}

struct Guarded<'a>(&'a mut CallState);

impl HasData for Guarded<'static> {
    type Data<'a> = Guarded<'a>;
}

impl Guarded<'_> {
    /// wasmtime's own view, for what is done with open files.
    fn open(&mut self) -> WasiFilesystemCtxView<'_> {
        self.0.filesystem()
    }

    fn uses(&mut self, access: Access) {
        self.0.use_capability(match access {
            Access::Read => Capability::FilesRead,
            Access::Write => Capability::FilesWrite,
        });
    }

    /// What was granted, and the real path of something below a directory that the guest holds.
    fn find(&mut self, fd: &Resource<Descriptor>, path: &str, access: Access) -> FsResult<Found> {
        self.uses(access);
        let refused = || FsError::from(ErrorCode::NotPermitted);
        let files = self.0.held.files.as_ref().ok_or_else(refused)?;
        let base = files.held.directories.get(&fd.rep()).ok_or(ErrorCode::NotDirectory)?;
        let path = below(base, Path::new(path)).ok_or_else(refused)?;
        Ok(Found { folders: Arc::clone(&files.folders), budget: Arc::clone(&files.budget), path })
    }

    /// Does something on a thread where it may block.
    async fn work<T: Send + 'static>(
        &mut self,
        found: Found,
        work: impl FnOnce(&Folders, &Budget, &str) -> Outcome<T> + Send + 'static,
    ) -> FsResult<T> {
        elsewhere(move || work(&found.folders, &found.budget, &found.path)).await.map_err(|why| code(&why).into())
    }

    /// The file that is written by a handle, up to a position, and what the call may still write.
    fn writing(&mut self, fd: &Resource<Descriptor>, end: u64) -> FsResult<(Arc<Written>, Arc<Budget>)> {
        self.uses(Access::Write);
        match self.open().table.get(fd)? {
            Descriptor::File(file) if file.open_mode.contains(OpenMode::WRITE) => {}
            Descriptor::File(_) => return Err(ErrorCode::NotPermitted.into()),
            Descriptor::Dir(_) => return Err(ErrorCode::BadDescriptor.into()),
        }
        // A file that is mostly holes fills the disk later.
        if end > WRITTEN_BYTES {
            return Err(ErrorCode::FileTooLarge.into());
        }
        let files = self.0.held.files.as_ref().ok_or(ErrorCode::NotPermitted)?;
        let written = files.held.written.get(&fd.rep()).ok_or(ErrorCode::NotPermitted)?;
        Ok((Arc::clone(written), Arc::clone(&files.budget)))
    }

    /// Counts what passes through a stream that wasmtime made.
    fn counted(
        &mut self,
        stream: Resource<DynOutputStream>,
        (written, budget): (Arc<Written>, Arc<Budget>),
        at: Option<u64>,
    ) -> FsResult<Resource<DynOutputStream>> {
        let table = self.open().table;
        let inner = table.delete(stream)?;
        let counted: DynOutputStream = Box::new(Counted { inner, written, budget, at });
        Ok(table.push(counted)?)
    }
}

/// Where something lies.
struct Found {
    folders: Arc<Folders>,
    budget: Arc<Budget>,
    path: String,
}

/// A path below a directory, by its text: it never goes above.
fn below(base: &Path, path: &Path) -> Option<String> {
    let mut names = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => names.push(name),
            Component::CurDir => {}
            Component::ParentDir => drop(names.pop()?),
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    let whole: PathBuf = base.iter().chain(names).collect();
    whole.into_os_string().into_string().ok()
}

/// A fault in WASI's words.
fn code(why: &Fault) -> ErrorCode {
    match why.reason {
        Reason::Denied => ErrorCode::NotPermitted,
        Reason::NotFound => ErrorCode::NoEntry,
        Reason::IsDirectory => ErrorCode::IsDirectory,
        Reason::NotDirectory => ErrorCode::NotDirectory,
        Reason::NotRegular => ErrorCode::Unsupported,
        Reason::Exists => ErrorCode::Exist,
        Reason::Changed => ErrorCode::Busy,
        Reason::TooLarge => ErrorCode::InsufficientSpace,
        Reason::Invalid => ErrorCode::Invalid,
        Reason::Failed => ErrorCode::Io,
    }
}

impl preopens::Host for Guarded<'_> {
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Resource<Descriptor>, String)>> {
        let Some(folders) = self.0.held.files.as_ref().map(|files| Arc::clone(&files.folders)) else {
            return Ok(Vec::new());
        };
        let mut directories = Vec::new();
        for (real, name, access) in folders.preopens() {
            let (perms, mode) = match access {
                Access::Read => (FsPerms::ReadOnly, OpenMode::READ),
                Access::Write => (FsPerms::ReadWrite, OpenMode::READ | OpenMode::WRITE),
            };
            // A folder that is gone is not there for this call.
            let Ok(handle) = folders.directory(&real) else { continue };
            let fd = self.open().table.push(Descriptor::Dir(Dir::new(handle, perms, mode, false)))?;
            if let Some(files) = &mut self.0.held.files {
                files.held.directories.insert(fd.rep(), real);
            }
            directories.push((fd, name));
        }
        Ok(directories)
    }
}

impl types::Host for Guarded<'_> {
    fn convert_error_code(&mut self, why: FsError) -> wasmtime::Result<ErrorCode> {
        self.open().convert_error_code(why)
    }

    fn filesystem_error_code(&mut self, why: Resource<wasmtime::Error>) -> wasmtime::Result<Option<ErrorCode>> {
        self.open().filesystem_error_code(why)
    }
}

impl types::HostDirectoryEntryStream for Guarded<'_> {
    async fn read_directory_entry(
        &mut self,
        stream: Resource<DirectoryEntryStream>,
    ) -> FsResult<Option<DirectoryEntry>> {
        loop {
            // The same stream, which stays the guest's.
            let entry = self.open().read_directory_entry(Resource::new_borrow(stream.rep())).await?;
            if entry.as_ref().is_none_or(|entry| !is_draft(entry.name.as_bytes())) {
                return Ok(entry);
            }
        }
    }

    fn drop(&mut self, stream: Resource<DirectoryEntryStream>) -> wasmtime::Result<()> {
        types::HostDirectoryEntryStream::drop(&mut self.open(), stream)
    }
}

impl types::HostDescriptor for Guarded<'_> {
    async fn open_at(
        &mut self,
        fd: Resource<Descriptor>,
        _: PathFlags,
        path: String,
        how: OpenFlags,
        flags: DescriptorFlags,
    ) -> FsResult<Resource<Descriptor>> {
        let wish = Wish { how, flags };
        let found = self.find(&fd, &path, wish.access())?;
        let opened = self.work(found, move |folders, budget, path| open::open(folders, budget, path, wish)).await?;
        let fd = self.open().table.push(opened.descriptor)?;
        if let Some(files) = &mut self.0.held.files {
            files.held.directories.extend(opened.directory.map(|directory| (fd.rep(), directory)));
            files.held.written.extend(opened.written.map(|written| (fd.rep(), Arc::new(written))));
        }
        Ok(fd)
    }

    fn drop(&mut self, fd: Resource<Descriptor>) -> wasmtime::Result<()> {
        if let Some(files) = &mut self.0.held.files {
            files.held.directories.remove(&fd.rep());
            files.held.written.remove(&fd.rep());
        }
        types::HostDescriptor::drop(&mut self.open(), fd)
    }

    async fn create_directory_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<()> {
        let found = self.find(&fd, &path, Access::Write)?;
        self.work(found, change::make_directory).await
    }

    async fn remove_directory_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<()> {
        let found = self.find(&fd, &path, Access::Write)?;
        self.work(found, change::remove_directory).await
    }

    async fn unlink_file_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<()> {
        let found = self.find(&fd, &path, Access::Write)?;
        self.work(found, change::remove_file).await
    }

    async fn rename_at(
        &mut self,
        fd: Resource<Descriptor>,
        path: String,
        new_fd: Resource<Descriptor>,
        new_path: String,
    ) -> FsResult<()> {
        let found = self.find(&fd, &path, Access::Write)?;
        let target = self.find(&new_fd, &new_path, Access::Write)?.path;
        self.work(found, move |folders, budget, path| change::rename(folders, budget, path, &target)).await
    }

    async fn set_times_at(
        &mut self,
        fd: Resource<Descriptor>,
        _: PathFlags,
        path: String,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> FsResult<()> {
        let found = self.find(&fd, &path, Access::Write)?;
        let times = change::times(accessed, modified);
        self.work(found, move |folders, _, path| change::set_times(folders, path, times)).await
    }

    async fn link_at(
        &mut self,
        _: Resource<Descriptor>,
        _: PathFlags,
        _: String,
        _: Resource<Descriptor>,
        _: String,
    ) -> FsResult<()> {
        self.uses(Access::Write);
        Err(ErrorCode::NotPermitted.into())
    }

    async fn symlink_at(&mut self, _: Resource<Descriptor>, _: String, _: String) -> FsResult<()> {
        self.uses(Access::Write);
        Err(ErrorCode::NotPermitted.into())
    }

    async fn stat_at(&mut self, fd: Resource<Descriptor>, _: PathFlags, path: String) -> FsResult<DescriptorStat> {
        let found = self.find(&fd, &path, Access::Read)?;
        self.work(found, |folders, _, path| change::stat(folders, path)).await
    }

    async fn metadata_hash_at(
        &mut self,
        fd: Resource<Descriptor>,
        _: PathFlags,
        path: String,
    ) -> FsResult<MetadataHashValue> {
        let found = self.find(&fd, &path, Access::Read)?;
        self.work(found, |folders, _, path| change::identity(folders, path)).await
    }

    /// Everything is opened by what links lead to; a guest has no use for the links.
    async fn readlink_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<String> {
        self.find(&fd, &path, Access::Read)?;
        Err(ErrorCode::Invalid.into())
    }

    async fn set_size(&mut self, fd: Resource<Descriptor>, size: u64) -> FsResult<()> {
        let (written, budget) = self.writing(&fd, size)?;
        budget.take(size, 0).map_err(|why| code(&why))?;
        elsewhere(move || written.judge_size(size)).await.map_err(|why| code(&why))?;
        self.open().set_size(fd, size).await
    }

    async fn write(&mut self, fd: Resource<Descriptor>, bytes: Vec<u8>, offset: u64) -> FsResult<u64> {
        let length = bytes.len() as u64;
        let (written, budget) = self.writing(&fd, offset.saturating_add(length))?;
        budget.take(length, 0).map_err(|why| code(&why))?;
        let judged = move || {
            written.judge(&bytes)?;
            written.judge_at(offset, &bytes)?;
            Ok(bytes)
        };
        let bytes = elsewhere(judged).await.map_err(|why: Fault| code(&why))?;
        self.open().write(fd, bytes, offset).await
    }

    fn write_via_stream(&mut self, fd: Resource<Descriptor>, offset: u64) -> FsResult<Resource<DynOutputStream>> {
        let writing = self.writing(&fd, offset)?;
        let stream = self.open().write_via_stream(fd, offset)?;
        self.counted(stream, writing, Some(offset))
    }

    fn append_via_stream(&mut self, fd: Resource<Descriptor>) -> FsResult<Resource<DynOutputStream>> {
        let writing = self.writing(&fd, 0)?;
        let stream = self.open().append_via_stream(fd)?;
        self.counted(stream, writing, None)
    }

    async fn set_times(
        &mut self,
        fd: Resource<Descriptor>,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> FsResult<()> {
        self.uses(Access::Write);
        self.open().set_times(fd, accessed, modified).await
    }

    async fn sync(&mut self, fd: Resource<Descriptor>) -> FsResult<()> {
        self.open().sync(fd).await
    }

    async fn sync_data(&mut self, fd: Resource<Descriptor>) -> FsResult<()> {
        self.open().sync_data(fd).await
    }

    async fn advise(&mut self, fd: Resource<Descriptor>, offset: u64, length: u64, advice: Advice) -> FsResult<()> {
        self.open().advise(fd, offset, length, advice).await
    }

    async fn get_flags(&mut self, fd: Resource<Descriptor>) -> FsResult<DescriptorFlags> {
        self.open().get_flags(fd).await
    }

    async fn get_type(&mut self, fd: Resource<Descriptor>) -> FsResult<DescriptorType> {
        self.open().get_type(fd).await
    }

    async fn read(&mut self, fd: Resource<Descriptor>, length: u64, offset: u64) -> FsResult<(Vec<u8>, bool)> {
        self.uses(Access::Read);
        self.open().read(fd, length, offset).await
    }

    fn read_via_stream(&mut self, fd: Resource<Descriptor>, offset: u64) -> FsResult<Resource<DynInputStream>> {
        self.uses(Access::Read);
        self.open().read_via_stream(fd, offset)
    }

    async fn read_directory(&mut self, fd: Resource<Descriptor>) -> FsResult<Resource<DirectoryEntryStream>> {
        self.uses(Access::Read);
        self.open().read_directory(fd).await
    }

    async fn stat(&mut self, fd: Resource<Descriptor>) -> FsResult<DescriptorStat> {
        self.open().stat(fd).await
    }

    async fn is_same_object(
        &mut self,
        one: Resource<Descriptor>,
        other: Resource<Descriptor>,
    ) -> wasmtime::Result<bool> {
        self.open().is_same_object(one, other).await
    }

    async fn metadata_hash(&mut self, fd: Resource<Descriptor>) -> FsResult<MetadataHashValue> {
        self.open().metadata_hash(fd).await
    }
}
