//! What a command would do to the machine, as far as the judge can derive it.

use serde::Serialize;

/// One derived effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Effect {
    /// Its kind.
    pub kind: EffectKind,
    /// The path, program or address. `…` stands for a part that is only known when the command runs.
    pub target: String,
}

/// Kinds of effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EffectKind {
    /// Reads a file or a folder.
    Reads,
    /// Makes or changes a file.
    Writes,
    /// Deletes a file or a tree.
    Deletes,
    /// Runs a program.
    Runs,
    /// Reaches the network.
    Network,
}

impl EffectKind {
    /// The word that `approvals explain` prints.
    pub fn word(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::Writes => "writes",
            Self::Deletes => "deletes",
            Self::Runs => "runs",
            Self::Network => "network",
        }
    }
}
