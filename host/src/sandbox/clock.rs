//! The wall clock of one call.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// How often a clock that stands still is looked at. A call that ends late by this much harms nobody, and its deadline is exact
/// whenever its own code runs.
const LOOK: Duration = Duration::from_millis(50);

/// How long a clock stands still in all. One command of ten minutes, a person who thinks as long, and some more; without it a guest that
/// waits again and again would hold its place for weeks.
const STILL: Duration = Duration::from_secs(30 * 60);

/// The time that a call has. It stands still while the host waits on the call's behalf for what has a bound of its own: a command
/// or a person. A guest can't stop it, and waiting for anything else counts.
#[derive(Debug)]
pub(crate) struct Clock {
    started: Instant,
    wall: Duration,
    stood: Mutex<Stood>,
}

#[derive(Debug, Default)]
struct Stood {
    /// For how long, in all that is over.
    still: Duration,
    /// Since when it stands still now.
    since: Option<Instant>,
}

impl Clock {
    pub(super) fn new(wall: Duration) -> Self {
        Self { started: Instant::now(), wall, stood: Mutex::default() }
    }

    /// What is left, and nothing once it has run out.
    pub(super) fn left(&self) -> Option<Duration> {
        let stood = self.stood.lock().unwrap_or_else(PoisonError::into_inner);
        let still = stood.still + stood.since.map_or(Duration::ZERO, |since| since.elapsed());
        (self.wall + still.min(STILL)).checked_sub(self.started.elapsed()).filter(|left| !left.is_zero())
    }

    /// Ends when it has run out, and this much longer. `sleep` is the executor's own.
    pub(super) async fn run_out<S: Future<Output = ()>>(&self, longer: Duration, sleep: impl Fn(Duration) -> S) {
        let mut left = self.wall + longer;
        loop {
            sleep(left.max(LOOK)).await;
            match self.left() {
                Some(rest) => left = rest + longer,
                None => return,
            }
        }
    }

    /// Stops it until the answer is dropped, or until it stood still for too long in all. Whoever stops it vouches for a bound of their own.
    pub(crate) fn stand_still(&self) -> Still<'_> {
        self.stood.lock().unwrap_or_else(PoisonError::into_inner).since = Some(Instant::now());
        Still(self)
    }
}

/// For as long as it lives, its clock stands still.
#[derive(Debug)]
pub(crate) struct Still<'a>(&'a Clock);

impl Drop for Still<'_> {
    fn drop(&mut self) {
        let mut stood = self.0.stood.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(since) = stood.since.take() {
            stood.still += since.elapsed();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_runs_out_and_standing_still_takes_nothing_off() {
        let clock = Clock::new(Duration::from_millis(20));
        {
            let _still = clock.stand_still();
            std::thread::sleep(Duration::from_millis(40));
            assert!(clock.left().is_some_and(|left| left <= Duration::from_millis(20)));
        }
        assert!(clock.left().is_some());
        std::thread::sleep(Duration::from_millis(21));
        assert_eq!(clock.left(), None);
    }

    #[tokio::test]
    async fn whoever_waits_for_its_end_waits_longer_while_it_stands_still() {
        let clock = Clock::new(Duration::from_millis(10));
        let start = Instant::now();
        let still = async {
            let _still = clock.stand_still();
            tokio::time::sleep(Duration::from_millis(150)).await;
        };
        tokio::join!(still, clock.run_out(Duration::ZERO, tokio::time::sleep));
        assert!(start.elapsed() >= Duration::from_millis(150));
    }
}
