//! The confinement of commands on this machine: they write in the workspace, read an allow list, and reach the network only if they
//! may.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use hermes_launch::{Confinement, Mount, MountAccess, NamespaceSupport, Namespaces, Network, PROXY_PORT};

use super::{
    super::{Fault, Launcher, environment::Variables, layers, task::Task},
    keys,
    reach::{self, Reached, SandboxPolicy},
};
use crate::paths::obeyed;

/// Where the shell of a confined command writes its state, if it has namespaces.
const STATE: &str = "/run/hermes-host";

/// Folders for temporary files, private where there are namespaces.
const TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];

/// Between two walks through the workspace for files that other programs obey. A walk takes longer than most commands.
const OBEYED_INTERVAL: Duration = Duration::from_secs(2);

/// The machine around the commands.
#[derive(Clone, Copy, Debug)]
pub struct SandboxSite<'a> {
    /// The folder that commands write in.
    pub workspace: &'a Path,
    /// The user's home.
    pub home: Option<&'a Path>,
    /// What commands can't read, beside keys: the host's own files.
    pub hidden: &'a [PathBuf],
}

/// Confines commands on this machine.
#[derive(Debug)]
pub struct Sandbox {
    workspace: PathBuf,
    home: Option<PathBuf>,
    reached: Reached,
    hidden: Vec<PathBuf>,
    /// Those of them that lie where commands write.
    movable: Vec<PathBuf>,
    /// Whether a user namespace comes first; nothing, if there are no namespaces.
    namespaces: Option<bool>,
    /// Files of the workspace that other programs obey, and when they were found.
    obeyed: Mutex<Option<(Instant, Vec<PathBuf>)>>,
}

/// The confinement of one command, and what its environment has to say of it.
#[derive(Debug)]
pub(super) struct Confined {
    pub(super) confinement: Confinement,
    /// The folder for the state of the shell, as the command sees it.
    pub(super) state: PathBuf,
    /// Variables that the command gets, unless its task set them.
    pub(super) variables: Variables,
    /// Files of the workspace that other programs obey, as they were before the command.
    pub(super) obeyed: Vec<PathBuf>,
}

impl Sandbox {
    /// A sandbox around this workspace. Refuses where it could not hold its promises.
    pub fn new(launcher: &Launcher, site: SandboxSite<'_>, policy: &SandboxPolicy) -> Result<Self, Fault> {
        let layers = layers::held(launcher)?;
        let namespaces = match layers.namespaces {
            NamespaceSupport::Held { user } => Some(user),
            NamespaceSupport::Refused { .. } => None,
        };
        let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let workspace = fs::canonicalize(site.workspace).map_err(Fault::machine("find the workspace"))?;
        if workspace.parent().is_none() {
            return Err(Fault::NoSandbox("the workspace is the whole machine: choose a folder as workspace".into()));
        }
        let home = site.home.map(real);
        let mut hidden = keys::places(home.as_deref(), site.hidden);
        hidden.sort();
        hidden.dedup();
        // What lies in a covered folder needs no cover of its own.
        let mut covered: Vec<PathBuf> = Vec::new();
        for path in hidden {
            if !covered.last().is_some_and(|last| path.starts_with(last)) {
                covered.push(path);
            }
        }
        let hidden = covered;
        let reached = reach::reached(&workspace, home.as_deref(), policy);
        let writable = reached.mounts.iter().filter(|mount| mount.access == MountAccess::Write);
        let writable: Vec<&Path> = writable.map(|mount| &*mount.target).chain([&*workspace]).collect();
        let is_movable = |path: &&PathBuf| writable.iter().any(|folder| path.starts_with(folder));
        let movable = hidden.iter().filter(is_movable).cloned().collect();
        let sandbox = Self { workspace, home, reached, hidden, movable, namespaces, obeyed: Mutex::default() };
        if namespaces.is_none() { sandbox.without_namespaces() } else { Ok(sandbox) }
    }

    /// The same, held by Landlock and seccomp alone. A hidden path in the workspace can't be held that way: Landlock only ever allows.
    pub fn without_namespaces(self) -> Result<Self, Fault> {
        let workspace = &self.workspace;
        if let Some(key) = self.hidden.iter().find(|key| key.starts_with(workspace) || workspace.starts_with(key)) {
            let (workspace, key) = (workspace.display(), key.display());
            return Err(Fault::NoSandbox(format!(
                "without namespaces the workspace '{workspace}' and the hidden '{key}' can't lie in each other: choose a folder of \
                 its own as workspace"
            )));
        }
        Ok(Self { namespaces: None, ..self })
    }

    /// Whether namespaces hold the commands, too.
    pub fn has_namespaces(&self) -> bool {
        self.namespaces.is_some()
    }

