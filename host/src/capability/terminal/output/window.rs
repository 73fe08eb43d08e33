//! The beginning and the end of an output of any length, in constant room.

use std::collections::VecDeque;

use super::{
    super::limits::{HEAD_PERCENT, OUTPUT_BYTES},
    text,
};

/// What is kept of an output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    /// Its text, with a line that tells what was left out.
    pub text: String,
    /// Bytes that were printed.
    pub total: u64,
    /// Bytes of them that the text lacks.
    pub omitted: u64,
}

/// Takes an output as it comes.
#[derive(Debug)]
pub(crate) struct Window {
    head: Vec<u8>,
    head_room: usize,
    tail: VecDeque<u8>,
    tail_room: usize,
    total: u64,
}

impl Default for Window {
    fn default() -> Self {
        Self::new(OUTPUT_BYTES)
    }
}

impl Window {
    fn new(room: usize) -> Self {
        let head_room = room * HEAD_PERCENT / 100;
        Self { head: Vec::new(), head_room, tail: VecDeque::new(), tail_room: room - head_room, total: 0 }
    }

    /// Takes what was printed next.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let (first, rest) = bytes.split_at(bytes.len().min(self.head_room - self.head.len()));
        self.head.extend_from_slice(first);
        let rest = rest.get(rest.len().saturating_sub(self.tail_room)..).unwrap_or_default();
        let too_many = (self.tail.len() + rest.len()).saturating_sub(self.tail_room);
        self.tail.drain(..too_many);
        self.tail.extend(rest);
    }

    /// What was kept.
    pub(crate) fn close(self) -> Captured {
        let tail: Vec<u8> = self.tail.into();
        let total = self.total;
        if (self.head.len() + tail.len()) as u64 == total {
            return Captured {
                text: String::from_utf8_lossy(&[self.head, tail].concat()).into_owned(),
                total,
                omitted: 0,
            };
        }
        let mut tail = tail;
        text::mask_after_cut(&mut tail);
        let (head, tail) = (text::to_cut_end(&self.head), text::from_cut_start(&tail));
        let omitted = total - (head.len() + tail.len()) as u64;
        let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
        let text = format!("{head}\n... [output truncated: {omitted} of {total} bytes left out] ...\n{tail}");
        Captured { text, total, omitted }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_short_output_is_kept_whole() {
        let mut window = Window::new(100);
        window.push("grün".as_bytes());
        window.push(b" and blue");
        assert_eq!(window.close(), Captured { text: "grün and blue".into(), total: 14, omitted: 0 });
    }

    #[test]
    fn a_long_output_keeps_its_ends_and_says_what_is_missing() {
        let mut window = Window::new(10);
        window.push(b"0123456789abcdef");
        let captured = window.close();
        assert_eq!(captured.text, "0123\n... [output truncated: 6 of 16 bytes left out] ...\nabcdef");
        assert_eq!((captured.total, captured.omitted), (16, 6));
    }

    proptest! {
        #[test]
        fn how_the_output_comes_changes_nothing(
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..50), 0..20), room in 1usize..80,
        ) {
            let (mut one, mut other) = (Window::new(room), Window::new(room));
            one.push(&pieces.concat());
            for piece in &pieces {
                other.push(piece);
                prop_assert!(other.head.len() + other.tail.len() <= room);
            }
            prop_assert_eq!(one.close(), other.close());
        }
    }
}
