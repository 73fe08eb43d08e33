//! Where commands run: on this machine, confined or not, or on another one.

mod foreground;
mod hint;
mod keys;
mod local;
mod reach;
mod remarks;
mod sandbox;
mod ssh;

use std::{collections::BTreeMap, ffi::OsString, fmt::Debug, future::Future, path::PathBuf, pin::Pin};

use super::{Child, Fault, Outcome, Request};

pub use local::Local;
pub(crate) use local::command_line;
pub use reach::SandboxPolicy;
pub(crate) use reach::cache_names;
pub(crate) use remarks::{SandboxRemarks, joined};
pub use sandbox::{Sandbox, SandboxSite};
pub use ssh::{Ssh, Target};

/// An answer that takes its time.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A place to run commands. It keeps each task's working directory and exported variables.
pub trait Backend: Debug + Send + Sync {
    /// Its name in the configuration.
    fn name(&self) -> &'static str;

    /// Runs a command to its end. When the answer is dropped, the command is ended.
    fn execute<'a>(&'a self, task: &'a str, request: Request) -> Answer<'a, Result<Outcome, Fault>>;

    /// Starts a command that goes on by itself. When the child is dropped, the command is ended.
    fn spawn<'a>(&'a self, task: &'a str, request: Request) -> Answer<'a, Result<Child, Fault>>;

    /// Where a task's next command will run.
    fn cwd(&self, task: &str) -> PathBuf;

    /// What a task's commands changed of the variables that every task begins with.
    fn exported(&self, task: &str) -> BTreeMap<OsString, OsString>;

    /// Forgets a task and removes what it left on disk.
    fn cleanup<'a>(&'a self, task: &'a str) -> Answer<'a, ()>;
}
