//! WASI's files: the granted folders as preopened directories, under the rules of `hermes:tool/filesystem`.
//!
//! What opens, makes, moves or removes something is done here, by real paths, in the same way as our own interface does it. What
//! a guest then does with an open file is left to wasmtime; only what is written is looked at, and counted. Links, hard or symbolic,
//! are made by nobody. What the host holds for an open file is bounded: descriptors by [`open_files`], memory by the call's account.
//! Files that other programs obey are not changed: WASI has no way to wait for a person.

mod change;
mod descriptor;
mod directory;
mod guarded;
mod open;
mod open_files;
mod stream;
mod written;

use std::{collections::HashMap, path::PathBuf, sync::Arc};

use wasmtime::component::{Linker, Resource};
use wasmtime_wasi::{
    FsPerms, OpenMode,
    filesystem::{Descriptor, Dir},
    p2::{
        FsError,
        bindings::filesystem::{
            preopens,
            types::{self, ErrorCode},
        },
    },
};

use self::{
    guarded::Guarded,
    open_files::{CallFiles, DescriptorLease},
    written::Written,
};
use super::folders::Folders;
use crate::{grant::Access, sandbox::CallState};

/// What a guest holds, by its handles.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// The real paths of directories.
    directories: HashMap<u32, PathBuf>,
    /// The files that it may write.
    written: HashMap<u32, Arc<Written>>,
    /// What each open file or directory takes of the host. Preopened directories have none.
    leases: HashMap<u32, Arc<DescriptorLease>>,
    /// The preopened directories, opened once: however often a guest asks for them, they are the same descriptors.
    preopened: Option<Vec<Preopened>>,
    /// How many descriptors the call holds.
    open_files: Arc<CallFiles>,
}

/// A granted folder as a guest gets it.
#[derive(Clone)]
struct Preopened {
    directory: Dir,
    real: PathBuf,
    name: String,
}

impl std::fmt::Debug for Preopened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Preopened").field("real", &self.real).finish_non_exhaustive()
    }
}

/// Puts these files in the place of wasmtime's own.
pub(in super::super) fn link(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    linker.allow_shadowing(true);
    types::add_to_linker::<CallState, Guarded<'static>>(linker, guarded::enter)?;
    preopens::add_to_linker::<CallState, Guarded<'static>>(linker, guarded::enter)?;
    linker.allow_shadowing(false);
    Ok(())
}

/// Opens the granted folders. A folder that is gone is not there for this call.
fn preopen(folders: &Folders) -> Vec<Preopened> {
    let open = |(real, name, access): (PathBuf, String, Access)| {
        let (perms, mode) = match access {
            Access::Read => (FsPerms::ReadOnly, OpenMode::READ),
            Access::Write => (FsPerms::ReadWrite, OpenMode::READ | OpenMode::WRITE),
        };
        let directory = Dir::new(folders.directory(&real).ok()?, perms, mode, false);
        Some(Preopened { directory, real, name })
    };
    folders.preopens().into_iter().filter_map(open).collect()
}

impl preopens::Host for Guarded<'_> {
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Resource<Descriptor>, String)>> {
        let Some(files) = self.files() else {
            self.lacks_folders();
            return Ok(Vec::new());
        };
        let preopened = files.held.preopened.get_or_insert_with(|| preopen(&files.folders)).clone();
        let mut directories = Vec::new();
        for Preopened { directory, real, name } in preopened {
            let fd = self.open().table.push(Descriptor::Dir(directory))?;
            if let Some(files) = self.files() {
                files.held.directories.insert(fd.rep(), real);
            }
            directories.push((fd, name));
        }
        if directories.is_empty() {
            self.lacks_folders();
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
