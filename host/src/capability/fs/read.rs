//! `read`: bytes from a position on.

use std::ops::Range;

use super::{
    fault::{Outcome, fault},
    limits::{CONTEXT_BYTES, READ_BYTES},
    open::Open,
    secrets,
};
use crate::{
    grant::Secrets,
    wit::latest::filesystem::{Piece, Reason},
};

pub(super) fn read(open: &Open<'_>, offset: u64, length: u64) -> Outcome<Piece> {
    let length = length.min(open.metadata.len().saturating_sub(offset));
    if length > READ_BYTES {
        let what = format!("is read in pieces of at most {READ_BYTES} bytes; {length} were asked for");
        return Err(open.too_large(&what));
    }
    let end = offset.checked_add(length).ok_or_else(|| fault(Reason::Invalid, "the range has no end"))?;
    let (bytes, masked) = masked(open, offset..end)?;
    Ok(Piece { metadata: open.describe(), bytes, masked })
}

/// The bytes of a range with the secrets in them masked, unless the grant shows them. What lies around is looked at too: a secret
/// may begin before the range.
pub(super) fn masked(open: &Open<'_>, range: Range<u64>) -> Outcome<(Vec<u8>, u32)> {
    if open.folder.secrets == Secrets::Shown {
        return Ok((open.bytes(range.start, range.end - range.start)?, 0));
    }
    let from = range.start.saturating_sub(CONTEXT_BYTES);
    let to = range.end.saturating_add(CONTEXT_BYTES).min(open.metadata.len().max(range.end));
    let around = open.bytes(from, to - from)?;
    Ok(mask_in(around, (range.start - from) as usize..(range.end - from) as usize))
}

/// Masks a range of bytes that lie in others; the range is cut where the bytes end.
pub(super) fn mask_in(around: Vec<u8>, range: Range<usize>) -> (Vec<u8>, u32) {
    let range = range.start.min(around.len())..range.end.min(around.len());
    secrets::mask_range(&around, range)
}
