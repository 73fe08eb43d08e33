//! The folder that tools work in.

use std::{
    path::{Path, PathBuf},
    sync::OnceLock,
};

/// The folder that the host was started with, until its only client chose one of those that the operator allows. That happens once,
/// before the first call.
#[derive(Debug)]
pub(crate) struct Workspace {
    started_with: PathBuf,
    chosen: OnceLock<PathBuf>,
}

impl Workspace {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { started_with: folder, chosen: OnceLock::new() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.chosen.get().unwrap_or(&self.started_with)
    }

    /// Says whether it was chosen now. A second choice changes nothing.
    pub(crate) fn choose(&self, folder: PathBuf) -> bool {
        self.chosen.set(folder).is_ok()
    }
}
