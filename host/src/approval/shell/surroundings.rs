//! What is known about the place where a command would run.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// What is known before a command runs. What is left out counts as unknown, which leans to asking.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// The directory in which the command starts, absolute.
    pub directory: Option<String>,
    /// The user's home, absolute.
    pub home: Option<String>,
    /// The folder that the agent may work in, absolute.
    pub workspace: Option<String>,
    /// Whether the workspace is a git repository of its own. Elsewhere git may obey a configuration that the operator did not choose.
    pub is_repository: bool,
    /// Where the host keeps its own files, beside `~/.hermes`: its home, its configuration, its components. Absolute, in every
    /// spelling that leads there.
    pub own: Vec<String>,
    /// Other spellings of the home and of the workspace, each with the one above that it stands for.
    pub spellings: Vec<(String, String)>,
    /// Variables that the task exported earlier.
    pub variables: BTreeMap<String, String>,
    /// What the command is given to read, where it is given anything.
    pub input: Option<String>,
    /// Whether the sandbox confines the command: writes stay in the workspace, reads in an allow list.
    pub is_confined: bool,
    /// Whether a confined command reaches the network. An unconfined one always does.
    pub has_network: bool,
    /// Aliases that the task's shell knows.
    pub aliases: BTreeMap<String, String>,
}

/// The places of this machine that the judge must know by every name.
#[derive(Clone, Copy, Debug)]
pub struct HostPaths<'a> {
    /// The folder that the agent works in.
    pub workspace: &'a Path,
    /// The user's home.
    pub home: Option<&'a Path>,
    /// The host's own files and folders.
    pub own: &'a [PathBuf],
}

impl HostPaths<'_> {
    /// The surroundings of a command that starts in the workspace. Each place is named as the operator gave it and as it is
    /// after symlinks, so that neither spelling hides it. A path that is not UTF-8 is unknown.
    pub fn surroundings(&self) -> Surroundings {
        let mut spellings = Vec::new();
        let mut known = |path: &Path| {
            let given = text(&absolute(path))?;
            if let Some(canonical) = text(&canonical(path)).filter(|canonical| *canonical != given) {
                spellings.push((canonical, given.clone()));
            }
            Some(given)
        };
        let home = self.home.and_then(&mut known);
        let workspace = known(self.workspace);
        let own = self.own.iter().flat_map(|path| [absolute(path), canonical(path)]);
        let mut own: Vec<String> = own.filter_map(|path| text(&path)).collect();
        own.dedup();
        Surroundings {
            directory: workspace.clone(),
            home,
            workspace,
            is_repository: self.workspace.join(".git").exists(),
            own,
            spellings,
            ..Surroundings::default()
        }
    }
}

fn text(path: &Path) -> Option<String> {
    path.to_str().map(str::to_owned)
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// The path after symlinks. The part that does not exist yet stays as it is.
fn canonical(path: &Path) -> PathBuf {
    let path = absolute(path);
    for folder in path.ancestors() {
        if let Ok(found) = folder.canonicalize() {
            // An ancestor is a prefix.
            return path.strip_prefix(folder).map_or_else(|_| path.clone(), |rest| found.join(rest));
        }
    }
    path
}
