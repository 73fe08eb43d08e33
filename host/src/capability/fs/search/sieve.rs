//! Which of the names in a folder are taken.

use std::{ffi::OsStr, os::unix::ffi::OsStrExt, path::Path};

use super::{
    globs::Globs,
    ignored::Level,
    records::{Filter, Rules},
    skipped::Skip,
};

/// Decides by name and path alone.
pub(super) struct Sieve<'a> {
    filter: &'a Filter,
    globs: Globs,
    rules: &'a Rules<'a>,
    /// Bytes of a path that lead to the start: globs and refusals are about the rest.
    start: usize,
}

impl<'a> Sieve<'a> {
    pub(super) fn new(filter: &'a Filter, globs: Globs, rules: &'a Rules<'a>, start: usize) -> Self {
        Self { filter, globs, rules, start }
    }

    /// Whether a file is taken. The path goes from the granted folder on.
    pub(super) fn file(&self, path: &[u8], name: &[u8], level: Option<&Level>) -> Result<(), Skip> {
        let below = as_path(self.below(path));
        if self.hides(name) || !self.globs.fit(below) || level.is_some_and(|level| level.ignores(path, false)) {
            return Err(Skip::Gone);
        }
        self.refuse(below, name)
    }

    /// Whether a folder is entered.
    pub(super) fn folder(&self, path: &[u8], name: &[u8], level: Option<&Level>) -> Result<(), Skip> {
        let below = as_path(self.below(path));
        // What git keeps there are no files of the project.
        let internal = name == b".git" && !(self.filter.hidden && self.filter.ignored);
        if internal
            || self.hides(name)
            || self.globs.leave_out(below)
            || level.is_some_and(|level| level.ignores(path, true))
        {
            return Err(Skip::Gone);
        }
        self.refuse(below, name)
    }

    /// Whether it is worth telling that something else was skipped. What a link leads to is not known, so globs don't decide.
    pub(super) fn other(&self, path: &[u8], name: &[u8], level: Option<&Level>, skip: Skip) -> Skip {
        if self.hides(name) || level.is_some_and(|level| level.ignores(path, false)) { Skip::Gone } else { skip }
    }

    /// Whether ignore files count.
    pub(super) fn ignores(&self) -> bool {
        !self.filter.ignored
    }

    /// The part of a path below the start.
    pub(super) fn below<'p>(&self, path: &'p [u8]) -> &'p [u8] {
        path.get(self.start..).unwrap_or_default()
    }

    /// Whether a file that was named itself is taken: nothing but globs and refusals count.
    pub(super) fn named(&self, name: &[u8]) -> Result<(), Skip> {
        let path = as_path(name);
        if !self.globs.fit(path) {
            return Err(Skip::Gone);
        }
        self.refuse(path, name)
    }

    fn hides(&self, name: &[u8]) -> bool {
        !self.filter.hidden && name.starts_with(b".")
    }

    fn refuse(&self, path: &Path, name: &[u8]) -> Result<(), Skip> {
        if (self.rules.refused)(path, name) { Err(Skip::Refused) } else { Ok(()) }
    }
}

fn as_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}
