//! Secrets in bytes that are read from files: found and masked, byte for byte, so that sizes, positions and lines stay as they are.
//!
//! Two passes find them. [`anchor`] looks for literals that stand beside a secret (`://`, `Authorization`, `-----BEGIN`), [`token`]
//! looks at the long words between what the first pass found. Both are cheap where there is nothing: most texts have few anchors
//! and few words of 20 bytes. Every secret but a private key lies within one line, so a line's start is a place to begin at.

mod anchor;
mod charset;
mod family;
mod header;
mod mark;
mod named;
mod pem;
mod placeholder;
mod token;
mod url;
mod word;

#[cfg(test)]
mod tests;

use std::ops::Range;

use memchr::{memchr, memrchr};

use mark::Span;

/// Masks every secret in place and says how many there were. Neither the length nor a line break changes, valid UTF-8 stays
/// valid, and what is masked is not found again.
pub(crate) fn mask(bytes: &mut [u8]) -> u32 {
    let spans = find(bytes);
    for span in &spans {
        span.write(bytes, 0);
    }
    count(spans.iter())
}

/// The bytes of a range as they are in the masked whole, and how many secrets lie in it, in full or in part. Only the range's own
/// lines are looked at, and those of a private key that it lies in. Where an edge of the range falls into a mark's `«` or `»`, the
/// half becomes `*`: a range of valid UTF-8 stays valid.
pub(crate) fn mask_range(whole: &[u8], range: Range<usize>) -> (Vec<u8>, u32) {
    let end = range.end.min(whole.len());
    let start = range.start.min(end);
    if start == end {
        return (Vec::new(), 0);
    }
    let mut bytes = whole[start..end].to_vec();
    let line = memrchr(b'\n', &whole[..start]).map_or(0, |at| at + 1);
    let from = pem::opening_above(whole, line).unwrap_or(line);
    // The last byte of the range may be its line's end.
    let to = memchr(b'\n', &whole[end - 1..]).map_or(whole.len(), |at| end + at);
    let spans = find(&whole[from..to]);
    let within = |span: &&Span| span.start + from < end && span.end + from > start;
    for span in spans.iter().filter(within) {
        span.write(&mut bytes, start - from);
    }
    (bytes, count(spans.iter().filter(within)))
}

/// The bytes that [`mask`] would write over, in order.
pub(crate) fn ranges(text: &[u8]) -> Vec<Range<usize>> {
    find(text).into_iter().map(|span| span.start..span.end).collect()
}

/// Whether a text has a mark that [`mask`] writes. Who writes such a text to a file would put the mark in the secret's place.
pub(crate) fn has_mask(bytes: &[u8]) -> bool {
    memchr::memmem::find(bytes, mark::LABEL).is_some() || anchor::has_stars(bytes)
}

/// All secrets, in order and without overlaps.
fn find(text: &[u8]) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut from = 0;
    for span in anchor::find(text) {
        token::find(text, from..span.start, &mut spans);
        from = span.end;
        spans.push(span);
    }
    token::find(text, from..text.len(), &mut spans);
    spans
}

/// How many secrets these spans are of. The first may be the rest of one.
fn count<'a>(spans: impl Iterator<Item = &'a Span>) -> u32 {
    let starts = |(index, span): (usize, &Span)| u32::from(index == 0 || !span.continues);
    spans.enumerate().map(starts).sum()
}
