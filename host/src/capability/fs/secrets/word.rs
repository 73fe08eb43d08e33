//! Long words, found at the speed of memory: nearly every token has a stretch of 20 letters, digits, hyphens and underscores, and
//! ordinary text has few.

use std::ops::Range;

use super::charset::{is_word, run};

/// The shortest word that is looked at. An AWS key id has 20 bytes, and so has the shortest first part of a JSON web token; all
/// other tokens are longer.
pub(super) const SHORTEST: usize = 20;

/// Bytes that are classified at once: as many as a mask has bits.
const BLOCK: usize = 64;

/// Gathers the lowest bits of eight bytes in the highest byte.
const GATHER: u64 = 0x0102_0408_1020_4080;

/// The next word of at least [`SHORTEST`] bytes that begins at `from` or later; what lies before does not count.
pub(super) fn next(text: &[u8], from: usize) -> Option<Range<usize>> {
    let reached = from + first_end(text.get(from..)?)?;
    Some(reached - SHORTEST..reached + run(&text[reached..], is_word))
}

/// Where the first [`SHORTEST`] bytes of a word in a row end.
fn first_end(text: &[u8]) -> Option<usize> {
    let (blocks, tail) = text.as_chunks();
    let mut ends = Ends::default();
    for (index, block) in blocks.iter().enumerate() {
        if let Some(end) = ends.first_in(block) {
            return Some(index * BLOCK + end);
        }
    }
    let mut last = [0; BLOCK];
    last[..tail.len()].copy_from_slice(tail);
    ends.first_in(&last).map(|end| blocks.len() * BLOCK + end)
}

/// Which of the bytes are of words, the first in the lowest bit.
fn mask(block: &[u8; BLOCK]) -> u64 {
    let word = block.map(|byte| u8::from(is_word(byte)));
    let gathered = word.as_chunks().0.iter().map(|eight| u64::from_le_bytes(*eight).wrapping_mul(GATHER) >> 56);
    gathered.enumerate().fold(0, |mask, (index, bits)| mask | bits << (8 * index))
}

/// The masks of the block before: of bytes that end 1, 2, 4 and 8 bytes of words in a row.
#[derive(Default)]
struct Ends {
    one: u64,
    two: u64,
    four: u64,
    eight: u64,
}

impl Ends {
    /// Where [`SHORTEST`] bytes of words in a row end first in the next block: 16 of them after 4.
    fn first_in(&mut self, block: &[u8; BLOCK]) -> Option<usize> {
        let shifted = |now: u64, before: u64, by: u32| now << by | before >> (64 - by);
        let one = mask(block);
        let two = one & shifted(one, self.one, 1);
        let four = two & shifted(two, self.two, 2);
        let eight = four & shifted(four, self.four, 4);
        let found = eight & shifted(eight, self.eight, 8) & shifted(four, self.four, 16);
        *self = Self { one, two, four, eight };
        (found != 0).then(|| found.trailing_zeros() as usize + 1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The same, byte by byte.
    fn slowly(text: &[u8], from: usize) -> Option<Range<usize>> {
        let mut start = from;
        for at in from..=text.len() {
            if at < text.len() && is_word(text[at]) {
                continue;
            }
            if at - start >= SHORTEST {
                return Some(start..at);
            }
            start = at + 1;
        }
        None
    }

    #[test]
    fn a_word_is_found_wherever_it_lies() {
        for before in 0..150 {
            for length in [SHORTEST - 1, SHORTEST, SHORTEST + 1, 63, 64, 65, 200] {
                for after in [0, 1, 70] {
                    let text = [" ".repeat(before), "a".repeat(length), " ".repeat(after)].concat();
                    let expected = (length >= SHORTEST).then_some(before..before + length);
                    assert_eq!(next(text.as_bytes(), 0), expected, "{before} {length} {after}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn words_are_those_that_a_slow_search_finds(text in "([a-z0-9_-]{0,45}[ .\n]){0,12}", from in 0..100usize) {
            let text = text.as_bytes();
            prop_assert_eq!(next(text, from), if from <= text.len() { slowly(text, from) } else { None });
        }
    }
}
