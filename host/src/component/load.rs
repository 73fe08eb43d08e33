//! A file becomes a component that can be called.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::OnceCell;

use super::{
    Cache, Compiler, ComponentFile, Digest, Identity, Inspection, Kind, Origin, Refusal, Tools, artifact,
    cache::{CompileLock, Known, VerifiedArtifact},
    compile::CompileError,
    inspect,
};
use crate::{
    capability::Granted,
    sandbox::{KillReason, Limits, Sandbox, limits::MEMORY_CEILING, raise_memory},
};

/// A component that was found good: what it is, what it offers, and how to call it.
#[derive(Debug)]
pub struct Component<K: Kind = Tools> {
    /// The file's stem.
    pub name: String,
    /// Where it came from.
    pub origin: Origin,
    /// Its bytes' digest.
    pub digest: Digest,
    /// What its type says.
    pub inspection: Inspection,
    /// What it offers.
    pub offer: K::Offer,
    /// What its calls may use.
    pub limits: Limits,
    /// What they may reach: asked for by its imports, and granted.
    pub granted: Granted,
    /// All that was granted.
    terms: Granted,
    /// Its bytes, where there is no file to read them from again.
    held: Option<Bytes>,
    prepared: OnceCell<K::Prepared>,
}

impl<K: Kind> Component<K> {
    /// What it is known by.
    pub fn identity(&self) -> Identity<'_> {
        Identity { name: &self.name, origin: &self.origin, digest: &self.digest }
    }

    /// Whether this is what the component of this identity would become.
    pub(crate) fn is(&self, identity: Identity<'_>, terms: &Terms) -> bool {
        self.identity() == identity && self.limits == terms.limits && self.terms == terms.granted
    }

    fn new(
        identity: Identity<'_>,
        terms: Terms,
        inspection: Inspection,
        offer: K::Offer,
        prepared: OnceCell<K::Prepared>,
        held: Option<Bytes>,
    ) -> Self {
        let Terms { limits, granted } = terms;
        Self {
            name: identity.name.into(),
            origin: identity.origin.clone(),
            digest: *identity.digest,
            offer,
            limits,
            granted: granted.asked_for(|interface| inspection.imports(interface)),
            terms: granted,
            inspection,
            held,
            prepared,
        }
    }

    /// The linked form, where it was made before.
    pub(crate) fn prepared_before(&self) -> Option<&K::Prepared> {
        self.prepared.get()
    }

    /// The linked form, made when it is first needed: once, and on a thread that may block.
    pub(crate) async fn prepared(self: &Arc<Self>, loader: &Arc<Loader>) -> Result<&K::Prepared, String> {
        let make = || async {
            let (made_by, wanted) = (Arc::clone(loader), Arc::clone(self));
            loader.sandbox.blocking(move || made_by.link(&wanted)).await?
        };
        self.prepared.get_or_try_init(make).await
    }
}

/// On what terms the operator lets a component run. There is no default: whoever loads one says what it gets.
#[derive(Clone, Debug)]
pub struct Terms {
    /// What its calls may use.
    pub limits: Limits,
    /// What they may reach.
    pub granted: Granted,
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
    pub fn is_new<K: Kind>(&self, file: &ComponentFile) -> bool {
        self.cache.known::<K::Offer>(&file.digest).is_none()
    }

    /// Loads one component. Cached, nothing is compiled and nothing run.
    pub fn load<K: Kind>(&self, file: &ComponentFile, terms: Terms) -> Result<Component<K>, Refusal> {
        let held = held(file);
        if let Some(known) = self.known(file.identity(), &terms, held.clone()) {
            return known;
        }
        let inspection = self.look::<K>(file, &terms)?;
        let _lock = self.lock(&file.name, &file.digest);
        // Another thread or process may have compiled it while this one waited.
        if let Some(known) = self.known(file.identity(), &terms, held.clone()) {
            return known;
        }
        match self.compile::<K>(file, &inspection, &terms.limits) {
            Ok((offer, prepared)) => {
                Ok(Component::new(file.identity(), terms, inspection, offer, OnceCell::from(prepared), held))
            }
            Err(Failure::Passing(reason)) => Err(refused(file.identity(), &reason)),
            Err(Failure::Final(reason)) => {
                if let Err(why) = self.cache.remember_failure(&file.digest, &reason) {
                    tracing::warn!("failed to remember that {} can't be used: {why}", file.name);
                }
                Err(refused(file.identity(), &reason))
            }
        }
    }

