//! From the folders to a catalogue and a policy, at the start and whenever something changed.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::{
        Arc, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use bytes::Bytes;

use super::{Added, Current, Host, HostError, RegisterError, Settings};
use crate::{
    approval::{Mode, Reviewer},
    capability::Granted,
    component::{Component, ComponentFile, Digest, Hooks, Kind, Origin, Refusal, Terms, Tools, scan},
    dispatch::{Bounds, Guardrails, HookSource, OnFailure, Policy, Watcher},
    grant::Config,
    registry::Catalogue,
};

/// What happens while components load.
#[derive(Clone, Debug)]
pub enum LoadEvent {
    /// This component must be compiled, which takes a while.
    Compiling(String),
    /// It is done.
    Compiled(String),
}

/// Hears of loading, while the host is held: it must not register, deregister or reload.
pub type LoadListener = Arc<dyn Fn(LoadEvent) + Send + Sync>;

/// Why a hook that only the configuration knows is refused.
const MISSING: &str = "is named in the configuration, but there is no such file in the hooks folders; put it there, or take its section out";

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

    fn files(folders: &[PathBuf]) -> Result<Vec<Self>, HostError> {
        let mut sources = Vec::new();
        for folder in folders {
            sources.extend(scan(folder)?.into_iter().map(Self::File));
        }
        Ok(sources)
    }
}

impl Host {
    /// Looks at the folders and the configuration again. Running calls end on the code they started with. On an error everything
    /// stays as it was.
    pub fn reload(&self) -> Result<(), HostError> {
        self.reload_with(&self.added())
    }

