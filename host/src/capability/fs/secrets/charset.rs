//! Classes of bytes that secrets are made of, and how random they look.

/// A class of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Charset {
    /// `0-9 a-f A-F`
    Hex,
    /// `0-9 A-Z`
    Upper,
    /// `0-9 A-Z a-z`
    Alnum,
    /// `0-9 A-Z a-z _ -`, which words are made of.
    Word,
    /// Both alphabets of Base64 with their padding.
    Base64,
}

impl Charset {
    /// Whether a byte belongs to it.
    pub(super) fn has(self, byte: u8) -> bool {
        match self {
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Word => is_word(byte),
            Self::Base64 => is_word(byte) || matches!(byte, b'+' | b'/' | b'='),
        }
    }

    /// How many of the first bytes belong to it.
    pub(super) fn run(self, text: &[u8]) -> usize {
        run(text, |byte| self.has(byte))
    }
}

/// How many of the first bytes fit.
pub(super) fn run(text: &[u8], fits: impl Fn(u8) -> bool) -> usize {
    text.iter().position(|byte| !fits(*byte)).unwrap_or(text.len())
}

/// Whether a byte is of a word.
#[inline(always)]
pub(super) const fn is_word(byte: u8) -> bool {
    // Without branches, so that a loop over many bytes becomes vector instructions.
    ((byte | 0x20).wrapping_sub(b'a') < 26) | (byte.wrapping_sub(b'0') < 10) | (byte == b'_') | (byte == b'-')
}

/// Whether there is a digit and a letter.
pub(super) fn has_digit_and_letter(text: &[u8]) -> bool {
    text.iter().any(u8::is_ascii_digit) && text.iter().any(u8::is_ascii_alphabetic)
}

/// Whether there are digits and letters, or letters of both cases: a key has that, a word of prose or a name in code has not,
/// but for those in camel case.
pub(super) fn is_mixed(text: &[u8]) -> bool {
    has_digit_and_letter(text) || text.iter().any(u8::is_ascii_uppercase) && text.iter().any(u8::is_ascii_lowercase)
}

/// Letters and digits in a row that few names have.
const LONG: usize = 16;

/// The same that no name has.
const LONGEST_NAME: usize = 32;

/// Whether one part between hyphens and underscores is longer than a word.
pub(super) fn has_long_part(text: &[u8]) -> bool {
    parts(text).any(|part| part.len() >= LONG)
}

/// Whether one part is as only a key's are. Names in CSS and prose with hyphens have shorter parts, or no digit in them.
pub(super) fn has_random_part(text: &[u8]) -> bool {
    parts(text).any(|part| part.len() >= LONGEST_NAME || part.len() >= LONG && has_digit_and_letter(part))
}

fn parts(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| !byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_letters_digits_hyphens_and_underscores() {
        for byte in 0..=u8::MAX {
            assert_eq!(is_word(byte), byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_', "{byte}");
        }
    }

    #[test]
    fn names_are_not_random() {
        for name in [
            "fading-circle-12-delay-animation",
            "internationalization-2",
            "AuthorizationProvider-2",
            "based-approach-to-2024",
        ] {
            assert!(!has_random_part(name.as_bytes()), "{name}");
        }
        assert!(has_random_part(b"proj-a1b2c3d4e5f6g7h8"));
        assert!(has_random_part("a".repeat(32).as_bytes()));
    }
}
