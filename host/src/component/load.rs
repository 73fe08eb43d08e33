//! A file becomes a component that can be called.

use std::sync::Arc;

use tokio::sync::OnceCell;

use super::{
    Cache, Compiler, ComponentFile, Digest, Inspection, Origin, Refusal, artifact,
    cache::{Known, VerifiedArtifact},
    compile::CompileError,
    inspect,
};
use crate::{
    registry::Definition,
    sandbox::{KillReason, Limits, Prepared, Sandbox},
};

/// A component that was found good: what it is, what it offers, and how to call it.
#[derive(Debug)]
pub struct Component {
    /// The file's stem.
    pub name: String,
    /// Where it came from.
    pub origin: Origin,
    /// Its bytes' digest.
    pub digest: Digest,
    /// What its type says.
    pub inspection: Inspection,
    /// What it offers.
    pub definitions: Vec<Definition>,
    /// What its calls may use.
    pub limits: Limits,
    pub(crate) prepared: OnceCell<Prepared>,
}

impl Component {
    /// Whether this is the component that the file would become.
    pub(crate) fn is(&self, file: &ComponentFile, limits: &Limits) -> bool {
        self.digest == file.digest && self.name == file.name && self.origin == file.origin && self.limits == *limits
    }
}

/// Makes components from files.
#[derive(Debug)]
pub struct Loader {
    sandbox: Arc<Sandbox>,
    cache: Cache,
    compiler: Compiler,
}

/// Why a component could not be made.
enum Failure {
    /// The same bytes will always fail: remembered.
    Final(String),
    /// It may work another time.
    Passing(String),
}

impl Loader {
    /// A loader for one sandbox and one cache.
    pub fn new(sandbox: Arc<Sandbox>, cache: Cache, compiler: Compiler) -> Self {
        Self { sandbox, cache, compiler }
    }

    /// Whether the component must be compiled first, which takes a while.
    pub fn is_new(&self, file: &ComponentFile) -> bool {
        self.cache.known(&file.digest).is_none()
    }

    /// Loads one component. Cached, nothing is compiled and nothing run.
    pub fn load(&self, file: &ComponentFile, limits: Limits) -> Result<Component, Refusal> {
        let refuse = |reason: String| Refusal::new(&file.origin.describe_as(&file.name), &reason);
        let (inspection, definitions, prepared) = match self.cache.known(&file.digest) {
            Some(Known::Ready(ready)) => (ready.inspection, ready.definitions, OnceCell::new()),
            Some(Known::Failed(reason)) => {
                let path = self.cache.known_path(&file.digest);
                return Err(refuse(format!("{reason} (remembered; delete {} to try again)", path.display())));
            }
            None => {
                let inspection = inspect(&file.bytes, &limits).map_err(&refuse)?;
                match self.compile(file, &inspection, &limits) {
                    Ok((definitions, prepared)) => (inspection, definitions, OnceCell::from(prepared)),
                    Err(Failure::Passing(reason)) => return Err(refuse(reason)),
                    Err(Failure::Final(reason)) => {
                        if let Err(why) = self.cache.remember_failure(&file.digest, &reason) {
                            tracing::warn!("failed to remember that {} can't be used: {why}", file.name);
                        }
                        return Err(refuse(reason));
                    }
                }
            }
        };
        Ok(Component {
            name: file.name.clone(),
            origin: file.origin.clone(),
            digest: file.digest,
            inspection,
            definitions,
            limits,
            prepared,
        })
    }

    /// Makes the linked form of a component. An artifact that is gone or damaged is compiled again, from the same bytes or not
    /// at all. Blocks.
    pub fn link(&self, component: &Component, bundled: &[(&str, &[u8])]) -> Result<Prepared, String> {
        if let Some(prepared) = self.cached(&component.digest) {
            return Ok(prepared);
        }
        tracing::warn!("the compiled form of {} is gone or damaged; compiling it again", component.name);
        let file = again(component, bundled)?;
        let made = self.compile(&file, &component.inspection, &component.limits);
        made.map(|(_, prepared)| prepared).map_err(|(Failure::Final(why) | Failure::Passing(why))| why)
    }

    fn cached(&self, digest: &Digest) -> Option<Prepared> {
        let artifact = self.cache.artifact(digest)?;
        self.prepare(&artifact).ok()
    }

    fn prepare(&self, artifact: &VerifiedArtifact) -> Result<Prepared, String> {
        let component = artifact::load(self.sandbox.engine(), artifact)
            .map_err(|why| format!("failed to load the compiled code: {why:#}"))?;
        self.sandbox.prepare(&component).map_err(|why| format!("does not fit the interface: {why:#}"))
    }

    /// Compiles, links, asks `register`, and keeps all of it.
    fn compile(
        &self,
        file: &ComponentFile,
        inspection: &Inspection,
        limits: &Limits,
    ) -> Result<(Vec<Definition>, Prepared), Failure> {
        let artifact = self.compiler.compile(self.sandbox.engine(), &file.bytes).map_err(|why| match why {
            CompileError::Component(why) => Failure::Final(why),
            CompileError::Machine(why) => Failure::Passing(why),
        })?;
        let prepared = self.prepare(&artifact).map_err(Failure::Final)?;
        let run = pollster::block_on(self.sandbox.register(&prepared, limits.memory))
            .map_err(|busy| Failure::Passing(busy.to_string()))?;
        let raw = run.answer.map_err(|kill| {
            let why = format!("register was ended ({}): {kill}", kill.reason);
            // The operator may give it more memory, and a busy machine more time.
            match kill.reason {
                KillReason::OutOfMemory | KillReason::Deadline | KillReason::HostPanic => Failure::Passing(why),
                _ => Failure::Final(why),
            }
        })?;
        let definitions = Definition::accept_all(raw).map_err(Failure::Final)?;
        if let Err(why) = self.cache.keep(&file.digest, inspection, &definitions, &artifact) {
            tracing::warn!("failed to keep the compiled form of {}: {why}", file.name);
        }
        Ok((definitions, prepared))
    }
}

impl Origin {
    /// A bundled component has no path: its name says more.
    fn describe_as(&self, name: &str) -> String {
        match self {
            Self::Bundled => format!("bundled {name}"),
            Self::File(_) => self.describe(),
        }
    }
}

/// The same bytes once more.
fn again(component: &Component, bundled: &[(&str, &[u8])]) -> Result<ComponentFile, String> {
    let file = match &component.origin {
        Origin::File(path) => ComponentFile::open(path).map_err(|refusal| refusal.reason)?,
        Origin::Bundled => {
            let found = bundled.iter().find(|(name, _)| *name == component.name);
            let (name, bytes) = found.ok_or_else(|| format!("{} is not bundled", component.name))?;
            ComponentFile::bundled(name, bytes)
        }
    };
    if file.digest != component.digest {
        return Err(format!("the file of {} has changed since it was loaded", component.name));
    }
    Ok(file)
}
