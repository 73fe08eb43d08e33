//! What a caller asks for.

use std::{collections::BTreeMap, ffi::OsString, fmt, path::PathBuf, sync::Arc, time::Duration};

use super::backend::Sandbox;

/// Hears output as it comes, before it is bounded. It must not block.
pub type Sink = Arc<dyn Fn(&[u8]) + Send + Sync>;

/// What is run.
#[derive(Clone, Debug)]
pub enum What {
    /// A command line, read by a shell.
    Shell(String),
    /// A program and its arguments: no shell reads them.
    Exec {
        /// Its name or path.
        program: OsString,
        /// Its arguments, without its name.
        arguments: Vec<OsString>,
    },
}

/// What a command reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Input {
    /// Nothing: its standard input has ended before it began.
    #[default]
    Closed,
    /// These bytes, then the end.
    Bytes(Vec<u8>),
    /// What is written to it later.
    Open,
}

impl Input {
    /// In the foreground nobody can write later.
    pub(crate) fn closed_if_open(self) -> Self {
        match self {
            Self::Open => Self::Closed,
            given => given,
        }
    }
}

/// One command.
#[derive(Clone)]
pub struct Request {
    /// What is run.
    pub what: What,
    /// Where, for this call alone; else where the task's last command ended.
    pub workdir: Option<PathBuf>,
    /// How long it may run in the foreground.
    pub timeout: Option<Duration>,
    /// Whether it gets a terminal.
    pub pty: bool,
    /// What it reads.
    pub input: Input,
    /// Who hears its output as it comes.
    pub sink: Option<Sink>,
    /// What it was decided about in. It does not run in anything else.
    pub decided: Option<Decided>,
    /// The sandbox that confines it on this machine.
    pub sandbox: Option<SandboxUse>,
}

/// A sandbox around one command.
#[derive(Clone, Debug)]
pub struct SandboxUse {
    /// What confines it.
    pub sandbox: Arc<Sandbox>,
    /// Whether it reaches the network.
    pub network: bool,
}

/// What a task had when a command was decided about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    /// Where the command would run.
    pub cwd: PathBuf,
    /// What the task's commands had exported.
    pub exported: BTreeMap<OsString, OsString>,
}

impl Request {
    /// A command line, with everything else as usual.
    pub fn shell(command: impl Into<String>) -> Self {
        Self::new(What::Shell(command.into()))
    }

    /// A program and its arguments, with everything else as usual.
    pub fn exec<A: Into<OsString>>(program: impl Into<OsString>, arguments: impl IntoIterator<Item = A>) -> Self {
        let arguments = arguments.into_iter().map(Into::into).collect();
        Self::new(What::Exec { program: program.into(), arguments })
    }

    pub(crate) fn new(what: What) -> Self {
        Self {
            what,
            workdir: None,
            timeout: None,
            pty: false,
            input: Input::Closed,
            sink: None,
            decided: None,
            sandbox: None,
        }
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What a command reads may be a password.
        f.debug_struct("Request").field("what", &self.what).field("workdir", &self.workdir).finish_non_exhaustive()
    }
}
