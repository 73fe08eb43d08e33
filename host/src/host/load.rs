//! From the folders to a catalogue, at the start and whenever something changed.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::{
        Arc, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use super::{Host, HostError};
use crate::{
    component::{Component, ComponentFile, Origin, Refusal, scan},
    grant::Grants,
    registry::Catalogue,
    sandbox::Limits,
};

/// What happens while components load.
#[derive(Clone, Debug)]
pub enum LoadEvent {
    /// This component must be compiled, which takes a while.
    Compiling(String),
    /// It is done.
    Compiled(String),
}

/// Hears of loading.
pub type LoadListener = Arc<dyn Fn(LoadEvent) + Send + Sync>;

/// Where a component is to be had. Its bytes are held only while it is loaded.
enum Source {
    Bundled(&'static str, &'static [u8]),
    File(PathBuf),
}

impl Source {
    fn place(&self) -> String {
        match self {
            Self::Bundled(name, _) => format!("bundled {name}"),
            Self::File(path) => path.display().to_string(),
        }
    }
}

impl Host {
    /// Looks at the folders and the grants again. Running calls end on the code they started with. On an error everything
    /// stays as it was.
    pub fn reload(&self) -> Result<(), HostError> {
        let _one_at_a_time = self.0.reloading.lock().unwrap_or_else(PoisonError::into_inner);
        let grants = Grants::read(&self.0.config, self.0.config_is_named)?;
        let mut sources: Vec<Source> =
            self.0.bundled.iter().map(|(name, bytes)| Source::Bundled(name, bytes)).collect();
        for folder in &self.0.folders {
            sources.extend(scan(folder)?.into_iter().map(Source::File));
        }
        let (mut components, mut refusals) = (Vec::<Arc<Component>>::new(), Vec::new());
        for loaded in self.load_all(&sources, &grants) {
            match loaded {
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
        let stale = components.iter().filter(|found| grants.is_pinned_elsewhere(&found.name, &found.digest));
        self.0.stale.store(Arc::new(stale.map(|found| found.name.clone()).collect()));
        self.0.catalogue.store(Arc::new(Catalogue::new(components, refusals)));
        Ok(())
    }

    /// Loads on all cores: compiling is what takes time. Answers in the sources' order.
    fn load_all(&self, sources: &[Source], grants: &Grants) -> Vec<Result<Arc<Component>, Refusal>> {
        let loaded = self.catalogue();
        let next = AtomicUsize::new(0);
        let work = || {
            let mut done = Vec::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(source) = sources.get(at) else { return done };
                // One file that makes the host stumble must not keep the others out.
                let result = catch_unwind(AssertUnwindSafe(|| self.load(source, grants, &loaded)));
                let stumbled =
                    |_| Err(Refusal::new(&source.place(), "the host panicked while loading it: please report this"));
                done.push((at, result.unwrap_or_else(stumbled)));
            }
        };
        let threads = thread::available_parallelism().map_or(1, usize::from).min(sources.len()).max(1);
        let mut results: Vec<(usize, Result<Arc<Component>, Refusal>)> = thread::scope(|scope| {
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

    fn load(&self, source: &Source, grants: &Grants, loaded: &Catalogue) -> Result<Arc<Component>, Refusal> {
        let file = match source {
            Source::Bundled(name, bytes) => ComponentFile::bundled(name, bytes),
            Source::File(path) => ComponentFile::open(path)?,
        };
        let limits = grants.of(&file.name, &file.digest).map_or(Limits::HANDLE, |grant| grant.limits());
        // What is loaded already keeps its compiled form.
        if let Some(same) = loaded.components().iter().find(|known| known.is(&file, &limits)) {
            return Ok(Arc::clone(same));
        }
        if !self.0.loader.is_new(&file) {
            return self.0.loader.load(&file, limits).map(Arc::new);
        }
        self.tell(LoadEvent::Compiling(file.name.clone()));
        let component = self.0.loader.load(&file, limits).map(Arc::new);
        self.tell(LoadEvent::Compiled(file.name));
        component
    }

    fn tell(&self, event: LoadEvent) {
        if let Some(listener) = &self.0.listener {
            listener(event);
        }
    }
}
