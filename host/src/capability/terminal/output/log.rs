//! The last of what a background process printed, by line.

use std::collections::VecDeque;

use memchr::{memchr, memchr_iter};

use super::{super::limits::LOG_BYTES, text};

/// Lines of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// Their text.
    pub text: String,
    /// The number of the first of them, from 0 at the process's first line.
    pub first: u64,
    /// How many there are.
    pub lines: usize,
    /// The number of the oldest line that is still kept.
    pub oldest: u64,
    /// Lines printed so far, with the one that has not ended.
    pub total: u64,
}

/// The last bytes of an output. The oldest line goes first.
#[derive(Debug, Default)]
pub(crate) struct Log {
    kept: VecDeque<u8>,
    /// Lines that are gone from the beginning.
    gone: u64,
    /// Line ends printed so far.
    ends: u64,
    printed: u64,
}

impl Log {
    /// What is kept, with its secrets masked. All of it at once: a key that is asked for line by line is still a key.
    fn masked(&self) -> Vec<u8> {
        let (one, other) = self.kept.as_slices();
        let mut kept = [one, other].concat();
        text::mask_after_cut(&mut kept);
        kept
    }

    /// Takes what was printed next.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.printed += bytes.len() as u64;
        self.ends += memchr_iter(b'\n', bytes).count() as u64;
        let skipped = bytes.len().saturating_sub(LOG_BYTES);
        let (skipped, rest) = bytes.split_at(skipped);
        let too_many = (self.kept.len() + rest.len()).saturating_sub(LOG_BYTES);
        let (one, other) = self.kept.as_slices();
        let one = one.get(..too_many).unwrap_or(one);
        let other = other.get(..too_many - one.len()).unwrap_or_default();
        // Nothing is skipped before all that was kept has gone.
        self.gone += [one, other, skipped].map(|gone| memchr_iter(b'\n', gone).count() as u64).iter().sum::<u64>();
        self.kept.drain(..too_many);
        self.kept.extend(rest);
    }

    /// Bytes printed so far.
    pub(crate) fn printed(&self) -> u64 {
        self.printed
    }

    /// The last bytes.
    pub(crate) fn tail(&self, bytes: usize) -> String {
        let kept = self.masked();
        let tail = kept.get(kept.len().saturating_sub(bytes)..).unwrap_or_default();
        String::from_utf8_lossy(text::from_cut_start(tail)).into_owned()
    }

    /// Lines from one on, or the last ones.
    pub(crate) fn lines(&self, from: Option<u64>, limit: usize) -> Excerpt {
        let kept = self.masked();
        let mut rest = text::from_cut_start(&kept);
        let unended = !rest.is_empty() && !rest.ends_with(b"\n");
        let total = self.ends + u64::from(unended);
        let first = from.unwrap_or(total.saturating_sub(limit as u64)).clamp(self.gone, total.max(self.gone));
        let mut cut = |lines: u64| {
            let start = rest;
            for _ in 0..lines {
                let Some(end) = memchr(b'\n', rest) else {
                    rest = &[];
                    break;
                };
                rest = rest.get(end + 1..).unwrap_or_default();
            }
            start.get(..start.len() - rest.len()).unwrap_or_default()
        };
        cut(first - self.gone);
        let lines = (total - first).min(limit as u64);
        let text = String::from_utf8_lossy(cut(lines)).into_owned();
        Excerpt { text, first, lines: lines as usize, oldest: self.gone, total }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn log(text: &str) -> Log {
        let mut log = Log::default();
        log.push(text.as_bytes());
        log
    }

    #[test]
    fn a_key_that_is_asked_for_line_by_line_is_masked() {
        let body = "MIIEpAIBAAKCAQEA7bq1m9Zb0Yc3vXw8sT5uJd2Kf6Lr4Np0QeRtYuIoPaSdFg\n".repeat(4);
        let log = log(&format!("begin\n-----BEGIN RSA PRIVATE KEY-----\n{body}-----END RSA PRIVATE KEY-----\nend\n"));
        let line = log.lines(Some(3), 1).text;
        assert!(!line.contains("MIIEp") && line.ends_with('\n'), "{line}");
        assert_eq!(log.lines(Some(0), 1).text, "begin\n");
    }

    #[test]
    fn lines_are_given_from_where_one_asks_or_from_the_end() {
        let log = log("zero\none\ntwo\nthree");
        let given = |from, limit| {
            let excerpt = log.lines(from, limit);
            (excerpt.text, excerpt.first, excerpt.lines, excerpt.total)
        };
        assert_eq!(given(Some(1), 2), ("one\ntwo\n".into(), 1, 2, 4));
        assert_eq!(given(None, 2), ("two\nthree".into(), 2, 2, 4));
        assert_eq!(given(Some(9), 2), (String::new(), 4, 0, 4));
        assert_eq!(given(None, 100), ("zero\none\ntwo\nthree".into(), 0, 4, 4));
        assert_eq!(log.tail(3), "ree");
    }

    #[test]
    fn a_long_log_keeps_its_end_and_still_numbers_its_lines() {
        let mut log = Log::default();
        for line in 0..100_000 {
            log.push(format!("line {line}\n").as_bytes());
        }
        let last = log.lines(None, 1);
        assert_eq!((last.text.as_str(), last.first, last.total), ("line 99999\n", 99_999, 100_000));
        assert!(log.kept.len() <= LOG_BYTES);
        let oldest = log.lines(Some(0), 2);
        assert_eq!(oldest.first, oldest.oldest);
        assert!(oldest.text.ends_with(&format!("line {}\n", oldest.oldest + 1)));
    }

    proptest! {
        #[test]
        fn pages_of_a_log_are_the_log(pieces in prop::collection::vec("[a\n]{0,9}", 0..9), page in 1usize..5) {
            let mut log = Log::default();
            for piece in &pieces {
                log.push(piece.as_bytes());
            }
            let mut text = String::new();
            let mut at = 0;
            loop {
                let excerpt = log.lines(Some(at), page);
                if excerpt.lines == 0 { break }
                at += excerpt.lines as u64;
                text += &excerpt.text;
            }
            prop_assert_eq!(text, pieces.concat());
        }
    }
}
