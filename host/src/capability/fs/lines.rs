//! `lines`: a part of a file by its line numbers, and how many lines there are. The file is read once, in pieces; what was asked for is
//! then read again with its surroundings, so that secrets in it are found.

use std::sync::atomic::{AtomicBool, Ordering};

use memchr::memchr_iter;

use super::{
    fault::{Outcome, fault},
    folders::Folders,
    limits::{EXCERPT_BYTES, HEAD_BYTES, INLINE_BYTES, READ_BYTES},
    memory::Excerpt as Asked,
    open::Open,
    read,
};
use crate::{
    grant::Secrets,
    sandbox::limits::MIB,
    wit::latest::filesystem::{Excerpt, LinesQuery, Reason},
};

/// Bytes read at a time while lines are counted.
const PIECE: u64 = MIB as u64;

/// Where the lines that were asked for lie, and what else the count found.
struct Count {
    total: u64,
    start: u64,
    end: u64,
    binary: bool,
}

pub(super) fn lines(open: &Open<'_>, query: &LinesQuery, given_up: &AtomicBool) -> Outcome<Excerpt> {
    if query.first == 0 {
        return Err(fault(Reason::Invalid, "lines count from 1"));
    }
    let last = query.first.saturating_add(query.count.into());
    let size = open.metadata.len();
    // A file that fits is read once, and everything else is done in memory.
    let whole = (size <= INLINE_BYTES).then(|| open.bytes(0, size)).transpose()?;
    let mut counter = Counter::new(query.first, last);
    match &whole {
        Some(whole) => counter.add(whole),
        None => {
            let mut from = 0;
            loop {
                let piece = open.bytes(from, PIECE)?;
                if piece.is_empty() || given_up.load(Ordering::Relaxed) {
                    break;
                }
                from += piece.len() as u64;
                counter.add(&piece);
            }
        }
    }
    let count = counter.finish();
    // Very long lines: fewer of them are given.
    let end = count.end.min(count.start.saturating_add(READ_BYTES));
    let (bytes, masked) = match whole {
        Some(whole) if open.folder.secrets == Secrets::Shown => (whole[count.start as usize..end as usize].to_vec(), 0),
        Some(whole) => read::mask_in(whole, count.start as usize..end as usize),
        None => read::masked(open, count.start..end)?,
    };
    let (bytes, given) = cut(bytes, query.width as usize);
    Ok(Excerpt { metadata: open.describe(), bytes, given, total: count.total, binary: count.binary, masked, seen: 0 })
}

/// Remembers what was given, and says how often it was before.
pub(super) fn remember(open: &Open<'_>, folders: &Folders, task: &str, query: &LinesQuery, excerpt: &mut Excerpt) {
    let asked =
        Asked { component: folders.component().to_owned(), first: query.first, count: query.count, width: query.width };
    let whole = query.first == 1 && u64::from(excerpt.given) == excerpt.total;
    excerpt.seen = folders.memory().gave(task, &open.real, excerpt.metadata.version, asked, whole);
}

/// Counts lines as pieces of the file come by.
struct Counter {
    first: u64,
    last: u64,
    /// Line breaks so far.
    breaks: u64,
    position: u64,
    start: Option<u64>,
    end: Option<u64>,
    binary: bool,
    ends_with_break: bool,
}

impl Counter {
    /// For the lines from `first` on, before `last`.
    fn new(first: u64, last: u64) -> Self {
        let start = (first == 1).then_some(0);
        let end = (last == 1).then_some(0);
        Self { first, last, breaks: 0, position: 0, start, end, binary: false, ends_with_break: true }
    }

    fn add(&mut self, piece: &[u8]) {
        if self.position == 0 {
            self.binary = is_binary(&piece[..piece.len().min(HEAD_BYTES)]);
        }
        let Some(final_byte) = piece.last() else { return };
        self.ends_with_break = *final_byte == b'\n';
        let breaks = memchr_iter(b'\n', piece).count() as u64;
        // Counting alone is much faster, and most of the time there is nothing to find: the whole file was asked for, or other lines.
        if self.breaks + breaks + 1 < self.first
            || (self.start.is_some() && self.breaks + breaks + 1 < self.last)
            || self.end.is_some()
        {
            self.breaks += breaks;
        } else {
            for at in memchr_iter(b'\n', piece) {
                self.breaks += 1;
                let after = self.position + at as u64 + 1;
                if self.breaks + 1 == self.first {
                    self.start = Some(after);
                }
                if self.breaks + 1 == self.last {
                    self.end = Some(after);
                }
            }
        }
        self.position += piece.len() as u64;
    }

