//! The state of a call as the functions of `wasi:filesystem` see it.

use std::{
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use wasmtime::component::{HasData, Resource};
use wasmtime_wasi::{
    OpenMode,
    filesystem::{Descriptor, WasiFilesystemCtxView},
    p2::{DynInputStream, DynOutputStream, FsError, FsResult, bindings::filesystem::types::ErrorCode},
};

use super::{
    super::{Files, budget::Budget, fault::Outcome, folders::Folders, host::elsewhere, limits::WRITTEN_BYTES},
    open_files::{DescriptorLease, TooManyOpen},
    stream::{Counted, LeasedInput, READ_AHEAD},
    written::Written,
};
use crate::{
    capability::Capability,
    grant::Access,
    sandbox::{CallState, MemoryAccount},
    wit::latest::filesystem::{Fault, Reason},
};

/// One call of a function. The linker makes one for each, by [`enter`], and there is no other way to get one: a function
/// of this interface that is not counted can't be written.
pub(super) struct Guarded<'a>(&'a mut CallState);

impl HasData for Guarded<'static> {
    type Data<'a> = Guarded<'a>;
}

/// Counts the call.
pub(super) fn enter(state: &mut CallState) -> Guarded<'_> {
    state.count_wasi_call();
    Guarded(state)
}

impl Guarded<'_> {
    /// wasmtime's own view, for what is done with open files.
    pub(super) fn open(&mut self) -> WasiFilesystemCtxView<'_> {
        self.0.filesystem_view()
    }

    /// What the call has of the file system, if anything.
    pub(super) fn files(&mut self) -> Option<&mut Files> {
        self.0.held.files.as_mut()
    }

    /// Notes that the guest was given no folder: what it says of files then has that reason.
    pub(super) fn lacks_folders(&mut self) {
        self.0.lacks_folders = true;
    }

    /// What copies in the host's memory are charged to.
    pub(super) fn memory(&self) -> Arc<MemoryAccount> {
        Arc::clone(self.0.memory())
    }

    /// The lease of an open file, which everything made from its handle shares.
    pub(super) fn lease(&self, fd: &Resource<Descriptor>) -> Option<Arc<DescriptorLease>> {
        self.0.held.files.as_ref()?.held.leases.get(&fd.rep()).cloned()
    }

    pub(super) fn uses(&mut self, access: Access) {
        self.0.use_capability(match access {
            Access::Read => Capability::FilesRead,
            Access::Write => Capability::FilesWrite,
        });
    }

    /// What was granted, and the real path of something below a directory that the guest holds.
    pub(super) fn find(&mut self, fd: &Resource<Descriptor>, path: &str, access: Access) -> FsResult<Found> {
        self.uses(access);
        let refused = || FsError::from(ErrorCode::NotPermitted);
        let files = self.0.held.files.as_ref().ok_or_else(refused)?;
        let base = files.held.directories.get(&fd.rep()).ok_or(ErrorCode::NotDirectory)?;
        let path = below(base, Path::new(path)).ok_or_else(refused)?;
        Ok(Found { folders: Arc::clone(&files.folders), budget: Arc::clone(&files.budget), path })
    }

    /// Does something on a thread where it may block.
    pub(super) async fn work<T: Send + 'static>(
        &mut self,
        found: Found,
        work: impl FnOnce(&Folders, &Budget, &str) -> Outcome<T> + Send + 'static,
    ) -> FsResult<T> {
        Ok(elsewhere(move || work(&found.folders, &found.budget, &found.path)).await?)
    }

    /// The file that is written by a handle, up to a position, and what the call may still write.
    pub(super) fn writing(&mut self, fd: &Resource<Descriptor>, end: u64) -> FsResult<(Arc<Written>, Arc<Budget>)> {
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
    pub(super) fn counted(
        &mut self,
        stream: Resource<DynOutputStream>,
        lease: Option<Arc<DescriptorLease>>,
        (written, budget): (Arc<Written>, Arc<Budget>),
        at: Option<u64>,
    ) -> FsResult<Resource<DynOutputStream>> {
        let table = self.open().table;
        let inner = table.delete(stream)?;
        let counted: DynOutputStream = Box::new(Counted { inner, written, budget, at, _lease: lease });
        Ok(table.push(counted)?)
    }

    /// Makes an input stream that wasmtime made hold the lease of its file, and charges its buffer.
    pub(super) fn leased(
        &mut self,
        stream: Resource<DynInputStream>,
        lease: Option<Arc<DescriptorLease>>,
    ) -> FsResult<Resource<DynInputStream>> {
        let buffer = self.memory().charge(READ_AHEAD);
        let table = self.open().table;
        let inner = table.delete(stream)?;
        let buffer = buffer.ok_or(ErrorCode::InsufficientMemory)?;
        let leased: DynInputStream = Box::new(LeasedInput { inner, _lease: lease, _buffer: buffer });
        Ok(table.push(leased)?)
    }
}

/// Where something lies.
pub(super) struct Found {
    pub(super) folders: Arc<Folders>,
    pub(super) budget: Arc<Budget>,
    pub(super) path: String,
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
impl From<Fault> for FsError {
    fn from(why: Fault) -> Self {
        code(why.reason).into()
    }
}

/// WASI has no word for too many open files. A call that holds too many itself can close some; where other calls hold them, it can
/// only try again.
impl From<TooManyOpen> for FsError {
    fn from(why: TooManyOpen) -> Self {
        match why {
            TooManyOpen::OfCall => ErrorCode::InsufficientMemory.into(),
            TooManyOpen::OfProcess => ErrorCode::Busy.into(),
        }
    }
}

fn code(reason: Reason) -> ErrorCode {
    match reason {
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
