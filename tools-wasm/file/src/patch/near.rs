//! "Did you mean": the places of a text that resemble one that was not found.
//!
//! One pass counts, for every window of as many lines as were searched, how many of its three-letter pieces the searched text has;
//! only the best windows are compared for real. Of a large text only the part around the longest word is looked at.

use std::{collections::VecDeque, ops::Range};

use memchr::memmem;
use similar::{Algorithm, capture_diff_slices, diff_ratio};

use super::{
    text::{body, line_breaks},
    tokens::{is_word, tokens},
};

/// Bytes that are looked at. Each takes some sixty instructions, and a call has two thousand million for everything.
pub(super) const LOOKED_AT: usize = 4 << 20;

/// Snippets in an answer: more would be a list to read instead of a hint.
const SNIPPETS: usize = 3;

/// How alike two texts must be, from 0 to 1. Below it they have little more in common than the language.
const ALIKE: f32 = 0.3;

/// Windows that are compared in full.
const COMPARED: usize = 12;

/// Lines of a window at most: the start of a long text is enough to find its place.
const LINES: usize = 40;

/// Bytes of a window that are compared at most. Comparing may take their square.
const COMPARED_BYTES: usize = 4_000;

/// Lines and characters of each that a snippet shows.
const SHOWN_LINES: usize = 12;
const SHOWN_CHARS: usize = 160;

/// A place that resembles what was searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Snippet {
    /// The number of its first line.
    pub(crate) line: usize,
    /// Its lines, cut where they are long.
    pub(crate) text: String,
}

impl Snippet {
    /// Its lines with their numbers, as a file is shown.
    pub(crate) fn numbered(&self) -> String {
        let lines: Vec<String> =
            self.text.lines().enumerate().map(|(n, line)| format!("{}|{line}", self.line + n)).collect();
        lines.join("\n")
    }
}

/// The places of a text most like what was searched, the best first.
pub(crate) fn near(text: &str, wanted: &str) -> Vec<Snippet> {
    let wanted = wanted.trim();
    let lines = wanted.lines().count().clamp(1, LINES);
    let pieces = Pieces::new(wanted.lines().take(LINES));
    let start = start_of(wanted, COMPARED_BYTES);
    let part = part(text, wanted);
    let mut found: Vec<(f32, Window<'_>)> = windows(text, part, lines, &pieces)
        .into_iter()
        .map(|window| (alike(start, start_of(window.text, COMPARED_BYTES)), window))
        .filter(|(alike, _)| *alike > ALIKE)
        .collect();
    found.sort_by(|(one, a), (other, b)| other.total_cmp(one).then(a.line.cmp(&b.line)));
    found.into_iter().take(SNIPPETS).map(|(_, window)| window.snippet()).collect()
}

/// The lines of a text that are looked at: all, or those around the longest word.
fn part(text: &str, wanted: &str) -> Range<usize> {
    let first = body(text);
    if text.len() <= LOOKED_AT {
        return first..text.len();
    }
    let word = tokens(wanted).filter(|token| token.starts_with(is_word)).max_by_key(|word| word.len());
    let at = word.and_then(|word| memmem::find(text.as_bytes(), word.as_bytes())).unwrap_or(0);
    let around = text.as_bytes().get(..at.saturating_sub(LOOKED_AT / 4)).unwrap_or_default();
    let start = memchr::memrchr(b'\n', around).map_or(first, |found| found + 1);
    // The last line may be cut, but no character.
    let end = (start..=text.len().min(start + LOOKED_AT)).rev().find(|end| text.is_char_boundary(*end));
    start..end.unwrap_or(start)
}

/// The first bytes of a text, in whole characters.
fn start_of(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    // It is a boundary.
    &text[..end.unwrap_or(0)]
}

/// The share of words and signs that two texts have in common, in the same order.
fn alike(one: &str, other: &str) -> f32 {
    let words = |text| tokens(text).filter(|token| !token.trim_start().is_empty()).collect::<Vec<&str>>();
    let (one, other) = (words(one), words(other));
    diff_ratio(&capture_diff_slices(Algorithm::Myers, &one, &other), one.len(), other.len())
}

/// Some lines of a text.
struct Window<'a> {
    line: usize,
    text: &'a str,
    score: f32,
}

impl Window<'_> {
    fn snippet(&self) -> Snippet {
        let cut = |line: &str| match line.char_indices().nth(SHOWN_CHARS) {
            // It is where a character begins.
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line.to_owned(),
        };
        let lines: Vec<String> = self.text.lines().take(SHOWN_LINES).map(cut).collect();
        Snippet { line: self.line, text: lines.join("\n") }
    }
}

/// The windows that share most with the pieces, none overlapping another.
fn windows<'a>(text: &'a str, part: Range<usize>, lines: usize, pieces: &Pieces) -> Vec<Window<'a>> {
    let mut best: Vec<Window<'a>> = Vec::new();
    // The last lines: where each begins, how many pieces it has, and how many of these are shared.
    let mut last: VecDeque<(usize, usize, usize)> = VecDeque::with_capacity(lines + 1);
    let (mut total, mut shared) = (0, 0);
    // A part of the text begins and ends with a line.
    let (mut at, mut number) = (part.start, line_breaks(&text[..part.start]));
    while at < part.end {
        let (own, common, len) = pieces.count(&text.as_bytes()[at..part.end]);
        last.push_back((at, own, common));
        (total, shared) = (total + own, shared + common);
        (at, number) = (at + len, number + 1);
        if last.len() > lines {
            let (_, own, common) = last.pop_front().unwrap_or_default();
            (total, shared) = (total - own, shared - common);
        }
        let score = 2.0 * shared as f32 / (total + pieces.total).max(1) as f32;
        // Half of what counts in the end: the pieces are only a first look.
        if score > ALIKE / 2.0 {
            // Lines are cut at their breaks.
            let start = last.front().map_or(at, |line| line.0);
            keep(&mut best, Window { line: number + 1 - last.len(), text: &text[start..at], score }, lines);
        }
    }
    best
}

