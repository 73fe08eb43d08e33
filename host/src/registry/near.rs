//! What somebody may have meant.

use crate::component::valid_name;

/// How alike two names must be, of 1, to be offered: lower, and unrelated names come up.
const ALIKE: f64 = 0.75;

/// How many are offered: more would be a list to read, not an answer.
const OFFERED: usize = 3;

/// The names that come nearest to one that does not exist, the nearest first; as they came where they are equally near.
pub(crate) fn near<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    // No name is longer than a valid one; comparing takes the product of the lengths.
    if !valid_name(name) {
        return Vec::new();
    }
    let scored = known.into_iter().map(|known| (strsim::jaro_winkler(known, name), known));
    let mut scored: Vec<(f64, &str)> = scored.filter(|(score, _)| *score > ALIKE).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.into_iter().take(OFFERED).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_come_first_and_strangers_do_not_come() {
        assert_eq!(near("termnal", ["web", "terminal", "file"]), ["terminal"]);
        assert_eq!(near("visio", ["video", "vision"]), ["vision", "video"]);
        assert!(near("zzz", ["web", "file"]).is_empty());
    }

    #[test]
    fn few_are_offered_and_nothing_is_compared_with_a_huge_name() {
        assert_eq!(near("a", ["a1", "a2", "a3", "a4"]), ["a1", "a2", "a3"]);
        assert!(near(&"a".repeat(65), ["a"]).is_empty());
    }
}
