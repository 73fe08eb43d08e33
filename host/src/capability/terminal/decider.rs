//! What every command passes before it runs. Who decides is not known here: the approval does.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fmt::{self, Debug},
    path::{Path, PathBuf},
};

use futures_util::future::BoxFuture;

use crate::capability::DecidedBy;

/// A command that is about to run, and all that decides what it would do.
#[derive(Clone, Copy, Debug)]
pub struct Planned<'a> {
    /// The component that asks.
    pub component: &'a str,
    /// The tool that was called.
    pub tool: &'a str,
    /// The call of it.
    pub call: &'a str,
    /// The agent's task.
    pub task: Option<&'a str>,
    /// The agent's session.
    pub session: Option<&'a str>,
    /// The command line.
    pub text: &'a str,
    /// What it is given to read.
    pub input: Option<&'a [u8]>,
    /// All that was written before to the process that gets this line. Nothing: it is a command of its own.
    pub before: Option<&'a str>,
    /// Where it would run, where that is known.
    pub directory: Option<&'a Path>,
    /// What its task exported.
    pub variables: &'a BTreeMap<OsString, OsString>,
    /// The folder that the agent works in and the user's home, where they are on the machine that runs it.
    pub here: Option<Here<'a>>,
    /// The grant names this very program and its arguments: only what nobody can allow is refused.
    pub is_granted: bool,
    /// What confines it.
    pub isolation: Isolation,
    /// Why it asks for less confinement than its component has.
    pub escalation: Option<&'a Escalation>,
}

/// A command that asks for less confinement than it would have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Escalation {
    /// What it asks for.
    pub to: EscalationKind,
    /// Why, in the words of the model.
    pub reason: String,
    /// Whether the operator lets it pass without a question.
    pub is_allowed: bool,
}

/// What a command can ask for beyond the sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EscalationKind {
    /// The network, still confined.
    Network,
    /// No confinement.
    Unconfined,
}

impl fmt::Display for EscalationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Network => "network",
            Self::Unconfined => "unconfined",
        })
    }
}

/// What confines a command while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// The sandbox: writes stay in the workspace, reads in an allow list.
    Confined {
        /// Whether it reaches the network.
        network: bool,
    },
    /// Nothing beyond the rights of the user that runs it.
    Unconfined,
}

/// This machine's places.
#[derive(Clone, Copy, Debug)]
pub struct Here<'a> {
    /// The folder that the agent works in.
    pub workspace: &'a Path,
    /// The user's home.
    pub home: Option<&'a Path>,
    /// The host's own files.
    pub own: &'a [PathBuf],
}

/// The word that lets a command run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    /// Who gave it and for how long, where somebody had to.
    pub by: Option<String>,
    /// The same for the audit.
    pub decided: Option<DecidedBy>,
    /// Whether it will run what is written to it later, so that this is decided about, too.
    pub reads_code: bool,
}

/// The word that something does not happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotPassed {
    /// Why, and what to do next. For the model.
    pub why: String,
    /// Who said so, for the audit.
    pub by: DecidedBy,
}

/// Decides about commands before they run.
pub trait Decider: Debug + Send + Sync {
    /// Lets a command pass, or tells the model why not. It may take as long as it takes: dropping the answer withdraws the question.
    fn decide<'a>(&'a self, planned: Planned<'a>) -> BoxFuture<'a, Result<Passed, NotPassed>>;
}
