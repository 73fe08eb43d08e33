//! Every place of a text that has the characters of another, whatever the spacing and typography: no copy, and work that grows with
//! the text alone.

use std::ops::{ControlFlow, Range};

use memchr::memmem;

use super::super::{
    align::{Atoms, is_space},
    fold::{Dash, fold},
};

/// Places that are looked at by their longest word. Where there are more, the text is walked through.
const PLACES: usize = 10_000;

/// Letters of a word that is looked for. Shorter ones are everywhere.
const WORD: usize = 3;

/// What is searched: the plain characters of a text without its white space.
#[derive(Debug)]
pub(super) struct Pattern {
    bytes: Vec<u8>,
    /// Where its longest word is. A word is written in one way only.
    word: Range<usize>,
    /// Where to go on after a mismatch: the table of Knuth, Morris and Pratt.
    fallback: Vec<u32>,
    dash: Dash,
}

impl Pattern {
    /// Nothing for a text that is all white space: it would be everywhere.
    pub(super) fn new(text: &str, dash: Dash) -> Option<Self> {
        let (mut bytes, mut word, mut run) = (Vec::new(), 0..0, 0..0);
        for atom in Atoms::new(text, 0..text.len(), dash) {
            let at = bytes.len();
            let goes_on = atom.gap == atom.start && run.end == at;
            run = if goes_on { run.start..at } else { at..at };
            if atom.byte.is_ascii_alphanumeric() || atom.byte == b'_' {
                run.end = at + 1;
            }
            if run.len() > word.len() {
                word = run.clone();
            }
            bytes.push(atom.byte);
        }
        let mut pattern = Self { fallback: Vec::with_capacity(bytes.len()), bytes, word, dash };
        let mut state = 0;
        pattern.fallback.push(0);
        for at in 1..pattern.bytes.len() {
            // `at` is below the length, and `step` answers at most with one more than it was given.
            state = pattern.step(state, pattern.bytes[at]);
            pattern.fallback.push(state as u32);
        }
        (!pattern.bytes.is_empty()).then_some(pattern)
    }

    /// Gives each place in turn, overlapping ones too, from its first character to its last.
    pub(super) fn search(&self, text: &str, from: usize, mut each: impl FnMut(Range<usize>) -> ControlFlow<()>) {
        match self.by_word(text, from) {
            Some(places) => drop(places.into_iter().try_for_each(each)),
            None => self.walk(text, from, &mut each),
        }
    }

    /// The places, found by the longest word: most of the text is only searched for that. Nothing if there is no word, or if it is
    /// so frequent that walking through the text is less work.
    fn by_word(&self, text: &str, from: usize) -> Option<Vec<Range<usize>>> {
        if self.word.len() < WORD {
            return None;
        }
        let (mut places, mut work) = (Vec::new(), 0);
        // The word is a range of the pattern, and the text goes on behind its byte order mark.
        let word = &self.bytes[self.word.clone()];
        for at in memmem::find_iter(&text.as_bytes()[from..], word) {
            let start = before(text, from, from + at, self.word.start, self.dash);
            let end = start.and_then(|start| self.end(text, start, &mut work));
            places.extend(start.zip(end).map(|(start, end)| start..end));
            work += self.word.end;
            if places.len() > PLACES || work > text.len() / 16 + self.bytes.len() {
                return None;
            }
        }
        Some(places)
    }

    /// Where a place ends that begins here, if one does.
    fn end(&self, text: &str, start: usize, work: &mut usize) -> Option<usize> {
        let mut atoms = Atoms::new(text, start..text.len(), self.dash);
        let mut last = None;
        for byte in &self.bytes {
            *work += 1;
            last = Some(atoms.next().filter(|atom| atom.byte == *byte)?);
        }
        // The last character must not go on.
        let end = last?.end;
        (atoms.next().is_none_or(|next| next.start >= end)).then_some(end)
    }

    /// The places, found by looking at every character.
    fn walk(&self, text: &str, from: usize, each: &mut impl FnMut(Range<usize>) -> ControlFlow<()>) {
        let bytes = text.as_bytes();
        let first = self.bytes.first().copied().unwrap_or_default();
        let (mut at, mut state) = (from, 0);
        while let Some(&byte) = bytes.get(at) {
            if byte.is_ascii() {
                at += 1;
                // Mostly nothing has been seen yet.
                if is_space(byte) || (state == 0 && byte != first) {
                    continue;
                }
                state = self.step(state, byte);
            } else {
                // Texts are walked by whole characters.
                let Some(c) = text[at..].chars().next() else { return };
                at += c.len_utf8();
                if c.is_whitespace() {
                    continue;
                }
                let folded = fold(c, self.dash);
                state = folded.as_bytes().iter().fold(state, |state, byte| self.step(state, *byte));
            }
            if state == self.bytes.len() {
                if let Some(start) = before(text, from, at, self.bytes.len(), self.dash) {
                    if each(start..at).is_break() {
                        return;
                    }
                }
            }
        }
    }

