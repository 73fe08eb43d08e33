//! What is asked of a walk, and what it answers.

use std::{ffi::OsStr, ops::Range, os::fd::BorrowedFd, path::Path, sync::atomic::AtomicBool, time::Instant};

/// Where to look.
#[derive(Clone, Copy)]
pub(crate) struct Start<'a> {
    /// What is looked in. It was opened safely by the caller.
    pub(crate) place: Place<'a>,
    /// The folders above it, from the granted one down: their ignore files count too.
    pub(crate) above: &'a [Step<'a>],
    /// How the place itself is shown. Paths of results begin with it.
    pub(crate) shown: &'a str,
}

impl Start<'_> {
    /// How a path below the start is shown. Bytes that are no UTF-8 can't be.
    pub(super) fn show(&self, path: &[u8]) -> String {
        let path = String::from_utf8_lossy(path);
        let slash = if self.shown.is_empty() || path.is_empty() || self.shown.ends_with('/') { "" } else { "/" };
        format!("{}{slash}{path}", self.shown)
    }
}

/// A folder, or a single file.
#[derive(Clone, Copy)]
pub(crate) enum Place<'a> {
    /// All that is below it.
    Folder(BorrowedFd<'a>),
    /// This file alone, hidden or ignored as it may be: it was named. Globs must still fit its name.
    File {
        /// The file.
        file: BorrowedFd<'a>,
        /// Its name.
        name: &'a OsStr,
    },
}

/// A folder on the way to the start.
#[derive(Clone, Copy)]
pub(crate) struct Step<'a> {
    /// The folder.
    pub(crate) folder: BorrowedFd<'a>,
    /// The name in it that leads on to the start.
    pub(crate) name: &'a OsStr,
}

/// Which files, and which part of the findings.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    /// Globs that a file must fit: one of those without `!`, if there are any, and none of those with it.
    pub(crate) globs: Vec<String>,
    /// Also names that start with a dot.
    pub(crate) hidden: bool,
    /// Also what ignore files leave out.
    pub(crate) ignored: bool,
    /// Leave out so many findings.
    pub(crate) skip: u64,
    /// Give so many at most.
    pub(crate) take: u32,
}

/// What is skipped, taken and given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Granularity {
    /// Matching lines.
    Lines,
    /// Files with matches.
    Files,
}

/// A search for content.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    /// Which files, and which part of the findings.
    pub(crate) filter: Filter,
    /// A regular expression in the syntax of Rust's `regex`.
    pub(crate) pattern: String,
    /// What is counted for `skip` and `take`.
    pub(crate) granularity: Granularity,
    /// Lines to give before and after each match.
    pub(crate) context: u32,
    /// Bytes of each line at most.
    pub(crate) width: u32,
}

/// Masks secrets: of a whole file and a range in it, the bytes of that range to hand out, as many as before, and how many
/// secrets they held.
pub(crate) type Mask<'a> = dyn Fn(&[u8], Range<usize>) -> (Vec<u8>, u32) + Sync + 'a;

/// What is held back.
#[derive(Clone, Copy)]
pub(crate) struct Rules<'a> {
    /// Whether a file or folder is never handed out, by its path below the start and its name.
    pub(crate) refused: &'a (dyn Fn(&Path, &[u8]) -> bool + Sync),
    /// Masks the lines that are given.
    pub(crate) mask: Option<&'a Mask<'a>>,
    /// Whether files that have another name too are read. That name may lie outside.
    pub(crate) hard_links: bool,
}

impl Rules<'_> {
    /// A text with its secrets masked, where it has any. What matches is decided by it: counts must not answer what a secret begins
    /// with.
    pub(super) fn masked(&self, text: &[u8]) -> Option<Vec<u8>> {
        let (masked, secrets) = self.mask?(text, 0..text.len());
        (secrets > 0).then_some(masked)
    }
}

/// When to end early.
#[derive(Clone, Copy)]
pub(crate) struct Stop<'a> {
    /// Set when nobody waits for the answer any more.
    pub(crate) given_up: &'a AtomicBool,
    /// When the answer must be there.
    pub(crate) deadline: Instant,
}

/// How far a walk came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Files that were looked at.
    pub(crate) files: u64,
    /// Files that were not, and why: `12 binary`.
    pub(crate) skipped: Vec<String>,
    /// Why the walk ended early.
    pub(crate) stopped: Option<String>,
}

/// Files by their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// Sorted by their bytes.
    pub(crate) paths: Vec<String>,
    /// How many there are in all.
    pub(crate) total: u64,
    /// How far the walk came.
    pub(crate) extent: Extent,
}

/// A line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    /// The file it is in.
    pub(crate) path: String,
    /// Which line, from 1.
    pub(crate) number: u64,
    /// Its beginning, without a line break.
    pub(crate) text: String,
    /// False for a line that is there for context.
    pub(crate) matches: bool,
}

/// A file with matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tally {
    /// The file.
    pub(crate) path: String,
    /// Matching lines in it.
    pub(crate) count: u64,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Findings {
    /// Sorted by path and line.
    pub(crate) hits: Vec<Hit>,
    /// Sorted by path: the files that were asked for, or those that the hits lie in.
    pub(crate) files: Vec<Tally>,
    /// Matching lines in all files.
    pub(crate) total: u64,
    /// Files with a match.
    pub(crate) total_files: u64,
    /// Secrets that were masked in the hits.
    pub(crate) masked: u32,
    /// How far the walk came.
    pub(crate) extent: Extent,
}

/// Why there is no answer. The text is for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    /// A glob or the pattern can't be used.
    Invalid(String),
    /// The system refused.
    Failed(String),
}
