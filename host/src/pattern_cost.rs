//! What matching a regular expression can cost: for searches, and for the patterns of JSON Schemas.

use regex_syntax::{
    ParserBuilder,
    hir::{Hir, HirKind},
};

/// Places of a pattern times bytes of text that one match may go through, since no match ends before it is done: four seconds for the
/// slowest patterns, and milliseconds for all others. It bounds the text that a pattern is matched against: 10 MB for a word, 100 kB
/// where something is repeated a thousand times.
pub(crate) const STEPS: u64 = 100_000_000;

/// How many places of a pattern a search may be in at once: those where it waits for a character, with repetitions written out.
/// The time for a byte grows with it, for the few patterns that can't be made fast.
pub(crate) fn places(pattern: &str) -> Result<u64, String> {
    let hir = ParserBuilder::new().utf8(false).build().parse(pattern).map_err(|why| why.to_string())?;
    Ok(count(&hir).max(1))
}

/// The parser bounds how deep a pattern is nested.
fn count(hir: &Hir) -> u64 {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) | HirKind::Class(_) => 1,
        HirKind::Literal(literal) => literal.0.len() as u64,
        HirKind::Capture(capture) => count(&capture.sub),
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min).max(1);
            count(&repetition.sub).saturating_mul(times.into())
        }
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().fold(0, |sum: u64, part| sum.saturating_add(count(part)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_are_written_out() {
        for (pattern, expected) in [
            ("", 1),
            ("needle", 6),
            (r"\w+", 1),
            (r"^fn\s+\w*$", 6),
            ("(ab|c){3,10}", 30),
            ("a{0}", 1),
            ("a{5,}", 5),
            ("[01]*1[01]{2000}x", 2_003),
            ("((a{1000}){1000}){1000}", 1_000_000_000),
            (r"(?-u:\xff)", 1),
        ] {
            assert_eq!(places(pattern).unwrap(), expected, "{pattern}");
        }
        assert!(places("a)|(b").is_err());
    }
}
