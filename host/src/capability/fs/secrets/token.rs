//! Tokens: long words that begin like a key, and those that are known by what stands round them.

use std::ops::Range;

use memchr::memchr2;

use super::{
    charset::{Charset, is_word},
    family, mark,
    mark::Span,
    placeholder, word,
};

/// Finds the tokens in a part of a text, of which neither end lies in a token. What lies outside of it is masked.
pub(super) fn find(text: &[u8], part: Range<usize>, spans: &mut Vec<Span>) {
    let view = &text[..part.end];
    let (mut at, mut free) = (part.start, part.start);
    while let Some(word) = word::next(view, at) {
        let mut start = word.start;
        while start + word::SHORTEST <= word.end {
            let begins_word = start == word.start || start == free;
            let found =
                judge(view, free, start..word.end, begins_word).filter(|found| !mark::begins(&text[found.end..]));
            if let Some(found) = found {
                spans.push(Span { start: found.start, end: found.end, continues: false });
                (start, free) = (found.end, found.end);
            } else {
                // Only the part after a hyphen or an underscore can begin like a token.
                let Some(next) = memchr2(b'-', b'_', &view[start..word.end]) else { break };
                start += next + 1;
            }
        }
        at = word.end.max(free);
    }
}

/// The secret part of a token that begins where the word does. What lies before `free` is masked.
fn judge(text: &[u8], free: usize, word: Range<usize>, begins_word: bool) -> Option<Range<usize>> {
    let in_context = || {
        let before = &text[free..word.start];
        match before.last() {
            Some(b'.') => dotted(text, before, &word),
            Some(b':') => telegram(text, before, &word),
            _ => None,
        }
    };
    let by_form = || web_token(text, &word).or_else(|| discord(text, &word));
    let at_start = if begins_word { in_context().or_else(by_form) } else { None };
    at_start.or_else(|| family::find(text, word.start, word.end, begins_word)).or_else(|| mailchimp(text, &word))
}

/// What prefixes with dots stand before, with the least length and whether a second part must follow: SendGrid, Google's access
/// tokens, Vault, Doppler, Dynatrace, Terraform.
const DOTTED: [(&str, usize, bool); 12] = [
    ("SG.", 20, true),
    ("ya29.", 20, false),
    ("hvs.", 24, false),
    ("hvb.", 24, false),
    ("hvr.", 24, false),
    ("dp.pt.", 40, false),
    ("dp.ct.", 40, false),
    ("dp.sa.", 40, false),
    ("dp.scim.", 40, false),
    ("dp.audit.", 40, false),
    ("dt0c01.", 20, true),
    (".atlasv1.", 60, false),
];

/// The least length of a further part. What is shorter is a file's extension or the next word.
const PART: usize = 16;

fn dotted(text: &[u8], before: &[u8], word: &Range<usize>) -> Option<Range<usize>> {
    let (_, min, parts) = DOTTED.iter().find(|(prefix, ..)| {
        let rest = before.strip_suffix(prefix.as_bytes());
        // A prefix that begins with a dot follows a name; the others begin one.
        rest.is_some_and(|rest| {
            prefix.starts_with('.') || !rest.last().is_some_and(|byte| is_word(*byte) || *byte == b'.')
        })
    })?;
    let mut end = word.end;
    let is_more = |part: &Range<usize>| part.len() >= PART && !mark::begins(&text[part.end..]);
    while let Some(part) = part_after(text, end).filter(is_more) {
        end = part.end;
    }
    let secret = &text[word.clone()];
    (word.len() >= *min && (end > word.end || !parts) && !placeholder::is_token(secret)).then_some(word.start..end)
}

/// The bytes of words after a dot.
fn part_after(text: &[u8], dot: usize) -> Option<Range<usize>> {
    let rest = text.get(dot..)?.strip_prefix(b".")?;
    Some(dot + 1..dot + 1 + Charset::Word.run(rest))
}

/// A bot of Telegram: its number, a colon and 35 bytes that begin with `AA`.
fn telegram(text: &[u8], before: &[u8], word: &Range<usize>) -> Option<Range<usize>> {
    let number = before.strip_suffix(b":")?.iter().rev().take(11).take_while(|byte| byte.is_ascii_digit()).count();
    ((8..=10).contains(&number) && word.len() == 35 && text[word.clone()].starts_with(b"AA")).then(|| word.clone())
}

/// A JSON web token: two objects in Base64, and a signature. An unsigned one proves nothing, so it is no secret.
fn web_token(text: &[u8], word: &Range<usize>) -> Option<Range<usize>> {
    const OBJECT: &[u8] = b"eyJ";
    if !text[word.clone()].starts_with(OBJECT) {
        return None;
    }
    let claims = part_after(text, word.end).filter(|claims| text[claims.clone()].starts_with(OBJECT))?;
    let signature = part_after(text, claims.end).filter(|signature| signature.len() >= PART)?;
    Some(word.start + OBJECT.len()..signature.end)
}

/// A bot of Discord: its number in Base64, the time and a signature. The number stays.
fn discord(text: &[u8], word: &Range<usize>) -> Option<Range<usize>> {
    // What three digits become.
    const DIGITS: [&[u8]; 4] = [b"MNO", b"DTjz", b"AEIMQUYcgk", b"wxyz012345"];
    let number = &text[word.clone()];
    if !(23..=28).contains(&number.len()) || !number.iter().zip(DIGITS).all(|(byte, digits)| digits.contains(byte)) {
        return None;
    }
    let time = part_after(text, word.end).filter(|time| time.len() == 6)?;
    let signature = part_after(text, time.end).filter(|signature| (27..=45).contains(&signature.len()))?;
    Some(time.start..signature.end)
}

/// A key of Mailchimp: 32 hex digits and the name of a data centre, which stays.
fn mailchimp(text: &[u8], word: &Range<usize>) -> Option<Range<usize>> {
    let (key, centre) = text[word.clone()].split_at_checked(32)?;
    let number = centre.strip_prefix(b"-us")?;
    let found = (1..=2).contains(&number.len())
        && number.iter().all(u8::is_ascii_digit)
        && key.iter().all(u8::is_ascii_hexdigit)
        && !placeholder::is_token(key);
    found.then_some(word.start..word.start + 32)
}
