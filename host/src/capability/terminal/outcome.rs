//! What became of a command.

use std::path::PathBuf;

pub use hermes_launch::Ended;

use super::Captured;

/// What a command in the foreground gave.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How it ended.
    pub ended: Ended,
    /// What it printed, on both streams in their order.
    pub output: Captured,
    /// What its code means, where that is not what one would think.
    pub note: Option<String>,
    /// Names of processes that it left and that were ended with it.
    pub left: Vec<String>,
    /// Where the task's next command will run.
    pub cwd: PathBuf,
}
