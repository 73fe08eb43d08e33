//! Which calls of a batch may run at the same time.
//!
//! A batch is cut into segments: the calls of a segment run at the same time, segments run one after the other. Order is kept,
//! so a call never runs before one that was asked for earlier and could change what it sees.

use std::{
    collections::HashMap,
    ffi::OsStr,
    ops::Range,
    path::{Component, PathBuf},
};

/// How a call gets along with its neighbours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Safety {
    /// It runs alone: it may touch anything, or nobody knows what it touches.
    Barrier,
    /// It gets along with everything but a barrier.
    Parallel,
    /// It touches one file, or one folder and all below it.
    Path {
        /// Canonical: two names of one file are two files here.
        path: PathBuf,
        /// Whether it changes what is there.
        writes: bool,
    },
}

/// The segments of a batch, in order; together they cover it. Every segment is as long as it can be. Takes time linear in the
/// bytes of all paths.
pub(crate) fn plan(items: &[Safety]) -> Vec<Range<usize>> {
    let mut segments = Vec::new();
    let mut start = 0;
    let mut touched = Touched::nothing();
    for (index, item) in items.iter().enumerate() {
        let alone = *item == Safety::Barrier || index > 0 && items[index - 1] == Safety::Barrier;
        if index > start && (alone || touched.clashes(item)) {
            segments.push(start..index);
            start = index;
            touched = Touched::nothing();
        }
        touched.add(item);
    }
    if start < items.len() {
        segments.push(start..items.len());
    }
    segments
}

/// What somebody does to a place; the worse, the greater.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Access {
    #[default]
    None,
    Reads,
    Writes,
}

impl Access {
    fn of(writes: bool) -> Self {
        if writes { Self::Writes } else { Self::Reads }
    }

    fn clashes(self, other: Self) -> bool {
        self.min(other) != Self::None && self.max(other) == Self::Writes
    }
}

/// A place in the tree of the paths of one segment.
#[derive(Clone, Copy, Default)]
struct Place {
    /// By calls whose path ends here.
    here: Access,
    /// By calls whose path goes on below.
    below: Access,
}

/// The tree of the paths of one segment. A step is found by where it starts and its name, so the tree is flat: it is as deep as
/// the longest path, which a model wrote, and must not be dropped by recursion.
struct Touched<'a> {
    /// The root comes first.
    places: Vec<Place>,
    steps: HashMap<(usize, &'a OsStr), usize>,
}

impl<'a> Touched<'a> {
    fn nothing() -> Self {
        Self { places: vec![Place::default()], steps: HashMap::new() }
    }

    fn clashes(&self, item: &Safety) -> bool {
        let Safety::Path { path, writes } = item else { return false };
        let access = Access::of(*writes);
        let mut at = 0;
        for name in path.components().map(Component::as_os_str) {
            if access.clashes(self.places[at].here) {
                return true;
            }
            match self.steps.get(&(at, name)) {
                Some(next) => at = *next,
                None => return false,
            }
        }
        access.clashes(self.places[at].here) || access.clashes(self.places[at].below)
    }

