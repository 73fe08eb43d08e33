//! Lines, their breaks and their indentation. A line ends with `\n` or `\r\n`; a byte order mark is no part of the first one.
//!
//! Positions are byte offsets that were found in the same text, so they lie on its character boundaries.

use std::borrow::Cow;

/// The byte order mark that some editors put in front of a text.
pub(super) const BOM: char = '\u{feff}';

/// Where the text begins, behind a byte order mark.
pub(super) fn body(text: &str) -> usize {
    if text.starts_with(BOM) { BOM.len_utf8() } else { 0 }
}

/// Where the content of the line ends that holds a position: before its line break.
pub(super) fn content_end(text: &str, at: usize) -> usize {
    let rest = &text[at..];
    let content = rest.split('\n').next().unwrap_or_default();
    let broken = content.len() < rest.len();
    at + if broken { content.strip_suffix('\r').unwrap_or(content).len() } else { content.len() }
}

/// The position after the line break that stands here, or the same if there is none.
pub(super) fn after_break(text: &str, at: usize) -> usize {
    let rest = &text[at..];
    at + if rest.starts_with("\r\n") { 2 } else { usize::from(rest.starts_with('\n')) }
}

/// Whether a line begins here.
pub(super) fn begins_line(text: &str, at: usize) -> bool {
    at == body(text) || text[..at].ends_with('\n')
}

/// The line break that is used here: that of the line which holds the position, or of the one before it.
pub(super) fn ending(text: &str, at: usize) -> &'static str {
    let here = text[at..].find('\n').map(|found| at + found);
    match here.or_else(|| text[..at].rfind('\n')) {
        Some(found) if text[..found].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// Whether a line ends with `\r\n`.
pub(super) fn has_crlf(text: &str) -> bool {
    // A single byte is found much faster than two, and most files have none.
    text.contains('\r') && text.contains("\r\n")
}

/// The text with `\n` for every line break.
pub(super) fn unix(text: &str) -> Cow<'_, str> {
    if has_crlf(text) { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) }
}

/// The white space in front of a line.
pub(super) fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

/// Whether a line has nothing but white space.
pub(super) fn is_blank(line: &str) -> bool {
    line.trim_start().is_empty()
}

/// The number of the line that holds a position; they count from 1.
pub(super) fn line_number(text: &str, at: usize) -> usize {
    line_numbers(text, [at]).next().unwrap_or(1)
}

/// The numbers of the lines that hold these positions, which are in order.
pub(super) fn line_numbers(text: &str, positions: impl IntoIterator<Item = usize>) -> impl Iterator<Item = usize> {
    let (mut last, mut number) = (0, 1);
    positions.into_iter().map(move |at| {
        number += line_breaks(&text[last..at]);
        last = at;
        number
    })
}

/// How many line breaks a text has. Eight bytes at once: large files are counted through for every line number.
pub(super) fn line_breaks(text: &str) -> usize {
    const LOW: u64 = u64::from_ne_bytes([0x7f; 8]);
    let mut words = text.as_bytes().chunks_exact(8);
    let count = |word: &[u8]| {
        let other = u64::from_ne_bytes(word.try_into().unwrap_or_default()) ^ u64::from_ne_bytes([b'\n'; 8]);
        // The highest bit of each byte says whether there is any in it; no sum carries into the next byte.
        (!(((other & LOW) + LOW) | other | LOW)).count_ones() as usize
    };
    let whole: usize = words.by_ref().map(count).sum();
    whole + words.remainder().iter().filter(|byte| **byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_before_its_break() {
        let text = "one\r\ntwo\nth\ree\r";
        assert_eq!(content_end(text, 1), 3);
        assert_eq!(after_break(text, 3), 5);
        assert_eq!(content_end(text, 5), 8);
        assert_eq!(after_break(text, 8), 9);
        assert_eq!(content_end(text, 9), text.len());
        assert_eq!(after_break(text, text.len()), text.len());
    }

    #[test]
    fn a_line_break_is_that_of_its_neighbours() {
        assert_eq!(ending("a\r\nb\n", 0), "\r\n");
        assert_eq!(ending("a\r\nb\n", 3), "\n");
        assert_eq!(ending("a\r\nb", 4), "\r\n");
        assert_eq!(ending("a", 0), "\n");
    }

    #[test]
    fn line_breaks_are_counted_wherever_they_are() {
        for text in ["", "\n", "\n\n\n\n\n\n\n\n\n", "a\u{b}\u{9}\u{8a}\n\u{10a}\n", "0123456\n", "01234567\n890"] {
            assert_eq!(line_breaks(text), text.matches('\n').count(), "{text:?}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_first_line() {
        assert!(begins_line("\u{feff}a", 3) && !begins_line("\u{feff}a", 0));
        assert!(begins_line("a\nb", 0) && begins_line("a\nb", 2) && !begins_line("a\nb", 1));
    }
}
