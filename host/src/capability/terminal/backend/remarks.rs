//! What the answer of a confined command says beside its output.

use std::path::PathBuf;

use super::{
    super::{Ended, SandboxUse},
    hint,
};

/// Files that other programs obey, as an answer names those that a command made.
const OBEYED_NAMES: usize = 8;

/// The sandbox of a command, and the files of the workspace that other programs obey as they were before it.
#[derive(Debug)]
pub(crate) struct SandboxRemarks {
    pub(super) used: SandboxUse,
    pub(super) obeyed: Vec<PathBuf>,
}

impl SandboxRemarks {
    /// That the sandbox is the likely cause of a failure, and which files that other programs obey the command made.
    pub(crate) async fn of(self, ended: Ended, output: &str) -> Option<String> {
        let Self { used, obeyed } = self;
        let hint = hint::of(ended, output, used.network, |path| used.sandbox.shows(path)).map(str::to_owned);
        // A walk through the workspace, off the threads that serve.
        let made = tokio::task::spawn_blocking(move || used.sandbox.newly_obeyed(&obeyed)).await.unwrap_or_default();
        let names: Vec<String> = made.iter().take(OBEYED_NAMES).map(|path| path.display().to_string()).collect();
        let made = (!names.is_empty()).then(|| {
            format!(
                "it made files that other programs obey without being asked, which a person should look at: {}",
                names.join(", ")
            )
        });
        joined([hint, made])
    }
}

/// Notes as one.
pub(crate) fn joined(notes: [Option<String>; 2]) -> Option<String> {
    notes.into_iter().flatten().reduce(|note, more| format!("{note}; {more}"))
}