    /// What the cache knows of bytes that were loaded before, on these terms. Nothing where they must be compiled first.
    pub(crate) fn known<K: Kind>(
        &self,
        identity: Identity<'_>,
        terms: &Terms,
        held: Option<Bytes>,
    ) -> Option<Result<Component<K>, Refusal>> {
        Some(match self.cache.known::<K::Offer>(identity.digest)? {
            Known::Ready(ready) => match check(&ready.inspection, identity.name, &terms.limits) {
                Ok(()) => {
                    Ok(Component::new(identity, terms.clone(), ready.inspection, ready.offer, OnceCell::new(), held))
                }
                Err(why) => Err(refused(identity, &why)),
            },
            Known::Failed(reason) => {
                let path = self.cache.known_path(identity.digest);
                Err(refused(identity, &format!("{reason} (remembered; delete {} to try again)", path.display())))
            }
        })
    }

    /// A component as it registered when it was compiled for another engine. Its code is compiled when it is first called.
    pub(crate) fn registered<K: Kind>(&self, file: &ComponentFile, terms: &Terms) -> Option<Component<K>> {
        let registration = self.cache.registration(&file.digest)?;
        registration.inspection.check(&terms.limits).ok()?;
        let (inspection, offer) = (registration.inspection, registration.offer);
        let held = held(file);
        Some(Component::new(file.identity(), terms.clone(), inspection, offer, OnceCell::new(), held))
    }

    /// What the type of a component says, which takes no time; refused where it can't be one of this kind.
    pub(crate) fn look<K: Kind>(&self, file: &ComponentFile, terms: &Terms) -> Result<Inspection, Refusal> {
        let refuse = |why: String| refused(file.identity(), &why);
        let inspection = inspect(&file.bytes, &Limits { memory: MEMORY_CEILING, ..terms.limits }).map_err(refuse)?;
        check(&inspection, &file.name, &terms.limits).map_err(refuse)?;
        if inspection.role != K::ROLE {
            let is = inspection.role.name();
            let why = format!("is a {is}, not a {}; put it into the {is}s folder", K::ROLE.name());
            return Err(refused(file.identity(), &why));
        }
        Ok(inspection)
    }

    /// Makes the linked form of a component. An artifact that is gone or damaged is compiled again, from the same bytes or not
    /// at all. Blocks.
    pub fn link<K: Kind>(&self, component: &Component<K>) -> Result<K::Prepared, String> {
        if let Some(prepared) = self.cached::<K>(&component.digest) {
            return Ok(prepared);
        }
        let _lock = self.lock(&component.name, &component.digest);
        if let Some(prepared) = self.cached::<K>(&component.digest) {
            return Ok(prepared);
        }
        tracing::info!("compiling {}: there is no compiled form that this host can use", component.name);
        let file = again(component)?;
        let made = self.compile::<K>(&file, &component.inspection, &component.limits);
        made.map(|(_, prepared)| prepared).map_err(|(Failure::Final(why) | Failure::Passing(why))| why)
    }

    /// The lock on compiling these bytes. Without it a component may be compiled twice, and no harm comes of that.
    fn lock(&self, name: &str, digest: &Digest) -> Option<CompileLock> {
        match self.cache.lock(digest, self.compiler.patience()) {
            Ok(Some(lock)) => Some(lock),
            Ok(None) => {
                tracing::warn!("another process has been compiling {name} for too long; compiling it here, too");
                None
            }
            Err(why) => {
                tracing::warn!("failed to lock the compilation of {name}: {why}");
                None
            }
        }
    }

