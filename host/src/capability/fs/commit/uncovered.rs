//! What an edit must not do: leave a secret in the file that is masked no longer.
//!
//! Whoever takes away what a secret is known by could read it then. So a secret stays as it is, masked from the same byte to the same
//! byte, or it goes as a whole. Not even a part that is still masked may stay: whether it is depends on its bytes, and a guest that
//! put them beside others of its choice would learn them one by one.

use std::{fs::File, io, ops::Range, os::unix::fs::FileExt};

use memchr::{memchr, memchr_iter, memrchr};

use super::{
    super::{
        fault::{Outcome, denied},
        limits::{CONTEXT_BYTES, WRITTEN_BYTES},
        secrets,
    },
    target::Target,
};
use crate::{
    sandbox::limits::MIB,
    wit::latest::filesystem::{Fault, Splice},
};

/// Bytes of a file that are searched for secrets at once.
const PIECE: u64 = MIB as u64;

/// Refuses splices that would uncover a secret. Only what lies near them is looked at: no secret reaches further than reading looks.
pub(super) fn refuse(target: &Target<'_>, old: &File, new: &File, splices: &[Splice]) -> Outcome<()> {
    if !target.is_masked() {
        return Ok(());
    }
    let failed = |why: io::Error| target.failed(&why);
    let (mut old, mut new) = (Searched::new(old).map_err(failed)?, Searched::new(new).map_err(failed)?);
    // What is kept of it is bounded, but not the search.
    if old.size > WRITTEN_BYTES {
        let why =
            format!("has more than {WRITTEN_BYTES} bytes, too many to look for secrets in them: it is written anew");
        return Err(denied(target.shown(), &why));
    }
    match first(&mut old, &mut new, splices).map_err(failed)? {
        Some(at) => Err(uncovers(target, old.line(at).map_err(failed)?)),
        None => Ok(()),
    }
}

/// Where the first secret is that would be uncovered.
fn first(old: &mut Searched<'_>, new: &mut Searched<'_>, splices: &[Splice]) -> io::Result<Option<u64>> {
    let mut before = Before { splices, shift: 0 };
    for piece in near(splices, old.size) {
        for secret in old.secrets(piece)? {
            let safe = match before.fate(&secret.range) {
                Fate::Gone => true,
                Fate::Torn => false,
                Fate::Kept(range) => new.surely_has(&range)?,
            };
            if !safe {
                return Ok(Some(secret.range.start));
            }
        }
    }
    Ok(None)
}

fn uncovers(target: &Target<'_>, line: usize) -> Fault {
    let why = format!(
        "was not changed: the secret in line {line} would not be masked any more; replace its whole value, or leave it and what stands around it alone"
    );
    denied(target.shown(), &why)
}

/// The pieces of a file near its splices, by where they begin.
fn near(splices: &[Splice], size: u64) -> impl Iterator<Item = u64> {
    let mut from = 0;
    splices.iter().flat_map(move |splice| {
        let start = from.max(splice.offset.saturating_sub(CONTEXT_BYTES) / PIECE);
        let end = (splice.offset + splice.length).saturating_add(CONTEXT_BYTES).min(size).div_ceil(PIECE).max(start);
        from = end;
        (start..end).map(|piece| piece * PIECE)
    })
}

/// What becomes of a secret.
#[derive(Debug, PartialEq, Eq)]
enum Fate {
    Gone,
    /// A part of it stays, or something comes into it.
    Torn,
    /// It stays, and is here then.
    Kept(Range<u64>),
}

/// The splices that a walk through the file has not passed, and by how much those before move what follows.
struct Before<'a> {
    splices: &'a [Splice],
    shift: i64,
}

impl Before<'_> {
    /// Asked of one secret after the other.
    fn fate(&mut self, secret: &Range<u64>) -> Fate {
        while let [first, rest @ ..] = self.splices
            && first.offset + first.length <= secret.start
        {
            // Both are bounded by what one call may write, or by a file that may be edited.
            self.shift += first.bytes.len() as i64 - first.length as i64;
            self.splices = rest;
        }
        let touching = || self.splices.iter().take_while(|splice| splice.offset < secret.end);
        if touching().next().is_none() {
            let moved = |at: u64| at.saturating_add_signed(self.shift);
            return Fate::Kept(moved(secret.start)..moved(secret.end));
        }
        let removed = |splice: &Splice| {
            (splice.offset + splice.length).min(secret.end).saturating_sub(splice.offset.max(secret.start))
        };
        let removed: u64 = touching().map(removed).sum();
        if removed == secret.end - secret.start { Fate::Gone } else { Fate::Torn }
    }
}

/// A secret in a file.
struct Secret {
    range: Range<u64>,
    /// Whether everyone who reads it sees it masked, wherever the reading begins: all of its line is looked at then.
    sure: bool,
}

/// A file that is searched for secrets, a piece at a time.
struct Searched<'a> {
    file: &'a File,
    size: u64,
    piece: Option<u64>,
    /// Those that begin in the piece.
    secrets: Vec<Secret>,
}

impl<'a> Searched<'a> {
    fn new(file: &'a File) -> io::Result<Self> {
        Ok(Self { file, size: file.metadata()?.len(), piece: None, secrets: Vec::new() })
    }

