//! What is known about the place where a command would run.

use std::collections::BTreeMap;

/// What is known before a command runs. What is left out counts as unknown, which leans to asking.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// The directory in which the command starts, absolute.
    pub directory: Option<String>,
    /// The user's home, absolute.
    pub home: Option<String>,
    /// The folder that the agent may work in, absolute.
    pub workspace: Option<String>,
    /// Where the host keeps its own files, beside `~/.hermes`: its home, its configuration, its components. Absolute.
    pub own: Vec<String>,
    /// Variables that the task exported earlier.
    pub variables: BTreeMap<String, String>,
    /// What the command is given to read, where it is given anything.
    pub input: Option<String>,
    /// Aliases that the task's shell knows.
    pub aliases: BTreeMap<String, String>,
}
