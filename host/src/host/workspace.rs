//! The workspace that a client chooses, among the folders that the operator lists.

use std::path::PathBuf;

use super::{Host, HostError};
use crate::text::one_line;

/// Bytes of a folder's name that an error repeats.
const FOLDER_BYTES: usize = 200;

/// Why the workspace stays as it is.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// None of the folders is on the operator's list.
    #[error(
        "the client works on {folder}, which allow below [workspaces] in hermes.toml does not name: tools stay in {workspace}"
    )]
    NotAllowed {
        /// The first of them.
        folder: String,
        /// Where tools work.
        workspace: String,
    },
    /// The client named no folder.
    #[error("the client named no folder that it works on: tools stay in {workspace}")]
    NoFolder {
        /// Where tools work.
        workspace: String,
    },
    /// It was chosen before, or a command ran already.
    #[error("the workspace was settled before: a client chooses it before its first call")]
    Settled,
    /// The components could not be loaded for it.
    #[error(transparent)]
    Load(#[from] HostError),
}

impl Host {
    /// Whether a client may choose the workspace: the operator named none, and lists folders for it.
    pub fn lets_client_choose_workspace(&self) -> bool {
        !self.0.is_workspace_named && !self.0.current.load().settings.workspaces.is_empty()
    }

    /// Makes the first of these folders the workspace that the operator's list has. For a host with one client, before its first call.
    pub fn choose_workspace(&self, folders: &[PathBuf]) -> Result<(), WorkspaceError> {
        let workspace = self.0.workspace.path().display().to_string();
        let Some(first) = folders.first() else { return Err(WorkspaceError::NoFolder { workspace }) };
        let settings = std::sync::Arc::clone(&self.0.current.load().settings);
        let chosen = folders.iter().find_map(|folder| settings.workspaces.admit(folder));
        let Some(chosen) = chosen.filter(|_| !self.0.is_workspace_named) else {
            let folder = one_line(&first.display().to_string(), FOLDER_BYTES);
            return Err(WorkspaceError::NotAllowed { folder, workspace });
        };
        if self.0.terminals.were_used() || !self.0.workspace.choose(chosen) {
            return Err(WorkspaceError::Settled);
        }
        tracing::info!("the workspace is {}, where the client works", self.0.workspace.path().display());
        // In haste: what must be compiled is the watch's to find.
        self.refresh(&|_| false)?;
        Ok(())
    }
}