    pub(super) fn added(&self) -> MutexGuard<'_, Added> {
        self.0.added.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes everything anew. Whoever calls holds the lock on what was added, so this happens once at a time.
    pub(super) fn reload_with(&self, added: &Added) -> Result<(), HostError> {
        let config = Config::read(&self.0.config, self.0.config_is_named)?;
        let mut toolsets = config.toolsets()?;
        for (name, toolset) in &added.toolsets {
            toolsets.add(name, toolset.clone())?;
        }
        let (components, refusals) = self.load_tools(&config, added)?;
        let LoadedHooks { watchers, components: hooks, refusals: refused_hooks } = self.load_hooks(&config)?;
        let may_override = |component: &Component, tool: &str| {
            config.of(&component.name, &component.digest).is_some_and(|grant| grant.overrides(tool))
        };
        let is_stale = |found: &&Arc<Component>| config.is_pinned_elsewhere(&found.name, &found.digest);
        let settings = Settings {
            stale: components.iter().filter(is_stale).map(|found| found.digest).collect(),
            toolsets,
            tool_search: config.tool_search,
            context_window: config.context_window,
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
        let before = self.0.current.load_full();
        let guardrails = match before.policy.guardrails.thresholds() == &config.guardrails {
            true => Arc::clone(&before.policy.guardrails),
            false => Arc::new(Guardrails::new(config.guardrails)),
        };
        let bounds = config.context_window.map_or_else(Bounds::default, Bounds::for_window);
        let policy = Arc::new(Policy { watchers, guardrails, bounds });
        let catalogue = Catalogue::new(components, refusals, may_override);
        for name in config.approval.tools.iter().filter(|name| catalogue.get(name).is_none()) {
            tracing::warn!(
                "approval.tools names {name}, and there is no such tool: nothing is asked about because of it"
            );
        }
        let same = catalogue.is_same(&before.catalogue) && settings.is_same(&before.settings);
        // Files that were refused change what an operator sees, and nothing that a client does.
        let offers_same = catalogue.offers_as(&before.catalogue) && settings.offers_as(&before.settings);
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

    fn load_tools(&self, config: &Config, added: &Added) -> Result<(Vec<Arc<Component>>, Vec<Refusal>), HostError> {
        let bundled = self.0.bundled.iter();
        let bundled =
            bundled.map(|(name, bytes)| ComponentFile::held(name, Origin::Bundled, Bytes::from_static(bytes)));
        let mut sources: Vec<Source> = bundled.map(Source::Held).collect();
        sources.extend(Source::files(&self.0.folders)?);
        sources.extend(added.components.iter().cloned().map(Source::Held));
        let terms = |file: &ComponentFile| self.terms(config, file);
        let (mut components, mut refusals) = (Vec::<Arc<Component>>::new(), Vec::new());
        let loaded = self.catalogue();
        for found in self.load_all::<Tools>(&sources, loaded.components(), &terms) {
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
        Ok((components, refusals))
    }

    /// The hooks of this program and of the folders. A file that can't be loaded is a hook that fails at every call.
    fn load_hooks(&self, config: &Config) -> Result<LoadedHooks, HostError> {
        let own = self.0.hooks.iter().map(|hook| Watcher {
            name: hook.name().to_owned(),
            on_failure: OnFailure::Block,
            source: HookSource::Program(Arc::clone(hook)),
        });
        let (mut watchers, mut components, mut refusals) = (own.collect::<Vec<_>>(), Vec::new(), Vec::new());
        let sources = Source::files(&self.0.hook_folders)?;
        let terms =
            |file: &ComponentFile| Terms { limits: config.hook(&file.name).limits(), granted: Granted::default() };
        let loaded = Arc::clone(&self.0.current.load().settings);
        let found = self.load_all::<Hooks>(&sources, &loaded.hooks, &terms);
        for (source, result) in sources.iter().zip(found) {
            let name = match source {
                Source::File(path) => path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
                Source::Held(file) => file.name.clone(),
            };
            let grant = config.hook(&name);
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
        Ok(LoadedHooks { watchers, components, refusals })
    }

    /// Loads one component, to see whether it can be.
    pub(super) fn try_load(&self, file: &ComponentFile) -> Result<(), RegisterError> {
        let config = Config::read(&self.0.config, self.0.config_is_named).map_err(HostError::from)?;
        self.load_new::<Tools>(file, self.terms(&config, file)).map(drop).map_err(RegisterError::Refused)
    }

    /// Loads on all cores: compiling is what takes time. Answers in the sources' order.
    fn load_all<K: Kind>(
        &self,
        sources: &[Source],
        loaded: &[Arc<Component<K>>],
        terms: &(dyn Fn(&ComponentFile) -> Terms + Sync),
    ) -> Vec<Loaded<K>> {
        let next = AtomicUsize::new(0);
        let work = || {
            let mut done = Vec::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(source) = sources.get(at) else { return done };
                // One file that makes the host stumble must not keep the others out.
                let result = catch_unwind(AssertUnwindSafe(|| self.load(source, loaded, terms)));
                let stumbled =
                    |_| Err(Refusal::new(&source.place(), "the host panicked while loading it: please report this"));
                done.push((at, result.unwrap_or_else(stumbled)));
            }
        };
        let threads = thread::available_parallelism().map_or(1, usize::from).min(sources.len()).max(1);
        let mut results: Vec<(usize, Loaded<K>)> = thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
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

    fn load<K: Kind>(
        &self,
        source: &Source,
        loaded: &[Arc<Component<K>>],
        terms: &dyn Fn(&ComponentFile) -> Terms,
    ) -> Loaded<K> {
        let opened;
        let file = match source {
            Source::Held(file) => file,
            Source::File(path) => {
                opened = ComponentFile::open(path)?;
                &opened
            }
        };
        let terms = terms(file);
        // What is loaded already keeps its compiled form.
        match loaded.iter().find(|known| known.is(file, &terms)) {
            Some(same) => Ok(Arc::clone(same)),
            None => self.load_new(file, terms),
        }
    }

    fn load_new<K: Kind>(&self, file: &ComponentFile, terms: Terms) -> Loaded<K> {
        let loader = &self.0.pipeline.loader;
        if !loader.is_new::<K>(file) {
            return loader.load(file, terms).map(Arc::new);
        }
        self.tell(LoadEvent::Compiling(file.name.clone()));
        let component = loader.load(file, terms).map(Arc::new);
        self.tell(LoadEvent::Compiled(file.name.clone()));
        component
    }

    fn tell(&self, event: LoadEvent) {
        if let Some(listener) = &self.0.listener {
            listener(event);
        }
    }
}
