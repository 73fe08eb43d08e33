//! Whether tools can work here: what `check` answered, kept for a while.

use std::{
    collections::HashMap,
    future::Future,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use crate::component::Digest;

/// How long an answer of `check` is kept. Long enough for a model's turn, short enough to notice that a server came up.
pub const CHECK_TTL: Duration = Duration::from_secs(30);

/// How long after its last success a tool whose check fails is still offered: a server that blinks must not make a tool come and
/// go in the middle of a task.
pub const FLAP_GRACE: Duration = Duration::from_secs(60);

/// The tool works, or why not.
pub(crate) type Answer = Result<(), String>;

/// Whether a tool can work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// It can.
    Available,
    /// It could a moment ago, and its check fails now: still offered. Why it fails.
    Flapping(String),
    /// It registered before, and its code is being compiled: offered, and a call of it waits.
    Compiling,
    /// Why it can't.
    Unavailable(String),
}

impl Status {
    /// Whether a model is offered the tool.
    pub fn is_offered(&self) -> bool {
        !matches!(self, Self::Unavailable(_))
    }

    /// Why the last check failed, if it did.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Available => None,
            Self::Compiling => Some("its code is being compiled; a call of it waits"),
            Self::Flapping(why) | Self::Unavailable(why) => Some(why),
        }
    }
}

/// What is known of one tool's check. Whoever asks holds the lock while it runs, so that others wait for the same answer
/// instead of asking again.
#[derive(Debug, Default)]
struct Slot {
    answer: Option<(Instant, Answer)>,
    last_good: Option<Instant>,
}

/// Shared by all who ask about one tool.
type Shared = Arc<tokio::sync::Mutex<Slot>>;

/// Answers by component digest and tool name.
#[derive(Debug, Default)]
pub struct Availability(Mutex<HashMap<(Digest, String), Shared>>);

impl Availability {
    /// The status by a kept answer, or by what `check` answers now. One check runs for all who ask at the same time.
    pub(crate) async fn status<F: Future<Output = Answer>>(
        &self,
        digest: Digest,
        tool: &str,
        now: impl Fn() -> Instant,
        check: impl FnOnce() -> F,
    ) -> Status {
        let slot = self.slot(digest, tool);
        let mut slot = slot.lock().await;
        if let Some((at, answer)) = &slot.answer
            && now().duration_since(*at) < CHECK_TTL
        {
            return match answer {
                Ok(()) => Status::Available,
                Err(why) => Status::Unavailable(why.clone()),
            };
        }
        let answer = check().await;
        let now = now();
        match answer {
            Ok(()) => {
                *slot = Slot { answer: Some((now, Ok(()))), last_good: Some(now) };
                Status::Available
            }
            // Not kept: the next pass asks again.
            Err(why) if slot.last_good.is_some_and(|at| now.duration_since(at) < FLAP_GRACE) => Status::Flapping(why),
            Err(why) => {
                slot.answer = Some((now, Err(why.clone())));
                Status::Unavailable(why)
            }
        }
    }

    /// The status of a tool that can't be asked now, and why: as it was last known, for a while.
    pub(crate) fn unasked(&self, digest: Digest, tool: &str, now: Instant, why: String) -> Status {
        let slot = self.slot(digest, tool);
        // Somebody may be asking at this moment; then nothing is known yet.
        let Ok(slot) = slot.try_lock() else { return Status::Unavailable(why) };
        match &slot.answer {
            Some((at, Ok(()))) if now.duration_since(*at) < CHECK_TTL => Status::Available,
            _ if slot.last_good.is_some_and(|at| now.duration_since(at) < FLAP_GRACE) => Status::Flapping(why),
            _ => Status::Unavailable(why),
        }
    }

