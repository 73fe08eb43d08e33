//! Text as it stands between the quotes of a JSON string. serde_json looks at every byte by itself, which for a page of code is most of
//! what reading it costs; here it goes by eight bytes at a time.

use std::fmt::Write;

/// Adds a text to what stands in a JSON string.
pub(super) fn push(json: &mut String, text: &str) {
    let mut done = 0;
    while let Some(next) = special(text.as_bytes(), done) {
        // Those are ASCII, so both ends are between characters.
        json.push_str(&text[done..next]);
        escape(json, text.as_bytes()[next]);
        done = next + 1;
    }
    json.push_str(&text[done..]);
}

fn escape(json: &mut String, byte: u8) {
    let short = match byte {
        b'"' | b'\\' => char::from(byte),
        b'\n' => 'n',
        b'\t' => 't',
        b'\r' => 'r',
        _ => {
            // Writing to a string does not fail.
            let _ = write!(json, "\\u{byte:04x}");
            return;
        }
    };
    json.push('\\');
    json.push(short);
}

/// Where the next byte is that can't stand as it is, a line break among them.
pub(super) fn special(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(eight) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let found = specials(u64::from_le_bytes(*eight));
        if found != 0 {
            return Some(at + found.trailing_zeros() as usize / 8);
        }
        at += eight.len();
    }
    let is_special = |byte: &u8| *byte < b' ' || *byte == b'"' || *byte == b'\\';
    bytes.get(at..)?.iter().position(is_special).map(|found| at + found)
}

/// The highest bit of each of eight bytes that is special; those behind the first may be wrong. A byte below `n` borrows into its
/// highest bit when `n` is taken off, and one that had that bit before is none; equal bytes differ by zero, which is below one.
const fn specials(eight: u64) -> u64 {
    const EACH: u64 = u64::from_le_bytes([1; 8]);
    const fn below(bytes: u64, n: u8) -> u64 {
        bytes.wrapping_sub(EACH * n as u64) & !bytes
    }
    let found = below(eight, b' ') | below(eight ^ (EACH * b'"' as u64), 1) | below(eight ^ (EACH * b'\\' as u64), 1);
    found & (EACH << 7)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read_back(text: &str) -> String {
        let mut json = String::from("\"");
        push(&mut json, text);
        json.push('"');
        serde_json::from_str(&json).unwrap()
    }

    #[test]
    fn every_character_below_the_letters_is_read_back() {
        let all: String = (0_u8..128).map(char::from).collect();
        assert_eq!(read_back(&all), all);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(text in "(\\PC|[\\x00-\\x1f\"\\\\]|[a-z ]{1,40}){0,60}") {
            prop_assert_eq!(read_back(&text), text);
        }
    }
}
