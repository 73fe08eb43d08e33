//! From the folders to a catalogue and a policy, at the start and whenever something changed.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use bytes::Bytes;

use super::{Added, Current, Host, HostError, RegisterError, Settings, policy::resolved};
use crate::{
    approval::{Mode, Reviewer},
    capability::Granted,
    component::{Component, ComponentFile, Digest, Hooks, Identity, Kind, Origin, Refusal, Role, Terms, Tools, scan},
    dispatch::{Bounds, Guardrails, HookSource, OnFailure, Policy, Watcher},
    grant::Config,
    registry::Catalogue,
};

/// What happens while components load.
#[derive(Clone, Debug)]
pub enum LoadEvent {
    /// This component must be compiled, which takes a while.
    Compiling {
        /// Its name.
        name: String,
        /// Its bytes.
        size: u64,
    },
    /// It is done.
    Compiled {
        /// Its name.
        name: String,
    },
}

/// Hears of loading, while the host is held: it must not register, deregister or reload.
pub type LoadListener = Arc<dyn Fn(LoadEvent) + Send + Sync>;

/// Why a hook that only the configuration knows is refused.
const MISSING: &str = "is named in the configuration, but there is no such file in the hooks folders; put it there, or take its section out";

/// Why a hook that is not there yet fails.
const UNDERWAY: &str = "it is still being written or compiled";

/// How long it may take until the watcher of a folder has heard of what happened there.
const TOLD: Duration = Duration::from_millis(20);

/// A component, or why there is none.
type Loaded<K> = Result<Arc<Component<K>>, Refusal>;

/// What the hooks folders and this program's own hooks came to.
struct LoadedHooks {
    watchers: Vec<Watcher>,
    components: Vec<Arc<Component<Hooks>>>,
    refusals: Vec<Refusal>,
}

/// Where a component is to be had. The bytes of a file are held only while it is loaded.
enum Source {
    Held(ComponentFile),
    File(PathBuf),
}

impl Source {
    fn place(&self) -> String {
        match self {
            Self::Held(file) => file.origin.describe_as(&file.name),
            Self::File(path) => path.display().to_string(),
        }
    }

    /// What is in these folders, and which of them can't be read.
    fn files(folders: &[PathBuf]) -> (Vec<Self>, Vec<Refusal>) {
        let (mut sources, mut refusals) = (Vec::new(), Vec::new());
        for folder in folders {
            match scan(folder) {
                Ok(found) => sources.extend(found.into_iter().map(Self::File)),
                Err(why) => refusals.push(Refusal::new(&folder.display().to_string(), &why.reason())),
            }
        }
        (sources, refusals)
    }
}

/// A component whose bytes must be compiled before it can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFile {
    /// The file's stem.
    pub name: String,
    /// Where it is.
    pub origin: Origin,
    /// What is in it.
    pub digest: Digest,
    /// Its bytes.
    pub size: u64,
    /// Whether something answers in its place meanwhile: what the file was before, or these bytes as they registered before.
    pub is_listed: bool,
    role: Role,
    /// The bytes, where there is no file.
    held: Option<Bytes>,
}

impl NewFile {
    pub(super) fn of(file: &ComponentFile, role: Role) -> Self {
        Self {
            name: file.name.clone(),
            origin: file.origin.clone(),
            digest: file.digest,
            size: file.bytes.len() as u64,
            is_listed: false,
            role,
            held: (!matches!(file.origin, Origin::File(_))).then(|| file.bytes.clone()),
        }
    }

    pub(super) fn role(&self) -> Role {
        self.role
    }

    /// For messages; no two components of a host have the same.
    pub fn place(&self) -> String {
        self.origin.describe_as(&self.name)
    }

    /// The same bytes again. Nothing where they are gone or others by now.
    fn read(&self) -> Option<ComponentFile> {
        let file = match (&self.held, &self.origin) {
            (Some(bytes), origin) => ComponentFile::held(&self.name, origin.clone(), bytes.clone()),
            (None, Origin::File(path)) => ComponentFile::open(path).ok()?,
            (None, _) => return None,
        };
        (file.digest == self.digest).then_some(file)
    }
}

/// What a look in haste finds in a file.
enum Haste<K: Kind> {
    Loaded(Arc<Component<K>>),
    /// These bytes must be compiled first. The component as it registered before, where that is known.
    New(NewFile, Option<Arc<Component<K>>>),
}

