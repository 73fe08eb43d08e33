//! A map that holds so many entries and no more: the one that was not used for the longest time makes room.

use std::{collections::HashMap, hash::Hash};

/// The map. Making room looks at every entry, so it is for hundreds of them, not for millions.
pub(super) struct Recent<K, V> {
    most: usize,
    /// Grows with every use; an entry holds the time of its last one.
    clock: u64,
    entries: HashMap<K, (u64, V)>,
}

impl<K: Copy + Eq + Hash, V: Default> Recent<K, V> {
    /// An empty map for `most` entries, at least one.
    pub(super) fn new(most: usize) -> Self {
        Self { most, clock: 0, entries: HashMap::new() }
    }

    /// An entry, if it is there. This is a use.
    pub(super) fn get(&mut self, key: &K) -> Option<&mut V> {
        self.clock += 1;
        let (used, value) = self.entries.get_mut(key)?;
        *used = self.clock;
        Some(value)
    }

    /// An entry, a new one if it was not there. This is a use.
    pub(super) fn entry(&mut self, key: K) -> &mut V {
        if self.entries.len() >= self.most && !self.entries.contains_key(&key) {
            let oldest = self.entries.iter().min_by_key(|(_, (used, _))| *used).map(|(key, _)| *key);
            oldest.map(|key| self.entries.remove(&key));
        }
        self.clock += 1;
        let (used, value) = self.entries.entry(key).or_default();
        *used = self.clock;
        value
    }

    /// Removes an entry.
    pub(super) fn remove(&mut self, key: &K) {
        self.entries.remove(key);
    }

    /// Visits all entries, and keeps those for which `keep` says so. This is no use.
    pub(super) fn retain(&mut self, mut keep: impl FnMut(&mut V) -> bool) {
        self.entries.retain(|_, (_, value)| keep(value));
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entry_that_was_not_used_for_the_longest_time_makes_room() {
        let mut recent = Recent::<u32, u32>::new(3);
        for key in 0..3 {
            *recent.entry(key) = key + 10;
        }
        assert_eq!(recent.get(&0), Some(&mut 10));
        assert_eq!(*recent.entry(1), 11);
        assert_eq!(*recent.entry(3), 0);
        assert_eq!(recent.get(&2), None);
        assert_eq!(recent.get(&0), Some(&mut 10));
        assert_eq!(recent.len(), 3);
    }

    #[test]
    fn what_is_removed_is_gone() {
        let mut recent = Recent::<u32, u32>::new(3);
        *recent.entry(1) = 1;
        *recent.entry(2) = 2;
        recent.retain(|value| *value > 1);
        assert_eq!(recent.get(&1), None);
        assert_eq!(recent.get(&2), Some(&mut 2));
        recent.remove(&2);
        assert_eq!(recent.len(), 0);
    }
}
