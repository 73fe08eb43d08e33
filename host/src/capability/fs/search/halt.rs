//! The end of a walk before its time.

use std::{
    sync::atomic::{AtomicU8, Ordering},
    time::Instant,
};

use super::records::Stop;

const GOING: u8 = 0;
const TIME: u8 = 1;
const GIVEN_UP: u8 = 2;
const ENTRIES: u8 = 3;

/// Asked before each piece of work whether to go on. The first reason to end stays.
pub(super) struct Halt<'a> {
    stop: Stop<'a>,
    why: AtomicU8,
}

impl<'a> Halt<'a> {
    pub(super) fn new(stop: Stop<'a>) -> Self {
        Self { stop, why: AtomicU8::new(GOING) }
    }

    /// One that ends earlier: a fifth of the time is left for what comes after.
    pub(super) fn with_time_left(stop: Stop<'a>) -> Self {
        let now = Instant::now();
        let left = stop.deadline.saturating_duration_since(now);
        Self::new(Stop { deadline: now + left / 5 * 4, ..stop })
    }

    /// Whether to end now.
    pub(super) fn over(&self) -> bool {
        if self.why.load(Ordering::Relaxed) != GOING {
            return true;
        }
        if self.stop.given_up.load(Ordering::Relaxed) {
            self.end(GIVEN_UP);
        } else if Instant::now() >= self.stop.deadline {
            self.end(TIME);
        } else {
            return false;
        }
        true
    }

    /// Ends the walk: there are more entries than are looked at.
    pub(super) fn too_many_entries(&self) {
        self.end(ENTRIES);
    }

    fn end(&self, why: u8) {
        // Whoever comes second has only seen the end that the first made.
        let _ = self.why.compare_exchange(GOING, why, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Why it ended.
    pub(super) fn reason(&self) -> Option<String> {
        Some(match self.why.load(Ordering::Relaxed) {
            GOING => return None,
            TIME => "the time ran out; look in a folder further down or use a narrower glob".into(),
            GIVEN_UP => "the call was given up".into(),
            _ => format!("there are more than {} entries; look in a folder further down", super::walk::ENTRIES),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicBool, Ordering},
        time::Duration,
    };

    use super::*;

    #[test]
    fn the_first_reason_stays() {
        let given_up = AtomicBool::new(false);
        let later = Stop { given_up: &given_up, deadline: Instant::now() + Duration::from_secs(1000) };
        let halt = Halt::new(later);
        assert!(!halt.over() && halt.reason().is_none());
        given_up.store(true, Ordering::Relaxed);
        assert!(halt.over());
        halt.too_many_entries();
        assert!(halt.reason().unwrap().contains("given up"));
        given_up.store(false, Ordering::Relaxed);
        let late = Halt::new(Stop { deadline: Instant::now(), ..later });
        assert!(late.over() && late.reason().unwrap().contains("time ran out"));
    }

    #[test]
    fn a_part_of_the_time_is_left() {
        let given_up = AtomicBool::new(false);
        let stop = Stop { given_up: &given_up, deadline: Instant::now() + Duration::from_secs(1000) };
        let left = stop.deadline - Halt::with_time_left(stop).stop.deadline;
        assert!((Duration::from_secs(199)..Duration::from_secs(201)).contains(&left), "{left:?}");
    }
}
