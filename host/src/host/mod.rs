//! The host as a library: load components, list their tools, call them.

mod builder;
mod load;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use arc_swap::ArcSwap;
use futures_util::future::join_all;

pub use builder::{HostBuilder, HostError};
pub use load::{LoadEvent, LoadListener};

use crate::{
    component::{Component, Digest, Loader},
    dispatch::{self, CallError, ErrorKind, Outcome, Reply},
    registry::{Answer, Availability, Catalogue, Entry},
    sandbox::{Control, KillReason, Prepared, Sandbox, caught, limits::CATALOGUE_WALL},
    wit::latest,
};

/// The components that are embedded in this binary, by name.
pub const BUNDLED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/bundled.rs"));

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
    loader: Arc<Loader>,
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

    /// All tools and whether each can work here. Asks those whose last answer is old: components at the same time, the tools of
    /// one in turn, all of them within [`CATALOGUE_WALL`].
    pub async fn list(&self) -> Vec<ToolStatus> {
        let catalogue = self.catalogue();
        let mut by_component: BTreeMap<Digest, Vec<&Arc<Entry>>> = BTreeMap::new();
        for entry in catalogue.tools() {
            by_component.entry(entry.component.digest).or_default().push(entry);
        }
        let answers = by_component.values().map(|entries| async {
            let answers = self.0.sandbox.within(CATALOGUE_WALL, self.check_all(entries)).await;
            let none = || vec![Err("its check has not answered yet; ask again".to_owned()); entries.len()];
            entries.iter().copied().zip(answers.unwrap_or_else(none)).collect::<Vec<_>>()
        });
        let stale = self.0.stale.load();
        let mut statuses: Vec<ToolStatus> = join_all(answers)
            .await
            .into_iter()
            .flatten()
            .map(|(entry, answer)| ToolStatus {
                unavailable: answer.err(),
                grant_is_stale: stale.contains(&entry.component.name),
                entry: Arc::clone(entry),
            })
            .collect();
        statuses.sort_by(|a, b| a.entry.definition.name.cmp(&b.entry.definition.name));
        statuses
    }

    /// Asks the tools of one component. After one that had to be ended the others are not asked: it would be the same code again.
    async fn check_all(&self, entries: &[&Arc<Entry>]) -> Vec<Answer> {
        let mut answers = Vec::new();
        let mut ended = None;
        for entry in entries {
            let answer = match &ended {
                Some(first) => Err(format!("not asked, since the check of {first} was ended")),
                None => match self.check(entry).await {
                    Ok(answer) => answer,
                    Err(why) => {
                        ended = Some(entry.definition.name.clone());
                        Err(why)
                    }
                },
            };
            answers.push(answer);
        }
        answers
    }

    /// Asks one tool whether it can work here. The outer error means that its check had to be ended, which also means no.
    async fn check(&self, entry: &Entry) -> Result<Answer, String> {
        let definition = &entry.definition;
        let missing = definition.required_env.iter().find(|name| std::env::var_os(name).is_none());
        if let Some(name) = missing {
            return Ok(Err(format!("the environment variable {name} is not set")));
        }
        let digest = entry.component.digest;
        if let Some(answer) = self.0.availability.get(&digest, &definition.name) {
            return Ok(answer);
        }
        let prepared = match self.prepared(&entry.component).await {
            Ok(prepared) => prepared,
            Err(why) => return Ok(Err(why)),
        };
        let run = match self.0.sandbox.check(prepared, entry.component.limits.memory, definition.name.clone()).await {
            Ok(run) => run,
            Err(busy) => return Ok(Err(busy.to_string())),
        };
        let (answer, ended) = match run.answer {
            Ok(answer) => (answer.map_err(|why| CallError::new(ErrorKind::Unavailable, &why).message), false),
            Err(kill) => (Err(format!("its check was ended ({}): {kill}", kill.reason)), true),
        };
        self.0.availability.put(digest, &definition.name, answer.clone());
        match answer {
            Err(why) if ended => Err(why),
            answer => Ok(answer),
        }
    }

    /// Calls a tool. Never fails otherwise than by an [`Outcome`], and works on any executor. Dropping the future ends the
    /// guest.
    pub async fn call(&self, name: &str, arguments: &str, context: CallContext) -> Outcome {
        let catalogue = self.0.catalogue.load();
        let Some(entry) = catalogue.get(name).cloned() else {
            return unknown(&catalogue, name).into();
        };
        drop(catalogue);
        match caught(self.call_entry(&entry, arguments, context)).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(error)) => error.into(),
            Err(panic) => CallError::new(ErrorKind::Killed(KillReason::HostPanic), &panic).into(),
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
        let prepared = self.prepared(component).await;
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
        let most = definition.max_result_size.and_then(|size| usize::try_from(size).ok()).unwrap_or(usize::MAX);
        let result = match run.answer {
            Ok(Ok(content)) => Reply::accept(name, content, most),
            Ok(Err(failure)) => Err(failure.into()),
            Err(kill) => Err(CallError::killed(name, &kill, &run.log)),
        };
        Ok(Outcome { result, log: run.log, usage: run.usage })
    }

    /// The linked form of a component, made when it is first needed: once, and on a thread that may block.
    async fn prepared<'a>(&self, component: &'a Arc<Component>) -> Result<&'a Prepared, String> {
        let make = || async {
            let (loader, wanted, bundled) = (Arc::clone(&self.0.loader), Arc::clone(component), self.0.bundled);
            self.0.sandbox.blocking(move || loader.link(&wanted, bundled)).await?
        };
        component.prepared.get_or_try_init(make).await
    }

    fn next_call_id(&self) -> String {
        format!("call-{}", self.0.calls.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

fn unknown(catalogue: &Catalogue, name: &str) -> CallError {
    let shown = crate::text::one_line(name, 80);
    let hint = match catalogue.near(name).as_slice() {
        [] if !catalogue.refusals().is_empty() => {
            format!("{} files were refused, and the list of tools says why", catalogue.refusals().len())
        }
        [] => "see the list of tools".to_owned(),
        near => format!("did you mean {}?", near.join(" or ")),
    };
    CallError::new(ErrorKind::UnknownTool, &format!("there is no tool {shown:?}; {hint}"))
}
