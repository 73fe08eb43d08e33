//! What each component gets here: limits, folders and commands, from the operator's words and from what the host gives by itself.

use std::sync::Arc;

use super::Host;
use crate::{
    capability::{
        Granted,
        ask::Asking,
        fs::{Folder, Folders, Own},
        terminal::Commands,
    },
    component::{Identity, Origin, Terms},
    grant::{Access, Config, FolderGrant, Standing, TerminalGrant},
    sandbox::Limits,
};

impl Host {
    /// The terms of a component of tools. The bundled ones have the workspace, and long results to read; everybody else what the
    /// operator granted to these bytes.
    pub(super) fn terms(&self, config: &Config, component: Identity<'_>) -> Terms {
        let (grant, stale) = match config.standing(component) {
            Standing::Holds(grant) => (Some(grant), None),
            Standing::Nothing => (None, None),
            Standing::Stale(why) => (None, Some(Arc::from(why.reason(component.name)))),
        };
        let is_bundled = *component.origin == Origin::Bundled;
        let bundled = is_bundled.then(|| [FolderGrant::workspace(), FolderGrant::new(self.results(), Access::Read)]);
        let granted = grant.map(|grant| grant.folders().to_vec()).unwrap_or_default();
        // The operator's words come first: where both name a folder, theirs say whether secrets are shown.
        let folders = granted.into_iter().chain(bundled.into_iter().flatten()).filter_map(|folder| {
            // A path that can't be located was refused when the configuration was read.
            let path = folder.located(self.0.workspace.path()).ok()?;
            Some(Folder::new(path, folder.access, folder.secrets, folder.hard_links))
        });
        let own = Own {
            home: self.0.home.clone(),
            config: self.0.config.clone(),
            components: self.0.folders.iter().chain(&self.0.hook_folders).cloned().collect(),
            secrets: self.0.secret_files.clone(),
        };
        let folders =
            Folders::new(component.name, self.0.workspace.path(), folders.collect(), own, Arc::clone(&self.0.files));
        let folders = folders.with_stale(stale.clone());
        let commands = self.commands(config, component.name, grant.map(|grant| grant.terminal()).cloned(), is_bundled);
        let asking = grant.is_some_and(|grant| grant.ask()).then(|| {
            let (component, people) = (component.name.to_owned(), Arc::clone(&self.0.people));
            Arc::new(Asking { component, people })
        });
        Terms {
            limits: grant.map_or(Limits::HANDLE, |grant| grant.limits()),
            granted: Granted { folders: Some(Arc::new(folders)), commands, asking, stale, effects: None },
        }
    }

    fn commands(
        &self,
        config: &Config,
        component: &str,
        granted: Option<TerminalGrant>,
        is_bundled: bool,
    ) -> Option<Arc<Commands>> {
        let mut grant = granted.unwrap_or_default();
        grant.shell |= is_bundled;
        if grant.is_empty() {
            return None;
        }
        let place = config.terminal.place(is_bundled, &grant, self.0.workspace.path());
        let escalations = config.terminal.escalations(is_bundled);
        let (component, terminals) = (component.to_owned(), Arc::clone(&self.0.terminals));
        Some(Arc::new(Commands { component, grant, place, escalations, terminals }))
    }

    fn results(&self) -> std::path::PathBuf {
        self.0.home.join("results")
    }
}
