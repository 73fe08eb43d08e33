//! Which of its places each hunk gets. Hunks are in the order of the file.

use std::ops::Range;

/// The places of one hunk, in groups, and which of its lines change. Those around them may be shared with its neighbours.
pub(super) struct Choice<'a> {
    pub(super) groups: &'a [Vec<usize>],
    pub(super) changed: Range<usize>,
}

/// What a hunk gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Assigned {
    /// This place.
    At(usize),
    /// More than one group can be meant.
    Unclear,
    /// All of its places are before what the hunk above changes.
    Late,
}

/// Gives each hunk a place. It is clear which one if the first way to put all of them in order and the last way agree.
pub(super) fn assign(choices: &[Choice<'_>]) -> Vec<Assigned> {
    let mut from = 0;
    let first: Vec<Option<(usize, usize)>> = choices
        .iter()
        .map(|choice| {
            let found = places(choice).find(|(_, place)| place + choice.changed.start >= from)?;
            from = found.1 + choice.changed.end;
            Some(found)
        })
        .collect();
    let mut to = usize::MAX;
    let mut last: Vec<Option<usize>> = choices
        .iter()
        .rev()
        .map(|choice| {
            let (group, place) = places(choice).filter(|(_, place)| place + choice.changed.end <= to).last()?;
            to = place + choice.changed.start;
            Some(group)
        })
        .collect();
    last.reverse();
    first
        .into_iter()
        .zip(last)
        .map(|(first, last)| match first {
            None => Assigned::Late,
            Some((group, place)) if Some(group) == last => Assigned::At(place),
            Some(_) => Assigned::Unclear,
        })
        .collect()
}

fn places<'a>(choice: &Choice<'a>) -> impl Iterator<Item = (usize, usize)> + 'a {
    choice.groups.iter().enumerate().flat_map(|(n, group)| group.iter().map(move |place| (n, *place)))
}

#[cfg(test)]
mod tests {
    use super::{Assigned::*, *};

    fn assigned(hunks: &[&[&[usize]]]) -> Vec<Assigned> {
        let groups: Vec<Vec<Vec<usize>>> =
            hunks.iter().map(|groups| groups.iter().map(|group| group.to_vec()).collect()).collect();
        assign(&groups.iter().map(|groups| Choice { groups, changed: 0..2 }).collect::<Vec<_>>())
    }

    #[test]
    fn one_place_is_clear_and_two_are_not() {
        assert_eq!(assigned(&[&[&[5]]]), [At(5)]);
        assert_eq!(assigned(&[&[&[5], &[9]]]), [Unclear]);
    }

    #[test]
    fn in_a_group_the_first_free_place_is_meant() {
        assert_eq!(assigned(&[&[&[5, 9]]]), [At(5)]);
        assert_eq!(assigned(&[&[&[5]], &[&[5, 9]]]), [At(5), At(9)]);
    }

    #[test]
    fn the_order_of_hunks_can_make_it_clear() {
        assert_eq!(assigned(&[&[&[10]], &[&[3], &[20]]]), [At(10), At(20)]);
        assert_eq!(assigned(&[&[&[3], &[20]], &[&[10]]]), [At(3), At(10)]);
        assert_eq!(assigned(&[&[&[3], &[20]], &[&[3], &[20]]]), [At(3), At(20)]);
        assert_eq!(assigned(&[&[&[3], &[20], &[30]], &[&[3], &[20], &[30]]]), [Unclear, Unclear]);
    }

    #[test]
    fn hunks_may_share_the_lines_around_them() {
        let [one, two] = [vec![vec![0], vec![1]], vec![vec![2]]];
        let choices = [Choice { groups: &one, changed: 1..1 }, Choice { groups: &two, changed: 1..2 }];
        assert_eq!(assign(&choices), [Unclear, At(2)]);
    }

    #[test]
    fn what_is_only_before_the_hunk_above_comes_too_late() {
        assert_eq!(assigned(&[&[&[10]], &[&[3]]]), [Unclear, Late]);
    }
}
