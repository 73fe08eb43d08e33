//! What every command passes before it runs. Who decides is not known here: the approval does.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fmt::Debug,
    path::{Path, PathBuf},
};

use futures_util::future::BoxFuture;

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
    /// Whether it will run what is written to it later, so that this is decided about, too.
    pub reads_code: bool,
}

/// Decides about commands before they run.
pub trait Decider: Debug + Send + Sync {
    /// Lets a command pass, or tells the model why not. It may take as long as it takes: dropping the answer withdraws the question.
    fn decide<'a>(&'a self, planned: Planned<'a>) -> BoxFuture<'a, Result<Passed, String>>;
}
