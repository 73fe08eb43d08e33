//! The fake host's person: a test says what they answer, in order.

use std::{cell::RefCell, collections::VecDeque};

use super::FakeHost;
use crate::ask::{self, Reason};
use crate::bindings::hermes::tool::ask::Answer;
pub(crate) use crate::bindings::hermes::tool::ask::Fault;

thread_local! {
    static ANSWERS: RefCell<VecDeque<Result<ask::Answer, ask::Fault>>> = RefCell::default();
    static QUESTIONS: RefCell<Vec<Question>> = const { RefCell::new(Vec::new()) };
}

/// A question that a tool put before the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Its name.
    pub name: String,
    /// What the tool said.
    pub message: String,
    /// What it wanted.
    pub form: String,
}

impl FakeHost {
    /// With a person who answers the next question so. Without one there is nobody to ask.
    pub fn answer(self, answer: Result<ask::Answer, ask::Fault>) -> Self {
        ANSWERS.with_borrow_mut(|answers| answers.push_back(answer));
        self
    }

    /// The questions that were put before the person.
    pub fn questions(&self) -> Vec<Question> {
        QUESTIONS.with_borrow(Clone::clone)
    }
}

pub(super) fn clear() {
    ANSWERS.take();
    QUESTIONS.take();
}

pub(crate) fn ask(name: &str, message: &str, form: &str) -> Result<Answer, Fault> {
    QUESTIONS.with_borrow_mut(|questions| {
        questions.push(Question { name: name.into(), message: message.into(), form: form.into() })
    });
    match ANSWERS.with_borrow_mut(VecDeque::pop_front) {
        Some(Ok(ask::Answer::Given(form))) => Ok(Answer::Given(form.to_string())),
        Some(Ok(ask::Answer::Declined)) => Ok(Answer::Declined),
        Some(Ok(ask::Answer::Dismissed)) => Ok(Answer::Dismissed),
        Some(Err(fault)) => Err(Fault { reason: fault.reason, message: fault.message }),
        None => Err(Fault { reason: Reason::Nobody, message: "there is nobody to ask".into() }),
    }
}
