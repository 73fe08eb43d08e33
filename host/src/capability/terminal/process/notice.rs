//! What a listener hears of background processes.

use std::sync::Arc;

use super::super::Ended;

/// Hears notices. It must not block.
pub type Listener = Arc<dyn Fn(Notice) + Send + Sync>;

/// Something happened to a background process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Whose process it is.
    pub task: String,
    /// Its name.
    pub process: String,
    /// What happened.
    pub news: News,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// It ended.
    Ended {
        /// How.
        ended: Ended,
        /// The last of what it printed.
        tail: String,
    },
    /// It printed a line that was watched for.
    Matched {
        /// The pattern.
        pattern: String,
        /// The line.
        line: String,
        /// Matches since the last notice that were not told.
        untold: u64,
    },
    /// It matches so often that it is no longer watched.
    Unwatched {
        /// Matches since the last notice that were not told.
        untold: u64,
    },
}