    fn cached<K: Kind>(&self, digest: &Digest) -> Option<K::Prepared> {
        let artifact = self.cache.artifact(digest)?;
        self.prepare::<K>(&artifact).ok()
    }

    fn prepare<K: Kind>(&self, artifact: &VerifiedArtifact) -> Result<K::Prepared, Failure> {
        // The worker made this code a moment ago: what can go wrong is the mapping of it.
        let component = artifact::load(self.sandbox.engine(), artifact)
            .map_err(|why| Failure::Passing(format!("failed to load the compiled code: {why:#}")))?;
        K::prepare(&self.sandbox, &component)
            .map_err(|why| Failure::Final(format!("does not fit the interface: {why:#}")))
    }

    /// Compiles, links, asks what it offers, and keeps all of it.
    fn compile<K: Kind>(
        &self,
        file: &ComponentFile,
        inspection: &Inspection,
        limits: &Limits,
    ) -> Result<(K::Offer, K::Prepared), Failure> {
        let artifact = self.compiler.compile(self.sandbox.engine(), &file.bytes).map_err(|why| match why {
            CompileError::Component(why) => Failure::Final(why),
            CompileError::Machine(why) => Failure::Passing(why),
        })?;
        let prepared = self.prepare::<K>(&artifact)?;
        let run = pollster::block_on(K::ask(&self.sandbox, &prepared, limits.memory))
            .map_err(|busy| Failure::Passing(busy.to_string()))?;
        let raw = run.answer.map_err(|mut kill| {
            // Of the component's own limits only the memory holds here.
            if kill.reason == KillReason::OutOfMemory {
                kill = kill.with_remedy(&file.name, limits);
            }
            let why = format!("{} was ended ({}): {kill}", K::QUESTION, kill.reason);
            // The operator may give it more memory, and a busy machine more time.
            match kill.reason {
                KillReason::OutOfMemory | KillReason::Deadline | KillReason::HostPanic => Failure::Passing(why),
                _ => Failure::Final(why),
            }
        })?;
        let offer = K::accept(raw).map_err(Failure::Final)?;
        if let Err(why) = self.cache.keep(&file.digest, inspection, &offer, &artifact) {
            tracing::warn!("failed to keep the compiled form of {}: {why}", file.name);
        }
        Ok((offer, prepared))
    }
}

/// Whether a component can start within its limits, and what raises the one that it can't.
fn check(inspection: &Inspection, name: &str, limits: &Limits) -> Result<(), String> {
    inspection.check(limits).map_err(|mut why| {
        let least = usize::try_from(inspection.least_memory()).unwrap_or(usize::MAX);
        why.extend(raise_memory(name, least, limits));
        why
    })
}

/// The bytes of a component that has no file.
fn held(file: &ComponentFile) -> Option<Bytes> {
    (!matches!(file.origin, Origin::File(_))).then(|| file.bytes.clone())
}

fn refused(identity: Identity<'_>, reason: &str) -> Refusal {
    Refusal::new(&identity.origin.describe_as(identity.name), reason)
}

impl Origin {
    /// A component without a file has no path: its name says more.
    pub(crate) fn describe_as(&self, name: &str) -> String {
        match self {
            Self::Bundled => format!("bundled {name}"),
            Self::Registered => format!("registered {name}"),
            Self::File(_) => self.describe(),
        }
    }
}

/// The same bytes once more.
fn again<K: Kind>(component: &Component<K>) -> Result<ComponentFile, String> {
    let file = match (&component.held, &component.origin) {
        (Some(bytes), origin) => ComponentFile::held(&component.name, origin.clone(), bytes.clone()),
        (None, Origin::File(path)) => ComponentFile::open(path).map_err(|refusal| refusal.reason)?,
        (None, _) => return Err(format!("the bytes of {} are gone", component.name)),
    };
    if file.digest != component.digest {
        return Err(format!("the file of {} has changed since it was loaded", component.name));
    }
    Ok(file)
}
