//! How a host is made.

use std::{
    hash::{BuildHasher, RandomState},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, atomic::AtomicU64},
    time::Instant,
};

use arc_swap::ArcSwap;
use tokio::sync::watch;

use super::{Added, BUNDLED, Current, Host, Inner, LoadListener, NewFile};
use crate::{
    approval::{Approver, Gate, ReviewerError},
    audit::{Audit, AuditError},
    capability::{
        fs::Shared,
        terminal::{Launcher, Terminals, process},
    },
    component::{
        Cache, CacheError, CompileLimits, Compiler, Loader, ScanError, check_writable, make_folder, scan, worker,
    },
    dispatch::{Hook, Interceptor, Pipeline, ResultForm, Spill, Validation},
    grant::{ConfigError, GrantFile},
    paths::workspace::Workspace,
    registry::{Availability, Redescriptions, Selection, ToolsetError},
    sandbox::Sandbox,
};

/// Why there is no host.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// No folder to live in.
    #[error("no home: neither HERMES_HOME nor HOME is set; name a folder with --home DIR")]
    NoHome,
    /// The home can't be written.
    #[error("the home {} can't be written: {why}; the host keeps its audit log, its cache and its token there: make it writable, or name another folder with --home DIR", home.display())]
    Home {
        /// The folder.
        home: PathBuf,
        /// Why not.
        why: std::io::Error,
    },
    /// The engine could not be made.
    #[error("failed to make the sandbox: {0:#}")]
    Sandbox(wasmtime::Error),
    /// The cache can't be used.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// A tools folder can't be read.
    #[error(transparent)]
    Scan(#[from] ScanError),
    /// The configuration can't be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A toolset that was added at run time can't be used beside the configuration's, or one that is to be offered is not there.
    #[error(transparent)]
    Toolset(#[from] ToolsetError),
    /// The audit can't be written.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// The reviewer of commands can't be asked.
    #[error("failed to set up the reviewer of [approval.reviewer]: {0}")]
    Reviewer(ReviewerError),
    /// The folder that tools work in is not there.
    #[error("failed to find the workspace: {0}; name a folder with --workspace DIR")]
    Workspace(std::io::Error),
    /// This process was started to compile a component or to run a command, but nobody told it to.
    #[error("this program was started to help another of its kind: call hermes_host::run_if_asked first thing in main")]
    WorkerNotRun,
}

/// The running program, even if its file was replaced meanwhile: a worker of another version makes artifacts that do not fit.
const OWN_PROGRAM: &str = "/proc/self/exe";

/// Builds a [`Host`].
#[derive(Clone, Default)]
#[must_use]
pub struct HostBuilder {
    home: Option<PathBuf>,
    config: Option<PathBuf>,
    folders: Vec<PathBuf>,
    hook_folders: Vec<PathBuf>,
    secret_files: Vec<PathBuf>,
    workspace: Option<PathBuf>,
    offered: Selection,
    result_form: Option<ResultForm>,
    without_bundled: bool,
    compiler: Option<Compiler>,
    listener: Option<LoadListener>,
    hooks: Vec<Arc<dyn Hook>>,
    approver: Option<Arc<dyn Approver>>,
    interceptors: Vec<Arc<dyn Interceptor>>,
    notices: Option<process::Listener>,
}

impl HostBuilder {
    /// Where the host keeps its files. Default: `$HERMES_HOME`, else `~/.hermes`.
    pub fn home(mut self, home: impl Into<PathBuf>) -> Self {
        self.home = Some(home.into());
        self
    }

    /// The grants file. Default: `hermes.toml` in the home, where it exists.
    pub fn config(mut self, file: impl Into<PathBuf>) -> Self {
        self.config = Some(file.into());
        self
    }

    /// A folder with components; may be given several times. Default: `tools` in the home, made where it is missing.
    pub fn tools(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folders.push(folder.into());
        self
    }

    /// A folder with hooks; may be given several times. Default: `hooks` in the home, made where it is missing.
    pub fn hooks(mut self, folder: impl Into<PathBuf>) -> Self {
        self.hook_folders.push(folder.into());
        self
    }

    /// A file of this program's own that no tool and no command may see, such as its server's token; may be given several times.
    pub fn secret_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.secret_files.push(file.into());
        self
    }

    /// The folder that relative paths in arguments start from. Default: the current one.
    pub fn workspace(mut self, folder: impl Into<PathBuf>) -> Self {
        self.workspace = Some(folder.into());
        self
    }

    /// The tools that there are for callers: others are neither listed nor found nor called. Default: all.
    pub fn offer(mut self, tools: Selection) -> Self {
        self.offered = tools;
        self
    }

    /// How results reach clients of MCP. Default: as `results` below `[mcp]` in the grants file says.
    pub fn result_form(mut self, form: ResultForm) -> Self {
        self.result_form = Some(form);
        self
    }

    /// A hook in this program's own code. Hooks are asked in the order given, before those of the hooks folder.
    pub fn hook(mut self, hook: Arc<dyn Hook>) -> Self {
        self.hooks.push(hook);
        self
    }

    /// Who is asked where a person must decide, instead of those who attend to the [queue](Host::approvals). Default: nobody, and with
    /// nobody at the queue either that means no.
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = Some(approver);
        self
    }

    /// Takes over named tools. Asked in the order given, before the tool's own component.
    pub fn interceptor(mut self, interceptor: Arc<dyn Interceptor>) -> Self {
        self.interceptors.push(interceptor);
        self
    }

    /// Hears what becomes of background processes that somebody wanted to hear of.
    pub fn on_notice(mut self, listener: process::Listener) -> Self {
        self.notices = Some(listener);
        self
    }

    /// Leaves the bundled components out.
    pub fn without_bundled(mut self) -> Self {
        self.without_bundled = true;
        self
    }

    /// Who compiles. Default: this program as a [`worker`](crate::component::worker), under [`CompileLimits::STANDARD`].
    pub fn compiler(mut self, compiler: Compiler) -> Self {
        self.compiler = Some(compiler);
        self
    }

    /// Hears of loading.
    pub fn on_load(mut self, listener: LoadListener) -> Self {
        self.listener = Some(listener);
        self
    }

    /// Whether the home can be written, or made: without it there is no audit log, and so no call.
    pub fn check_home(&self) -> Result<(), HostError> {
        let home = self.home.clone().map_or_else(default_home, Ok)?;
        let home = std::path::absolute(&home).unwrap_or(home);
        check_writable(&home).map_err(|why| HostError::Home { home, why })
    }

    /// The host's own files and folders, absolute: its home with the cache, its configuration, its components, and what was named
    /// as secret. They decide what a command may do, so they are not for commands. `approvals explain` judges by the same list.
    pub fn own_paths(&self) -> Result<Vec<PathBuf>, HostError> {
        let home = self.home.clone().map_or_else(default_home, Ok)?;
        let or_default =
            |given: &[PathBuf], name| if given.is_empty() { vec![home.join(name)] } else { given.to_vec() };
        let config = self.config.clone().unwrap_or_else(|| home.join("hermes.toml"));
        let folders = [or_default(&self.folders, "tools"), or_default(&self.hook_folders, "hooks")].concat();
        let own = [home.clone(), config].into_iter().chain(folders).chain(self.secret_files.iter().cloned());
        Ok(own.map(|path| std::path::absolute(&path).unwrap_or(path)).collect())
    }

    /// Makes the host and loads all components. Takes a while where some must be compiled. From then on this process catches SIGXFSZ
    /// and SIGXCPU: a lowered limit on files or time makes a write fail, and does not end the host.
    pub fn build(self) -> Result<Host, HostError> {
        let host = self.empty()?;
        host.reload()?;
        // Toolsets that are not there would refuse every call and every list.
        host.scope(&host.0.current.load(), None)?;
        Ok(host)
    }

    /// The same without compiling, for servers that are to answer at once: loads what was compiled before, and answers what must be
    /// compiled for the rest. A [`BackgroundCompiler`](super::BackgroundCompiler) takes that.
    pub fn build_cached(self) -> Result<(Host, Vec<NewFile>), HostError> {
        let host = self.empty()?;
        let new = host.refresh(&|_| false)?;
        // Components that are still to be compiled may bring toolsets.
        if new.is_empty() {
            host.scope(&host.0.current.load(), None)?;
        }
        Ok((host, new))
    }

    /// A host without components.
    fn empty(self) -> Result<Host, HostError> {
        if hermes_launch::was_asked() {
            return Err(HostError::WorkerNotRun);
        }
        self.check_home()?;
        let own_paths = self.own_paths()?;
        // Whoever watches folders names files by whole paths.
        let whole = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
        let home = whole(self.home.map_or_else(default_home, Ok)?);
        let compiler = match self.compiler {
            Some(compiler) => compiler,
            // A worker that came this far would start a worker of its own, and so on.
            None if worker::was_asked() => return Err(HostError::WorkerNotRun),
            None => Compiler::Worker(OWN_PROGRAM.into(), CompileLimits::STANDARD),
        };
        let (config, config_is_named) = match self.config {
            Some(config) => (whole(config), true),
            None => (home.join("hermes.toml"), false),
        };
        let launcher = match &compiler {
            Compiler::Worker(program, _) => Launcher::embedded_or(program),
            _ => Launcher::default(),
        };
        let sandbox = Arc::new(Sandbox::new().map_err(HostError::Sandbox)?);
        let cache = Cache::open(&home.join("cache"), sandbox.engine())?;
        let folders = given_or_default(self.folders.into_iter().map(whole).collect(), &home, "tools")?;
        let hook_folders = given_or_default(self.hook_folders.into_iter().map(whole).collect(), &home, "hooks")?;
        // Later a folder may go, and the others stay in use; a start with one that is not there is a mistake.
        for folder in folders.iter().chain(&hook_folders) {
            scan(folder)?;
        }
        let is_workspace_named = self.workspace.is_some();
        let workspace = self.workspace.unwrap_or_else(|| ".".into());
        let workspace = std::path::absolute(workspace).map_err(HostError::Workspace)?;
        let file = GrantFile { path: config.clone(), named: config_is_named, workspace: workspace.clone() };
        let workspace = Arc::new(Workspace::new(workspace));
        let mut gate = Gate::new(Default::default()).with_keep(Arc::new(file));
        if let Some(approver) = self.approver {
            gate = gate.with_approver(approver);
        }
        let gate = Arc::new(gate);
        let loader = Arc::new(Loader::new(Arc::clone(&sandbox), cache, compiler));
        let pipeline = Pipeline {
            sandbox,
            loader,
            gate: Arc::clone(&gate),
            interceptors: self.interceptors,
            spill: Spill::new(home.join("results")),
            audit: Arc::new(Audit::open(&home)?),
            validation: Validation::default(),
        };
        Ok(Host(Arc::new(Inner {
            config,
            config_is_named,
            workspace: Arc::clone(&workspace),
            is_workspace_named,
            folders,
            hook_folders,
            secret_files: self.secret_files,
            offered: self.offered,
            result_form: self.result_form,
            bundled: if self.without_bundled { &[] } else { BUNDLED },
            listener: self.listener,
            hooks: self.hooks,
            pipeline,
            current: ArcSwap::from_pointee(Current {
                catalogue: Arc::default(),
                policy: Arc::default(),
                settings: Arc::default(),
            }),
            files: Arc::new(Shared::with_decider(Arc::clone(&gate) as _)),
            people: Arc::default(),
            terminals: Arc::new(Terminals::new(launcher, workspace, own_paths, gate, self.notices)),
            compile_states: Arc::default(),
            started: Instant::now(),
            availability: Availability::default(),
            redescriptions: Redescriptions::default(),
            instance: format!("{:08x}", RandomState::new().hash_one(std::process::id()) as u32),
            calls: AtomicU64::new(0),
            changes: watch::Sender::new(0),
            added: Mutex::new(Added::default()),
            home,
        })))
    }
}

/// The folders given, or one in the home. That one is made where it is missing, so that the first file can be dropped while the
/// host runs.
fn given_or_default(given: Vec<PathBuf>, home: &Path, name: &str) -> Result<Vec<PathBuf>, HostError> {
    if !given.is_empty() {
        return Ok(given);
    }
    let folder = home.join(name);
    make_folder(&folder)?;
    Ok(vec![folder])
}

/// Where a host keeps its files unless it is told: `$HERMES_HOME`, else `~/.hermes`.
pub fn default_home() -> Result<PathBuf, HostError> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("HERMES_HOME").or_else(|| set("HOME").map(|home| home.join(".hermes"))).ok_or(HostError::NoHome)
}
