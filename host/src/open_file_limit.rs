//! How many files this process may open: `RLIMIT_NOFILE`, see getrlimit(2).

use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

static ORIGINAL: OnceLock<Option<u64>> = OnceLock::new();

/// Raises the soft limit of open files to the hard one. The usual soft limit of 1024 is for programs that use select(2); connections,
/// commands and files of guests together may need more. Commands that the host starts get the old soft limit back.
///
/// The binary calls it at the start. An embedder calls it where it may change the limits of its process.
pub fn raise_open_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    ORIGINAL.get_or_init(|| limit.current);
    if let Err(why) = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum }) {
        tracing::warn!("failed to raise the limit of open files: {why}");
    }
}

/// The soft limit that this process was started with, where it was raised. What a command is to have.
pub(crate) fn original_open_file_limit() -> Option<u64> {
    ORIGINAL.get().copied().flatten()
}
