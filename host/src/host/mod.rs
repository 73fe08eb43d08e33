//! The host as a library: load components, list their tools, call them.

mod background;
mod bridge;
mod builder;
mod call;
mod definitions;
mod list;
mod load;
mod pending;
mod policy;
mod register;
mod terms;
mod workspace;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, atomic::AtomicU64},
    time::Instant,
};

use arc_swap::ArcSwap;
use tokio::sync::watch;

pub use background::BackgroundCompiler;
pub use builder::{HostBuilder, HostError, default_home};
pub use definitions::{Definitions, DefinitionsRequest, tokens};
pub use list::{ToolStatus, ToolsetStatus};
pub use load::{LoadEvent, LoadListener, NewFile};
pub use pending::megabytes;
pub use policy::PolicyOutcome;
pub use register::RegisterError;
pub use workspace::WorkspaceError;

use background::CompileStates;

use crate::{
    approval::Queue,
    capability::{ask::People, fs::Shared, terminal::Terminals},
    component::{Component, ComponentFile, Digest, Hooks, Refusal},
    dispatch::{Hook, Pipeline, Policy, ResultForm},
    grant::Workspaces,
    paths::workspace::Workspace,
    registry::{Availability, Catalogue, Redescriptions, Selection, ToolSearch, Toolset, Toolsets},
    sandbox::Sandbox,
};

/// The components that are embedded in this binary, by name.
pub const BUNDLED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/bundled.rs"));

/// A set of tools, ready to be called. Clones share it.
///
/// ```no_run
/// # async fn example() -> Result<(), hermes_host::HostError> {
/// use hermes_host::{CallContext, Host};
///
/// let host = Host::builder().tools("./tools").build()?;
/// let outcome = host.call("calculate", r#"{"expression": "0.1 + 0.2"}"#, CallContext::default()).await;
/// println!("{}", outcome.json());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Host(Arc<Inner>);

struct Inner {
    home: PathBuf,
    config: PathBuf,
    config_is_named: bool,
    workspace: Arc<Workspace>,
    /// Whether whoever started the host named it.
    is_workspace_named: bool,
    folders: Vec<PathBuf>,
    hook_folders: Vec<PathBuf>,
    /// Files that no tool and no command may see.
    secret_files: Vec<PathBuf>,
    /// The tools that there are for callers.
    offered: Selection,
    /// How results reach clients of MCP, where it is not as the operator's file says.
    result_form: Option<ResultForm>,
    bundled: &'static [(&'static str, &'static [u8])],
    listener: Option<LoadListener>,
    hooks: Vec<Arc<dyn Hook>>,
    pipeline: Pipeline,
    current: ArcSwap<Current>,
    /// What tasks know of files, whatever becomes of the components.
    files: Arc<Shared>,
    /// Who can be asked by which call.
    people: Arc<People>,
    /// What tasks run, whatever becomes of the components.
    terminals: Arc<Terminals>,
    /// What is being compiled in the background.
    compile_states: Arc<CompileStates>,
    /// When the host was built.
    started: Instant,
    availability: Availability,
    redescriptions: Redescriptions,
    /// Tells this host's calls from those of others that share its home.
    instance: String,
    calls: AtomicU64,
    /// Tells of every new generation that offers other tools.
    changes: watch::Sender<u64>,
    /// What the embedding program added; whoever changes the catalogue holds it.
    added: Mutex<Added>,
}

/// What is loaded: one thing, so that no call ever meets a tool without the hooks that came or went with it.
struct Current {
    catalogue: Arc<Catalogue>,
    policy: Arc<Policy>,
    settings: Arc<Settings>,
}

/// What the embedding program gave at run time. It stays when the folders are looked at again.
#[derive(Clone, Default)]
struct Added {
    components: Vec<ComponentFile>,
    toolsets: Vec<(String, Toolset)>,
}

