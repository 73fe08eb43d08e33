//! The time that coercing and validating may take on a thread. Validators know nothing of clocks, so those of their steps that are ours
//! ask here whether to go on.

use std::{
    cell::RefCell,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

thread_local! {
    static CURRENT: RefCell<Option<Effort>> = const { RefCell::new(None) };
}

/// How long work may go on. Clones share whether it was given up.
#[derive(Clone, Debug)]
pub struct Effort {
    until: Instant,
    given_up: Arc<AtomicBool>,
}

impl Effort {
    /// Until then, unless it is given up.
    pub fn until(until: Instant) -> Self {
        Self { until, given_up: Arc::default() }
    }

    /// Ends the work at its next step.
    pub fn give_up(&self) {
        self.given_up.store(true, Ordering::Relaxed);
    }

    /// Runs work on this thread that ends early when its time is over: nothing then, since what it says counts for nothing.
    pub fn spend<T>(&self, work: impl FnOnce() -> T) -> Option<T> {
        CURRENT.set(Some(self.clone()));
        // Also after a panic: the next work on this thread may have none.
        let _reset = Reset;
        let done = work();
        (!self.is_over()).then_some(done)
    }

    fn is_over(&self) -> bool {
        self.given_up.load(Ordering::Relaxed) || Instant::now() >= self.until
    }

    /// Whether the work on this thread must end. Never where it has all the time it wants.
    pub fn is_spent() -> bool {
        CURRENT.with_borrow(|current| current.as_ref().is_some_and(Self::is_over))
    }
}

struct Reset;

impl Drop for Reset {
    fn drop(&mut self) {
        CURRENT.set(None);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn work_is_told_when_its_time_is_over_and_counts_for_nothing_then() {
        assert!(!Effort::is_spent());
        let effort = Effort::until(Instant::now() + Duration::from_secs(3600));
        assert_eq!(effort.spend(Effort::is_spent), Some(false));
        let work = || {
            effort.give_up();
            assert!(Effort::is_spent());
        };
        assert_eq!(effort.spend(work), None);
        assert_eq!(Effort::until(Instant::now()).spend(|| assert!(Effort::is_spent())), None);
        assert!(!Effort::is_spent());
    }
}