/// Keeps a window if it is among the best, and better than the one that it overlaps.
fn keep<'a>(best: &mut Vec<Window<'a>>, window: Window<'a>, lines: usize) {
    match best.iter_mut().rfind(|known| known.line + lines > window.line) {
        Some(known) if known.score < window.score => *known = window,
        Some(_) => {}
        None => best.push(window),
    }
    if best.len() > COMPARED {
        let worst = best.iter().enumerate().min_by(|(_, a), (_, b)| a.score.total_cmp(&b.score)).map(|(at, _)| at);
        best.remove(worst.unwrap_or(0));
    }
}

/// The three-letter pieces of a text, as a set of 2^16 bits: small, and rarely wrong.
struct Pieces {
    bits: Box<[u64; 1 << 10]>,
    total: usize,
}

impl Pieces {
    fn new<'a>(lines: impl Iterator<Item = &'a str>) -> Self {
        let mut pieces = Self { bits: Box::new([0; 1 << 10]), total: 0 };
        for line in lines {
            let bytes: Vec<u8> = line.bytes().filter(|byte| *byte > b' ').collect();
            for piece in bytes.windows(3) {
                let piece = piece.iter().fold(0, |piece, byte| piece << 8 | u32::from(*byte));
                let (word, bit) = place(piece);
                // A place is one of 2^10 words of 2^6 bits.
                pieces.bits[word] |= 1 << bit;
                pieces.total += 1;
            }
        }
        pieces
    }

    /// How many pieces the first line has, how many of these are in the set, and how long the line is. White space is left out.
    fn count(&self, text: &[u8]) -> (usize, usize, usize) {
        let (mut seen, mut common, mut len, mut piece) = (0_usize, 0, text.len(), 0_u32);
        for (at, &byte) in text.iter().enumerate() {
            if byte <= b' ' {
                if byte == b'\n' {
                    len = at + 1;
                    break;
                }
                continue;
            }
            piece = piece << 8 | u32::from(byte);
            seen += 1;
            if seen > 2 {
                let (word, bit) = place(piece);
                // The same.
                common += (self.bits[word] >> bit & 1) as usize;
            }
        }
        (seen.saturating_sub(2), common, len)
    }
}

/// Where the last three bytes of a number are in the set. Fibonacci hashing: the upper bits depend on all of them.
#[inline]
fn place(piece: u32) -> (usize, u32) {
    let hash = (piece & 0xff_ffff).wrapping_mul(0x9e37_79b1) >> 16;
    ((hash >> 6) as usize, hash & 63)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FILE: &str =
        "import os\n\ndef alpha():\n    return compute(1)\n\ndef beta():\n    return compute(2)\n\nprint(alpha())\n";

    #[test]
    fn what_resembles_is_named_with_its_line() {
        let found = near(FILE, "def alpha():\n    return compute(7)\n");
        assert_eq!(found[0], Snippet { line: 3, text: "def alpha():\n    return compute(1)".into() });
        assert_eq!(found[0].numbered(), "3|def alpha():\n4|    return compute(1)");
        assert_eq!(found[1].line, 6);
    }

    #[test]
    fn what_has_nothing_in_common_is_not_named() {
        assert_eq!(near(FILE, "SELECT name FROM users WHERE id"), []);
        assert_eq!(near("", "a text"), []);
        assert_eq!(near(FILE, ""), []);
    }

    #[test]
    fn snippets_are_few_and_short() {
        let text = format!("value = {}\n", "x".repeat(1000)).repeat(50);
        let found = near(&text, "value = y\n".repeat(30).as_str());
        assert!(found.len() <= SNIPPETS);
        for snippet in near(&text, &text) {
            assert!(snippet.text.lines().count() <= SHOWN_LINES);
            assert!(snippet.text.lines().all(|line| line.chars().count() <= SHOWN_CHARS + 1));
        }
    }

    #[test]
    fn a_large_text_is_looked_at_around_the_longest_word() {
        let filler = "nothing to see here\n".repeat(LOOKED_AT / 10);
        let text = format!("{filler}def extraordinary(a):\n    pass\n{filler}");
        let found = near(&text, "def extraordinary(b):\n    pass");
        assert_eq!(found, [Snippet { line: LOOKED_AT / 10 + 1, text: "def extraordinary(a):\n    pass".into() }]);
        assert_eq!(near(&"x".repeat(LOOKED_AT + 10), "xx y"), []);
    }

    #[test]
    fn the_only_line_of_a_short_file_is_near() {
        assert_eq!(near("hello world", "hello wurld\nand more")[0].line, 1);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(\\PC|\\n){0,200}", wanted in "(\\PC|\\n){0,60}") {
            let lines = text.lines().count();
            prop_assert!(near(&text, &wanted).iter().all(|snippet| (1..=lines).contains(&snippet.line)));
        }
    }
}
