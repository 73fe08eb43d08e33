//! Bytes that were cut somewhere, as text.

use memchr::memmem;

use crate::capability::fs::mask;

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

/// Masks the secrets in what is left of an output whose beginning is gone. A private key that began there is one here too.
pub(crate) fn mask_after_cut(bytes: &mut [u8]) {
    let opening = end_of_a_key(bytes).map(|label| [b"-----BEGIN ", label, b"-----\n"].concat());
    let Some(opening) = opening else {
        mask(bytes);
        return;
    };
    let mut whole = [&*opening, bytes].concat();
    mask(&mut whole);
    // Masking keeps lengths.
    bytes.copy_from_slice(whole.get(opening.len()..).unwrap_or_default());
}

/// The name of a private key that ends here and did not begin here.
fn end_of_a_key(bytes: &[u8]) -> Option<&[u8]> {
    let end = memmem::find(bytes, b"-----END ")?;
    if memmem::find(bytes.get(..end)?, b"-----BEGIN ").is_some() {
        return None;
    }
    let label = bytes.get(end + b"-----END ".len()..)?;
    let label = label.get(..memmem::find(label, b"-----")?)?;
    label.ends_with(b"PRIVATE KEY").then_some(label)
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
