//! Bytes that were cut somewhere, as text.

/// A character has four bytes at most, so a cut leaves three of them on either side.
const CUT: usize = 3;

/// The text of bytes whose beginning may be cut: what is left of a character there is dropped.
pub(super) fn from_cut_start(bytes: &[u8]) -> &[u8] {
    let broken = bytes.iter().take(CUT).take_while(|byte| (**byte & 0b1100_0000) == 0b1000_0000).count();
    bytes.get(broken..).unwrap_or_default()
}

/// The text of bytes whose end may be cut.
pub(super) fn to_cut_end(bytes: &[u8]) -> &[u8] {
    for back in 1..=CUT.min(bytes.len()) {
        let at = bytes.len() - back;
        let Some(byte) = bytes.get(at) else { break };
        let needs = match byte {
            0b1100_0000..=0b1101_1111 => 2,
            0b1110_0000..=0b1110_1111 => 3,
            0b1111_0000..=0b1111_0111 => 4,
            0b1000_0000..=0b1011_1111 => continue,
            _ => break,
        };
        return if needs > back { bytes.get(..at).unwrap_or_default() } else { bytes };
    }
    bytes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_cut_anywhere_in_a_text_leaves_text_on_both_sides(text in "\\PC{0,40}", at in 0usize..200) {
            let at = at.min(text.len());
            let (head, tail) = text.as_bytes().split_at(at);
            let (head, tail) = (to_cut_end(head), from_cut_start(tail));
            prop_assert!(text.starts_with(std::str::from_utf8(head).unwrap()));
            prop_assert!(text.ends_with(std::str::from_utf8(tail).unwrap()));
            prop_assert!(head.len() + tail.len() + 4 >= text.len());
        }

        #[test]
        fn any_bytes_can_be_cut(bytes in prop::collection::vec(any::<u8>(), 0..12)) {
            prop_assert!(bytes.starts_with(to_cut_end(&bytes)));
            prop_assert!(bytes.ends_with(from_cut_start(&bytes)));
        }
    }
}
