//! Lines with their numbers in front, as a model reads them.

use std::borrow::Cow;

use super::{MAX_LINE, escape};
use crate::cut;

/// Characters of the lines in one answer, as they stand in its JSON. The host passes 100,000 of a whole answer on; what it would
/// cut has no `next_offset` to go on with.
const MAX_CONTENT: usize = 95_000;

/// Lines with their numbers.
#[derive(Debug, Default)]
pub(super) struct Numbered {
    /// `N|text`, a line break between them and none at the end, as it stands in a JSON string.
    pub(super) json: String,
    /// How many lines these are.
    pub(super) lines: u32,
    /// How many of them were cut.
    pub(super) cut: u32,
    /// Whether there was something that is not UTF-8.
    pub(super) garbled: bool,
}

/// Numbers the lines from `first` on, as many as fit.
pub(super) fn number(bytes: &[u8], first: u64) -> Numbered {
    // Much faster than the lossy way, which is seldom needed.
    let text = std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed);
    let lossy = matches!(text, Cow::Owned(_));
    let text = if first == 1 { text.strip_prefix('\u{feff}').unwrap_or(&text) } else { &text };
    let mut numbered = Numbered { json: String::with_capacity(text.len() + text.len() / 4), ..Numbered::default() };
    let mut digits = itoa::Buffer::new();
    let mut start = 0;
    let (mut counted, mut characters) = (0, 0);
    while let Some(line) = Line::at(text, start) {
        let before = numbered.json.len();
        numbered.json.push_str(if numbered.lines > 0 { "\\n" } else { "" });
        // For a guest, copying a few bytes costs more than writing them one by one.
        let number = digits.format(first.saturating_add(numbered.lines.into()));
        number.chars().for_each(|digit| numbered.json.push(digit));
        numbered.json.push('|');
        let cut = line.push(&mut numbered.json);
        // Where the bytes fit, nobody needs to count characters.
        if numbered.json.len() > MAX_CONTENT {
            characters += numbered.json[counted..].chars().count();
            counted = numbered.json.len();
            if characters > MAX_CONTENT {
                numbered.json.truncate(before);
                break;
            }
        }
        numbered.cut += u32::from(cut);
        numbered.lines += 1;
        start = line.end;
    }
    // A line that the host cut may end in half a character, but that is not shown.
    numbered.garbled = lossy && numbered.json.contains('\u{fffd}');
    numbered
}

/// A line without its line break.
struct Line<'a> {
    text: &'a str,
    /// Whether it stands in a JSON string as it is.
    plain: bool,
    /// Where the next one starts.
    end: usize,
}

impl<'a> Line<'a> {
    /// The line that starts there, unless the text ends.
    fn at(text: &'a str, start: usize) -> Option<Self> {
        let bytes = text.as_bytes();
        if start >= bytes.len() {
            return None;
        }
        // A line break is special too, so one look finds the end and what is in the way.
        let first = escape::special(bytes, start);
        let mut next = first;
        while let Some(at) = next
            && bytes[at] != b'\n'
        {
            next = escape::special(bytes, at + 1);
        }
        // Both ends are ASCII or those of the text.
        let line = &text[start..next.unwrap_or(bytes.len())];
        let line = if next.is_some() { line.strip_suffix('\r').unwrap_or(line) } else { line };
        let end = next.map_or(bytes.len(), |at| at + 1);
        Some(Self { text: line, plain: first.is_none_or(|at| at >= start + line.len()), end })
    }

    /// Adds what is shown of it. Says whether it was cut.
    fn push(&self, json: &mut String) -> bool {
        if self.plain && self.text.len() <= MAX_LINE {
            json.push_str(self.text);
            return false;
        }
        let (shown, mark) = cut::cut(self.text, MAX_LINE);
        escape::push(json, shown);
        json.push_str(mark);
        !mark.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl Numbered {
        fn content(&self) -> String {
            serde_json::from_str(&format!("\"{}\"", self.json)).unwrap()
        }
    }

    fn content(text: &str, first: u64) -> String {
        number(text.as_bytes(), first).content()
    }

    #[test]
    fn lines_have_their_numbers_and_no_padding() {
        assert_eq!(content("a\n\n  b\n", 9), "9|a\n10|\n11|  b");
        assert_eq!(content("", 1), "");
    }

    #[test]
    fn a_line_break_at_the_end_shows_no_further_line() {
        assert_eq!(content("a\nb\n", 1), content("a\nb", 1));
    }

    #[test]
    fn windows_line_breaks_and_the_byte_order_mark_are_not_shown() {
        assert_eq!(content("\u{feff}a\r\nb\r\n", 1), "1|a\n2|b");
        // Elsewhere they are part of the text.
        assert_eq!(content("\u{feff}a\rb\r", 2), "2|\u{feff}a\rb\r");
    }

    #[test]
    fn long_lines_are_cut_at_characters() {
        let long = "é".repeat(MAX_LINE + 1);
        let numbered = number(format!("{long}\nshort").as_bytes(), 1);
        assert_eq!(numbered.content(), format!("1|{}... [truncated]\n2|short", "é".repeat(MAX_LINE)));
        assert_eq!(numbered.cut, 1);
        assert_eq!(content(&"é".repeat(MAX_LINE), 1), format!("1|{}", "é".repeat(MAX_LINE)));
    }

    #[test]
    fn an_answer_ends_with_a_whole_line() {
        let text = format!("{}\n", "y".repeat(997)).repeat(200);
        let numbered = number(text.as_bytes(), 1);
        let content = numbered.content();
        assert!(content.len() <= MAX_CONTENT && content.len() > MAX_CONTENT - 1_100);
        assert_eq!(content.lines().count(), numbered.lines as usize);
        assert!(content.ends_with(&"y".repeat(997)));
    }

    #[test]
    fn what_is_not_utf8_is_shown_as_such() {
        let numbered = number(b"a\xffb\n", 1);
        assert_eq!((numbered.content().as_str(), numbered.garbled), ("1|a\u{fffd}b", true));
    }

    proptest! {
        #[test]
        fn the_lines_can_be_read_back(lines in prop::collection::vec("[^\r\n\u{feff}]{0,30}", 1..40), first in 1_u64..100_000) {
            let numbered = number((lines.join("\n") + "\n").as_bytes(), first);
            prop_assert_eq!(numbered.lines as usize, lines.len());
            for (at, (shown, line)) in numbered.content().split('\n').zip(&lines).enumerate() {
                let (number, text) = shown.split_once('|').unwrap();
                prop_assert_eq!(number.parse::<u64>().unwrap(), first + at as u64);
                prop_assert_eq!(text, line);
            }
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), first: u64) {
            number(&bytes, first);
        }
    }
}
