//! Whether tools can work here: what `check` answered, kept for a while.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use crate::component::Digest;

/// How long an answer of `check` is kept. Long enough for a model's turn, short enough to notice that a server came up.
pub const CHECK_TTL: Duration = Duration::from_secs(30);

/// The tool works, or why not.
pub(crate) type Answer = Result<(), String>;

/// Answers by component digest and tool name.
#[derive(Debug, Default)]
pub struct Availability(Mutex<HashMap<(Digest, String), (Instant, Answer)>>);

impl Availability {
    /// The answer, if it is fresh.
    pub(crate) fn get(&self, digest: &Digest, tool: &str) -> Option<Answer> {
        let answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, answer) = answers.get(&(*digest, tool.to_owned()))?;
        (at.elapsed() < CHECK_TTL).then(|| answer.clone())
    }

    /// Keeps an answer, and lets go of the old ones.
    pub(crate) fn put(&self, digest: Digest, tool: &str, answer: Answer) {
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        answers.retain(|_, (at, _)| at.elapsed() < CHECK_TTL);
        answers.insert((digest, tool.to_owned()), (Instant::now(), answer));
    }
}
