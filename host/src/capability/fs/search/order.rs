//! The first findings in order, of however many.

use std::collections::BTreeMap;

use super::records::Granularity;

/// Bytes of the paths that are kept, with what a map takes round each. It is reached where findings far down are asked for: then
/// the order ends there, and fewer are given.
const KEPT_BYTES: usize = 32 << 20;

/// What an entry of the map takes besides its path.
const ENTRY_BYTES: usize = 64;

/// Bytes of all paths of an answer: the guest holds them too. Where they are more, fewer are given.
const PATHS_BYTES: usize = 1 << 20;

/// The first of the files in an answer, as many as there is room for.
pub(super) fn fitting<T>(files: impl Iterator<Item = T>, path: impl Fn(&T) -> &str) -> Vec<T> {
    let mut bytes = 0;
    let fits = |file: &T| {
        bytes += path(file).len();
        bytes <= PATHS_BYTES
    };
    files.take_while(fits).collect()
}

/// Files and their matches, by path. What can't be among the wanted ones any more is forgotten.
pub(super) struct Order {
    granularity: Granularity,
    skip: u64,
    take: u64,
    files: BTreeMap<Vec<u8>, u64>,
    /// Findings in `files`.
    held: u64,
    bytes: usize,
    most_bytes: usize,
    /// The smallest path that was forgotten. None from there on comes back.
    end: Option<Vec<u8>>,
}

/// A file, and which of its findings are wanted.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) path: Vec<u8>,
    /// Findings in the file.
    pub(super) count: u64,
    /// Leave out so many of them.
    pub(super) skip: u64,
    /// Then give so many.
    pub(super) take: u64,
}

impl Order {
    /// For the findings after some, up to a number of them: lines, or files.
    pub(super) fn new(granularity: Granularity, skip: u64, take: u32) -> Self {
        let (files, take) = (BTreeMap::new(), take.into());
        Self { granularity, skip, take, files, held: 0, bytes: 0, most_bytes: KEPT_BYTES, end: None }
    }

    /// Takes a file with its findings, unless enough others come before it.
    pub(super) fn offer(&mut self, path: &[u8], count: u64) {
        if self.take == 0 || self.end().is_some_and(|end| path >= end) {
            return;
        }
        let wanted = self.skip.saturating_add(self.take);
        self.held += self.weight(count);
        self.bytes += path.len() + ENTRY_BYTES;
        if let Some(before) = self.files.insert(path.to_vec(), count) {
            // A folder was moved while it was walked, and one path was seen twice.
            self.held -= self.weight(before);
            self.bytes -= path.len() + ENTRY_BYTES;
        }
        while let Some((last, count)) = self.files.last_key_value() {
            let weight = self.weight(*count);
            if self.held - weight < wanted && self.bytes <= self.most_bytes {
                break;
            }
            self.held -= weight;
            self.bytes -= last.len() + ENTRY_BYTES;
            self.end = self.files.pop_last().map(|(path, _)| path);
        }
    }

    /// Where the order ends: paths from there on have no chance.
    pub(super) fn end(&self) -> Option<&[u8]> {
        self.end.as_deref()
    }

    /// The files of the wanted findings.
    pub(super) fn wanted(self) -> impl Iterator<Item = Wanted> {
        let Self { granularity, mut skip, mut take, files, .. } = self;
        files.into_iter().filter_map(move |(path, count)| {
            let weight = weight(granularity, count);
            let skipped = skip.min(weight);
            let taken = take.min(weight - skipped);
            skip -= skipped;
            take -= taken;
            (taken > 0).then_some(Wanted { path, count, skip: skipped, take: taken })
        })
    }

    fn weight(&self, count: u64) -> u64 {
        weight(self.granularity, count)
    }
}

fn weight(granularity: Granularity, count: u64) -> u64 {
    match granularity {
        Granularity::Lines => count,
        Granularity::Files => 1,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_part_names_the_findings_in_each_file() {
        let mut order = Order::new(Granularity::Lines, 3, 4);
        for (path, count) in [("b", 3), ("a", 2), ("c", 1), ("e", 9), ("d", 5)] {
            order.offer(path.as_bytes(), count);
        }
        assert_eq!(order.files.len(), 4, "e has no chance");
        let wanted = |path: &str, skip, take, count| Wanted { path: path.into(), count, skip, take };
        let expected = [wanted("b", 1, 2, 3), wanted("c", 0, 1, 1), wanted("d", 0, 1, 5)];
        assert_eq!(order.wanted().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_is_kept_is_bounded_in_bytes_too() {
        let mut order = Order { most_bytes: 10 * (ENTRY_BYTES + 4), ..Order::new(Granularity::Files, 8, 500) };
        (0..100).rev().for_each(|n| order.offer(format!("{n:04}").as_bytes(), 1));
        assert_eq!(order.files.len(), 10);
        assert_eq!(order.end(), Some(&b"0010"[..]));
        order.offer(b"0011", 1);
        assert_eq!(order.wanted().map(|file| file.path).collect::<Vec<_>>(), [b"0008", b"0009"]);
    }

    #[test]
    fn nothing_is_kept_where_nothing_is_wanted() {
        let mut order = Order::new(Granularity::Files, 5, 0);
        order.offer(b"a", 1);
        assert!(order.files.is_empty());
    }

    proptest! {
        #[test]
        fn the_order_of_arrival_does_not_matter(
            files in prop::collection::btree_map("[a-c/]{1,4}", 1..5_u64, 0..30),
            shuffled in any::<prop::sample::Index>(),
            (skip, take) in (0..20_u64, 0..20_u32),
            lines in any::<bool>(),
        ) {
            let granularity = if lines { Granularity::Lines } else { Granularity::Files };
            let mut arrivals: Vec<_> = files.iter().collect();
            if !arrivals.is_empty() {
                let at = shuffled.index(arrivals.len());
                arrivals.rotate_left(at);
                arrivals[..at].reverse();
            }
            let mut order = Order::new(granularity, skip, take);
            arrivals.iter().for_each(|(path, count)| order.offer(path.as_bytes(), **count));
            let given: Vec<(Vec<u8>, u64)> = order.wanted()
                .flat_map(|file| (file.skip..file.skip + file.take).map(move |n| (file.path.clone(), n))).collect();
            let all = files.iter().flat_map(|(path, count)| {
                (0..weight(granularity, *count)).map(move |n| (path.clone().into_bytes(), n))
            });
            let expected: Vec<_> = all.skip(skip as usize).take(take as usize).collect();
            prop_assert_eq!(given, expected);
        }
    }
}