/// What the configuration said when it was last read, beside what calls depend on.
#[derive(Default)]
struct Settings {
    /// Components whose grant is for other bytes.
    stale: Vec<Digest>,
    toolsets: Toolsets,
    tool_search: ToolSearch,
    context_window: Option<u64>,
    result_form: ResultForm,
    workspaces: Workspaces,
    /// The hooks that were loaded, and the files of their folders that were refused.
    hooks: Vec<Arc<Component<Hooks>>>,
    refused_hooks: Vec<Refusal>,
}

impl Settings {
    fn is_same(&self, other: &Self) -> bool {
        let same_hooks = self.hooks.len() == other.hooks.len()
            && self.hooks.iter().zip(&other.hooks).all(|(one, other)| Arc::ptr_eq(one, other));
        same_hooks
            && self.stale == other.stale
            && self.offers_as(other)
            && self.refused_hooks == other.refused_hooks
            && self.workspaces == other.workspaces
    }

    /// Whether the same tools would be listed.
    fn offers_as(&self, other: &Self) -> bool {
        self.toolsets == other.toolsets
            && self.tool_search == other.tool_search
            && self.context_window == other.context_window
            && self.result_form == other.result_form
    }
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Host").field("home", &self.0.home).field("folders", &self.0.folders).finish_non_exhaustive()
    }
}

impl Host {
    /// Starts to build a host.
    pub fn builder() -> HostBuilder {
        HostBuilder::default()
    }

    /// The folders that tools are loaded from.
    pub fn folders(&self) -> &[PathBuf] {
        &self.0.folders
    }

    /// The folders that hooks are loaded from.
    pub fn hook_folders(&self) -> &[PathBuf] {
        &self.0.hook_folders
    }

    /// Where the host keeps its files.
    pub fn home(&self) -> &Path {
        &self.0.home
    }

    /// The sandbox that calls run in.
    pub fn sandbox(&self) -> &Sandbox {
        &self.0.pipeline.sandbox
    }

    /// The questions that wait for a person. While somebody attends to it, questions are put there unless an approver was given.
    pub fn approvals(&self) -> &Queue {
        self.0.pipeline.gate.queue()
    }

    /// Who can be asked, by call: whoever makes a call for somebody who can fill a form says so here.
    pub fn people(&self) -> &Arc<People> {
        &self.0.people
    }

    /// Forgets what was approved for a session. For when an agent's session is over.
    pub fn end_session(&self, session: &str) {
        self.0.pipeline.gate.memory().forget_session(session);
    }

    /// Ends everything that a task runs, and forgets its working directory and variables. For when an agent's task is over.
    pub async fn end_task(&self, task: &str) {
        self.0.terminals.end_task(task).await;
    }

    /// Ends everything that runs, and waits for it. What is left when the host is dropped ends, too, but nobody waits.
    pub async fn shut_down(&self) {
        self.0.terminals.shut_down().await;
    }

    /// What is loaded now. Stays as it is when the host reloads.
    pub fn catalogue(&self) -> Arc<Catalogue> {
        Arc::clone(&self.0.current.load().catalogue)
    }

    /// Counts the changes of tools, toolsets and hooks: what was made from one generation holds until the next.
    pub fn generation(&self) -> u64 {
        self.0.current.load().catalogue.generation()
    }

    /// Tells of every new [generation](Self::generation) that offers other tools, for servers that pass it on to their clients.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.0.changes.subscribe()
    }

    /// The toolsets: presets, the operator's and those added at run time.
    pub fn toolsets(&self) -> Toolsets {
        self.0.current.load().settings.toolsets.clone()
    }

    /// How results reach clients of MCP: as the embedding program said, else as the operator did.
    pub fn result_form(&self) -> ResultForm {
        self.0.result_form.unwrap_or_else(|| self.0.current.load().settings.result_form)
    }

    /// The components that watch over calls.
    pub fn hooks(&self) -> Vec<Arc<Component<Hooks>>> {
        self.0.current.load().settings.hooks.clone()
    }

    /// Files in the hooks folders that could not be loaded. Unless the operator lets it pass, every call is blocked while there
    /// is one.
    pub fn refused_hooks(&self) -> Vec<Refusal> {
        self.0.current.load().settings.refused_hooks.clone()
    }
}
