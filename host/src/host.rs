//! The host as a library: load components, list their tools, call them.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    thread,
};

use arc_swap::ArcSwap;
use futures_util::future::join_all;

use crate::{
    component::{
        Cache, CacheError, CompileLimits, Compiler, Component, ComponentFile, Loader, Refusal, ScanError, scan,
    },
    dispatch::{self, CallError, ErrorKind, Outcome, Reply},
    grant::{Grants, GrantsError},
    registry::{Availability, Catalogue, Entry},
    sandbox::{Control, Limits, Sandbox},
    wit::latest,
};

/// The components that are embedded in this binary, by name.
pub const BUNDLED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/bundled.rs"));

/// Why there is no host.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// No folder to live in.
    #[error("no home: neither HERMES_HOME nor HOME is set; name a folder with --home DIR")]
    NoHome,
    /// The engine could not be made.
    #[error("failed to make the sandbox: {0:#}")]
    Sandbox(wasmtime::Error),
    /// The cache can't be used.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// A tools folder can't be read.
    #[error(transparent)]
    Scan(#[from] ScanError),
    /// The grants can't be used.
    #[error(transparent)]
    Grants(#[from] GrantsError),
    /// The binary's own path is unknown.
    #[error("failed to find this program's own file, which compiles components: {0}")]
    NoWorker(std::io::Error),
}

/// What happens while components load.
#[derive(Clone, Debug)]
pub enum LoadEvent {
    /// So many components must be compiled.
    Compiling(usize),
    /// One of them is done.
    Compiled(String),
}

/// Hears of loading.
pub type LoadListener = Arc<dyn Fn(LoadEvent) + Send + Sync>;

/// Where a call comes from, and how to follow it.
#[derive(Clone, Default)]
pub struct CallContext {
    /// Made up where empty.
    pub call_id: Option<String>,
    /// The agent's task.
    pub task_id: Option<String>,
    /// The agent's session.
    pub session_id: Option<String>,
    /// To end the call early, and to hear of its progress.
    pub control: Control,
}

/// One tool and whether it can work.
#[derive(Clone, Debug)]
pub struct ToolStatus {
    /// The tool.
    pub entry: Arc<Entry>,
    /// Nothing, or why it can't.
    pub unavailable: Option<String>,
    /// Whether the operator's grant is for other bytes than these.
    pub grant_is_stale: bool,
}

/// Builds a [`Host`].
#[derive(Clone, Default)]
#[must_use]
pub struct HostBuilder {
    home: Option<PathBuf>,
    config: Option<PathBuf>,
    folders: Vec<PathBuf>,
    without_bundled: bool,
    compiler: Option<Compiler>,
    listener: Option<LoadListener>,
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

    /// Makes the host and loads all components. Takes a while where some must be compiled.
    pub fn build(self) -> Result<Host, HostError> {
        let home = self.home.or_else(default_home).ok_or(HostError::NoHome)?;
        let compiler = match self.compiler {
            Some(compiler) => compiler,
            None => Compiler::Worker(std::env::current_exe().map_err(HostError::NoWorker)?, CompileLimits::STANDARD),
        };
        let (config, config_is_named) = match self.config {
            Some(config) => (config, true),
            None => (home.join("hermes.toml"), false),
        };
        let sandbox = Arc::new(Sandbox::new().map_err(HostError::Sandbox)?);
        let cache = Cache::open(&home.join("cache"), sandbox.engine())?;
        let folders = match self.folders.as_slice() {
            [] => vec![default_folder(&home)?],
            _ => self.folders,
        };
        let loader = Loader::new(Arc::clone(&sandbox), cache, compiler);
        let host = Host(Arc::new(Inner {
            sandbox,
            loader,
            config,
            config_is_named,
            folders,
            bundled: if self.without_bundled { &[] } else { BUNDLED },
            listener: self.listener,
            catalogue: ArcSwap::default(),
            stale: ArcSwap::default(),
            availability: Availability::default(),
            calls: AtomicU64::new(0),
            reloading: Mutex::new(()),
            home,
        }));
        host.reload()?;
        Ok(host)
    }
}

/// `tools` in the home. Made where it is missing, so that the first file can be dropped while the host runs.
fn default_folder(home: &Path) -> Result<PathBuf, HostError> {
    let folder = home.join("tools");
    crate::component::make_folder(&folder)?;
    Ok(folder)
}

/// `$HERMES_HOME`, else `~/.hermes`.
fn default_home() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("HERMES_HOME").or_else(|| set("HOME").map(|home| home.join(".hermes")))
}

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
    sandbox: Arc<Sandbox>,
    loader: Loader,
    home: PathBuf,
    config: PathBuf,
    config_is_named: bool,
    folders: Vec<PathBuf>,
    bundled: &'static [(&'static str, &'static [u8])],
    listener: Option<LoadListener>,
    catalogue: ArcSwap<Catalogue>,
    stale: ArcSwap<Vec<String>>,
    availability: Availability,
    calls: AtomicU64,
    reloading: Mutex<()>,
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

    /// The folders that components are loaded from.
    pub fn folders(&self) -> &[PathBuf] {
        &self.0.folders
    }

    /// Where the host keeps its files.
    pub fn home(&self) -> &Path {
        &self.0.home
    }

    /// The sandbox that calls run in.
    pub fn sandbox(&self) -> &Sandbox {
        &self.0.sandbox
    }

    /// What is loaded now. Stays as it is when the host reloads.
    pub fn catalogue(&self) -> Arc<Catalogue> {
        self.0.catalogue.load_full()
    }

    /// Looks at the folders and the grants again. Running calls end on the code they started with. On an error everything
    /// stays as it was.
    pub fn reload(&self) -> Result<(), HostError> {
        let _one_at_a_time = self.0.reloading.lock().unwrap_or_else(PoisonError::into_inner);
        let grants = Grants::read(&self.0.config, self.0.config_is_named)?;
        let mut refusals = Vec::new();
        let mut files: Vec<ComponentFile> =
            self.0.bundled.iter().map(|(name, bytes)| ComponentFile::bundled(name, bytes)).collect();
        for folder in &self.0.folders {
            for path in scan(folder)? {
                match ComponentFile::open(&path) {
                    // A folder that holds a bundled component's bytes holds the same component: nothing to add.
                    Ok(file) if files.iter().any(|known| known.digest == file.digest) => {}
                    Ok(file) => files.push(file),
                    Err(refusal) => refusals.push(refusal),
                }
            }
        }
        let stale = files.iter().filter(|file| grants.is_pinned_elsewhere(&file.name, &file.digest));
        let stale: Vec<String> = stale.map(|file| file.name.clone()).collect();
        let mut components = Vec::new();
        for loaded in self.load_all(&files, &grants) {
            match loaded {
                Ok(component) => components.push(Arc::new(component)),
                Err(refusal) => refusals.push(refusal),
            }
        }
        self.0.stale.store(Arc::new(stale));
        self.0.catalogue.store(Arc::new(Catalogue::new(components, refusals)));
        Ok(())
    }

    /// Loads on all cores: compiling is what takes time. Answers in the files' order.
    fn load_all(&self, files: &[ComponentFile], grants: &Grants) -> Vec<Result<Component, Refusal>> {
        let new = files.iter().filter(|file| self.0.loader.is_new(file)).count();
        if new > 0 {
            self.tell(LoadEvent::Compiling(new));
        }
        let next = AtomicUsize::new(0);
        let work = || {
            let mut done = Vec::new();
            while let Some((at, file)) = take(files, &next) {
                let limits = grants.of(&file.name, &file.digest).map_or(Limits::HANDLE, |grant| grant.limits());
                let was_new = new > 0 && self.0.loader.is_new(file);
                done.push((at, self.0.loader.load(file, limits)));
                if was_new {
                    self.tell(LoadEvent::Compiled(file.name.clone()));
                }
            }
            done
        };
        let threads = thread::available_parallelism().map_or(1, usize::from).min(files.len()).max(1);
        let mut loaded: Vec<(usize, Result<Component, Refusal>)> = thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let mut loaded = work();
            for other in others {
                // A loader that panics is a bug; carry it on rather than lose components in silence.
                loaded.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            loaded
        });
        loaded.sort_by_key(|(at, _)| *at);
        loaded.into_iter().map(|(_, result)| result).collect()
    }

    fn tell(&self, event: LoadEvent) {
        if let Some(listener) = &self.0.listener {
            listener(event);
        }
    }

    /// All tools and whether each can work here. Asks those whose last answer is old, at the same time.
    pub async fn list(&self) -> Vec<ToolStatus> {
        let catalogue = self.catalogue();
        let stale = self.0.stale.load();
        let statuses = catalogue.tools().map(|entry| async {
            ToolStatus {
                unavailable: self.check(entry).await.err(),
                grant_is_stale: stale.contains(&entry.component.name),
                entry: Arc::clone(entry),
            }
        });
        join_all(statuses).await
    }

    /// Asks one tool whether it can work here. A trap or a timeout means no.
    async fn check(&self, entry: &Entry) -> Result<(), String> {
        let definition = &entry.definition;
        let missing = definition.required_env.iter().find(|name| std::env::var_os(name).is_none());
        if let Some(name) = missing {
            return Err(format!("the environment variable {name} is not set"));
        }
        let digest = entry.component.digest;
        if let Some(answer) = self.0.availability.get(&digest, &definition.name) {
            return answer;
        }
        let prepared = self.0.loader.prepared(&entry.component, self.0.bundled)?;
        let run = self.0.sandbox.check(prepared, definition.name.clone()).await.map_err(|busy| busy.to_string())?;
        let answer = match run.answer {
            Ok(answer) => answer.map_err(|why| CallError::new(ErrorKind::Unavailable, &why).message),
            Err(kill) => Err(format!("its check was ended ({}): {kill}", kill.reason)),
        };
        self.0.availability.put(digest, &definition.name, answer.clone());
        answer
    }

    /// Calls a tool. Never fails otherwise than by an [`Outcome`], and works on any executor. Dropping the future ends the
    /// guest.
    pub async fn call(&self, name: &str, arguments: &str, context: CallContext) -> Outcome {
        let catalogue = self.0.catalogue.load();
        let Some(entry) = catalogue.get(name).cloned() else {
            return unknown(&catalogue, name).into();
        };
        drop(catalogue);
        match self.call_entry(&entry, arguments, context).await {
            Ok(outcome) => outcome,
            Err(error) => error.into(),
        }
    }

    /// [`call`](Self::call) for callers without an executor. Blocks the thread.
    pub fn call_blocking(&self, name: &str, arguments: &str, context: CallContext) -> Outcome {
        pollster::block_on(self.call(name, arguments, context))
    }

    /// [`list`](Self::list) for callers without an executor. Blocks the thread.
    pub fn list_blocking(&self) -> Vec<ToolStatus> {
        pollster::block_on(self.list())
    }

    async fn call_entry(&self, entry: &Entry, arguments: &str, context: CallContext) -> Result<Outcome, CallError> {
        let Entry { definition, component, .. } = entry;
        let name = &definition.name;
        let arguments = dispatch::prepare(entry, arguments)?;
        let prepared = self.0.loader.prepared(component, self.0.bundled);
        let prepared = prepared.map_err(|why| CallError::new(ErrorKind::Unavailable, &format!("{name}: {why}")))?;
        let call = latest::Call {
            name: name.clone(),
            arguments,
            context: latest::Context {
                call_id: context.call_id.unwrap_or_else(|| self.next_call_id()),
                task_id: context.task_id,
                session_id: context.session_id,
            },
        };
        let run = self.0.sandbox.handle(prepared, component.limits, call, context.control).await?;
        let most = definition.max_result_size.and_then(|size| size.try_into().ok()).unwrap_or(usize::MAX);
        let result = match run.answer {
            Ok(Ok(content)) => Reply::accept(name, content, most.min(component.limits.result * 2)),
            Ok(Err(failure)) => Err(failure.into()),
            Err(kill) => Err(CallError::killed(name, &kill, &run.log)),
        };
        Ok(Outcome { result, log: run.log, usage: run.usage })
    }

    fn next_call_id(&self) -> String {
        format!("call-{}", self.0.calls.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

fn take<'a>(files: &'a [ComponentFile], next: &AtomicUsize) -> Option<(usize, &'a ComponentFile)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    files.get(at).map(|file| (at, file))
}

fn unknown(catalogue: &Catalogue, name: &str) -> CallError {
    let shown = crate::text::one_line(name, 80);
    let hint = match catalogue.near(name).as_slice() {
        [] => "see the list of tools".to_owned(),
        near => format!("did you mean {}?", near.join(" or ")),
    };
    CallError::new(ErrorKind::UnknownTool, &format!("there is no tool {shown:?}; {hint}"))
}