    /// How many bytes of the pattern have been seen after one more.
    fn step(&self, mut state: usize, byte: u8) -> usize {
        loop {
            if self.bytes.get(state) == Some(&byte) {
                return state + 1;
            }
            if state == 0 {
                return 0;
            }
            // A state above 0 has that many entries below it.
            state = self.fallback[state - 1] as usize;
        }
    }
}

/// The position so many plain bytes before another. Nothing if that is inside of a character, or before the text.
fn before(text: &str, from: usize, at: usize, mut bytes: usize, dash: Dash) -> Option<usize> {
    if bytes == 0 {
        return Some(at);
    }
    // Both are positions in the text.
    for (start, c) in text[from..at].char_indices().rev() {
        if !c.is_whitespace() {
            bytes = bytes.checked_sub(fold(c, dash).as_bytes().len())?;
        }
        if bytes == 0 {
            return Some(from + start);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{super::super::tokens::is_word, *};
    use proptest::prelude::*;

    /// The places that are found by looking at every character.
    fn places(text: &str, wanted: &str) -> Vec<String> {
        let mut found = Vec::new();
        let Some(pattern) = Pattern::new(wanted, Dash::Double) else { return found };
        pattern.walk(text, 0, &mut |place| {
            found.push(text[place].to_owned());
            ControlFlow::Continue(())
        });
        found
    }

    #[test]
    fn spacing_and_typography_do_not_matter() {
        assert_eq!(places("x = f( 'a',\n  b ) + f(‘a’, b)", "f('a',b)"), ["f( 'a',\n  b )", "f(‘a’, b)"]);
        assert_eq!(places("wait… what", "wait..."), ["wait…"]);
    }

    #[test]
    fn a_part_of_a_character_is_no_place() {
        assert_eq!(places("wait…", "wait.."), [""; 0]);
        assert_eq!(places("…wait", ".wait"), [""; 0]);
    }

    #[test]
    fn overlapping_places_are_all_found() {
        assert_eq!(places("a a a", "aa"), ["a a", "a a"]);
    }

    #[test]
    fn white_space_alone_is_not_searched() {
        assert!(Pattern::new(" \n\t", Dash::Double).is_none());
    }

    proptest! {
        #[test]
        fn places_have_the_characters_that_are_searched(text in "[ab \\n]{0,30}", wanted in "[ab ]{1,4}") {
            let solid = |text: &str| text.split_whitespace().collect::<String>();
            let (all, one) = (solid(&text), solid(&wanted));
            let found = places(&text, &wanted);
            prop_assert!(found.iter().all(|place| solid(place) == one));
            let expected = (0..all.len()).filter(|&at| !one.is_empty() && all[at..].starts_with(&one)).count();
            prop_assert_eq!(found.len(), expected);
        }

        #[test]
        fn both_ways_find_the_same_whole_words(text in "([ab]{3,4}|[ (…“]|\n){0,20}", wanted in "([ab]{3,4}|[ (.\"]){1,4}") {
            let Some(pattern) = Pattern::new(&wanted, Dash::Double) else { return Ok(()) };
            let Some(by_word) = pattern.by_word(&text, 0) else { return Ok(()) };
            // A place that begins or ends inside of a word is never meant.
            let whole = |place: &Range<usize>| {
                let beside = |one: Option<char>, other: Option<char>| one.is_some_and(is_word) && other.is_some_and(is_word);
                let (place, before, after) = (&text[place.clone()], &text[..place.start], &text[place.end..]);
                !beside(before.chars().last(), place.chars().next()) && !beside(place.chars().last(), after.chars().next())
            };
            let mut walked = Vec::new();
            pattern.walk(&text, 0, &mut |place| {
                walked.push(place);
                ControlFlow::Continue(())
            });
            // Nor one in which a word is cut that is whole in what is searched.
            let words = |text: &str| -> Vec<String> {
                text.split(|c| !is_word(c)).filter(|word| !word.is_empty()).map(str::to_owned).collect()
            };
            walked.retain(|place| whole(place) && words(&text[place.clone()]) == words(&wanted));
            prop_assert!(walked.iter().all(|place| by_word.contains(place)), "{walked:?} {by_word:?}");
        }
    }
}