    fn add(&mut self, item: &'a Safety) {
        let Safety::Path { path, writes } = item else { return };
        let access = Access::of(*writes);
        let mut at = 0;
        for name in path.components().map(Component::as_os_str) {
            self.places[at].below = self.places[at].below.max(access);
            let new = self.places.len();
            at = *self.steps.entry((at, name)).or_insert(new);
            if at == new {
                self.places.push(Place::default());
            }
        }
        self.places[at].here = self.places[at].here.max(access);
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

    use super::*;

    fn reads(path: &str) -> Safety {
        Safety::Path { path: path.into(), writes: false }
    }

    fn writes(path: &str) -> Safety {
        Safety::Path { path: path.into(), writes: true }
    }

    fn lengths(items: &[Safety]) -> Vec<usize> {
        plan(items).iter().map(ExactSizeIterator::len).collect()
    }

    #[test]
    fn a_barrier_runs_alone() {
        use Safety::{Barrier, Parallel};
        assert_eq!(lengths(&[]), [0; 0]);
        assert_eq!(lengths(&[Barrier]), [1]);
        assert_eq!(lengths(&[Parallel, Parallel, Barrier, Barrier, Parallel]), [2, 1, 1, 1]);
    }

    #[test]
    fn a_writer_and_anybody_else_at_overlapping_paths_run_one_after_the_other() {
        assert_eq!(lengths(&[writes("/a/b"), reads("/a/b")]), [1, 1]);
        assert_eq!(lengths(&[reads("/a"), writes("/a/b")]), [1, 1]);
        assert_eq!(lengths(&[writes("/a/b"), Safety::Parallel, reads("/a")]), [2, 1]);
        assert_eq!(lengths(&[reads("/a/b"), writes("/")]), [1, 1]);
        assert_eq!(lengths(&[reads("/a/b/c"), writes("/a/b/d"), writes("/a/b")]), [2, 1]);
    }

    #[test]
    fn readers_and_neighbours_run_together() {
        assert_eq!(lengths(&[reads("/a"), reads("/a"), reads("/a/b"), Safety::Parallel]), [4]);
        // A prefix of the text is no prefix of the path.
        assert_eq!(lengths(&[writes("/a/b"), writes("/a/bc"), writes("/a/b.c"), writes("/b")]), [4]);
    }

    #[test]
    fn a_new_run_remembers_nothing_of_the_one_before() {
        assert_eq!(lengths(&[writes("/a"), writes("/b"), writes("/a"), writes("/b")]), [2, 2]);
    }

    #[test]
    fn many_long_paths_take_linear_time() {
        let deep = "/x".repeat(300);
        let items: Vec<_> = (0..50_000).map(|n| writes(&format!("{deep}/{n}"))).collect();
        let start = Instant::now();
        assert_eq!(lengths(&items), [50_000]);
        // Comparing each with each would take many minutes.
        assert!(start.elapsed() < Duration::from_secs(120), "{:?}", start.elapsed());
        // Deeper than any stack.
        let endless = "/x".repeat(1_000_000);
        assert_eq!(lengths(&[writes(&endless), reads(&endless)]), [1, 1]);
    }

    /// Two calls that must not run at the same time, told without any tree.
    fn apart(one: &Safety, other: &Safety) -> bool {
        match (one, other) {
            (Safety::Barrier, _) | (_, Safety::Barrier) => true,
            (Safety::Path { path: a, writes: v }, Safety::Path { path: b, writes: w }) => {
                (*v || *w) && (a.starts_with(b) || b.starts_with(a))
            }
            _ => false,
        }
    }

    fn item() -> impl Strategy<Value = Safety> {
        prop_oneof![
            1 => Just(Safety::Barrier),
            2 => Just(Safety::Parallel),
            8 => ("(/[ab]){0,4}", any::<bool>())
                .prop_map(|(path, writes)| Safety::Path { path: format!("/{path}").into(), writes }),
        ]
    }

    proptest! {
        #[test]
        fn segments_cover_the_batch_keep_enemies_apart_and_are_as_long_as_they_can_be(
            items in prop::collection::vec(item(), 0..40),
        ) {
            let segments = plan(&items);
            prop_assert_eq!(segments.iter().cloned().flatten().collect::<Vec<_>>(), (0..items.len()).collect::<Vec<_>>());
            for segment in &segments {
                prop_assert!(!segment.is_empty());
                for (n, one) in items[segment.clone()].iter().enumerate() {
                    prop_assert!(!items[segment.clone()][..n].iter().any(|other| apart(one, other)));
                }
            }
            for pair in segments.windows(2) {
                let first = &items[pair[1].start];
                prop_assert!(items[pair[0].clone()].iter().any(|other| apart(first, other)));
            }
        }
    }
}