/// What a look in haste passes over. Where such a file was loaded before, that stays, on today's terms.
struct Left<'a> {
    /// Whether a file is still being written.
    is_being_written: &'a (dyn Fn(&Path) -> bool + Sync),
    /// Files that must be compiled first.
    new: Mutex<Vec<NewFile>>,
    /// Why some of them could not be, where something else answers in their place.
    failed: Mutex<Vec<Refusal>>,
}

/// A hook sees calls and has no capability.
fn hook_terms(config: &Config, hook: Identity<'_>) -> Terms {
    Terms { limits: config.hook(hook.name).limits(), granted: Granted::default() }
}

impl Host {
    /// Looks at the folders and the configuration again. Running calls end on the code they started with. On an error everything
    /// stays as it was.
    pub fn reload(&self) -> Result<(), HostError> {
        self.reload_with(&self.added())
    }

    /// The same in haste, for whoever watches the folders: nothing is compiled, and what is being written is passed over, so that a
    /// grant that was revoked or a file that was removed waits for nobody. What such a file was before stays, on the terms that hold
    /// now. Answers the files to [compile](Self::compile_ahead) before another look; a [`BackgroundCompiler`](crate::BackgroundCompiler)
    /// takes them.
    pub fn refresh(&self, is_being_written: &(dyn Fn(&Path) -> bool + Sync)) -> Result<Vec<NewFile>, HostError> {
        let left = Left { is_being_written, new: Mutex::default(), failed: Mutex::default() };
        self.make_anew(&self.added(), Some(&left))?;
        Ok(left.new.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Compiles a file, so that another look finds it known. Where it can't be used for good, that is known then, too; the error is for
    /// what may go better another time.
    pub fn compile_ahead(&self, file: &NewFile) -> Result<(), Refusal> {
        let config = Config::read(&self.0.config, self.0.config_is_named)
            .map_err(|why| Refusal::new(&file.place(), &format!("the configuration can't be read: {why}")))?;
        match file.role {
            Role::Tool => self.compile_one::<Tools>(file, &|tool| self.terms(&config, tool)),
            Role::Hook => self.compile_one::<Hooks>(file, &|hook| hook_terms(&config, hook)),
        }
    }

    fn compile_one<K: Kind>(&self, new: &NewFile, terms: &dyn Fn(Identity<'_>) -> Terms) -> Result<(), Refusal> {
        // What is gone or has other bytes by now is for another look to find.
        let Some(file) = new.read() else { return Ok(()) };
        let loaded = self.load_new::<K>(&file, terms(file.identity()));
        match (self.0.pipeline.loader.is_new::<K>(&file), loaded) {
            (false, _) => Ok(()),
            (true, Err(refusal)) => Err(refusal),
            (true, Ok(_)) => Err(Refusal::new(&new.place(), "its compiled form could not be kept; is the disk full?")),
        }
    }

    pub(super) fn added(&self) -> MutexGuard<'_, Added> {
        self.0.added.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes everything anew. Whoever calls holds the lock on what was added, so this happens once at a time.
    pub(super) fn reload_with(&self, added: &Added) -> Result<(), HostError> {
        self.make_anew(added, None)
    }

    fn make_anew(&self, added: &Added, left: Option<&Left<'_>>) -> Result<(), HostError> {
        let config = Config::read(&self.0.config, self.0.config_is_named)?;
        let mut toolsets = config.toolsets()?;
        for (name, toolset) in &added.toolsets {
            toolsets.add(name, toolset.clone())?;
        }
        let (components, refusals) = self.load_tools(&config, added, left);
        let LoadedHooks { watchers, components: hooks, refusals: refused_hooks } = self.load_hooks(&config, left);
        let may_override = |component: &Component, tool: &str| {
            config.of(component.identity()).is_some_and(|grant| grant.overrides(tool))
        };
        let is_stale = |found: &&Arc<Component>| config.is_pinned_elsewhere(found.identity());
        let settings = Settings {
            stale: components.iter().filter(is_stale).map(|found| found.digest).collect(),
            toolsets,
            tool_search: config.tool_search,
            context_window: config.context_window,
            result_form: config.mcp.results,
            workspaces: config.workspaces.clone(),
            hooks,
            refused_hooks,
        };
        let reviewer = config
            .approval
            .reviewer
            .as_ref()
            .filter(|_| config.approval.mode == Mode::Smart)
            .map(|reviewer| Reviewer::new(reviewer, |name| std::env::var(name).ok()).map_err(HostError::Reviewer));
        self.0.pipeline.gate.configure(config.approval.clone(), reviewer.transpose()?);
        self.0.pipeline.audit.rotate_at(config.audit.rotate);
        let before = self.0.current.load_full();
        let guardrails = match before.policy.guardrails.thresholds() == &config.guardrails {
            true => Arc::clone(&before.policy.guardrails),
            false => Arc::new(Guardrails::new(config.guardrails)),
        };
        let bounds = config.context_window.map_or_else(Bounds::default, Bounds::for_window);
        let catalogue = Catalogue::new(components, refusals, may_override);
        let tools = resolved(&config, &settings.toolsets, &catalogue);
        let same_policy = tools == before.policy.tools;
        let policy = Arc::new(Policy { watchers, tools, guardrails, bounds, audited: config.audit.arguments });
        let same = same_policy && catalogue.is_same(&before.catalogue) && settings.is_same(&before.settings);
        // Files that were refused change what an operator sees, and nothing that a client does.
        let offers_same = same_policy && catalogue.offers_as(&before.catalogue) && settings.offers_as(&before.settings);
        let is_loaded = |digest: &Digest| catalogue.components().iter().any(|one| one.digest == *digest);
        self.0.availability.keep_only(is_loaded);
        self.0.redescriptions.keep_only(is_loaded);
        let current = match same {
            true => {
                Current { policy, catalogue: Arc::clone(&before.catalogue), settings: Arc::clone(&before.settings) }
            }
            false => {
                let catalogue = Arc::new(catalogue.after(&before.catalogue));
                Current { policy, catalogue, settings: Arc::new(settings) }
            }
        };
        let generation = current.catalogue.generation();
        self.0.current.store(Arc::new(current));
        self.0.changes.send_if_modified(|known| {
            *known = generation;
            !offers_same
        });
        Ok(())
    }

    fn load_tools(
        &self,
        config: &Config,
        added: &Added,
        left: Option<&Left<'_>>,
    ) -> (Vec<Arc<Component>>, Vec<Refusal>) {
        let bundled = self.0.bundled.iter();
        let bundled =
            bundled.map(|(name, bytes)| ComponentFile::held(name, Origin::Bundled, Bytes::from_static(bytes)));
        let mut sources: Vec<Source> = bundled.map(Source::Held).collect();
        let (files, mut refusals) = Source::files(&self.0.folders);
        sources.extend(files);
        sources.extend(added.components.iter().cloned().map(Source::Held));
        let terms = |component: Identity<'_>| self.terms(config, component);
        let mut components = Vec::<Arc<Component>>::new();
        let loaded = self.catalogue();
        let found = self.load_all::<Tools>(&sources, loaded.components(), &terms, left);
        // The names of bundled tools are theirs. While they are not known yet, no other component may have them.
        let is_bundled = |source: &Source| matches!(source, Source::Held(file) if file.origin == Origin::Bundled);
        let holds_back = sources.iter().zip(&found).any(|(source, found)| is_bundled(source) && found.is_none());
        let usable = sources.iter().zip(found).filter(|(source, _)| !holds_back || is_bundled(source));
        for found in usable.filter_map(|(_, found)| found) {
            match found {
                Ok(component) => match components.iter().find(|known| known.digest == component.digest) {
                    None => components.push(component),
                    // A folder that holds a bundled component's bytes holds the same component: nothing to add.
                    Some(known) if known.origin == Origin::Bundled => {}
                    Some(known) => {
                        let reason = format!("has the same bytes as {}", known.origin.describe());
                        refusals.push(Refusal::new(&component.origin.describe(), &reason));
                    }
                },
                Err(refusal) => refusals.push(refusal),
            }
        }
        if let Some(left) = left {
            refusals.append(&mut left.failed.lock().unwrap_or_else(PoisonError::into_inner));
        }
        (components, refusals)
    }

    /// The hooks of this program and of the folders. A file that can't be loaded is a hook that fails at every call, and
    /// so is a folder that can't be read: nobody knows which guards are in there.
    fn load_hooks(&self, config: &Config, left: Option<&Left<'_>>) -> LoadedHooks {
        let own = self.0.hooks.iter().map(|hook| Watcher {
            name: hook.name().to_owned(),
            on_failure: OnFailure::Block,
            source: HookSource::Program(Arc::clone(hook)),
        });
        let (mut watchers, mut components) = (own.collect::<Vec<_>>(), Vec::new());
        let (sources, mut refusals) = Source::files(&self.0.hook_folders);
        watchers.extend(refusals.iter().map(|folder| Watcher {
            name: folder.place.clone(),
            on_failure: OnFailure::Block,
            source: HookSource::Broken(folder.reason.clone()),
        }));
        let terms = |hook: Identity<'_>| hook_terms(config, hook);
        let loaded = Arc::clone(&self.0.current.load().settings);
        let found = self.load_all::<Hooks>(&sources, &loaded.hooks, &terms, left);
        for (source, result) in sources.iter().zip(found) {
            let name = match source {
                Source::File(path) => path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
                Source::Held(file) => file.name.clone(),
            };
            let grant = config.hook(&name);
            let Some(result) = result else {
                // Nobody has to read about it, but calls do not run without a guard that is on its way.
                let source = HookSource::Broken(UNDERWAY.into());
                watchers.push(Watcher { name, on_failure: grant.on_failure, source });
                continue;
            };
            let result = result.and_then(|hook| match grant.digest {
                Some(digest) if digest != hook.digest => {
                    Err(Refusal::new(&source.place(), "has other bytes than those that the configuration names"))
                }
                _ => Ok(hook),
            });
            let source = match result {
                Ok(hook) => {
                    components.push(Arc::clone(&hook));
                    HookSource::Component(hook)
                }
                Err(refusal) => {
                    let why = format!("it could not be loaded: {}", refusal.reason);
                    refusals.push(refusal);
                    HookSource::Broken(why)
                }
            };
            watchers.push(Watcher { name, on_failure: grant.on_failure, source });
        }
        // A guard that the operator speaks of and that is not there guards nothing.
        for (name, grant) in config.hooks() {
            if !watchers.iter().any(|known| known.name == *name) {
                let refusal = Refusal::new(&format!("hook {name}"), MISSING);
                let source = HookSource::Broken(format!("it could not be loaded: {}", refusal.reason));
                refusals.push(refusal);
                watchers.push(Watcher { name: name.clone(), on_failure: grant.on_failure, source });
            }
        }
        LoadedHooks { watchers, components, refusals }
    }

    /// Loads one component, to see whether it can be.
    pub(super) fn try_load(&self, file: &ComponentFile) -> Result<(), RegisterError> {
        let config = Config::read(&self.0.config, self.0.config_is_named).map_err(HostError::from)?;
        self.load_new::<Tools>(file, self.terms(&config, file.identity())).map(drop).map_err(RegisterError::Refused)
    }

    /// Loads on all cores: compiling is what takes time. Answers in the sources' order; nothing for one that is left for later.
    fn load_all<K: Kind>(
        &self,
        sources: &[Source],
        loaded: &[Arc<Component<K>>],
        terms: &(dyn Fn(Identity<'_>) -> Terms + Sync),
        left: Option<&Left<'_>>,
    ) -> Vec<Option<Loaded<K>>> {
        let next = AtomicUsize::new(0);
        let work = || {
            let mut done = Vec::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(source) = sources.get(at) else { return done };
                // One file that makes the host stumble must not keep the others out.
                let result = catch_unwind(AssertUnwindSafe(|| self.load(source, loaded, terms, left)));
                let stumbled = |_| {
                    Some(Err(Refusal::new(&source.place(), "the host panicked while loading it: please report this")))
                };
                done.push((at, result.unwrap_or_else(stumbled)));
            }
        };
        let threads = thread::available_parallelism().map_or(1, usize::from).min(sources.len()).max(1);
        let mut results: Vec<(usize, Option<Loaded<K>>)> = thread::scope(|scope| {
            // Where the system gives no more threads, this one does all of it.
            let others: Vec<_> =
                (1..threads).filter_map(|_| thread::Builder::new().spawn_scoped(scope, work).ok()).collect();
            let mut results = work();
            for other in others {
                // A loader that panics is a bug; carry it on rather than lose components in silence.
                results.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            results
        });
        results.sort_by_key(|(at, _)| *at);
        results.into_iter().map(|(_, result)| result).collect()
    }

    /// One of them. In haste, nothing is compiled and what is being written is passed over.
    fn load<K: Kind>(
        &self,
        source: &Source,
        loaded: &[Arc<Component<K>>],
        terms: &dyn Fn(Identity<'_>) -> Terms,
        left: Option<&Left<'_>>,
    ) -> Option<Loaded<K>> {
        let (path, left) = match (source, left) {
            (Source::File(path), Some(left)) => (path, left),
            (Source::File(path), None) => {
                return Some(ComponentFile::open(path).and_then(|file| self.load_file(&file, loaded, terms)));
            }
            (Source::Held(file), None) => return Some(self.load_file(file, loaded, terms)),
            (Source::Held(file), Some(left)) => {
                return self.found(self.load_in_haste(file, loaded, terms), None, left);
            }
        };
        if (left.is_being_written)(path) {
            return self.load_as_before(path, loaded, terms);
        }
        let look = || ComponentFile::open(path).and_then(|file| self.load_in_haste(&file, loaded, terms));
        let mut found = look();
        if found.as_ref().is_err_and(|refusal| !self.is_refused(refusal)) {
            // Somebody may have written it while it was read, and that is not known yet.
            thread::sleep(TOLD);
            if (left.is_being_written)(path) {
                return self.load_as_before(path, loaded, terms);
            }
            found = look();
        }
        self.found(found, self.load_as_before(path, loaded, terms), left)
    }

    /// What a look in haste came to. A file that must be compiled is left for later, and what it was before stays.
    fn found<K: Kind>(
        &self,
        found: Result<Haste<K>, Refusal>,
        before: Option<Loaded<K>>,
        left: &Left<'_>,
    ) -> Option<Loaded<K>> {
        let (new, registered) = match found {
            Ok(Haste::Loaded(component)) => return Some(Ok(component)),
            Ok(Haste::New(new, registered)) => (new, registered.map(Ok)),
            Err(refusal) => return Some(Err(refusal)),
        };
        let meanwhile = before.or(registered);
        let failure = self.0.compile_states.failure(&new);
        let is_listed = matches!(meanwhile, Some(Ok(_)));
        left.new.lock().unwrap_or_else(PoisonError::into_inner).push(NewFile { is_listed, ..new });
        match (meanwhile, failure) {
            (None, Some(why)) => Some(Err(why)),
            (meanwhile, why) => {
                left.failed.lock().unwrap_or_else(PoisonError::into_inner).extend(why);
                meanwhile
            }
        }
    }

    /// Whether this was found before.
    fn is_refused(&self, refusal: &Refusal) -> bool {
        let current = self.0.current.load();
        current.catalogue.refusals().contains(refusal) || current.settings.refused_hooks.contains(refusal)
    }

    fn load_file<K: Kind>(
        &self,
        file: &ComponentFile,
        loaded: &[Arc<Component<K>>],
        terms: &dyn Fn(Identity<'_>) -> Terms,
    ) -> Loaded<K> {
        let terms = terms(file.identity());
        // What is loaded already keeps its compiled form.
        match loaded.iter().find(|known| known.is(file.identity(), &terms)) {
            Some(same) => Ok(Arc::clone(same)),
            None => self.load_new(file, terms),
        }
    }

    fn load_in_haste<K: Kind>(
        &self,
        file: &ComponentFile,
        loaded: &[Arc<Component<K>>],
        terms: &dyn Fn(Identity<'_>) -> Terms,
    ) -> Result<Haste<K>, Refusal> {
        let (loader, its_terms) = (&self.0.pipeline.loader, terms(file.identity()));
        let known = loaded.iter().find(|known| known.is(file.identity(), &its_terms));
        if !loader.is_new::<K>(file) || known.is_some_and(|known| known.prepared_before().is_some()) {
            return self.load_file(file, loaded, terms).map(Haste::Loaded);
        }
        // What is no component is refused without compiling.
        loader.look::<K>(file, &its_terms)?;
        let registered = match K::ROLE {
            Role::Tool => known.cloned().or_else(|| loader.registered::<K>(file, &its_terms).map(Arc::new)),
            // A call waits for its guards while they are pending. For one that is listed it would not, and be refused.
            Role::Hook => None,
        };
        Ok(Haste::New(NewFile::of(file, K::ROLE), registered))
    }

    /// What was loaded from this file, whatever is in it now. Nothing where nothing was.
    fn load_as_before<K: Kind>(
        &self,
        path: &Path,
        loaded: &[Arc<Component<K>>],
        terms: &dyn Fn(Identity<'_>) -> Terms,
    ) -> Option<Loaded<K>> {
        let before = loaded.iter().find(|known| matches!(&known.origin, Origin::File(known) if known == path))?;
        let terms = terms(before.identity());
        if before.is(before.identity(), &terms) {
            return Some(Ok(Arc::clone(before)));
        }
        Some(self.0.pipeline.loader.known(before.identity(), &terms, None)?.map(Arc::new))
    }

    fn load_new<K: Kind>(&self, file: &ComponentFile, terms: Terms) -> Loaded<K> {
        let loader = &self.0.pipeline.loader;
        if !loader.is_new::<K>(file) {
            return loader.load(file, terms).map(Arc::new);
        }
        self.tell(LoadEvent::Compiling { name: file.name.clone(), size: file.bytes.len() as u64 });
        let component = loader.load(file, terms).map(Arc::new);
        self.tell(LoadEvent::Compiled { name: file.name.clone() });
        component
    }

    fn tell(&self, event: LoadEvent) {
        if let Some(listener) = &self.0.listener {
            listener(event);
        }
    }
}
