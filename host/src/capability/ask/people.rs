//! Who can be asked, by call.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};

use super::{Asker, Form};
use crate::{sandbox::limits::KIB, text::is_hidden};

/// How long a person has for one form. As long as a question about a command waits by default.
pub const THINKING: Duration = Duration::from_secs(5 * 60);

/// How many forms wait at once. Each holds the place of a call, and most places must be left for those that work.
pub const WAITING_FORMS: usize = 16;

/// The longest text of a question.
pub const QUESTION_BYTES: usize = 8 * KIB;

/// What a person answers.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The fields.
    Given(Map<String, Value>),
    /// No.
    Declined,
    /// Nothing: it was closed.
    Dismissed,
}

/// An answer that does not fit the form. The question still waits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the answer does not fit the form: {0}")]
pub struct Misfit(pub String);

/// Why nobody answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Silence {
    Nobody,
    Full,
    Late,
}

/// A form that waits to be filled. Dropped without an answer, it counts as one that nobody could be asked.
#[derive(Debug)]
pub struct Inquiry {
    /// Tells it from the tool's other questions.
    pub name: String,
    /// What the tool says, with who says it. Nothing in it can obey, hide or reorder.
    pub message: String,
    /// What it wants.
    pub form: Form,
    answer: oneshot::Sender<Answer>,
}

impl Inquiry {
    /// Whether an answer fits.
    pub fn fits(&self, answer: &Answer) -> Result<(), Misfit> {
        match answer {
            Answer::Given(given) => self.form.fits(given).map_err(Misfit),
            Answer::Declined | Answer::Dismissed => Ok(()),
        }
    }

    /// Answers, if it fits.
    pub fn answer(self, answer: Answer) -> Result<(), Misfit> {
        self.fits(&answer)?;
        // Nobody waits any more if the call ended meanwhile.
        let _ = self.answer.send(answer);
        Ok(())
    }
}

/// The calls whose callers can ask somebody. Nothing of it outlives them.
#[derive(Debug, Default)]
pub struct People {
    calls: Mutex<HashMap<String, mpsc::UnboundedSender<Inquiry>>>,
    waiting: AtomicUsize,
}

/// Somebody at the other end of one call, for as long as this lives.
#[derive(Debug)]
pub struct Presence {
    people: Arc<People>,
    call: String,
    /// A guest waits while it asks, so there is at most one at a time.
    inquiries: mpsc::UnboundedReceiver<Inquiry>,
}

impl Presence {
    /// The next form. Waits for ever where none comes.
    pub async fn next(&mut self) -> Inquiry {
        match self.inquiries.recv().await {
            Some(inquiry) => inquiry,
            // Another presence for the same call took this one's place.
            None => std::future::pending().await,
        }
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        self.inquiries.close();
        let mut calls = self.people.lock();
        if calls.get(&self.call).is_some_and(mpsc::UnboundedSender::is_closed) {
            calls.remove(&self.call);
        }
    }
}

impl People {
    /// Says that this call's caller has somebody to ask.
    pub fn attend(self: &Arc<Self>, call: &str) -> Presence {
        let (sender, inquiries) = mpsc::unbounded_channel();
        self.lock().insert(call.to_owned(), sender);
        Presence { people: Arc::clone(self), call: call.to_owned(), inquiries }
    }

    /// Asks whoever is there for the call, for at most this long.
    pub(super) async fn ask(
        &self,
        asker: &Asker,
        name: String,
        message: &str,
        form: Form,
        time: Duration,
    ) -> Result<Answer, Silence> {
        let (answer, answered) = oneshot::channel();
        let who = format!("{} (component {}) asks", asker.tool, asker.asking.component);
        let inquiry = Inquiry { name, message: format!("{who}: {}", shown(message)), form, answer };
        let sender = self.lock().get(&asker.call).cloned().ok_or(Silence::Nobody)?;
        let _place = Place::taken(&self.waiting)?;
        sender.send(inquiry).map_err(|_| Silence::Nobody)?;
        let answer = tokio::time::timeout(time, answered).await.map_err(|_| Silence::Late)?;
        answer.map_err(|_| Silence::Nobody)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, mpsc::UnboundedSender<Inquiry>>> {
        // No code that can panic runs while it is held half changed.
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The place of a form that waits.
struct Place<'a>(&'a AtomicUsize);

impl<'a> Place<'a> {
    fn taken(waiting: &'a AtomicUsize) -> Result<Self, Silence> {
        let place = Self(waiting);
        if waiting.fetch_add(1, Ordering::AcqRel) < WAITING_FORMS { Ok(place) } else { Err(Silence::Full) }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

fn shown(message: &str) -> String {
    let message = &message[..message.floor_char_boundary(QUESTION_BYTES)];
    let mut safe = String::with_capacity(message.len());
    for c in message.chars() {
        if is_hidden(c) && c != '\n' { safe.extend(c.escape_unicode()) } else { safe.push(c) }
    }
    safe
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Asking;
    use super::*;

    fn form() -> Form {
        Form::parse(r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#).unwrap()
    }

    fn asker(people: &Arc<People>, call: &str) -> Asker {
        let asking = Asking { component: "c".into(), people: Arc::clone(people) };
        Asker::new(Arc::new(asking), "t".into(), call.into())
    }

    #[tokio::test]
    async fn who_is_there_for_the_call_is_asked_and_nobody_else() {
        let people = Arc::new(People::default());
        let mut here = people.attend("a");
        assert_eq!(people.ask(&asker(&people, "b"), "q".into(), "?", form(), THINKING).await, Err(Silence::Nobody));
        let asker = asker(&people, "a");
        let (answer, ()) = tokio::join!(people.ask(&asker, "q".into(), "how \u{202e}many", form(), THINKING), async {
            let inquiry = here.next().await;
            assert_eq!(inquiry.message, r"t (component c) asks: how \u{202e}many");
            let few = |n| Answer::Given(Map::from_iter([("n".to_owned(), n)]));
            assert!(inquiry.fits(&few(json!("x"))).is_err());
            inquiry.answer(few(json!(3))).unwrap();
        });
        assert_eq!(answer, Ok(Answer::Given(Map::from_iter([("n".to_owned(), json!(3))]))));
        drop(here);
        assert_eq!(people.ask(&asker, "q".into(), "?", form(), THINKING).await, Err(Silence::Nobody));
        assert!(people.lock().is_empty());
    }

    #[tokio::test]
    async fn nobody_is_waited_for_for_ever() {
        let people = Arc::new(People::default());
        let _here = people.attend("a");
        assert_eq!(
            people.ask(&asker(&people, "a"), "q".into(), "?", form(), Duration::from_millis(20)).await,
            Err(Silence::Late)
        );
    }
}
