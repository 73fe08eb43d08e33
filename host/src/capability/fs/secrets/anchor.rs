//! Literals that stand beside a secret, and what is made of each.

use std::{ops::Range, sync::LazyLock};

use aho_corasick::{AhoCorasick, Input, Match, MatchKind};

use super::{
    charset::is_word,
    family::{BROKEN, Family},
    header::{self, Value},
    mark,
    mark::Span,
    named::{self, Kind},
    pem, url,
};

/// What a literal announces.
enum Anchor {
    Url,
    PrivateKey,
    /// A value beside a name; this stands before the literal, in any case.
    Named(&'static str, Value),
    Token(&'static Family),
    /// A setting's value beside a name of which this stands before the literal.
    Setting(&'static str, Kind),
}

/// The literals. There are few, and three bytes of each are rare in text: so they are searched for with vector instructions, all at
/// once. Names are cut so that their first letters, which come in two cases, stand before.
static ANCHORS: [(&str, Anchor); 40] = [
    ("://", Anchor::Url),
    ("-BEGIN ", Anchor::PrivateKey),
    ("rization", Anchor::Named("autho", Value::Credentials)),
    ("RIZATION", Anchor::Named("autho", Value::Credentials)),
    ("pi-key", Anchor::Named("a", Value::Token)),
    ("pi-Key", Anchor::Named("a", Value::Token)),
    ("PI-Key", Anchor::Named("a", Value::Token)),
    ("PI-KEY", Anchor::Named("a", Value::Token)),
    ("uth-token", Anchor::Named("a", Value::Token)),
    ("uth-Token", Anchor::Named("a", Value::Token)),
    ("UTH-TOKEN", Anchor::Named("a", Value::Token)),
    ("ccess_key", Anchor::Named("secret_a", Value::SecretKey)),
    ("CCESS_KEY", Anchor::Named("secret_a", Value::SecretKey)),
    ("etAccessKey", Anchor::Named("secr", Value::SecretKey)),
    ("redAccessKey", Anchor::Named("sha", Value::SecretKey)),
    ("ccountKey", Anchor::Named("a", Value::SecretKey)),
    ("fm2_", Anchor::Token(&BROKEN[0])),
    ("whsec_", Anchor::Token(&BROKEN[1])),
    ("IQoJb3JpZ2lu", Anchor::Token(&BROKEN[2])),
    ("FwoGZXIvYXdz", Anchor::Token(&BROKEN[3])),
    ("sword", Anchor::Setting("pas", Kind::Password)),
    ("SWORD", Anchor::Setting("pas", Kind::Password)),
    ("sswd", Anchor::Setting("pa", Kind::Password)),
    ("SSWD", Anchor::Setting("pa", Kind::Password)),
    ("sphrase", Anchor::Setting("pas", Kind::Password)),
    ("SPHRASE", Anchor::Setting("pas", Kind::Password)),
    ("ecret_key", Anchor::Setting("s", Kind::Password)),
    ("ECRET_KEY", Anchor::Setting("s", Kind::Password)),
    ("ecretKey", Anchor::Setting("s", Kind::Password)),
    ("ecret", Anchor::Setting("s", Kind::Password)),
    ("ECRET", Anchor::Setting("s", Kind::Password)),
    ("pi_key", Anchor::Setting("a", Kind::Token)),
    ("PI_KEY", Anchor::Setting("a", Kind::Token)),
    ("piKey", Anchor::Setting("a", Kind::Token)),
    ("pikey", Anchor::Setting("a", Kind::Token)),
    ("PIKEY", Anchor::Setting("a", Kind::Token)),
    ("_token", Anchor::Setting("", Kind::Token)),
    ("_TOKEN", Anchor::Setting("", Kind::Token)),
    ("sToken", Anchor::Setting("", Kind::Token)),
    ("hToken", Anchor::Setting("", Kind::Token)),
];

#[allow(clippy::expect_used, reason = "a handful of constant literals is far below every limit of an automaton")]
static SEARCHER: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let literals = ANCHORS.iter().map(|(literal, _)| literal);
    AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostFirst)
        .build(literals)
        .expect("the literals are constant and few")
});

/// The secrets that anchors announce, in order and without overlaps.
pub(super) fn find(text: &[u8]) -> Vec<Span> {
    let mut spans = Vec::new();
    find_in(text, 0, &mut spans);
    spans
}

fn find_in(text: &[u8], from: usize, spans: &mut Vec<Span>) {
    let (mut at, mut free) = (from, from);
    while let Some((anchor, hit)) = next(text, at) {
        at = hit.start + 1;
        let found = anchor.secrets(text, free, &hit);
        if let (Some(first), Some(last)) = (found.first(), found.last()) {
            // What lies between the anchor and its secret may hold another: the user of a URL, the comment of a key.
            find_in(&text[..first.start], at, spans);
            (at, free) = (last.end, last.end);
        }
        let parts = found.into_iter().enumerate();
        spans.extend(parts.map(|(index, Range { start, end })| Span { start, end, continues: index > 0 }));
    }
}

/// Whether a secret was masked that had no room for the label.
pub(super) fn has_stars(text: &[u8]) -> bool {
    let mut at = 0;
    while let Some((anchor, hit)) = next(text, at) {
        at = hit.start + 1;
        let starred = match anchor {
            Anchor::Url => url::password(text, hit.end)
                .is_some_and(|range| range.len() >= url::SHORTEST && text[range].iter().all(|byte| *byte == b'*')),
            Anchor::Named(before, value) => {
                is_named(text, before, hit.start) && header::is_starred(text, hit.end, *value)
            }
            Anchor::Setting(before, kind) => {
                is_named(text, before, hit.start) && named::is_starred(text, hit.end, *kind)
            }
            Anchor::PrivateKey | Anchor::Token(_) => false,
        };
        if starred {
            return true;
        }
    }
    false
}

fn next(text: &[u8], at: usize) -> Option<(&'static Anchor, Range<usize>)> {
    let hit: Match = SEARCHER.find(Input::new(text).range(at.min(text.len())..))?;
    let (_, anchor) = ANCHORS.get(hit.pattern().as_usize())?;
    Some((anchor, hit.range()))
}

fn is_named(text: &[u8], before: &str, at: usize) -> bool {
    at.checked_sub(before.len()).is_some_and(|from| text[from..at].eq_ignore_ascii_case(before.as_bytes()))
}

impl Anchor {
    /// The secret that a literal announces; a private key has one range per line. What lies before `free` is masked.
    fn secrets(&self, text: &[u8], free: usize, hit: &Range<usize>) -> Vec<Range<usize>> {
        let one = match self {
            Self::PrivateKey => return pem::secrets(text, hit.start),
            Self::Url => url::secret(text, hit.end),
            Self::Named(before, value) if is_named(text, before, hit.start) => header::secret(text, hit.end, *value),
            Self::Setting(before, kind) if is_named(text, before, hit.start) => named::secret(text, hit.end, *kind),
            Self::Named(..) | Self::Setting(..) => None,
            Self::Token(family) if begins_word(text, free, hit.start) => token(text, family, hit),
            Self::Token(_) => None,
        };
        one.into_iter().collect()
    }
}

fn begins_word(text: &[u8], free: usize, at: usize) -> bool {
    at == free || at.checked_sub(1).is_none_or(|before| !is_word(text[before]))
}

fn token(text: &[u8], family: &Family, hit: &Range<usize>) -> Option<Range<usize>> {
    family.secret(text, hit.start, hit.end).filter(|found| !mark::begins(&text[found.end..]))
}
