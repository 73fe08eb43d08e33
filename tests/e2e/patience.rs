//! Time in these tests. A machine may be busy, so no test asks how fast something is: it asks whether it ends, or whether it can be as
//! fast as promised.

use std::time::{Duration, Instant};

/// Tells what ends from what never ends. What a test starts and never ends by itself is given more time than this.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// Runs rounds until one of them keeps a promise about time. A busy machine spoils some; a broken promise spoils all.
pub(crate) fn some_round(promise: &str, mut is_kept: impl FnMut(usize) -> bool) {
    let start = Instant::now();
    let mut rounds = 0;
    while !is_kept(rounds) {
        rounds += 1;
        assert!(start.elapsed() < PATIENCE, "{promise}: in none of {rounds} rounds");
    }
}
