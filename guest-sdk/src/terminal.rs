//! Commands on the operator's machine: run to their end, or kept in the background.
//!
//! A command line is judged before it runs, and may wait for a person. What was refused, or could not be tried, answers with a
//! [`Fault`]; `?` turns one into the tool's [`Error`]. A command that ran and failed is no fault but an [`Outcome`]. The working
//! directory and exported variables of a task persist from one command line to its next; processes end with their task.
//!
//! ```
//! use hermes_tool::terminal::{self, Command, Options};
//! use hermes_tool::{NoArgs, Result, tool};
//!
//! /// Says which branch is checked out.
//! #[tool(read_only)]
//! fn branch(_: NoArgs) -> Result<String> {
//!     let command = Command::Shell("git branch --show-current".into());
//!     let outcome = terminal::run(&command, &Options::default(), Some(10), None)?;
//!     Ok(outcome.output.trim().to_owned())
//! }
//! # use hermes_tool::testing::{self, FakeHost};
//! # let host = FakeHost::new().command("git branch --show-current", Ok(testing::ran(0, "main\n")));
//! # assert_eq!(host.call(branch::TOOL, "{}").unwrap().text(), "main");
//! ```

pub use crate::bindings::hermes::tool::terminal::{
    Command, Ended, Ending, Escalation, EscalationKind, Excerpt, Match, News, Notice, Options, Outcome, Program,
    Reason, Status, Watch,
};

#[cfg(target_family = "wasm")]
use crate::bindings::hermes::tool::terminal as host;
#[cfg(not(target_family = "wasm"))]
use crate::testing::terminal as host;

use crate::Error;

/// Runs a command to its end, or to the timeout in seconds. It reads the input, or nothing.
pub fn run(command: &Command, options: &Options, timeout: Option<u32>, input: Option<&[u8]>) -> Result<Outcome, Fault> {
    Ok(host::run(command, options, timeout, input)?)
}

/// Starts a command in the background.
pub fn start(command: &Command, options: &Options, watch: &Watch) -> Result<Status, Fault> {
    Ok(host::start(command, options, watch)?)
}

/// Runs a command to its end with less confinement. A person decides, unless the operator has.
pub fn run_escalated(
    command: &Command,
    options: &Options,
    timeout: Option<u32>,
    input: Option<&[u8]>,
    escalation: &Escalation,
) -> Result<Outcome, Fault> {
    Ok(host::run_escalated(command, options, timeout, input, escalation)?)
}

/// Starts a command in the background with less confinement. A person decides, unless the operator has.
pub fn start_escalated(
    command: &Command,
    options: &Options,
    watch: &Watch,
    escalation: &Escalation,
) -> Result<Status, Fault> {
    Ok(host::start_escalated(command, options, watch, escalation)?)
}

/// This task's background processes, the oldest first.
pub fn processes() -> Result<Vec<Status>, Fault> {
    Ok(host::processes()?)
}

/// How a process stands, with the last of what it printed.
pub fn poll(id: &str) -> Result<Status, Fault> {
    Ok(host::poll(id)?)
}

/// Lines that a process printed: from one on, counted from 0, or the last ones.
pub fn log(id: &str, from: Option<u64>, limit: Option<u32>) -> Result<Excerpt, Fault> {
    Ok(host::log(id, from, limit)?)
}

/// Waits for a process's end, for so many seconds. The status tells whether it came.
pub fn wait(id: &str, seconds: Option<u32>) -> Result<Status, Fault> {
    Ok(host::wait(id, seconds)?)
}

/// Writes to a process.
pub fn write(id: &str, bytes: &[u8]) -> Result<(), Fault> {
    Ok(host::write(id, bytes)?)
}

/// Writes a line to a process.
pub fn submit(id: &str, line: &str) -> Result<(), Fault> {
    Ok(host::submit(id, line)?)
}

/// Tells a process that nothing more will be written.
pub fn close(id: &str) -> Result<(), Fault> {
    Ok(host::close(id)?)
}

/// Ends a process, with all that came of it.
pub fn kill(id: &str) -> Result<Status, Fault> {
    Ok(host::kill(id)?)
}

/// What happened to this task's processes since it was last asked. Each is told once: whoever asks must pass it on.
pub fn notices() -> Result<Vec<Notice>, Fault> {
    Ok(host::notices()?)
}

// Where the task is, and without a pseudo-terminal.
#[allow(clippy::derivable_impls, reason = "the type is generated")]
impl Default for Options {
    fn default() -> Self {
        Self { workdir: None, pty: false }
    }
}

/// Why something was not done. It is no standard error, so that `?` keeps its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The kind of reason.
    pub reason: Reason,
    /// For the model: names the command or process and what to do.
    pub message: String,
}

impl From<host::Fault> for Fault {
    fn from(fault: host::Fault) -> Self {
        Self { reason: fault.reason, message: fault.message }
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        match fault.reason {
            Reason::Denied => Self::denied(fault.message),
            Reason::Invalid => Self::invalid(fault.message),
            _ => Self::failed(fault.message),
        }
    }
}
