//! Two texts that say the same in other spacing and other typography, character by character.

use std::ops::Range;

use super::fold::{Dash, Folded, fold};

/// One byte of a text in plain form that is not white space.
#[derive(Clone, Copy, Debug)]
pub(super) struct Atom {
    pub(super) byte: u8,
    /// The character it comes from.
    pub(super) raw: char,
    /// Where the white space before that character begins.
    pub(super) gap: usize,
    /// Where the character begins.
    pub(super) start: usize,
    /// Where it ends.
    pub(super) end: usize,
}

/// The atoms of a text.
pub(super) struct Atoms<'a> {
    text: &'a str,
    at: usize,
    dash: Dash,
    /// The last character that is not ASCII, and how many of its bytes were given.
    wide: Option<(Folded, Atom)>,
    given: usize,
}

impl<'a> Atoms<'a> {
    /// Of a part of the text; the offsets are those of the whole.
    pub(super) fn new(text: &'a str, range: Range<usize>, dash: Dash) -> Self {
        // The range was found in this text.
        Self { text: &text[..range.end], at: range.start, dash, wide: None, given: 0 }
    }

    /// The next byte of a character that was begun.
    fn rest(&mut self) -> Option<Atom> {
        let (folded, mut atom) = self.wide?;
        if self.given > 0 {
            atom.gap = atom.start;
        }
        let byte = folded.as_bytes().get(self.given).copied();
        self.given += 1;
        if byte.is_none() {
            self.wide = None;
        }
        Some(Atom { byte: byte?, ..atom })
    }
}

impl Iterator for Atoms<'_> {
    type Item = Atom;

    fn next(&mut self) -> Option<Atom> {
        if let Some(atom) = self.rest() {
            return Some(atom);
        }
        let gap = self.at;
        loop {
            let start = self.at;
            let byte = *self.text.as_bytes().get(start)?;
            if byte.is_ascii() {
                self.at += 1;
                if !is_space(byte) {
                    return Some(Atom { byte, raw: char::from(byte), gap, start, end: self.at });
                }
            } else {
                // `start` is always where a character begins.
                let raw = self.text[start..].chars().next()?;
                self.at += raw.len_utf8();
                if !raw.is_whitespace() {
                    self.wide = Some((fold(raw, self.dash), Atom { byte, raw, gap, start, end: self.at }));
                    self.given = 0;
                    return self.rest();
                }
            }
        }
    }
}

/// Whether an ASCII byte is white space: the same as `char::is_whitespace` says.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// How a text is written in the file.
#[derive(Debug)]
pub(super) struct Spelling<'a> {
    file: &'a str,
    /// For each atom: where its character begins in the text, and where its counterpart begins and ends in the file.
    places: Vec<(usize, Range<usize>)>,
    dash: Dash,
}

impl<'a> Spelling<'a> {
    /// For a text and a range of the file with the same atoms.
    pub(super) fn new(text: &str, file: &'a str, range: Range<usize>, dash: Dash) -> Self {
        let atoms = Atoms::new(text, 0..text.len(), dash).zip(Atoms::new(file, range, dash));
        Self { file, places: atoms.map(|(own, found)| (own.start, found.start..found.end)).collect(), dash }
    }

    /// What stands in the file for a word, a sign or the white space between two. Nothing if it has no counterpart on one line.
    pub(super) fn of(&self, token: &str, at: usize) -> Option<&'a str> {
        let first = self.places.partition_point(|(start, _)| *start < at);
        let after = self.places.partition_point(|(start, _)| *start < at + token.len());
        // Places come from the file, and in its order.
        if token.trim_start().is_empty() {
            let gap = &self.file[self.places.get(first.checked_sub(1)?)?.1.end..self.places.get(first)?.1.start];
            return (!gap.is_empty() && !gap.contains('\n')).then_some(gap);
        }
        let found = &self.file[self.places.get(first)?.1.start..self.places.get(after.checked_sub(1)?)?.1.end];
        super::fold::same(token, found, self.dash).then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn atoms_know_their_characters_and_the_space_before_them() {
        let text = " a\u{a0} …b";
        let atoms: Vec<_> = Atoms::new(text, 0..text.len(), Dash::Double).collect();
        let bytes: Vec<u8> = atoms.iter().map(|atom| atom.byte).collect();
        assert_eq!(bytes, b"a...b");
        assert_eq!((atoms[0].gap, atoms[0].start, atoms[0].end), (0, 1, 2));
        assert_eq!((atoms[1].gap, atoms[1].start, atoms[1].raw), (2, 5, '…'));
        assert_eq!((atoms[2].gap, atoms[2].start, atoms[2].end), (5, 5, 8));
        assert_eq!(atoms[4].gap, 8);
    }

    #[test]
    fn the_spelling_of_the_file_is_found() {
        let (text, file) = ("say \"it's\" -- ...", "x say  “it’s” —\u{a0}…");
        let spelling = Spelling::new(text, file, 2..file.len(), Dash::Double);
        assert_eq!(spelling.of("say", 0), Some("say"));
        assert_eq!(spelling.of(" ", 3), Some("  "));
        assert_eq!(spelling.of("\"", 4), Some("“"));
        assert_eq!(spelling.of("--", 11), Some("—"));
        assert_eq!(spelling.of(" ", 13), Some("\u{a0}"));
        assert_eq!(spelling.of("...", 14), Some("…"));
        assert_eq!(spelling.of(".", 14), None, "a third of a character");
    }
}
