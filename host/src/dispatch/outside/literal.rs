//! The strings of a JSON text, character by character, without taking the text apart.

use std::ops::Range;

/// What stands between the quotes of every string in a JSON text, names of members too. In a text that is no JSON it may find
/// others, and still ends.
pub(super) fn literals(json: &str) -> impl Iterator<Item = Literal<'_>> {
    let mut after = 0;
    std::iter::from_fn(move || {
        let start = after + json.get(after..)?.find('"')? + 1;
        let bytes = json.as_bytes();
        let mut end = start;
        while end < bytes.len() && bytes[end] != b'"' {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        // Never within a character: only at a quote or at the end.
        let end = end.min(bytes.len());
        after = end + 1;
        Some(Literal { json, at: start, end })
    })
}

/// The characters that a string stands for, each with where it is written.
#[derive(Clone)]
pub(super) struct Literal<'a> {
    json: &'a str,
    at: usize,
    end: usize,
}

impl Iterator for Literal<'_> {
    type Item = (Range<usize>, char);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = &self.json[self.at..self.end];
        let first = rest.chars().next()?;
        let (c, bytes) = if first == '\\' { unescape(rest) } else { (first, first.len_utf8()) };
        let start = self.at;
        self.at += bytes;
        Some((start..self.at, c))
    }
}

/// The character at the head of `text`, which starts with a backslash, and how many bytes it takes.
fn unescape(text: &str) -> (char, usize) {
    match text[1..].chars().next() {
        None => ('\\', 1),
        Some('b') => ('\u{8}', 2),
        Some('f') => ('\u{c}', 2),
        Some('n') => ('\n', 2),
        Some('r') => ('\r', 2),
        Some('t') => ('\t', 2),
        Some('u') => {
            let Some(unit) = unit(text, 0) else { return ('u', 2) };
            match char::decode_utf16([unit].into_iter().chain(self::unit(text, 6))).next() {
                Some(Ok(c)) => (c, 6 * c.len_utf16()),
                // Half of a pair. Parsers differ on it; here it must not hide the rest of the string.
                _ => (char::REPLACEMENT_CHARACTER, 6),
            }
        }
        Some(c) => (c, 1 + c.len_utf8()),
    }
}

/// The UTF-16 unit written as `\uXXXX` at `at`.
fn unit(text: &str, at: usize) -> Option<u16> {
    let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn strings(json: &str) -> Vec<String> {
        literals(json).map(|literal| literal.map(|(_, c)| c).collect()).collect()
    }

    #[test]
    fn names_and_values_are_found_wherever_they_are() {
        assert_eq!(strings(r#"{"a":["b",1,{"":"c\"d\\"}],"e":null}"#), ["a", "b", "", "c\"d\\", "e"]);
        assert_eq!(strings("[1,2]"), [""; 0]);
    }

    #[test]
    fn escapes_count_as_what_they_stand_for_and_half_pairs_hide_nothing() {
        assert_eq!(strings(r#""\u003c\/\b\f\n\r\t\u00E4\ud83d\ude00""#), ["</\u{8}\u{c}\n\r\tä😀"]);
        assert_eq!(strings(r#""\ud800<\ude00\ud800\u003c""#), ["\u{fffd}<\u{fffd}\u{fffd}<"]);
    }

    proptest! {
        #[test]
        fn it_reads_what_a_parser_reads(texts in prop::collection::vec("(\\PC|[\"\\\\\n\u{1}<😀]){0,8}", 0..5)) {
            prop_assert_eq!(strings(&serde_json::to_string(&texts).unwrap()), texts);
        }

        #[test]
        fn any_text_is_read_to_its_end(text in "([\"\\\\u0dD8cä😀]|\\PC){0,30}") {
            for literal in literals(&text) {
                literal.for_each(|(range, _)| assert!(text.get(range).is_some()));
            }
        }
    }
}