    fn secrets(&mut self, piece: u64) -> io::Result<&[Secret]> {
        if self.piece != Some(piece) {
            let from = piece.saturating_sub(CONTEXT_BYTES);
            let bytes = self.bytes(from, piece + PIECE + CONTEXT_BYTES)?;
            self.secrets = in_lines(&bytes, from, piece..piece + PIECE);
            self.piece = Some(piece);
        }
        Ok(&self.secrets)
    }

    fn surely_has(&mut self, range: &Range<u64>) -> io::Result<bool> {
        let secrets = self.secrets(range.start / PIECE * PIECE)?;
        Ok(secrets.iter().any(|secret| secret.sure && secret.range == *range))
    }

    /// The number of the line that a position lies in.
    fn line(&self, at: u64) -> io::Result<usize> {
        let mut breaks = 0;
        for from in (0..at).step_by(PIECE as usize) {
            breaks += memchr_iter(b'\n', &self.bytes(from, at.min(from + PIECE))?).count();
        }
        Ok(breaks + 1)
    }

    fn bytes(&self, from: u64, to: u64) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; to.min(self.size).saturating_sub(from) as usize];
        self.file.read_exact_at(&mut bytes, from)?;
        Ok(bytes)
    }
}

/// The secrets that begin in a piece. The bytes begin at `from`, and hold what lies round the piece too.
fn in_lines(bytes: &[u8], from: u64, piece: Range<u64>) -> Vec<Secret> {
    let mut line = 0..0;
    let secret = |range: Range<usize>| {
        if range.start >= line.end {
            let start = memrchr(b'\n', &bytes[..range.start]).map_or(0, |at| at + 1);
            line = start..memchr(b'\n', &bytes[range.start..]).map_or(bytes.len(), |at| range.start + at);
        }
        Secret { range: from + range.start as u64..from + range.end as u64, sure: line.len() as u64 <= CONTEXT_BYTES }
    };
    let all = secrets::ranges(bytes).into_iter().map(secret);
    all.filter(|secret| piece.contains(&secret.range.start)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn splice(offset: u64, length: u64, bytes: usize) -> Splice {
        Splice { offset, length, bytes: vec![b'x'; bytes] }
    }

    fn fate(splices: &[Splice], secret: Range<u64>) -> Fate {
        Before { splices, shift: 0 }.fate(&secret)
    }

    #[test]
    fn a_secret_stays_whole_or_goes_whole() {
        assert_eq!(fate(&[], 10..20), Fate::Kept(10..20));
        assert_eq!(fate(&[splice(0, 4, 1), splice(5, 5, 9)], 10..20), Fate::Kept(11..21));
        assert_eq!(fate(&[splice(10, 0, 3), splice(20, 1, 0)], 10..20), Fate::Kept(13..23));
        assert_eq!(fate(&[splice(10, 10, 3)], 10..20), Fate::Gone);
        assert_eq!(fate(&[splice(3, 9, 1), splice(12, 30, 0)], 10..20), Fate::Gone);
        for torn in [splice(9, 2, 0), splice(19, 1, 1), splice(11, 8, 0), splice(15, 0, 1), splice(0, 19, 0)] {
            assert_eq!(fate(std::slice::from_ref(&torn), 10..20), Fate::Torn, "{torn:?}");
        }
        let mut before = Before { splices: &[splice(0, 2, 0), splice(30, 1, 5)], shift: 0 };
        assert_eq!(before.fate(&(10..20)), Fate::Kept(8..18));
        assert_eq!(before.fate(&(40..50)), Fate::Kept(42..52));
    }

    #[test]
    fn every_piece_near_a_splice_is_looked_at_once() {
        let pieces = |splices: &[Splice], size: u64| near(splices, size).map(|at| at / PIECE).collect::<Vec<_>>();
        assert_eq!(pieces(&[splice(0, 0, 1)], 10), [0]);
        assert!(pieces(&[splice(0, 0, 1)], 0).is_empty());
        assert_eq!(pieces(&[splice(5 * PIECE, 1, 0)], 20 * PIECE), [4, 5]);
        let two = [splice(5 * PIECE, 1, 0), splice(5 * PIECE + 9, PIECE, 0)];
        assert_eq!(pieces(&two, 20 * PIECE), [4, 5, 6]);
        assert_eq!(pieces(&[splice(PIECE / 2, 0, 0), splice(9 * PIECE + PIECE / 2, 0, 0)], 20 * PIECE), [0, 9]);
    }

    #[test]
    fn a_secret_in_a_line_without_end_is_not_surely_masked() {
        let token = format!("{}_{}", "ghp", "a1B2".repeat(9));
        let sure = |text: String| {
            let found = in_lines(text.as_bytes(), 0, 0..PIECE);
            found.iter().map(|secret| secret.sure).collect::<Vec<_>>()
        };
        let long = " ".repeat(CONTEXT_BYTES as usize);
        assert_eq!(sure(format!("{long}\n{token} {token}\n{long}")), [true, true]);
        assert_eq!(sure(format!("{token}\n{long}{token}\n{token}{long}")), [true, false, false]);
    }
}
