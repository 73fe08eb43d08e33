//! The interface as guests call it: every call is counted, what was granted is asked, and work that may take long happens on another
//! thread, where the call's deadline does not wait for it.

use std::sync::Arc;

use wasmtime::component::{HasSelf, Linker};

use super::{
    ObeyedChange, PlannedChanges,
    commit::{self, Unmade},
    decider::preview,
    fault::{Outcome, fault},
    folders::Folders,
    lines, list,
    look::{self, Waiting},
    open::Open,
    permit::Permit,
    read, stat,
};
use crate::{
    capability::{Capability, DecidedBy, Decision, terminal::NotPassed},
    sandbox::{CallState, Kill},
    wit::latest::filesystem::{
        self as wit, Change, Changed, Excerpt, Fault, Filter, Findings, Found, LinesQuery, Listing, Metadata, Piece,
        Reason, SearchQuery,
    },
};

pub(in super::super) fn link(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    wit::add_to_linker::<_, HasSelf<CallState>>(linker, |state| state)
}

/// What the functions return: outside the kill of the call, inside what the guest hears.
type Answer<T> = wasmtime::Result<Outcome<T>>;

/// The folders of a call, and the task that it belongs to.
type Here = (Arc<Folders>, Option<String>);

impl CallState {
    /// Counts a call, and gives the folders and the task.
    fn granted(&mut self, capability: Capability) -> Result<Outcome<Here>, Kill> {
        self.count_host_call(capability)?;
        Ok(match &self.held.files {
            Some(files) => {
                let task = files.caller.as_ref().and_then(|caller| caller.task.clone());
                Ok((Arc::clone(&files.folders), task))
            }
            None => {
                Err(fault(Reason::Denied, "no folder was granted; the operator can change that with hermes-host grant"))
            }
        })
    }
}

impl CallState {
    /// Asks for a decision about changes of files that other programs obey. The call's clock is paused meanwhile.
    async fn decide_changes(
        &mut self,
        folders: &Folders,
        files: &[ObeyedChange],
        changes: &[Change],
    ) -> Result<(), Fault> {
        let caller = self.held.files.as_ref().and_then(|files| files.caller.clone());
        let decided = match (folders.decider(), &caller) {
            (Some(decider), Some(caller)) => {
                let clock = Arc::clone(&self.clock);
                let _still = clock.stand_still();
                let preview = preview(changes);
                let planned = PlannedChanges { component: folders.component(), caller, files, preview: &preview };
                decider.decide_changes(planned).await
            }
            _ => {
                let why = "it needs a person's approval, and there is nobody to ask".to_owned();
                Err(NotPassed { why, by: DecidedBy::Nobody })
            }
        };
        let decision = match &decided {
            Ok(by) => Decision::approved(*by),
            Err(no) => Decision::refused(no.by),
        };
        self.note(Some(decision));
        decided.map(drop).map_err(|NotPassed { why, .. }| {
            let named = files.iter().map(|file| format!("{} (obeyed by {})", file.path.display(), file.row.program));
            fault(Reason::Denied, format!("{} was not changed: {why}", named.collect::<Vec<_>>().join(", ")))
        })
    }
}

/// Runs work that may take long on a thread where it may.
pub(super) async fn elsewhere<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(lost) if lost.is_panic() => std::panic::resume_unwind(lost.into_panic()),
        // The host is shutting down: this call is never asked again.
        Err(_) => std::future::pending().await,
    }
}

/// Gives the guest its fault, or goes on.
macro_rules! granted {
    ($state:expr, $capability:expr) => {
        match $state.granted($capability)? {
            Ok(granted) => granted,
            Err(fault) => return Ok(Err(fault)),
        }
    };
}

/// Does something with an open file: here if that is quick, elsewhere if not.
async fn with_open<T: Send + 'static>(
    folders: Arc<Folders>,
    path: String,
    work: impl Fn(&Open<'_>) -> Outcome<T> + Send + 'static,
) -> Outcome<T> {
    if folders.is_local(&path) {
        let open = Open::new(&folders, &path)?;
        if open.is_quick() {
            return work(&open);
        }
    }
    elsewhere(move || work(&Open::new(&folders, &path)?)).await
}

impl wit::Host for CallState {
    async fn stat(&mut self, path: String) -> Answer<Metadata> {
        let (folders, _) = granted!(self, Capability::FilesRead);
        if folders.is_local(&path) {
            return Ok(stat::stat(&folders, &path));
        }
        Ok(elsewhere(move || stat::stat(&folders, &path)).await)
    }

    async fn read(&mut self, path: String, offset: u64, length: u64) -> Answer<Piece> {
        let (folders, _) = granted!(self, Capability::FilesRead);
        Ok(with_open(folders, path, move |open| read::read(open, offset, length)).await)
    }

    async fn lines(&mut self, query: LinesQuery) -> Answer<Excerpt> {
        let (folders, task) = granted!(self, Capability::FilesRead);
        let (known, path) = (Arc::clone(&folders), query.path.clone());
        let waiting = Waiting::default();
        let given_up = waiting.flag();
        let work = move |open: &Open<'_>| {
            let mut excerpt = lines::lines(open, &query, &given_up)?;
            if let Some(task) = &task {
                lines::remember(open, &known, task, &query, &mut excerpt);
            }
            Ok(excerpt)
        };
        Ok(with_open(folders, path, work).await)
    }

    async fn list(&mut self, path: String) -> Answer<Listing> {
        let (folders, _) = granted!(self, Capability::FilesRead);
        Ok(elsewhere(move || list::list(&folders, &path)).await)
    }

    async fn commit(&mut self, changes: Vec<Change>) -> Answer<Vec<Changed>> {
        let (folders, task) = granted!(self, Capability::FilesWrite);
        let budget = self.held.files.as_ref().map(|files| Arc::clone(&files.budget)).unwrap_or_default();
        let changes = Arc::new(changes);
        let make = |permit: Permit| {
            let (folders, task) = (Arc::clone(&folders), task.clone());
            let (budget, changes) = (Arc::clone(&budget), Arc::clone(&changes));
            elsewhere(move || commit::commit(&folders, task.as_deref(), &budget, &changes, &permit))
        };
        let obeyed = match make(Permit::to_look()).await {
            Ok(changed) => return Ok(Ok(changed)),
            Err(Unmade::Fault(fault)) => return Ok(Err(fault)),
            Err(Unmade::Obeyed(obeyed)) => obeyed,
        };
        if let Err(fault) = self.decide_changes(&folders, &obeyed, &changes).await {
            return Ok(Err(fault));
        }
        Ok(make(Permit::of(obeyed)).await.map_err(|unmade| match unmade {
            Unmade::Fault(fault) => fault,
            Unmade::Obeyed(_) => fault(Reason::Changed, "the files have changed during the decision; try again"),
        }))
    }

    async fn find(&mut self, filter: Filter) -> Answer<Found> {
        let (folders, _) = granted!(self, Capability::FilesRead);
        let waiting = Waiting::default();
        let given_up = waiting.flag();
        Ok(elsewhere(move || look::find(&folders, filter, &given_up)).await)
    }

    async fn search(&mut self, query: SearchQuery) -> Answer<Findings> {
        let (folders, _) = granted!(self, Capability::FilesRead);
        let waiting = Waiting::default();
        let given_up = waiting.flag();
        Ok(elsewhere(move || look::search(&folders, query, &given_up)).await)
    }
}
