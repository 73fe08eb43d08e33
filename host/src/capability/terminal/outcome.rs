//! What became of a command.

use std::path::PathBuf;

use super::Captured;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this code.
    Exit(i32),
    /// By this signal.
    Signal(i32),
    /// At its deadline, with every process it had started.
    Timeout,
    /// Its supervisor was killed, so nobody knows.
    Lost,
}

impl Ended {
    /// The code that a shell would show.
    pub const fn code(self) -> i32 {
        match self {
            Self::Exit(code) => code,
            Self::Signal(number) => 128 + number,
            Self::Timeout => 124,
            Self::Lost => 137,
        }
    }
}

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
