//! Lines of a text with those around them.

use std::ops::{ControlFlow, Range};

/// A line of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// From 1.
    pub(super) number: u64,
    /// Where it is, with its line break.
    pub(super) place: Range<usize>,
    /// Whether it was asked for, and is not just near one that was.
    pub(super) wanted: bool,
}

/// Gives the wanted lines and so many before and after each, in order and each once.
pub(super) fn excerpt(
    text: &[u8],
    wanted: &[Range<usize>],
    context: usize,
    mut give: impl FnMut(Line) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let (mut at, mut number) = (0, 1);
    for (index, line) in wanted.iter().enumerate() {
        let first = back(text, line.start, context).max(at);
        number += memchr::memchr_iter(b'\n', text.get(at..first).unwrap_or_default()).count() as u64;
        at = first;
        let next = wanted.get(index + 1).map_or(text.len(), |next| next.start);
        let mut after = context;
        while at < line.end || (at < next && after > 0) {
            let place = at..forward(text, at);
            if at > line.start {
                after -= 1;
            }
            let wanted = at == line.start;
            at = place.end;
            give(Line { number, place, wanted })?;
            number += 1;
        }
    }
    ControlFlow::Continue(())
}

/// The end of the line that starts here.
fn forward(text: &[u8], start: usize) -> usize {
    memchr::memchr(b'\n', text.get(start..).unwrap_or_default()).map_or(text.len(), |end| start + end + 1)
}

/// The start of the line so many lines before the one that starts here.
fn back(text: &[u8], start: usize, lines: usize) -> usize {
    (0..lines).fold(start, |start, _| {
        // The line before ends with the byte before.
        let before = text.get(..start.saturating_sub(1)).unwrap_or_default();
        memchr::memrchr(b'\n', before).map_or(0, |end| end + 1)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn given(text: &str, pattern: char, context: usize) -> Vec<(u64, String, bool)> {
        let mut at = 0;
        let places = text.split_inclusive('\n').map(|line| {
            at += line.len();
            at - line.len()..at
        });
        let wanted: Vec<_> = places.filter(|place| text[place.clone()].contains(pattern)).collect();
        let mut lines = Vec::new();
        let _ = excerpt(text.as_bytes(), &wanted, context, |line| {
            lines.push((line.number, text[line.place].into(), line.wanted));
            ControlFlow::Continue(())
        });
        lines
    }

    #[test]
    fn lines_between_two_wanted_ones_come_once() {
        let text = "1\nx\n3\n4\nx\n6\n7\n8\nx";
        let numbers = |context| given(text, 'x', context).iter().map(|(number, ..)| *number).collect::<Vec<_>>();
        assert_eq!(numbers(0), [2, 5, 9]);
        assert_eq!(numbers(1), [1, 2, 3, 4, 5, 6, 8, 9]);
        assert_eq!(numbers(100), (1..=9).collect::<Vec<_>>());
    }

    #[test]
    fn giving_can_be_ended() {
        let mut count = 0;
        let ended = excerpt(b"a\na\na\n", &[0..2, 2..4], 0, |_| {
            count += 1;
            ControlFlow::Break(())
        });
        assert_eq!((ended, count), (ControlFlow::Break(()), 1));
    }

    proptest! {
        #[test]
        fn a_line_is_given_if_a_wanted_one_is_near(text in "[x\\n]{0,30}", context in 0..4_usize) {
            let lines: Vec<&str> = text.split_inclusive('\n').collect();
            let near = |index: usize| {
                let range = index.saturating_sub(context)..(index + context + 1).min(lines.len());
                lines[range].iter().any(|line| line.contains('x'))
            };
            let expected: Vec<_> = (0..lines.len()).filter(|index| near(*index))
                .map(|index| (index as u64 + 1, lines[index].to_string(), lines[index].contains('x'))).collect();
            prop_assert_eq!(given(&text, 'x', context), expected);
        }
    }
}
