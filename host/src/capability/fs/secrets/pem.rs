//! Private keys in PEM: the lines between `-----BEGIN … PRIVATE KEY-----` and its end, also in a string with escaped line breaks,
//! quoted, indented, commented, and where the end is missing.

use std::ops::Range;

use memchr::{memmem, memrchr};

use super::{charset::run, mark};

/// Bytes of a key that are looked at. An RSA key of 16,384 bits has 13 kB, an OpenPGP key with many identities 100 kB.
const KEY: usize = 256 << 10;

/// The first line's Base64 must be this long. Keys wrap at 64 and 76, prose that mentions the opening line goes on with words.
const FIRST_LINE: usize = 16;

/// Bytes of an opening line's label: `RSA`, `ENCRYPTED`, `PGP` and the rest of it.
const LABEL: usize = 64;

/// Bytes of a line before the Base64. Comments are short, and a refusal must be cheap.
const HEADER: usize = 512;

const OPENING: &[u8] = b"-----BEGIN ";
const CLOSING: &[u8] = b"-----END ";
const DASHES: &[u8] = b"-----";

/// What lines before the Base64 begin with.
const HEADER_NAMES: [&[u8]; 7] =
    [b"Proc-Type:", b"DEK-Info:", b"Version:", b"Comment:", b"Hash:", b"Charset:", b"MessageID:"];

/// The lines of the key whose `-BEGIN ` is at `at`, without what quotes or indents them. Empty if there is no private key.
pub(super) fn secrets(text: &[u8], at: usize) -> Vec<Range<usize>> {
    let text = &text[..text.len().min(at + KEY)];
    let mut lines = Vec::new();
    let Some(body) = at.checked_sub(DASHES.len() - 1).and_then(|start| opening(text, start)) else { return lines };
    let mut line = read_first(text, body, &mut lines);
    while let Line::Body(end) = line
        && end < text.len()
    {
        line = read_next(text, end + 1, &mut lines);
    }
    if lines.first().is_none_or(|first| first.len() < FIRST_LINE) {
        lines.clear();
    }
    lines
}

/// The start of the line with the opening of a key that the line at `start` may be of: the lines between are all of a key's body.
pub(super) fn opening_above(text: &[u8], start: usize) -> Option<usize> {
    let mut ignored = Vec::new();
    let mut is_body = |line: usize| {
        ignored.clear();
        match read(text, line, Gap::Escapes, &mut ignored) {
            Line::Body(_) => true,
            Line::Last => line == start,
            Line::Other => false,
        }
    };
    let mut line = start..start;
    while is_body(line.start) {
        let end = line.start.checked_sub(1).filter(|end| end + KEY >= start)?;
        line = memrchr(b'\n', &text[..end]).map_or(0, |at| at + 1)..end;
    }
    let mut openings = memmem::find_iter(&text[line.clone()], OPENING).map(|at| line.start + at);
    openings.any(|at| opening(text, at).is_some()).then_some(line.start)
}

/// Where the opening of a private key ends that begins at `start`.
fn opening(text: &[u8], start: usize) -> Option<usize> {
    let rest = text.get(start..)?.strip_prefix(OPENING)?;
    let is_label = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' ';
    let label = &rest[..run(&rest[..rest.len().min(LABEL)], is_label)];
    let is_private = label.ends_with(b"PRIVATE KEY") || label.ends_with(b"PRIVATE KEY BLOCK");
    (is_private && rest[label.len()..].starts_with(DASHES))
        .then_some(start + OPENING.len() + label.len() + DASHES.len())
}

/// The length of what stands in a line before the Base64. An escaped line break may end it. No key begins in it; nor was one
/// masked in it, because that could have hidden such a beginning.
fn header(text: &[u8]) -> Option<usize> {
    HEADER_NAMES.iter().find(|name| text.starts_with(name))?;
    let length = run(&text[..text.len().min(HEADER)], |byte| byte != b'\\' && byte != b'\n');
    let has = |part: &[u8]| memmem::find(&text[..length], part).is_some();
    (length < HEADER && !has(DASHES) && !has(mark::LABEL)).then_some(length)
}

/// What a line is to a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    /// Base64 or nothing, and what may stand round it. It ends here.
    Body(usize),
    /// The same, up to the closing.
    Last,
    Other,
}

/// What may stand between pieces of Base64 in one line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gap {
    Escapes,
    /// Where a tool has put spaces in place of line breaks.
    EscapesAndSpaces,
}

/// The rest of the opening line, which may hold the whole key, and then something else.
fn read_first(text: &[u8], start: usize, pieces: &mut Vec<Range<usize>>) -> Line {
    if read(text, start, Gap::EscapesAndSpaces, pieces) == Line::Last {
        return Line::Last;
    }
    // Without a closing, words after a space are no key.
    pieces.clear();
    read(text, start, Gap::Escapes, pieces)
}

/// A further line, of which nothing is noted if it holds something else.
fn read_next(text: &[u8], start: usize, pieces: &mut Vec<Range<usize>>) -> Line {
    let known = pieces.len();
    let line = read(text, start, Gap::Escapes, pieces);
    if line == Line::Other {
        pieces.truncate(known);
    }
    line
}

/// Reads a line and notes the pieces of Base64 in it. Looks no further than at what fits.
fn read(text: &[u8], start: usize, gap: Gap, pieces: &mut Vec<Range<usize>>) -> Line {
    let mut at = start + lead(&text[start..]);
    loop {
        if pieces.is_empty() {
            at += header(&text[at..]).unwrap_or(0);
        }
        let piece = at..at + run(&text[at..], is_base64);
        at = piece.end + breaks(&text[piece.end..], gap);
        let is_last = at == piece.end;
        if !piece.is_empty() {
            pieces.push(piece);
        }
        if is_last {
            break;
        }
    }
    at += run(&text[at..], is_trail);
    match &text[at..] {
        [] | [b'\n', ..] => Line::Body(at),
        rest if rest.starts_with(CLOSING) => Line::Last,
        _ => Line::Other,
    }
}

/// The length of what indents, quotes or comments a line: spaces, quotes, `>`, `#`, `//`, ` * `, the sign of a diff.
fn lead(text: &[u8]) -> usize {
    let mut at = 0;
    loop {
        match &text[at..] {
            rest if rest.starts_with(DASHES) => return at,
            [b'/', b'/', b' ', ..] => at += 3,
            [byte, ..] if b" \t\r\"'`>#|*;,([{-".contains(byte) => at += 1,
            _ => return at,
        }
    }
}

/// The length of escaped line breaks: `\n`, `\r\n`, `\\n`.
fn breaks(text: &[u8], gap: Gap) -> usize {
    let mut at = 0;
    loop {
        let rest = &text[at..];
        let escapes = run(rest, |byte| byte == b'\\');
        match rest.get(escapes) {
            Some(b'n' | b'r') if escapes > 0 => at += escapes + 1,
            Some(b' ' | b'\t' | b'\r') if escapes == 0 && gap == Gap::EscapesAndSpaces => at += 1,
            _ => return at,
        }
    }
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// What may end a line of a key in a program: `MIIE…\n" +`.
fn is_trail(byte: u8) -> bool {
    b" \t\r\"'`,;+)]}&_.|\\".contains(&byte)
}
