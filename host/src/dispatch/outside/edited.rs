//! A text in which brackets of tags are replaced while it is read once.

use std::ops::Range;

use super::tag::{self, Closes};

/// A text of which some parts are replaced, from its start to its end.
pub(super) struct Edited<'a> {
    text: &'a str,
    /// How far `out` has come.
    done: usize,
    out: String,
}

impl<'a> Edited<'a> {
    /// The text with nothing replaced yet.
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, done: 0, out: String::new() }
    }

    fn replace(&mut self, range: Range<usize>, with: char) {
        self.out.push_str(&self.text[self.done..range.start]);
        self.out.push(with);
        self.done = range.end;
    }

    /// The text as it is now; None where nothing was replaced.
    pub(super) fn finish(mut self) -> Option<String> {
        // Whatever is replaced has a length.
        (self.done > 0).then(|| {
            self.out.push_str(&self.text[self.done..]);
            self.out
        })
    }

    /// Replaces the brackets of tags in one run of characters, each given with where it is written.
    pub(super) fn scan(&mut self, mut chars: impl Iterator<Item = (Range<usize>, char)> + Clone) {
        let mut open = None;
        let mut in_square = false;
        // The first letter of the word that the next character touches, and what was seen last.
        let mut word = None;
        let mut last = ' ';
        while let Some((range, c)) = chars.next() {
            let seen = tag::plain(c);
            match seen {
                '<' => {
                    let rest = chars.clone().map(|(_, c)| c);
                    let tag = tag::angle(rest, c == '<' && word.is_some_and(char::is_uppercase));
                    if tag.is_some() {
                        self.replace(range, '‹');
                    }
                    open = match (open, tag) {
                        // The second of two.
                        (Some(Closes::Brackets(2)), Some(Closes::Brackets(1))) if last == '<' => open,
                        _ => tag,
                    };
                }
                '>' => match open {
                    Some(Closes::Brackets(left)) => {
                        self.replace(range, '›');
                        open = (left > 1).then(|| Closes::Brackets(left - 1));
                    }
                    Some(Closes::Bar) if last == '|' => {
                        self.replace(range, '›');
                        open = None;
                    }
                    _ => {}
                },
                // Only the plain one: no format knows another.
                '[' if c == '[' => {
                    in_square = tag::square(chars.clone().map(|(_, c)| c));
                    if in_square {
                        self.replace(range, '‹');
                    }
                }
                ']' if in_square => {
                    self.replace(range, '›');
                    in_square = false;
                }
                _ => {}
            }
            word = if c.is_alphanumeric() || c == '_' { word.or(Some(c)) } else { None };
            if !tag::is_hidden(c) {
                last = seen;
            }
        }
    }
}
