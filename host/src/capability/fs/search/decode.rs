//! Text from bytes: what is no text, and marks at its beginning.

/// Bytes at the beginning of a file that are looked at for a NUL: one read, which is the whole of most files. Git looks at 8,000,
/// but a PDF may begin with more text than that.
pub(super) const PROBE_BYTES: usize = 64 << 10;

/// How a file's text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// UTF-8, or bytes that are close to it, after a mark of so many bytes.
    Plain(usize),
    /// UTF-16 with the lower byte of each unit first.
    Utf16Little,
    /// UTF-16 with the higher byte first.
    Utf16Big,
    /// No text.
    Binary,
}

/// Tells by the beginning of a file.
pub(super) fn encoding(beginning: &[u8]) -> Encoding {
    match beginning {
        [0xff, 0xfe, ..] => Encoding::Utf16Little,
        [0xfe, 0xff, ..] => Encoding::Utf16Big,
        _ if memchr::memchr(0, beginning).is_some() => Encoding::Binary,
        [0xef, 0xbb, 0xbf, ..] => Encoding::Plain(3),
        _ => Encoding::Plain(0),
    }
}

/// UTF-16 after its mark as UTF-8. What is broken becomes U+FFFD.
pub(super) fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let (pairs, odd) = bytes.as_chunks();
    let units = pairs.iter().skip(1).map(|pair| unit(*pair));
    let mut text: String = char::decode_utf16(units).map(|char| char.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    if !odd.is_empty() {
        text.push(char::REPLACEMENT_CHARACTER);
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn marks_and_zeros_tell_what_a_file_is() {
        assert_eq!(encoding(b""), Encoding::Plain(0));
        assert_eq!(encoding(b"\xef\xbb\xbfa"), Encoding::Plain(3));
        assert_eq!(encoding(b"caf\xe9"), Encoding::Plain(0));
        assert_eq!(encoding(b"a\0"), Encoding::Binary);
        assert_eq!(encoding(b"\xef\xbb\xbf\0"), Encoding::Binary);
        assert_eq!(encoding(b"\xff\xfea\0"), Encoding::Utf16Little);
        assert_eq!(encoding(b"\xfe\xff\0a"), Encoding::Utf16Big);
    }

    #[test]
    fn broken_utf_16_is_shown_as_broken() {
        assert_eq!(utf16(b"\xff\xfea\0\x00\xd8b\0c", u16::from_le_bytes), "a\u{fffd}b\u{fffd}");
    }

    proptest! {
        #[test]
        fn utf_16_reads_as_what_was_written(text in "\\PC{0,20}") {
            let units = || std::iter::once(0xfeff).chain(text.encode_utf16());
            let little: Vec<u8> = units().flat_map(u16::to_le_bytes).collect();
            let big: Vec<u8> = units().flat_map(u16::to_be_bytes).collect();
            prop_assert_eq!(&utf16(&little, u16::from_le_bytes), &text);
            prop_assert_eq!(&utf16(&big, u16::from_be_bytes), &text);
        }
    }
}
