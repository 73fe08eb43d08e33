//! Texts that a model escaped once too often: `\n` for a line break, `\"` for a quote.

use super::super::text::unix;

/// Which escapes are undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Set {
    /// The whole text was escaped, its backslashes too.
    All,
    /// Only line breaks and tabs were.
    Spaces,
    /// Only quotes were.
    Quotes,
}

/// A reading of `old` and `new` with some escapes undone.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) old: String,
    /// Nothing if it is not clear what is an escape too many and what is meant.
    pub(super) new: Option<String>,
}

/// The readings that differ from what was given.
pub(super) fn readings(old: &str, new: &str) -> Vec<Reading> {
    let mut readings: Vec<Reading> = Vec::new();
    for set in [Set::All, Set::Spaces, Set::Quotes] {
        let (read, _) = unescape(old, set);
        let (text, clear) = unescape(new, set);
        let (read, text) = (unix(&read).into_owned(), unix(&text).into_owned());
        match readings.iter_mut().find(|known| known.old == read) {
            // Two readings of `old` that come to the same, but not for `new`.
            Some(known) => known.new = known.new.take().filter(|known| *known == text),
            None if read != old => readings.push(Reading { old: read, new: clear.then_some(text) }),
            None => {}
        }
    }
    readings
}

/// Whether escaped quotes are in a new text that were nowhere in the old one.
pub(super) fn adds_escapes(new: &str, found: &str) -> bool {
    [r#"\""#, r"\'"].iter().any(|escape| new.contains(escape) && !found.contains(escape))
}

/// The text with a set of escapes undone, and whether that is clear: a line break inside of quotes was more likely meant as it
/// was written.
fn unescape(text: &str, set: Set) -> (String, bool) {
    let mut out = String::with_capacity(text.len());
    let (mut clear, mut quote) = (true, None);
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let next = rest.as_str().chars().next();
        let undone = match (c, next) {
            ('\\', Some('n')) if set != Set::Quotes => Some('\n'),
            ('\\', Some('t')) if set != Set::Quotes => Some('\t'),
            ('\\', Some('r')) if set != Set::Quotes => Some('\r'),
            ('\\', Some(sign @ ('"' | '\''))) if set != Set::Spaces => Some(sign),
            ('\\', Some('\\')) if set == Set::All => Some('\\'),
            _ => None,
        };
        if let Some(c) = undone {
            rest.next();
            clear &= c != '\n' || quote.is_none();
        }
        let c = undone.unwrap_or(c);
        match c {
            '\n' => quote = None,
            '"' | '\'' if quote == Some(c) => quote = None,
            '"' | '\'' if quote.is_none() => quote = Some(c),
            _ => {}
        }
        out.push(c);
    }
    (out, clear)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(old: &str, new: &str) -> Reading {
        Reading { old: old.into(), new: Some(new.into()) }
    }

    #[test]
    fn both_texts_are_read_in_the_same_way() {
        assert_eq!(readings(r"a\n\tb", r"a\n\tc"), [reading("a\n\tb", "a\n\tc")]);
        assert_eq!(readings(r"a\r\nb", r"c\r\nb"), [reading("a\nb", "c\nb")]);
        assert_eq!(readings(r#"f(\"x\")"#, r#"g(\"x\")"#), [reading(r#"f("x")"#, r#"g("x")"#)]);
    }

    #[test]
    fn a_text_can_be_escaped_in_part() {
        let read = readings(r#"f(\"x\n\")"#, r#"g(\"x\n\")"#);
        assert_eq!(read.last(), Some(&reading(r#"f("x\n")"#, r#"g("x\n")"#)));
        assert!(read.iter().any(|reading| reading.old == "f(\"x\n\")" && reading.new.is_none()));
    }

    #[test]
    fn what_may_be_read_in_two_ways_is_not_guessed() {
        let read = readings(r#"\"a\""#, r#"\"a\n\""#);
        assert_eq!(read, [Reading { old: r#""a""#.into(), new: None }]);
        assert_eq!(readings(r"a\nb", r#"a\nprint("x\n")"#), [Reading { old: "a\nb".into(), new: None }]);
    }

    #[test]
    fn a_text_without_escapes_has_no_other_reading() {
        assert_eq!(readings(r"a \d b", "new"), []);
    }

    #[test]
    fn new_escapes_are_seen() {
        assert!(adds_escapes(r"it\'s", "it's"));
        assert!(!adds_escapes(r"it\'s", r"isn\'t") && !adds_escapes(r"\n", "x"));
    }
}