    /// The confinement of a task's command.
    pub(super) fn confine(&self, task: &Task, roots: &Path, network: bool) -> Result<Confined, Fault> {
        let folder = |name: &str| {
            let folder = task.folder().join(name);
            match fs::create_dir(&folder) {
                Err(why) if why.kind() != io::ErrorKind::AlreadyExists => {
                    Err(Fault::Machine { what: "make a folder for the sandbox", why })
                }
                _ => Ok(folder),
            }
        };
        let (temporary, state) = (folder("tmp")?, task.state_folder().to_owned());
        let mut reached = Reached { mounts: self.reached.mounts.clone(), symlinks: self.reached.symlinks.clone() };
        reached.mounts.push(Mount::at(&self.workspace, MountAccess::Write));
        let mut variables = Variables::new();
        let Some(user) = self.namespaces else {
            for folder in [&temporary, &state] {
                reached.mounts.push(Mount::at(folder, MountAccess::Write));
            }
            variables.insert("TMPDIR".into(), temporary.into());
            let network = if network { Network::Shared } else { Network::None };
            let Reached { mounts, symlinks } = reached.ordered();
            let confinement = Confinement { mounts, symlinks, hidden: self.hidden.clone(), network, namespaces: None };
            return Ok(Confined { confinement, state, variables, obeyed: self.obeyed(OBEYED_INTERVAL) });
        };
        let mut place = |source: PathBuf, target: &Path| {
            reached.mounts.push(Mount { target: target.to_owned(), ..Mount::at(source, MountAccess::Write) });
        };
        // A workspace that is /tmp stays visible.
        for target in TEMPORARY.into_iter().filter(|target| !Path::new(target).starts_with(&self.workspace)) {
            place(temporary.clone(), Path::new(target));
        }
        place(state, Path::new(STATE));
        // Programs write settings and caches there. They get a home of the task's own with the toolchains in it.
        if let Some(home) = self.home.as_deref().filter(|home| !home.starts_with(&self.workspace)) {
            place(folder("home")?, home);
        }
        let obeyed = self.obeyed(OBEYED_INTERVAL);
        reached.mounts.extend(obeyed.iter().map(|path| Mount::at(path, MountAccess::Read).optional()));
        let mut reached = reached.ordered();
        // Under another name they would not be covered.
        let movable = self.movable.iter().filter(|path| path.exists());
        obeyed.iter().chain(movable).for_each(|path| reached.pin(path));
        variables.insert("TMPDIR".into(), TEMPORARY[0].into());
        if network {
            variables.extend(proxy_variables());
        }
        let network = if network { Network::Proxy } else { Network::None };
        let reached = reached.ordered();
        // What no mount shows needs no cover.
        let hidden = self.hidden.iter().filter(|path| reached.shows(path)).cloned().collect();
        let Reached { mounts, symlinks } = reached;
        let namespaces = Some(Namespaces { user, root: roots.to_owned() });
        let confinement = Confinement { mounts, symlinks, hidden, network, namespaces };
        Ok(Confined { confinement, state: STATE.into(), variables, obeyed })
    }
}

impl Sandbox {
    /// Files of the workspace that other programs obey, as of this long ago at most. What lies behind a symlink is judged by where it leads.
    fn obeyed(&self, interval: Duration) -> Vec<PathBuf> {
        let mut obeyed = self.obeyed.lock().unwrap_or_else(PoisonError::into_inner);
        match &*obeyed {
            Some((found, paths)) if found.elapsed() < interval => paths.clone(),
            found => {
                // A command may make so many folders that a walk ends early: what was found once stays in the list.
                let before = found.iter().flat_map(|(_, paths)| paths.clone());
                let paths = obeyed::in_workspace(&self.workspace, self.home.as_deref()).into_iter().chain(before);
                let is_real = |path: &PathBuf| fs::canonicalize(path).is_ok_and(|real| real == *path);
                let paths: BTreeSet<PathBuf> = paths.filter(is_real).collect();
                let paths: Vec<PathBuf> = paths.into_iter().collect();
                *obeyed = Some((Instant::now(), paths.clone()));
                paths
            }
        }
    }

    /// Whether commands find a path, there or not, where it lies on this machine. Their /tmp is their own.
    pub(super) fn shows(&self, path: &Path) -> bool {
        let own = [Path::new("/dev"), Path::new("/proc"), Path::new(STATE), &self.workspace];
        own.into_iter().any(|folder| path.starts_with(folder)) || self.reached.reaches(path)
    }

    /// The files that other programs obey and that a command made: those that are there now, and were not before it.
    pub(super) fn newly_obeyed(&self, before: &[PathBuf]) -> Vec<PathBuf> {
        self.obeyed(Duration::ZERO)
            .into_iter()
            .filter(|path| !before.iter().any(|known| path.starts_with(known)))
            .collect()
    }
}

/// How programs find the proxy. Both spellings: curl reads one, others the other.
fn proxy_variables() -> impl Iterator<Item = (std::ffi::OsString, std::ffi::OsString)> {
    let proxy = format!("http://127.0.0.1:{PROXY_PORT}");
    let names = ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];
    let none = ["no_proxy", "NO_PROXY"].map(|name| (name.into(), "localhost,127.0.0.1,::1".into()));
    names.into_iter().map(move |name| (name.into(), proxy.clone().into())).chain(none)
}
