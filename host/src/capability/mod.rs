//! The host functions, one room per capability.
//!
//! A capability has one shape: it is linked once, its grant is read without I/O, and each call gets its own state in
//! [`CallState`]. What a component does not import it can never call, and what the operator did
//! not grant answers with an error.

pub mod ask;
mod decision;
mod effect;
pub(crate) mod fs;
pub(crate) mod log;
pub mod terminal;
pub(crate) mod wasi;

use std::sync::Arc;

use wasmtime::component::Linker;

pub use decision::{DecidedBy, Decision};
pub(crate) use effect::EffectRecorder;

use crate::{sandbox::CallState, wit::latest::Call};

/// A kind of host function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capability {
    /// `hermes:tool/log`.
    Log,
    /// Reading, listing and searching files, by `hermes:tool/filesystem` or WASI.
    FilesRead,
    /// Changing files, by either.
    FilesWrite,
    /// Running commands.
    Terminal,
    /// Asking the person at the other end.
    Ask,
    /// Any part of WASI.
    Wasi,
}

impl Capability {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Log, Self::FilesRead, Self::FilesWrite, Self::Terminal, Self::Ask, Self::Wasi];

    /// The name that the audit shows.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::FilesRead => "files-read",
            Self::FilesWrite => "files-write",
            Self::Terminal => "terminal",
            Self::Ask => "ask",
            Self::Wasi => "wasi",
        }
    }
}

/// Which capabilities one run made use of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used(u16);

impl Used {
    pub(crate) fn add(&mut self, capability: Capability) {
        self.0 |= 1 << capability as u16;
    }

    /// Whether nothing outside the call was changed: its log is its own, and reading leaves files as they are.
    pub(crate) fn changed_nothing(self) -> bool {
        self.0 & !(1 << Capability::Log as u16 | 1 << Capability::FilesRead as u16) == 0
    }

    /// Their names.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Capability::ALL.into_iter().filter(move |one| self.0 & (1 << *one as u16) != 0).map(Capability::name)
    }
}

/// What the operator granted a component, ready to be used by its calls. Nothing, unless it is said.
#[derive(Clone, Debug, Default)]
pub struct Granted {
    pub(crate) folders: Option<Arc<fs::Folders>>,
    pub(crate) commands: Option<Arc<terminal::Commands>>,
    pub(crate) asking: Option<Arc<ask::Asking>>,
    /// Why a grant that is written for its name does not hold, and what to do.
    pub(crate) stale: Option<Arc<str>>,
    /// Records a call before its effects. Not part of the grant.
    pub(crate) effects: Option<EffectRecorder>,
}

impl Granted {
    /// The same, for a call that is put on record before its effects.
    pub(crate) fn recording(&self, effects: EffectRecorder) -> Self {
        Self { effects: Some(effects), ..self.clone() }
    }

    /// What one call has.
    pub(crate) fn for_call(&self, call: &Call) -> OfCall {
        let caller = |commands| terminal::Caller::new(commands, call, self.effects.clone());
        let asker = |asking| ask::Asker::new(asking, call.name.clone(), call.context.call_id.clone());
        OfCall {
            files: self.files(Some(fs::ChangeCaller::new(call))),
            commands: self.commands.clone().map(caller),
            asker: self.asking.clone().map(asker),
            stale: self.stale.clone(),
        }
    }

    /// What a check has: it looks, and neither runs nor asks anything.
    pub(crate) fn for_check(&self) -> OfCall {
        OfCall {
            files: self.files(None),
            commands: self.commands.clone().map(terminal::Caller::for_check),
            asker: None,
            stale: self.stale.clone(),
        }
    }

    /// What of it a component with these imports asks for. Calls carry the rest nowhere.
    pub(crate) fn asked_for(&self, imports: impl Fn(&str) -> bool) -> Self {
        Self {
            folders: self.folders.clone().filter(|_| FILES.iter().any(|interface| imports(interface))),
            commands: self.commands.clone().filter(|_| imports(COMMANDS)),
            asking: self.asking.clone().filter(|_| imports(ANSWERS)),
            stale: self.stale.clone(),
            effects: None,
        }
    }

