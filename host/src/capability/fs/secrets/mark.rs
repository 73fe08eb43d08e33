//! What stands in a secret's place.

use super::{charset::run, header, url};

/// What a mark begins with where there is room for it. `*` fills the rest.
pub(super) const LABEL: &[u8] = "«redacted»".as_bytes();

/// Where the label's two characters of two bytes each begin.
const WIDE: [usize; 2] = [0, LABEL.len() - 2];

/// Bytes that a mark is written over. They are ASCII without line breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether this is a further line of the secret before it.
    pub(super) continues: bool,
}

impl Span {
    /// Writes the mark over the part of it that lies in `bytes`, which begin at `offset`.
    pub(super) fn write(&self, bytes: &mut [u8], offset: usize) {
        let from = self.start.max(offset);
        let to = self.end.min(offset + bytes.len());
        if from >= to {
            return;
        }
        bytes[from - offset..to - offset].fill(b'*');
        if self.continues || self.end - self.start < LABEL.len() {
            return;
        }
        let visible = |at: usize| (from..to).contains(&(self.start + at));
        for (at, byte) in LABEL.iter().enumerate().filter(|(at, _)| visible(*at)) {
            let whole = WIDE.iter().all(|wide| !(*wide..wide + 2).contains(&at) || visible(*wide) && visible(wide + 1));
            if whole {
                bytes[self.start + at - offset] = *byte;
            }
        }
    }
}

/// Whether a mark begins here. No secret is directly followed by one: what is masked in a word must not make the rest of the word
/// look like another secret the next time.
pub(super) fn begins(text: &[u8]) -> bool {
    let stars = run(&text[..text.len().min(LABEL.len())], |byte| byte == b'*');
    // Fewer than a masked header or password has are Markdown's.
    let unlabelled = stars >= header::SHORTEST || stars >= url::SHORTEST && text.get(stars) == Some(&b'@');
    unlabelled || text.starts_with("«".as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(length: usize, offset: usize, shown: usize) -> String {
        let mut bytes = vec![b'a'; shown];
        Span { start: 0, end: length, continues: false }.write(&mut bytes, offset);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_mark_has_the_label_where_it_fits() {
        assert_eq!(written(12, 0, 12), "«redacted»");
        assert_eq!(written(15, 0, 16), "«redacted»***a");
        assert_eq!(written(11, 0, 12), "***********a");
    }

    #[test]
    fn a_cut_never_splits_a_character_of_the_label() {
        assert_eq!(written(14, 0, 1), "*");
        assert_eq!(written(14, 0, 2), "«");
        assert_eq!(written(14, 1, 5), "*reda");
        assert_eq!(written(14, 2, 9), "redacted*");
        assert_eq!(written(14, 11, 4), "***a");
        assert_eq!(written(14, 14, 2), "aa");
    }

    #[test]
    fn further_lines_have_no_label() {
        let mut bytes = vec![b'a'; 20];
        Span { start: 2, end: 18, continues: true }.write(&mut bytes, 0);
        assert_eq!(bytes, b"aa****************aa");
    }
}
