//! Where keys and tokens lie: what a confined command can't read.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::paths::credentials::credential_paths;

/// Root's home: what lies in there is of the whole machine.
const ROOTS_HOME: &str = "/root";

/// Every place that is hidden, by its own name and by where a link at it leads.
pub(super) fn places(home: Option<&Path>, more: &[PathBuf]) -> Vec<PathBuf> {
    let home = home.map(|home| fs::canonicalize(home).unwrap_or_else(|_| home.to_owned()));
    // Root's own home is a user's home too: then its keys are hidden, and not all of it.
    let roots =
        Some(PathBuf::from(ROOTS_HOME)).filter(|place| home.as_ref().is_none_or(|home| !home.starts_with(place)));
    let named: Vec<PathBuf> =
        credential_paths(home.as_deref()).into_iter().chain(roots).chain(more.iter().cloned()).collect();
    let real: Vec<PathBuf> = named.iter().filter_map(|place| fs::canonicalize(place).ok()).collect();
    [named, real].concat()
}
