//! Lines that somebody waits for, and how often they are told.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use memchr::memmem::Finder;
use tokio::time::Instant;

use super::{
    super::{
        Fault,
        limits::{NOISY_INTERVALS, NOTICE_EVERY, NOTICES, NOTICES_WINDOW, PATTERN_BYTES, PATTERNS},
    },
    News,
};

/// What a listener is to hear of a process.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    /// That it ended.
    pub end: bool,
    /// That it printed a line with one of these in it.
    pub patterns: Vec<String>,
}

impl Watch {
    /// Whether it asks for too much.
    pub(crate) fn check(&self) -> Result<(), Fault> {
        let count = self.patterns.len();
        if count > PATTERNS {
            return Err(Fault::Watch(format!("{count} patterns are more than the {PATTERNS} that can be watched for")));
        }
        let sizes = self.patterns.iter().map(String::len);
        match sizes.into_iter().find(|size| !(1..=PATTERN_BYTES).contains(size)) {
            Some(size) => Err(Fault::Watch(format!(
                "a pattern of {size} bytes can't be watched for: 1 to {PATTERN_BYTES} are possible"
            ))),
            None => Ok(()),
        }
    }
}

/// Looks through what a process prints.
#[derive(Debug)]
pub(super) struct Watcher {
    patterns: Vec<Finder<'static>>,
    told: Option<Instant>,
    untold: u64,
    noisy: u32,
}

impl Watcher {
    pub(super) fn new(patterns: &[String]) -> Self {
        let patterns = patterns.iter().map(|pattern| Finder::new(pattern).into_owned()).collect();
        Self { patterns, told: None, untold: 0, noisy: 0 }
    }

    /// What to tell of a line, if anything.
    pub(super) fn look(&mut self, line: &[u8], now: Instant, all: &Throttle) -> Option<News> {
        let pattern = self.patterns.iter().find(|pattern| pattern.find(line).is_some())?;
        if self.told.is_some_and(|told| now < told + NOTICE_EVERY) {
            self.untold += 1;
            return None;
        }
        if self.told.is_some() {
            self.noisy = if self.untold > 0 { self.noisy + 1 } else { 0 };
        }
        if !all.allows(now) {
            self.untold += 1;
            return None;
        }
        self.told = Some(now);
        let untold = std::mem::take(&mut self.untold);
        if self.noisy >= NOISY_INTERVALS {
            self.patterns.clear();
            return Some(News::Unwatched { untold });
        }
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Some(News::Matched { pattern: text(pattern.needle()), line: text(line), untold })
    }
}

/// How many notices of matches go out in all.
#[derive(Debug, Default)]
pub(super) struct Throttle(Mutex<VecDeque<Instant>>);

impl Throttle {
    fn allows(&self, now: Instant) -> bool {
        let mut sent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while sent.front().is_some_and(|first| now >= *first + NOTICES_WINDOW) {
            sent.pop_front();
        }
        let allowed = sent.len() < NOTICES;
        if allowed {
            sent.push_back(now);
        }
        allowed
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn watcher() -> Watcher {
        Watcher::new(&["ready".into(), "error".into()])
    }

    #[test]
    fn a_match_is_told_once_in_an_interval_with_the_number_of_the_others() {
        let (mut watcher, all, start) = (watcher(), Throttle::default(), Instant::now());
        assert_eq!(watcher.look(b"nothing", start, &all), None);
        let told = |untold| Some(News::Matched { pattern: "ready".into(), line: "it is ready".into(), untold });
        assert_eq!(watcher.look(b"it is ready", start, &all), told(0));
        for _ in 0..5 {
            assert_eq!(watcher.look(b"it is ready", start + Duration::from_secs(1), &all), None);
        }
        assert_eq!(watcher.look(b"it is ready", start + NOTICE_EVERY, &all), told(5));
    }

    #[test]
    fn a_pattern_that_is_noise_is_given_up() {
        let (mut watcher, all, start) = (watcher(), Throttle::default(), Instant::now());
        let mut news = Vec::new();
        for second in 0..600 {
            news.extend(watcher.look(b"error", start + Duration::from_secs(second), &all));
        }
        assert_eq!(news.len(), 1 + NOISY_INTERVALS as usize);
        assert!(matches!(news.last(), Some(News::Unwatched { .. })));
    }

    #[test]
    fn a_pattern_that_comes_now_and_then_is_never_given_up() {
        let (mut watcher, all, start) = (watcher(), Throttle::default(), Instant::now());
        let at = |count: u32| start + NOTICE_EVERY * count;
        assert_eq!((0..50).filter(|count| watcher.look(b"error", at(*count), &all).is_some()).count(), 50);
    }

    #[test]
    fn many_processes_together_are_bounded_too() {
        let (all, start) = (Throttle::default(), Instant::now());
        let told = (0..100).filter(|_| watcher().look(b"error", start, &all).is_some()).count();
        assert_eq!(told, NOTICES);
        assert!(watcher().look(b"error", start + NOTICES_WINDOW, &all).is_some());
    }

    #[test]
    fn too_many_or_too_large_patterns_are_refused() {
        let check = |patterns| Watch { end: false, patterns }.check();
        assert!(check(vec!["a".into(); PATTERNS]).is_ok());
        assert!(check(vec!["a".into(); PATTERNS + 1]).is_err());
        assert!(check(vec!["a".repeat(PATTERN_BYTES + 1)]).is_err());
        assert!(check(vec![String::new()]).is_err());
    }
}
