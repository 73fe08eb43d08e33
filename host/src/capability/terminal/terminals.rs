//! The terminals of a host: one for each place that commands run in, made when the first command wants it.

use std::{
    collections::{BTreeSet, HashMap},
    fmt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::OnceCell;

use super::{
    Backend, Fault, Launcher, SandboxUse, Terminal,
    backend::{Local, Sandbox, SandboxPolicy, SandboxSite, Ssh, Target},
    decider::{Decider, Here, Isolation},
    notices::Notices,
    process::Listener,
    readers::Readers,
};
use crate::paths::workspace::Workspace;

/// Where commands run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// On this machine, as the host's own user.
    Local,
    /// On this machine, confined.
    Sandbox {
        /// Whether they reach the network.
        network: bool,
        /// What the operator adds to their reach.
        policy: SandboxPolicy,
    },
    /// On another machine.
    Ssh(Target),
}

impl Place {
    /// What confines a command there.
    pub fn isolation(&self) -> Isolation {
        match self {
            Self::Sandbox { network, .. } => Isolation::Confined { network: *network },
            Self::Local | Self::Ssh(_) => Isolation::Unconfined,
        }
    }

    /// The machine that it is on: this one, or the target.
    fn machine(&self) -> Option<&Target> {
        match self {
            Self::Local | Self::Sandbox { .. } => None,
            Self::Ssh(target) => Some(target),
        }
    }
}

/// The terminal of each machine that commands ran on. `None` is this machine.
type OpenTerminals = HashMap<Option<Target>, Arc<OnceCell<Arc<Terminal>>>>;

/// What all terminals of a host have in common.
pub(crate) struct Terminals {
    pub(crate) launcher: Launcher,
    pub(crate) workspace: Arc<Workspace>,
    /// What no confined command can read, beside the keys in the user's home.
    pub(crate) hidden: Vec<PathBuf>,
    pub(crate) decider: Arc<dyn Decider>,
    pub(crate) listener: Option<Listener>,
    /// One for each machine: a task keeps its directory and processes, whatever confines its next command.
    open: Mutex<OpenTerminals>,
    sandboxes: Mutex<HashMap<SandboxPolicy, Arc<Sandbox>>>,
    home: Option<PathBuf>,
    notices: Arc<Notices>,
    pub(super) readers: Readers,
    /// Those that ever asked for a command.
    components: Mutex<BTreeSet<String>>,
}

/// A task that has no name is one for all calls without one.
fn task_name(component: &str, task: Option<&str>) -> String {
    match task {
        // A component's name has no slash: it is a file's.
        Some(task) => format!("{component}/{task}"),
        None => component.to_owned(),
    }
}

impl fmt::Debug for Terminals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Terminals").field("workspace", &self.workspace.path()).finish_non_exhaustive()
    }
}

impl Terminals {
    pub(crate) fn new(
        launcher: Launcher,
        workspace: Arc<Workspace>,
        hidden: Vec<PathBuf>,
        decider: Arc<dyn Decider>,
        listener: Option<Listener>,
    ) -> Self {
        let home = std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
        Self {
            launcher,
            workspace,
            hidden,
            decider,
            listener,
            open: Mutex::default(),
            sandboxes: Mutex::default(),
            home,
            notices: Arc::default(),
            readers: Readers::default(),
            components: Default::default(),
        }
    }

    fn open(&self) -> MutexGuard<'_, OpenTerminals> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a command ever wanted a terminal or a sandbox: both know the workspace from then on.
    pub(crate) fn were_used(&self) -> bool {
        let sandboxes = self.sandboxes.lock().unwrap_or_else(PoisonError::into_inner);
        !self.open().is_empty() || !sandboxes.is_empty()
    }

    /// The terminal of a place. Whoever comes while it is made waits for it.
    pub(crate) async fn at(&self, place: &Place) -> Result<Arc<Terminal>, Fault> {
        let machine = place.machine();
        let cell = Arc::clone(self.open().entry(machine.cloned()).or_default());
        let make = async || {
            let backend = self.backend(machine).await?;
            Ok(Arc::new(Terminal::new(backend, Some(self.notices.listener(self.listener.clone())))))
        };
        cell.get_or_try_init(make).await.cloned()
    }

    async fn backend(&self, machine: Option<&Target>) -> Result<Arc<dyn Backend>, Fault> {
        let launcher = self.launcher.clone();
        Ok(match machine {
            None => {
                Arc::new(Local::new(launcher, self.workspace.path()).map_err(Fault::machine("find the workspace"))?)
            }
            Some(target) => Arc::new(Ssh::connect(launcher, target.clone()).await?),
        })
    }

    /// The sandbox around a command of this place. None, where the place is not confined; a fault, where it can't be held.
    pub(crate) fn sandbox(&self, place: &Place) -> Result<Option<SandboxUse>, Fault> {
        let Place::Sandbox { network, policy } = place else { return Ok(None) };
        let mut sandboxes = self.sandboxes.lock().unwrap_or_else(PoisonError::into_inner);
        let sandbox = match sandboxes.get(policy) {
            Some(sandbox) => Arc::clone(sandbox),
            None => {
                let site =
                    SandboxSite { workspace: self.workspace.path(), home: self.home.as_deref(), hidden: &self.hidden };
                let sandbox = Arc::new(Sandbox::new(&self.launcher, site, policy)?);
                // One configuration is in force at a time.
                sandboxes.clear();
                sandboxes.insert(policy.clone(), Arc::clone(&sandbox));
                sandbox
            }
        };
        Ok(Some(SandboxUse { sandbox, network: *network }))
    }

    /// The places of the machine that the commands run on, where that is this one.
    pub(crate) fn here(&self, place: &Place) -> Option<Here<'_>> {
        match place {
            Place::Local | Place::Sandbox { .. } => Some(Here {
                workspace: self.workspace.path(),
                home: self.home.as_deref().map(Path::new),
                own: &self.hidden,
            }),
            Place::Ssh(_) => None,
        }
    }

    pub(crate) fn notices(&self) -> &Notices {
        &self.notices
    }

    /// What a component's task is called in every terminal: no component sees the processes and variables of another's.
    pub(crate) fn name_of(&self, component: &str, task: Option<&str>) -> String {
        let mut components = self.components.lock().unwrap_or_else(PoisonError::into_inner);
        if !components.contains(component) {
            components.insert(component.to_owned());
        }
        task_name(component, task)
    }

    /// Ends what a task runs through any component, and forgets the task.
    pub(crate) async fn end_task(&self, task: &str) {
        let components = self.components.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let open: Vec<Arc<Terminal>> = self.open().values().filter_map(|cell| cell.get().cloned()).collect();
        for name in components.iter().map(|component| task_name(component, Some(task))) {
            for terminal in &open {
                terminal.end_task(&name).await;
            }
            self.notices.take(&name);
            self.readers.forget(&name);
        }
    }

    /// Ends everything.
    pub(crate) async fn shut_down(&self) {
        let open = std::mem::take(&mut *self.open());
        for terminal in open.into_values().filter_map(|cell| cell.get().cloned()) {
            terminal.shut_down().await;
        }
    }
}
