//! Whether a grant holds for the bytes that are there, and what to do where it does not.

use std::path::Path;

use super::{Grant, config::is_bundled};
use crate::component::{Digest, Identity, Origin};

/// What a grant is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pin<'a> {
    /// These bytes, wherever they are.
    Bytes(&'a Digest),
    /// Whatever bytes are in a file, for whoever writes the tool.
    DevFile {
        /// The file.
        file: &'a Path,
        /// What is in it now.
        digest: &'a Digest,
    },
}

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
    /// It is for another file, in dev mode.
    OtherFile,
    /// It names both bytes and a file.
    TwoPins,
}

impl Stale {
    /// Why, and what to run.
    pub fn reason(self, name: &str) -> String {
        let why = match self {
            Self::OtherBytes => "its grant is for other bytes",
            Self::NoDigest => "its grant has no digest, and files are granted to bytes, not to a name",
            Self::OtherFile => "its grant is for another file (dev mode)",
            Self::TwoPins => "its grant has both a digest and a dev file",
        };
        format!("{why}; if you trust these, run: hermes-host grant {name}")
    }
}

impl Grant {
    /// Whether what it grants is for these bytes or this file already.
    pub(super) fn is_for(&self, pin: Pin<'_>) -> bool {
        let (digest, file) = match pin {
            Pin::Bytes(digest) => (digest, None),
            Pin::DevFile { file, digest } => (digest, Some(file)),
        };
        match (&self.digest, &self.dev) {
            (Some(_), Some(_)) => false,
            (Some(pinned), None) => pinned == digest,
            (None, Some(pinned)) => Some(pinned.as_path()) == file,
            (None, None) => !self.needs_digest() || is_bundled(digest),
        }
    }

    /// What it comes to for this component.
    pub(super) fn standing(&self, component: Identity<'_>) -> Standing<'_> {
        match (&self.digest, &self.dev) {
            (Some(_), Some(_)) => Standing::Stale(Stale::TwoPins),
            (Some(pinned), None) if pinned != component.digest => Standing::Stale(Stale::OtherBytes),
            (None, Some(file)) if !matches!(component.origin, Origin::File(path) if path == file) => {
                Standing::Stale(Stale::OtherFile)
            }
            (None, None) if self.needs_digest() && !is_bundled(component.digest) => Standing::Stale(Stale::NoDigest),
            _ => Standing::Holds(self),
        }
    }
}
