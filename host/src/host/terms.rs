//! What each component gets here: limits and folders, from the operator's words and from what the host gives by itself.

use std::sync::Arc;

use super::Host;
use crate::{
    capability::{
        Granted,
        fs::{Folder, Folders, Own},
    },
    component::{ComponentFile, Origin, Terms},
    grant::{Access, Config, FolderGrant},
    sandbox::Limits,
};

impl Host {
    /// The terms of a component of tools. The bundled ones have the workspace, and long results to read; everybody else what the
    /// operator granted to these bytes.
    pub(super) fn terms(&self, config: &Config, file: &ComponentFile) -> Terms {
        let grant = config.of(&file.name, &file.digest);
        let bundled = (file.origin == Origin::Bundled)
            .then(|| [FolderGrant::workspace(), FolderGrant::new(self.results(), Access::Read)]);
        let granted = grant.map(|grant| grant.folders().to_vec()).unwrap_or_default();
        // The operator's words come first: where both name a folder, theirs say whether secrets are shown.
        let folders = granted.into_iter().chain(bundled.into_iter().flatten()).filter_map(|folder| {
            // A path that can't be located was refused when the configuration was read.
            let path = folder.located(&self.0.workspace).ok()?;
            Some(Folder::new(path, folder.access, folder.secrets, folder.hard_links))
        });
        let own = Own {
            home: self.0.home.clone(),
            config: self.0.config.clone(),
            components: self.0.folders.iter().chain(&self.0.hook_folders).cloned().collect(),
        };
        let folders = Folders::new(&file.name, &self.0.workspace, folders.collect(), own, Arc::clone(&self.0.files));
        Terms {
            limits: grant.map_or(Limits::HANDLE, |grant| grant.limits()),
            granted: Granted { folders: Some(Arc::new(folders)) },
        }
    }

    fn results(&self) -> std::path::PathBuf {
        self.0.home.join("results")
    }
}
