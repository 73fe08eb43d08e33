//! From a file to a component that can be called: find it, read it once, hash it, read its type, compile it in a child
//! process, keep the result, ask it what it offers.
//!
//! One bad file never stops the others: each gets one line of reason, a [`Refusal`].

mod accounting;
mod artifact;
mod cache;
mod compile;
mod file;
mod inspect;
mod kind;
mod load;
mod scan;
mod watch;
pub mod worker;

pub use crate::{digest::Digest, text::valid_name};
pub use cache::{Cache, CacheError};
pub use compile::{CompileLimits, Compiler};
pub use file::{COMPONENT_BYTES, ComponentFile, Identity, Origin};
pub use inspect::{Import, Inspection, Role, inspect};
pub use kind::{Hooks, Kind, Tools};
pub use load::{Component, Loader, Terms};
pub(crate) use scan::check_writable;
pub use scan::{ScanError, make_folder, scan};
pub use watch::{Change, Waker, Watcher};

/// A file that was not loaded, and why, in one line. File and import names are strangers' text, so both are cleaned.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Refusal {
    /// The file, or the name of a bundled component.
    pub place: String,
    /// Why, and what to do.
    pub reason: String,
}

impl Refusal {
    /// The longest reason that is shown.
    const REASON_BYTES: usize = 500;
    /// The longest place: a path may have 4,096 bytes.
    const PLACE_BYTES: usize = 4_200;

    pub(crate) fn new(place: &str, reason: &str) -> Self {
        let clean = crate::text::one_line;
        Self { place: clean(place, Self::PLACE_BYTES), reason: clean(reason, Self::REASON_BYTES) }
    }
}
