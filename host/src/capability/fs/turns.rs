//! Who changes a file waits for others who do.

use std::{
    collections::BTreeSet,
    hash::{DefaultHasher, Hash, Hasher},
    path::Path,
    sync::Mutex,
};

/// How many files can be changed at the same time, at most; two may by chance have to wait for each other.
const TURNS: usize = 64;

/// One lock for each group of paths.
#[derive(Debug)]
pub(crate) struct Turns([Mutex<()>; TURNS]);

impl Default for Turns {
    fn default() -> Self {
        Self([const { Mutex::new(()) }; TURNS])
    }
}

impl Turns {
    /// The locks of these paths, to be taken in this order: nobody who does so waits in a circle.
    pub(super) fn of<'p>(&self, paths: impl Iterator<Item = &'p Path>) -> Vec<&Mutex<()>> {
        let groups: BTreeSet<usize> = paths
            .map(|path| {
                let mut hasher = DefaultHasher::new();
                path.hash(&mut hasher);
                (hasher.finish() % TURNS as u64) as usize
            })
            .collect();
        groups.into_iter().filter_map(|group| self.0.get(group)).collect()
    }
}