    /// What it could do to the world outside its calls.
    pub(crate) fn powers(&self) -> Powers {
        let writes = self.folders.as_ref().is_some_and(|folders| folders.can_write_anywhere());
        let commands = self.commands.as_ref();
        let reaches_out = commands.is_some_and(|commands| match commands.place {
            terminal::Place::Local | terminal::Place::Ssh(_) => true,
            terminal::Place::Sandbox { network, .. } => network || commands.may_escalate(),
        });
        Powers { changes: writes || commands.is_some(), reaches_out }
    }

    fn files(&self, caller: Option<fs::ChangeCaller>) -> Option<fs::Files> {
        self.folders.as_ref().map(|folders| fs::Files::new(Arc::clone(folders), caller))
    }
}

/// What a component could do, whatever it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Powers {
    /// Change something that outlives its calls.
    pub(crate) changes: bool,
    /// Reach beyond this machine.
    pub(crate) reaches_out: bool,
}

/// What one call has of each capability. Nothing, where it was not granted.
#[derive(Debug, Default)]
pub(crate) struct OfCall {
    pub(crate) files: Option<fs::Files>,
    pub(crate) commands: Option<terminal::Caller>,
    pub(crate) asker: Option<ask::Asker>,
    /// Why a grant that is written for the component does not hold.
    pub(crate) stale: Option<Arc<str>>,
}

impl OfCall {
    /// Why something is not granted: no grant names it, or the one that may is stale.
    pub(crate) fn ungranted(&self, otherwise: &str) -> String {
        self.stale.as_deref().unwrap_or(otherwise).to_owned()
    }
}

/// The same grant gives the same, whoever opened it.
impl PartialEq for Granted {
    fn eq(&self, other: &Self) -> bool {
        let folders = match (&self.folders, &other.folders) {
            (Some(one), Some(other)) => one.grants_as(other),
            (None, None) => true,
            _ => false,
        };
        let commands = match (&self.commands, &other.commands) {
            (Some(one), Some(other)) => one.grants_as(other),
            (None, None) => true,
            _ => false,
        };
        folders && commands && self.asking.is_some() == other.asking.is_some() && self.stale == other.stale
    }
}

/// What a component imports that can use files.
pub const FILES: [&str; 2] = ["hermes:tool/filesystem", "wasi:filesystem"];

/// What a component imports that runs commands.
pub const COMMANDS: &str = "hermes:tool/terminal";

/// What people are asked by.
pub const ANSWERS: &str = "hermes:tool/ask";

/// Every interface a component may import, with what it means for the operator. An import that matches none is refused
/// before the component is compiled.
pub const IMPORTS: &[(&str, &str)] = &[
    ("hermes:tool/types", "shared types, no functions"),
    ("hermes:tool/log", "write to the call's log and report progress"),
    ("hermes:tool/filesystem", "read, change and search files in the folders that are granted"),
    ("hermes:tool/terminal", "run the commands that are granted, under approval"),
    ("hermes:tool/ask", "put a form before the person at the other end, where that is granted"),
    ("wasi:cli", "standard streams (to the call's log), empty environment and arguments"),
    ("wasi:clocks", "read the clocks, wait within the call's time"),
    ("wasi:filesystem", "files in the folders that are granted"),
    ("wasi:io", "streams and polling"),
    ("wasi:random", "random numbers"),
    ("wasi:sockets", "network: none, every address is refused"),
];

/// What an import means, or nothing for one that this host does not have.
pub fn meaning(import: &str) -> Option<&'static str> {
    IMPORTS
        .iter()
        .find(|(name, _)| import == *name || import.starts_with(&format!("{name}/")))
        .map(|(_, meaning)| *meaning)
}

/// The table of limits on what the capabilities do, in Markdown.
pub fn limits_table() -> String {
    fs::limits::table()
}

/// Links everything.
pub(crate) fn link(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    log::link(linker)?;
    fs::link(linker)?;
    terminal::link(linker)?;
    ask::link(linker)?;
    wasi::link(linker)
}
