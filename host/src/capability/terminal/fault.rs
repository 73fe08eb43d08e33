//! Why a command was not run.

use std::{io, path::PathBuf, time::Duration};

use super::limits;

/// Why something was refused or failed. A command that ran and failed is no fault but an outcome.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The machine's doing.
    #[error("failed to {what}: {why}")]
    Machine {
        /// What was tried.
        what: &'static str,
        /// The system's word.
        why: io::Error,
    },
    /// The working directory of the call or of the task.
    #[error("no directory '{}' to run the command in: pass a workdir that exists", .0.display())]
    NoDirectory(PathBuf),
    /// Another command of the task came between deciding and running.
    #[error(
        "another command of this task changed its directory or variables while this one was decided about: try again"
    )]
    Moved,
    /// More time than there is.
    #[error("a timeout of {} s is more than the {} s that a command in the foreground may take: start it in the background",
        .0.as_secs(), limits::TIMEOUT_MAX.as_secs())]
    Timeout(Duration),
    /// More text than fits.
    #[error("a command of {0} bytes is more than {max}: write it to a file and run that", max = limits::COMMAND_BYTES)]
    Command(usize),
    /// A byte that no argument can hold.
    #[error("a command can't hold a NUL byte")]
    Nul,
    /// Too many at once.
    #[error("{0} commands are running already: wait for one to end, or kill one")]
    Busy(usize),
    /// No such background process, or another task's.
    #[error("no process '{0}': list the processes of this task")]
    Unknown(String),
    /// It has ended.
    #[error("process '{0}' has ended: read its log")]
    Over(String),
    /// Its input was closed.
    #[error("the input of process '{0}' is closed")]
    InputClosed(String),
    /// It does not read.
    #[error("process '{0}' does not read what it is sent")]
    InputFull(String),
    /// A watch that asks for too much.
    #[error("{0}")]
    Watch(String),
    /// The sandbox can't be had here.
    #[error("no sandbox here, so nothing is run: {0}")]
    NoSandbox(String),
    /// The other machine.
    #[error("failed to reach {host} by ssh: {why}")]
    Remote {
        /// Where to.
        host: String,
        /// What the client said.
        why: String,
    },
}

impl Fault {
    /// For `map_err`: the system refused what was tried.
    pub(crate) fn machine(what: &'static str) -> impl Fn(io::Error) -> Self {
        move |why| Self::Machine { what, why }
    }
}
