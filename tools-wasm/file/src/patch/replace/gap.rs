//! White space between two characters: what may differ there without a difference in substance.
//!
//! The characters themselves are the same on both sides, so names, numbers and signs are. White space may be more or less; it may be
//! missing, or have a line break where the other has none, only at a bracket, a comma or a semicolon, where it can't join or
//! part words and signs. Inside of quotes nothing of that may differ, and behind the mark of a comment no line break.

use super::{super::fold, super::fold::Dash, super::text::line_breaks, strategy::Differences};

/// Where white space means nothing in nearly every language.
const DELIMITERS: &[u8] = b"()[]{},;";

/// Whether white space may come and go beside a character.
pub(super) fn is_delimiter(byte: u8) -> bool {
    DELIMITERS.contains(&byte)
}

/// What is known of a line up to some character of it.
#[derive(Debug, Default)]
pub(super) struct Syntax {
    quote: Option<u8>,
    escaped: bool,
    comment: bool,
    last: u8,
}

impl Syntax {
    /// One more character, with or without white space before it.
    pub(super) fn see(&mut self, byte: u8, spaced: bool) {
        let doubled = !spaced && byte == self.last;
        match (self.quote, byte) {
            (Some(quote), _) if quote == byte && !self.escaped => self.quote = None,
            (None, b'"' | b'\'' | b'`') => self.quote = Some(byte),
            (None, b'#') => self.comment = true,
            (None, b'/' | b'-') if doubled => self.comment = true,
            _ => {}
        }
        self.escaped = byte == b'\\' && !self.escaped;
        self.last = byte;
    }

    /// What differs between the white space that follows in the model's text and that in the file, before a next character. Nothing
    /// if that is a difference in substance. `inner` says whether this is between the first line and the last.
    pub(super) fn compare(&self, old: &str, file: &str, next: u8, inner: bool, all: &mut Differences) -> Option<()> {
        if old == file {
            return Some(());
        }
        let free = is_delimiter(self.last) || is_delimiter(next);
        match (line_breaks(old), line_breaks(file)) {
            (0, 0) if fold::same(old, file, Dash::Double) => all.unicode = true,
            (0, 0) if self.quote.is_some() => return None,
            (0, 0) if !old.is_empty() && !file.is_empty() => all.run = true,
            (0, 0) if free => all.spread(inner),
            (a, b) if a == b && a > 0 => all.compare_lines(old, file),
            (1.., 1..) if self.quote.is_none() => all.layout = true,
            (0, 1..) | (1.., 0) if free && self.quote.is_none() && !self.comment => all.spread(inner),
            _ => return None,
        }
        Some(())
    }

    /// The line ends.
    pub(super) fn next_line(&mut self) {
        *self = Self::default();
    }
}

impl Differences {
    fn spread(&mut self, inner: bool) {
        if inner {
            self.layout = true;
        } else {
            self.loose = true;
        }
    }

    /// White space with equally many line breaks.
    fn compare_lines(&mut self, old: &str, file: &str) {
        let (Some((old, depth)), Some((file, found))) = (old.rsplit_once('\n'), file.rsplit_once('\n')) else { return };
        let found_lines = file.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
        self.edge |= !old.split('\n').eq(found_lines);
        self.compare_indent(depth, found);
    }

    /// The white space in front of a line.
    pub(super) fn compare_indent(&mut self, old: &str, file: &str) {
        if old != file {
            let both = !old.is_empty() && !file.is_empty();
            self.indent |= both;
            self.edge |= !both;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What differs between two kinds of white space after a text, and before another.
    fn compared(before: &str, old: &str, file: &str, next: char, inner: bool) -> Option<Differences> {
        let (mut syntax, mut all) = (Syntax::default(), Differences::default());
        before.bytes().for_each(|byte| syntax.see(byte, false));
        syntax.compare(old, file, u8::try_from(next).unwrap(), inner, &mut all)?;
        Some(all)
    }

    #[test]
    fn white_space_may_be_more_or_less() {
        let none = Differences::default();
        assert_eq!(compared("a", "\n  ", "\r\n  ", 'b', false), Some(none));
        assert_eq!(compared("a", " ", "\t ", 'b', false), Some(Differences { run: true, ..none }));
        assert_eq!(compared("a", " ", "\u{a0}", 'b', false), Some(Differences { unicode: true, ..none }));
        assert_eq!(compared("a", "\n", " \n", 'b', false), Some(Differences { edge: true, ..none }));
        assert_eq!(compared("a", "\n ", "\n  ", 'b', false), Some(Differences { indent: true, ..none }));
        assert_eq!(compared("a", "\n", "\n\n", 'b', false), Some(Differences { layout: true, ..none }));
    }

    #[test]
    fn white_space_comes_and_goes_only_at_delimiters() {
        let (loose, layout) = (
            Differences { loose: true, ..Differences::default() },
            Differences { layout: true, ..Differences::default() },
        );
        for file in [" ", "\n  "] {
            assert_eq!(compared("f(", "", file, 'b', false), Some(loose));
            assert_eq!(compared("f(", "", file, 'b', true), Some(layout));
            assert_eq!(compared("a", "", file, ')', false), Some(loose));
            assert_eq!(compared("a", "", file, 'b', false), None);
            assert_eq!(compared("=", "", file, '=', false), None);
        }
        assert_eq!(compared("a", " ", "\n", 'b', false), None);
    }

    #[test]
    fn nothing_differs_in_quotes_and_no_break_in_comments() {
        for quote in ["\"(", "'(", "`a(", r#""\"("#] {
            assert_eq!(compared(quote, "", " ", 'b', false), None);
            assert_eq!(compared(quote, " ", "  ", 'b', false), None);
            assert_eq!(compared(quote, " ", "\n", 'b', false), None);
            assert_eq!(compared(quote, "\n", "\n\n", 'b', false), None);
        }
        assert!(compared("\"a\"(", "", " ", 'b', false).is_some());
        for comment in ["#(", "//(", "--("] {
            assert_eq!(compared(comment, " ", "\n", 'b', false), None);
            assert!(compared(comment, " ", "  ", 'b', false).is_some());
        }
    }
}
