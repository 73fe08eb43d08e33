//! Samples of toolsets, for runs that vary what an agent has.

use std::{cmp::Reverse, collections::BTreeMap};

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{RngCore, SeedableRng},
};

use super::{ToolsetError, Toolsets, presets::PRESETS};

impl Toolsets {
    /// The distributions there are, by name.
    pub fn distributions(&self) -> impl Iterator<Item = &str> {
        PRESETS.distributions.keys().map(String::as_str)
    }

    /// The toolsets of one sample, sorted, and never none. The same seed gives the same sample on every machine for ever; a
    /// changed weight changes no other toolset's chance in it.
    pub fn sample(&self, distribution: &str, seed: u64) -> Result<Vec<String>, ToolsetError> {
        let Some(weights) = PRESETS.distributions.get(distribution) else {
            return Err(ToolsetError::unknown_distribution(distribution, self.distributions()));
        };
        Ok(draw(weights, seed))
    }
}

/// Every toolset takes one draw, in the order of names, whatever its weight.
fn draw(weights: &BTreeMap<String, u8>, seed: u64) -> Vec<String> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let drawn = weights.iter().filter(|(_, weight)| is_drawn(**weight, random.next_u32()));
    let mut sample: Vec<String> = drawn.map(|(name, _)| name.clone()).collect();
    if sample.is_empty() {
        let likeliest = weights.iter().min_by_key(|(name, weight)| (Reverse(**weight), *name));
        sample.extend(likeliest.map(|(name, _)| name.clone()));
    }
    sample
}

/// Whether a draw, as a fraction of 2^32, lies below a weight in percent. Without a division there is no remainder that favours
/// some: 0 is never drawn, 100 always.
fn is_drawn(weight: u8, draw: u32) -> bool {
    u64::from(draw) * 100 < u64::from(weight) << 32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sample(distribution: &str, seed: u64) -> Vec<String> {
        Toolsets::default().sample(distribution, seed).unwrap()
    }

    /// Were one of these to change, nobody could repeat an earlier run. Both were computed by another implementation too.
    #[test]
    fn a_seed_gives_the_same_sample_for_ever() {
        assert_eq!(sample("balanced", 1), ["code_execution", "file", "image_gen", "skills", "terminal", "vision"]);
        assert_eq!(sample("research", u64::MAX), ["session_search", "vision", "web"]);
    }

    #[test]
    fn the_weights_0_and_100_are_certain_and_the_bound_of_50_is_exact() {
        assert!(!is_drawn(0, 0) && is_drawn(100, u32::MAX));
        assert!(is_drawn(50, (1 << 31) - 1) && !is_drawn(50, 1 << 31));
    }

    #[test]
    fn a_toolset_is_drawn_about_as_often_as_its_weight_says() {
        let weights = BTreeMap::from([("a".to_owned(), 30), ("b".to_owned(), 100)]);
        let drawn = (0..10_000).filter(|seed| draw(&weights, *seed).len() == 2).count();
        assert!((2_800..3_200).contains(&drawn), "{drawn}");
    }

    #[test]
    fn where_none_was_drawn_it_is_the_likeliest_and_the_first_of_equals() {
        let weights = |pairs: [(&str, u8); 3]| pairs.map(|(name, weight)| (name.to_owned(), weight)).into();
        assert_eq!(draw(&weights([("a", 0), ("b", 0), ("c", 0)]), 7), ["a"]);
        // Nearly every seed draws none of these.
        let rare = weights([("a", 1), ("b", 2), ("c", 2)]);
        assert!((0..100).filter(|seed| draw(&rare, *seed) == ["b"]).count() > 80);
    }

    #[test]
    fn everything_is_in_every_sample_of_the_default() {
        assert!((0..100).all(|seed| sample("default", seed).len() == 30));
    }

    #[test]
    fn an_unknown_distribution_is_told_which_there_are() {
        let why = Toolsets::default().sample("blanced", 0).unwrap_err().to_string();
        assert!(why.contains("blanced") && why.contains("balanced, browsing, creative"), "{why}");
    }

    proptest! {
        #[test]
        fn a_sample_is_a_sorted_part_of_its_distribution_and_never_empty(seed: u64) {
            for (name, weights) in &PRESETS.distributions {
                let sample = sample(name, seed);
                prop_assert!(!sample.is_empty());
                prop_assert!(sample.is_sorted_by(|a, b| a < b));
                prop_assert!(sample.iter().all(|toolset| weights.contains_key(toolset)));
            }
        }

        #[test]
        fn a_changed_weight_shifts_no_other_toolset(
            seed: u64,
            weights in prop::collection::btree_map("[a-z]{1,3}", 0..=100u8, 2..20),
            changed: prop::sample::Index,
            weight in 0..=100u8,
        ) {
            // One that is always drawn, so that the sample is never the likeliest alone.
            let mut before: BTreeMap<String, u8> = weights;
            before.insert("zzzz".into(), 100);
            let changed = before.keys().nth(changed.index(before.len() - 1)).unwrap().clone();
            let mut after = before.clone();
            after.insert(changed.clone(), weight);
            let others = |sample: Vec<String>| sample.into_iter().filter(|name| *name != changed).collect::<Vec<_>>();
            prop_assert_eq!(others(draw(&before, seed)), others(draw(&after, seed)));
        }
    }
}
