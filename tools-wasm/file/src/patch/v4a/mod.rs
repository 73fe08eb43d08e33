//! Patches of several files in the format that models are trained on:
//!
//! ```text
//! *** Begin Patch
//! *** Update File: src/a.py
//! *** Move to: src/b.py
//! @@ def run():
//!      first()
//! -    second()
//! +    third()
//! *** Add File: notes.txt
//! +A line.
//! *** Delete File: old.txt
//! *** Move File: x.txt -> y.txt
//! *** End Patch
//! ```
//!
//! [`parse`] reads one, [`plan`] works out what it does to the files that are there, all of it or nothing.

mod assign;
mod failure;
mod hunk;
mod lines;
mod locate;
mod parse;
mod plan;
mod tree;
mod update;

pub(crate) use self::{
    failure::{PlanError, Why},
    hunk::{Hunk, Row, Sign},
    parse::parse,
    plan::plan,
    tree::{Change, Files, Planned},
};

/// One thing that a patch does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Operation<'a> {
    /// The line of the patch that says so.
    pub(crate) line: usize,
    /// The file.
    pub(crate) path: &'a str,
    /// What happens to it.
    pub(crate) action: Action<'a>,
}

/// What happens to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action<'a> {
    /// It is made, with this content.
    Add(String),
    /// It is removed.
    Delete,
    /// It is changed, moved, or both.
    Update {
        /// The changes, in the order of the file.
        hunks: Vec<Hunk<'a>>,
        /// Where it is moved to.
        target: Option<&'a str>,
    },
}
