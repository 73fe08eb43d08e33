//! "Did you mean …": the names nearest to one that is not known.

use std::collections::BTreeSet;

/// More than this, and the model reads a list instead of an answer.
const MOST: usize = 3;

/// ` Did you mean a, b?`, or nothing where no name is near. Goes behind a full sentence.
pub(crate) fn did_you_mean(wanted: &str, names: impl Iterator<Item = String>) -> String {
    let near = nearest(wanted, names);
    if near.is_empty() { String::new() } else { format!(" Did you mean {}?", near.join(", ")) }
}

/// The names at the smallest distance: one that is further away than another is not what was meant.
fn nearest(wanted: &str, names: impl Iterator<Item = String>) -> Vec<String> {
    let wanted: Vec<char> = wanted.to_lowercase().replace(' ', "_").chars().collect();
    // A quarter of the letters may be wrong, and one in any case: beyond that, names resemble each other by chance.
    let mut smallest = 1 + wanted.len() / 4;
    let mut found = BTreeSet::new();
    for name in names {
        let distance = distance_to_name(&wanted, &name);
        if distance < smallest {
            smallest = distance;
            found.clear();
        }
        if distance == smallest {
            found.insert(name);
        }
    }
    found.into_iter().take(MOST).collect()
}

/// The distance to the name or to its last part: people say Berlin and mean Europe/Berlin.
fn distance_to_name(wanted: &[char], name: &str) -> usize {
    let name = name.to_lowercase();
    let last = name.rsplit('/').next().unwrap_or(&name);
    distance(wanted, &name).min(distance(wanted, last))
}

/// Levenshtein's distance, one row at a time.
fn distance(a: &[char], b: &str) -> usize {
    let mut row: Vec<usize> = (0..=a.len()).collect();
    for (j, letter) in b.chars().enumerate() {
        let mut diagonal = j;
        let mut left = j + 1;
        row[0] = left;
        for (i, other) in a.iter().enumerate() {
            let above = row[i + 1];
            left = (diagonal + usize::from(*other != letter)).min(above + 1).min(left + 1);
            diagonal = above;
            row[i + 1] = left;
        }
    }
    row[a.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> impl Iterator<Item = String> {
        ["Europe/Berlin", "Europe/Dublin", "America/New_York", "metre"].into_iter().map(str::to_owned)
    }

    #[test]
    fn distance_counts_single_letter_edits() {
        let distance_of = |a: &str, b| distance(&a.chars().collect::<Vec<_>>(), b);
        assert_eq!(distance_of("kitten", "sitting"), 3);
        assert_eq!(distance_of("", "abc"), 3);
        assert_eq!(distance_of("same", "same"), 0);
    }

    #[test]
    fn the_last_part_of_a_name_is_enough() {
        assert_eq!(nearest("berlin", names())[0], "Europe/Berlin");
        assert_eq!(nearest("New York", names()), ["America/New_York"]);
    }

    #[test]
    fn nothing_is_suggested_where_nothing_is_near() {
        assert_eq!(did_you_mean("parallelogram", names()), "");
    }
}
