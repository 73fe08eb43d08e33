//! Whether a grant holds for the bytes that are there, and what to do where it does not.

use super::Grant;

/// What a grant comes to for one component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing<'a> {
    /// Nothing is written for its name.
    Nothing,
    /// It has what is written.
    Holds(&'a Grant),
    /// Something is written, and it has none of it.
    Stale(Stale),
}

/// Why a grant does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stale {
    /// It is for other bytes of the same name.
    OtherBytes,
    /// It grants files to a name.
    NoDigest,
}

impl Stale {
    /// Why, and what to run.
    pub fn reason(self, name: &str) -> String {
        let why = match self {
            Self::OtherBytes => "its grant is for other bytes",
            Self::NoDigest => "its grant has no digest, and files are granted to bytes, not to a name",
        };
        format!("{why}; if you trust these, run: hermes-host grant {name}")
    }
}
