//! How a host is made.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, atomic::AtomicU64},
};

use arc_swap::ArcSwap;

use super::{BUNDLED, Host, Inner, LoadListener};
use crate::{
    component::{Cache, CacheError, CompileLimits, Compiler, Loader, ScanError, worker},
    grant::GrantsError,
    registry::Availability,
    sandbox::Sandbox,
};

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
    /// This process was started to compile a component, but nobody told it to.
    #[error("this program was started as a compile worker: call component::worker::run_if_asked first thing in main")]
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
            // A worker that came this far would start a worker of its own, and so on.
            None if worker::was_asked() => return Err(HostError::WorkerNotRun),
            None => Compiler::Worker(OWN_PROGRAM.into(), CompileLimits::STANDARD),
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
            loader: Arc::new(loader),
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
