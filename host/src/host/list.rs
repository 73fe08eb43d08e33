//! All tools and toolsets, and whether each can work.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use futures_util::future::join_all;

use super::{
    Host,
    call::{has_env, registered},
};
use crate::{
    component::Digest,
    dispatch::{CallError, ErrorKind},
    registry::{Answer, Entry, Status, ToolsetError, ToolsetGroup},
    sandbox::limits::CATALOGUE_WALL,
    text::one_line,
};

/// Bytes of a check's reason: one line of a list.
const REASON_BYTES: usize = 500;

/// One tool and whether it can work.
#[derive(Clone, Debug)]
pub struct ToolStatus {
    /// The tool.
    pub entry: Arc<Entry>,
    /// Whether it can work.
    pub status: Status,
    /// Whether the operator's grant is for other bytes than these.
    pub grant_is_stale: bool,
}

/// One toolset and what it comes to here.
#[derive(Clone, Debug)]
pub struct ToolsetStatus {
    /// Its name.
    pub name: String,
    /// Where it comes from.
    pub group: ToolsetGroup,
    /// What it is for; empty for one that only exists because tools were registered under its name.
    pub description: String,
    /// The toolsets it includes.
    pub includes: Vec<String>,
    /// Every name that it resolves to.
    pub tools: Vec<String>,
    /// Those of them that are loaded and can work: a toolset is available if there is one.
    pub available: Vec<String>,
    /// Why it can't be resolved.
    pub problem: Option<String>,
}

impl Host {
    /// All tools and whether each can work here. Asks those whose last answer is old: components at the same time, the tools of
    /// one in turn, all of them within [`CATALOGUE_WALL`]. As long again, after the start, for what is being compiled.
    pub async fn list(&self) -> Vec<ToolStatus> {
        self.settled().await;
        let catalogue = self.catalogue();
        let mut by_component: BTreeMap<Digest, Vec<&Arc<Entry>>> = BTreeMap::new();
        for entry in catalogue.tools() {
            by_component.entry(entry.component.digest).or_default().push(entry);
        }
        let asked = by_component.values().map(|entries| async {
            if entries.iter().any(|entry| self.is_being_compiled(&entry.component)) {
                return entries.iter().map(|entry| (*entry, Status::Compiling)).collect();
            }
            let statuses = self.sandbox().within(CATALOGUE_WALL, self.check_all(entries)).await;
            let late = |entry: &&Arc<Entry>| self.unasked(entry, "its check has not answered yet; ask again".into());
            let statuses = statuses.unwrap_or_else(|| entries.iter().map(late).collect());
            entries.iter().copied().zip(statuses).collect::<Vec<_>>()
        });
        let settings = Arc::clone(&self.0.current.load().settings);
        let mut all: Vec<ToolStatus> = join_all(asked)
            .await
            .into_iter()
            .flatten()
            .map(|(entry, status)| ToolStatus {
                status,
                grant_is_stale: settings.stale.contains(&entry.component.digest),
                entry: Arc::clone(entry),
            })
            .collect();
        all.sort_by(|a, b| a.entry.definition.name.cmp(&b.entry.definition.name));
        all
    }

    /// [`list`](Self::list) for callers without an executor. Blocks the thread.
    pub fn list_blocking(&self) -> Vec<ToolStatus> {
        pollster::block_on(self.list())
    }

    /// Forgets what the checks answered: the next list asks again.
    pub fn forget_checks(&self) {
        self.0.availability.forget();
    }

    /// Every toolset, or the named one, and what it comes to.
    pub async fn list_toolsets(&self, name: Option<&str>) -> Result<Vec<ToolsetStatus>, ToolsetError> {
        let statuses = self.list().await;
        let catalogue = self.catalogue();
        let registered = registered(&catalogue);
        let toolsets = self.toolsets();
        let works =
            |tool: &str| statuses.iter().any(|one| one.entry.definition.name == tool && one.status.is_offered());
        let describe = |name: &str, resolved: Result<BTreeSet<String>, ToolsetError>| {
            let found = toolsets.get(name);
            let (tools, problem) = match resolved {
                Ok(tools) => (tools.into_iter().collect(), None),
                Err(why) => (Vec::new(), Some(why.to_string())),
            };
            ToolsetStatus {
                name: name.to_owned(),
                group: toolsets.group(name),
                description: found.map(|toolset| toolset.description.clone()).unwrap_or_default(),
                includes: found.map(|toolset| toolset.includes.clone()).unwrap_or_default(),
                available: tools.iter().filter(|tool| works(tool)).cloned().collect(),
                tools,
                problem,
            }
        };
        if let Some(name) = name {
            return Ok(vec![describe(name, Ok(toolsets.resolve(name, &registered)?))]);
        }
        // One that includes what does not exist must not hide the others.
        let names = toolsets.names(&registered);
        Ok(names.iter().map(|name| describe(name, toolsets.resolve(name, &registered))).collect())
    }

    /// Asks the tools of one component. After one that had to be ended the others are not asked: it would be the same code again.
    async fn check_all(&self, entries: &[&Arc<Entry>]) -> Vec<Status> {
        let mut statuses = Vec::new();
        let mut ended: Option<&str> = None;
        for entry in entries {
            let name = &entry.definition.name;
            let was_ended = AtomicBool::new(false);
            let status = match ended {
                Some(first) => self.unasked(entry, format!("not asked, since the check of {first} was ended")),
                None => match missing_env(entry) {
                    Some(why) => Status::Unavailable(why),
                    None => {
                        let check = || self.check(entry, &was_ended);
                        self.0.availability.status(entry.component.digest, name, Instant::now, check).await
                    }
                },
            };
            if was_ended.load(Ordering::Relaxed) {
                ended = Some(name);
            }
            statuses.push(status);
        }
        statuses
    }

    fn unasked(&self, entry: &Entry, why: String) -> Status {
        self.0.availability.unasked(entry.component.digest, &entry.definition.name, Instant::now(), why)
    }

    /// Asks one tool whether it can work here.
    async fn check(&self, entry: &Entry, was_ended: &AtomicBool) -> Answer {
        let component = &entry.component;
        let prepared = component.prepared(&self.0.pipeline.loader).await?;
        let name = entry.definition.name.clone();
        let run = self.sandbox().check(prepared, component.limits.memory, &component.granted, name).await;
        match run.map_err(|busy| busy.to_string())?.answer {
            Ok(answer) => {
                answer.map_err(|why| one_line(&CallError::new(ErrorKind::Unavailable, &why).message, REASON_BYTES))
            }
            Err(kill) => {
                was_ended.store(true, Ordering::Relaxed);
                Err(format!("its check was ended ({}): {kill}", kill.reason))
            }
        }
    }
}

/// What the host looks at before it asks the tool.
fn missing_env(entry: &Entry) -> Option<String> {
    let missing = entry.definition.required_env.iter().find(|name| !has_env(name))?;
    Some(format!("the environment variable {missing} is not set"))
}