    /// Lets go of what is known about components that are not among these.
    pub(crate) fn keep_only(&self, is_loaded: impl Fn(&Digest) -> bool) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|(digest, _), _| is_loaded(digest));
    }

    /// Forgets every answer, so that the next pass asks.
    pub fn forget(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn slot(&self, digest: Digest, tool: &str) -> Shared {
        let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(slots.entry((digest, tool.to_owned())).or_default())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Availability with a clock that the test moves.
    struct Clock {
        availability: Availability,
        start: Instant,
        passed: Cell<u64>,
        asked: Cell<u32>,
    }

    impl Clock {
        fn new() -> Self {
            Self {
                availability: Availability::default(),
                start: Instant::now(),
                passed: Cell::new(0),
                asked: Cell::new(0),
            }
        }

        fn at(&self, seconds: u64, answer: Answer) -> Status {
            self.passed.set(seconds);
            let now = || self.start + Duration::from_secs(self.passed.get());
            let check = || async {
                self.asked.set(self.asked.get() + 1);
                answer
            };
            pollster::block_on(self.availability.status(Digest::of(b"x"), "t", now, check))
        }
    }

    fn down() -> Answer {
        Err("down".into())
    }

    #[test]
    fn an_answer_is_kept_for_half_a_minute() {
        let clock = Clock::new();
        assert_eq!(clock.at(0, down()), Status::Unavailable("down".into()));
        assert_eq!(clock.at(29, Ok(())), Status::Unavailable("down".into()));
        assert_eq!(clock.at(30, Ok(())), Status::Available);
        assert_eq!(clock.asked.get(), 2);
    }

    #[test]
    fn a_failure_soon_after_a_success_is_flapping_and_asked_again() {
        let clock = Clock::new();
        assert_eq!(clock.at(0, Ok(())), Status::Available);
        assert_eq!(clock.at(31, down()), Status::Flapping("down".into()));
        assert_eq!(clock.at(32, Ok(())), Status::Available);
        assert_eq!(clock.at(62, down()), Status::Flapping("down".into()));
        assert_eq!(clock.at(91, down()), Status::Flapping("down".into()));
        assert_eq!(clock.at(92, down()), Status::Unavailable("down".into()));
        assert_eq!(clock.asked.get(), 6);
    }

    #[test]
    fn a_tool_that_can_not_be_asked_keeps_its_grace_too() {
        let clock = Clock::new();
        let unasked = |seconds| {
            let now = clock.start + Duration::from_secs(seconds);
            clock.availability.unasked(Digest::of(b"x"), "t", now, "late".into())
        };
        assert_eq!(unasked(0), Status::Unavailable("late".into()));
        assert_eq!(clock.at(0, Ok(())), Status::Available);
        assert_eq!(unasked(29), Status::Available);
        assert_eq!(unasked(59), Status::Flapping("late".into()));
        assert_eq!(unasked(60), Status::Unavailable("late".into()));
    }

    #[test]
    fn what_is_kept_belongs_to_one_tool_of_one_component() {
        let availability = Availability::default();
        let ask = |bytes: &[u8], tool: &str, answer: Answer| {
            let check = || async { answer };
            pollster::block_on(availability.status(Digest::of(bytes), tool, Instant::now, check))
        };
        assert_eq!(ask(b"a", "t", Ok(())), Status::Available);
        assert_eq!(ask(b"b", "t", down()), Status::Unavailable("down".into()));
        assert_eq!(ask(b"a", "u", down()), Status::Unavailable("down".into()));
        availability.keep_only(|digest| *digest == Digest::of(b"b"));
        assert_eq!(ask(b"a", "t", down()), Status::Unavailable("down".into()), "forgotten");
        assert_eq!(ask(b"b", "t", Ok(())), Status::Unavailable("down".into()), "kept");
    }

    #[test]
    fn those_who_ask_at_the_same_time_share_one_check() {
        let availability = Availability::default();
        let asked = Cell::new(0);
        let one = || {
            availability.status(Digest::of(b"x"), "t", Instant::now, || async {
                asked.set(asked.get() + 1);
                tokio::task::yield_now().await;
                Ok(())
            })
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let all = runtime.block_on(futures_util::future::join_all((0..10).map(|_| one())));
        assert!(all.iter().all(|status| *status == Status::Available));
        assert_eq!(asked.get(), 1);
    }
}
