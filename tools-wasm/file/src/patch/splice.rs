//! A change of a text: pieces of it, and what takes their places.

use std::ops::Range;

/// Another text in place of the bytes from `start` to `end`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Splice {
    /// The first byte that goes.
    pub(crate) start: usize,
    /// The byte after the last one that goes.
    pub(crate) end: usize,
    /// What comes instead.
    pub(crate) text: String,
}

impl Splice {
    /// `new` in place of a range of the whole text, without what both have in common at their start and end. Nothing if they are
    /// the same.
    pub(crate) fn trimmed(whole: &str, range: Range<usize>, new: &str) -> Option<Self> {
        // A range of a text always lies on its character boundaries.
        let old = &whole[range.clone()];
        let (head, tail) = common(old, new);
        let splice = Self {
            start: range.start + head,
            end: range.end - tail,
            // What is common to both is common in whole characters.
            text: new[head..new.len() - tail].to_owned(),
        };
        (splice.start < splice.end || !splice.text.is_empty()).then_some(splice)
    }
}

/// How many bytes two texts have in common at their start, and at the end of the rest, both in whole characters.
pub(crate) fn common(old: &str, new: &str) -> (usize, usize) {
    let same = |pairs: &mut dyn Iterator<Item = (u8, u8)>| pairs.take_while(|(a, b)| a == b).count();
    let mut head = same(&mut old.bytes().zip(new.bytes()));
    while !(old.is_char_boundary(head) && new.is_char_boundary(head)) {
        head -= 1;
    }
    // Both are cut at a boundary of theirs.
    let (old, new) = (&old[head..], &new[head..]);
    let mut tail = same(&mut old.bytes().rev().zip(new.bytes().rev()));
    while !(old.is_char_boundary(old.len() - tail) && new.is_char_boundary(new.len() - tail)) {
        tail -= 1;
    }
    (head, tail)
}

/// The text with the splices in it. They are in order and do not overlap.
pub(crate) fn apply(text: &str, splices: &[Splice]) -> String {
    spliced(text, 0..text.len(), splices)
}

/// A range of the text with those splices in it that lie inside the range.
pub(super) fn spliced(text: &str, range: Range<usize>, splices: &[Splice]) -> String {
    let mut whole = String::with_capacity(range.len() + splices.iter().map(|splice| splice.text.len()).sum::<usize>());
    let mut from = range.start;
    for splice in splices {
        // Splices are in order, inside the range and on character boundaries.
        whole.push_str(&text[from..splice.start]);
        whole.push_str(&splice.text);
        from = splice.end;
    }
    whole.push_str(&text[from..range.end]);
    whole
}

/// One list of splices that does what two do one after the other. `between` is the text after the first and before the second.
pub(super) fn compose(first: &[Splice], between: &str, second: &[Splice]) -> Vec<Splice> {
    let mut composed = Vec::new();
    let (mut first, mut second) = (first.iter().peekable(), second.iter().peekable());
    // How many bytes the first ones have added so far, and taken away.
    let (mut added, mut taken) = (0, 0);
    loop {
        let placed = |splice: &Splice, added: usize, taken: usize| splice.start + added - taken;
        let start = match (first.peek(), second.peek()) {
            (None, None) => return composed,
            (Some(one), None) => placed(one, added, taken),
            (None, Some(two)) => two.start,
            (Some(one), Some(two)) => placed(one, added, taken).min(two.start),
        };
        let origin = start + taken - added;
        let (mut end, mut inside) = (start, Vec::new());
        // Everything that touches is one splice of the original.
        loop {
            if let Some(one) = first.next_if(|one| placed(one, added, taken) <= end) {
                end = end.max(placed(one, added, taken) + one.text.len());
                added += one.text.len();
                taken += one.end - one.start;
            } else if let Some(two) = second.next_if(|two| two.start <= end) {
                end = end.max(two.end);
                inside.push(two.clone());
            } else {
                break;
            }
        }
        composed.push(Splice { start: origin, end: end + taken - added, text: spliced(between, start..end, &inside) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::{collection::vec, prelude::*, sample::Index};

    fn splice(start: usize, end: usize, text: &str) -> Splice {
        Splice { start, end, text: text.into() }
    }

    #[test]
    fn what_is_common_is_not_part_of_a_splice() {
        assert_eq!(Splice::trimmed("say: one two", 5..12, "one 2"), Some(splice(9, 12, "2")));
        assert_eq!(Splice::trimmed("aaa", 0..3, "aa"), Some(splice(2, 3, "")));
        assert_eq!(Splice::trimmed("same", 0..4, "same"), None);
    }

    #[test]
    fn a_splice_never_cuts_a_character() {
        assert_eq!(Splice::trimmed("é", 0..2, "è"), Some(splice(0, 2, "è")));
        assert_eq!(Splice::trimmed("xÃ", 1..3, "ă"), Some(splice(1, 3, "ă")));
    }

    /// Splices at random places of a text.
    fn splices(text: &str, cuts: &[(Index, String)]) -> Vec<Splice> {
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let mut at: Vec<usize> = cuts.iter().map(|(cut, _)| places[cut.index(places.len())]).collect();
        at.sort_unstable();
        at.dedup();
        at.chunks_exact(2).zip(cuts).map(|(ends, (_, new))| splice(ends[0], ends[1], new)).collect()
    }

    proptest! {
        #[test]
        fn a_trimmed_splice_does_the_same(before in "[aä]{0,3}", old in "[aäb]{0,6}", after in "[aä]{0,3}", new in "[aäb]{0,6}") {
            let whole = format!("{before}{old}{after}");
            let trimmed: Vec<Splice> =
                Splice::trimmed(&whole, before.len()..before.len() + old.len(), &new).into_iter().collect();
            prop_assert_eq!(apply(&whole, &trimmed), format!("{before}{new}{after}"));
        }

        #[test]
        fn composed_splices_do_what_both_do(
            text in "[a-zä]{0,20}",
            first in vec((any::<Index>(), "[A-Z]{0,3}"), 0..6),
            second in vec((any::<Index>(), "[0-9]{0,3}"), 0..6),
        ) {
            let first = splices(&text, &first);
            let between = apply(&text, &first);
            let second = splices(&between, &second);
            let composed = compose(&first, &between, &second);
            prop_assert!(composed.windows(2).all(|pair| pair[0].end < pair[1].start), "{composed:?}");
            prop_assert_eq!(apply(&text, &composed), apply(&between, &second));
        }
    }
}
