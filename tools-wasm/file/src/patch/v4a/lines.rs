//! The lines of a file, made to be searched many times.

use super::super::{
    fold::{Dash, folded},
    text::{body, content_end, line_breaks},
};

/// Lines of a file at most. Each takes eight bytes beside the text, of the 64 MiB that a guest has.
const LINES: usize = 2_000_000;

/// The lines of a text.
pub(super) struct Lines<'a> {
    pub(super) text: &'a str,
    starts: Vec<u32>,
    /// A number for each line that is the same for lines which differ only around them and in typography.
    keys: Vec<u32>,
}

impl<'a> Lines<'a> {
    /// Nothing if there are too many.
    pub(super) fn new(text: &'a str) -> Option<Self> {
        let count = line_breaks(text) + 1;
        if count > LINES || u32::try_from(text.len()).is_err() {
            return None;
        }
        let (mut starts, mut keys) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let mut at = body(text);
        let breaks = memchr::memchr_iter(b'\n', text.as_bytes()).map(|end| end + 1);
        // What follows the last break is a line too, if it is anything.
        for end in breaks.chain([text.len()]).filter(|end| *end > body(text)) {
            if at < end {
                starts.push(at as u32);
                // Breaks are positions in the text.
                keys.push(key(&text[at..end]));
            }
            at = end;
        }
        Some(Self { text, starts, keys })
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    /// Where a line begins; for the one after the last, the end of the text.
    pub(super) fn start(&self, line: usize) -> usize {
        self.starts.get(line).map_or(self.text.len(), |start| *start as usize)
    }

    /// A line without its break.
    pub(super) fn get(&self, line: usize) -> &'a str {
        let start = self.start(line);
        &self.text[start..content_end(self.text, start)]
    }

    /// The key of each line.
    pub(super) fn keys(&self) -> &[u32] {
        &self.keys
    }
}

/// The number of a line, with or without its break: a hash of its plain form without the white space around it.
pub(super) fn key(line: &str) -> u32 {
    if line.is_ascii() {
        hash(line.as_bytes().trim_ascii())
    } else {
        hash(&folded(line.trim(), Dash::Double).collect::<Vec<_>>())
    }
}

/// Four bytes at once: every line of a large file goes through here.
fn hash(bytes: &[u8]) -> u32 {
    let add = |hash: u32, part: u32| (hash.rotate_left(5) ^ part).wrapping_mul(0x9e37_79b1);
    let mut parts = bytes.chunks_exact(4);
    let whole = parts.by_ref().fold(0, |hash, part| add(hash, u32::from_le_bytes(part.try_into().unwrap_or_default())));
    parts.remainder().iter().fold(whole, |hash, byte| add(hash, u32::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<&str> {
        let lines = Lines::new(text).unwrap();
        (0..lines.len()).map(|line| lines.get(line)).collect()
    }

    #[test]
    fn lines_are_what_lies_between_breaks() {
        assert_eq!(all("a\r\nb\n\nc"), ["a", "b", "", "c"]);
        assert_eq!(all("\u{feff}a\n"), ["a"]);
        assert_eq!(all(""), [""; 0]);
        assert_eq!(Lines::new("a\nb").unwrap().start(2), 3);
    }

    #[test]
    fn keys_are_the_same_for_the_same_content() {
        assert_eq!(key("  “a” \u{a0}b "), key("\"a\"  b"));
        assert_ne!(key("a"), key("b"));
    }

    #[test]
    fn a_file_of_line_breaks_alone_is_too_much() {
        assert!(Lines::new(&"\n".repeat(LINES)).is_none());
    }
}