    fn finish(self) -> Count {
        let total = self.breaks + u64::from(!self.ends_with_break);
        let start = self.start.unwrap_or(self.position);
        Count { total, start, end: self.end.unwrap_or(self.position).max(start), binary: self.binary }
    }
}

/// Whether the start of a file does not look like text: a zero byte, or more than three control characters in ten.
fn is_binary(head: &[u8]) -> bool {
    if memchr::memchr(0, head).is_some() {
        return true;
    }
    let start = &head[..head.len().min(1000)];
    // 1 to 8, 14 to 26, 28 to 31. Without branches and checked sums the compiler makes vectors of it.
    let is_control = |byte: u8| (byte.wrapping_sub(1) < 8) | (byte.wrapping_sub(14) < 13) | (byte.wrapping_sub(28) < 4);
    let control = start.iter().fold(0_usize, |count, byte| count.wrapping_add(is_control(*byte).into()));
    control * 10 > start.len() * 3
}

/// Cuts lines to their width, and the whole to what an answer may hold. Says how many lines are left.
fn cut(bytes: Vec<u8>, width: usize) -> (Vec<u8>, u32) {
    let unended = bytes.last().is_some_and(|last| *last != b'\n');
    if bytes.len() <= width.min(EXCERPT_BYTES) {
        let given = memchr_iter(b'\n', &bytes).count() + usize::from(unended);
        return (bytes, u32::try_from(given).unwrap_or(u32::MAX));
    }
    let mut kept = Vec::new();
    let (mut start, mut given) = (0, 0);
    let ends = memchr_iter(b'\n', &bytes).map(|at| at + 1).chain(unended.then_some(bytes.len()));
    for end in ends {
        let line = &bytes[start..end];
        let line = if line.len() > width.saturating_add(1) { &line[..width] } else { line };
        if kept.len() + line.len() + 1 > EXCERPT_BYTES && given > 0 {
            return (kept, given);
        }
        kept.extend_from_slice(line);
        if line.len() < end - start {
            kept.push(b'\n');
        }
        start = end;
        given += 1;
    }
    (kept, given)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What the counter says of a text that comes in pieces of this size.
    fn count(text: &[u8], first: u64, lines: u64, piece: usize) -> Count {
        let mut counter = Counter::new(first, first + lines);
        text.chunks(piece).for_each(|piece| counter.add(piece));
        counter.finish()
    }

    proptest! {
        #[test]
        fn lines_are_those_of_a_plain_split(
            text in "[ab\n\r]{0,60}", first in 1u64..12, lines in 0u64..12, piece in 1usize..9,
        ) {
            let plain: Vec<&str> = text.split_inclusive('\n').collect();
            let count = count(text.as_bytes(), first, lines, piece);
            prop_assert_eq!(count.total, plain.len() as u64);
            let wanted: String = plain.iter().skip(first as usize - 1).take(lines as usize).copied().collect();
            prop_assert_eq!(&text[count.start as usize..count.end as usize], wanted);
        }

        #[test]
        fn cut_lines_keep_their_number_and_their_start(text in "[ab\n]{0,80}", width in 1usize..10) {
            let (kept, given) = cut(text.clone().into_bytes(), width);
            let kept = String::from_utf8(kept).unwrap();
            let (plain, cut): (Vec<&str>, Vec<&str>) = (text.lines().collect(), kept.lines().collect());
            prop_assert_eq!((plain.len(), plain.len()), (cut.len(), given as usize));
            for (line, short) in plain.iter().zip(cut) {
                prop_assert!(line.starts_with(short) && (short.len() == width || short == *line));
            }
        }
    }

    #[test]
    fn an_answer_is_bounded_but_never_empty() {
        let line = [vec![b'x'; EXCERPT_BYTES / 2], vec![b'\n']].concat();
        let (kept, given) = cut(line.repeat(4), usize::MAX);
        assert_eq!((kept.len(), given), (line.len(), 1));
        assert_eq!(cut(vec![b'x'; 3 * EXCERPT_BYTES], usize::MAX).1, 1);
    }

    #[test]
    fn text_is_told_from_the_rest() {
        assert!(!is_binary("grüße\tan\r\n\x1b[1malle".as_bytes()));
        assert!(!is_binary(b""));
        assert!(is_binary(b"\x89PNG\0"));
        assert!(is_binary(&[1, 2, 3, b'a', b'b']));
    }
}
