//! The questions that wait for a person. Nothing of it is kept on disk: a host that starts again knows no question, so what was
//! pending counts as refused and old ids answer nothing.

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::{
    sync::{broadcast, mpsc, oneshot},
    time::{Instant, sleep_until},
};

use super::{
    answer::Answer,
    question::{Question, QuestionId},
};
use crate::capability::DecidedBy;

/// How many questions wait at once. More than a person can look at in their time; without a bound an agent could bury the one
/// that matters under thousands. One too many is refused at once.
pub(super) const PENDING: usize = 32;

/// How many ended questions are known by their id, so that a late answer is told what became of it.
const ENDED: usize = 256;

/// How many news a slow listener may be behind. It is then told that it missed some, and asks for what is pending.
const NEWS: usize = 256;

/// How a question ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Somebody answered.
    Answered,
    /// Nobody did in its time.
    Expired,
    /// Whoever asked went away.
    Withdrawn,
}

/// What listeners are told.
#[derive(Clone, Debug)]
pub enum News {
    /// A question waits.
    Put(Arc<Question>),
    /// It waits no more.
    Ended(QuestionId, Ended),
}

/// What came of putting a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Somebody answered, from there.
    Answered(Answer, DecidedBy),
    /// Nobody did: it counts as refused.
    Expired,
    /// Too many wait already: it counts as refused.
    Full,
}

/// An answer that does not count.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// No such question, or one of an earlier process.
    #[error("no question has this id; it may be from before the host was started: look at what is pending")]
    Unknown,
    /// Somebody was faster.
    #[error("the question was already answered")]
    Already,
    /// Too late.
    #[error("the question expired and counts as refused")]
    Expired,
    /// Nobody waits for the answer.
    #[error("the question was withdrawn: whoever asked is gone")]
    Withdrawn,
    /// Not an answer to this question. It still waits.
    #[error("{word} is not possible here; answer one of {choices}")]
    NotOffered {
        /// The answer.
        word: &'static str,
        /// What is possible.
        choices: String,
    },
}

/// The questions that wait. Clones share them.
#[derive(Clone, Debug)]
pub struct Queue {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    news: broadcast::Sender<News>,
    attendants: AtomicUsize,
}

#[derive(Debug, Default)]
struct State {
    /// The oldest first.
    pending: Vec<Pending>,
    /// The oldest first.
    ended: VecDeque<(QuestionId, Ended)>,
    /// The calls whose callers can be asked themselves.
    callers: HashMap<String, mpsc::UnboundedSender<Arc<Question>>>,
}

#[derive(Debug)]
struct Pending {
    question: Arc<Question>,
    deadline: Instant,
    answer: oneshot::Sender<(Answer, DecidedBy)>,
}

/// Somebody who looks at the queue. While one of these lives, questions are put.
#[derive(Debug)]
pub struct Attendance(Arc<Shared>);

impl Drop for Attendance {
    fn drop(&mut self) {
        self.0.attendants.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The caller of one call, who is asked about that call. While one of these lives, its questions are put.
#[derive(Debug)]
pub struct CallAttendance {
    shared: Arc<Shared>,
    call: String,
    /// As many as wait at once, which is bounded.
    questions: mpsc::UnboundedReceiver<Arc<Question>>,
}

impl CallAttendance {
    /// The next question about the call. Waits for ever where none comes.
    pub async fn next(&mut self) -> Arc<Question> {
        match self.questions.recv().await {
            Some(question) => question,
            // Another one for the same call took this one's place.
            None => std::future::pending().await,
        }
    }
}

impl Drop for CallAttendance {
    fn drop(&mut self) {
        self.questions.close();
        let mut state = self.shared.lock();
        if state.callers.get(&self.call).is_some_and(mpsc::UnboundedSender::is_closed) {
            state.callers.remove(&self.call);
        }
    }
}

impl Default for Queue {
    fn default() -> Self {
        let (news, _) = broadcast::channel(NEWS);
        Self { shared: Arc::new(Shared { state: Mutex::default(), news, attendants: AtomicUsize::new(0) }) }
    }
}

impl Queue {
    /// Says that somebody may answer, for as long as the result lives. A server takes one while a client that can answer is there.
    pub fn attend(&self) -> Attendance {
        self.shared.attendants.fetch_add(1, Ordering::AcqRel);
        Attendance(Arc::clone(&self.shared))
    }

    /// Says that whoever makes this call can be asked about it, for as long as the result lives. Others may answer too.
    pub fn attend_call(&self, call: &str) -> CallAttendance {
        let (sender, questions) = mpsc::unbounded_channel();
        self.shared.lock().callers.insert(call.to_owned(), sender);
        CallAttendance { shared: Arc::clone(&self.shared), call: call.to_owned(), questions }
    }

    /// Whether somebody may answer.
    pub fn is_attended(&self) -> bool {
        self.shared.attendants.load(Ordering::Acquire) > 0
    }

    /// Whether somebody may answer what is asked about this call.
    pub fn is_attended_for(&self, call: &str) -> bool {
        self.is_attended() || self.shared.lock().callers.contains_key(call)
    }

    /// What happens from now on.
    pub fn subscribe(&self) -> broadcast::Receiver<News> {
        self.shared.news.subscribe()
    }

    /// The questions that wait, the oldest first.
    pub fn pending(&self) -> Vec<Arc<Question>> {
        let now = Instant::now();
        let state = self.shared.lock();
        state.pending.iter().filter(|it| now < it.deadline).map(|it| Arc::clone(&it.question)).collect()
    }

    /// Puts a question, at once. The result waits for its answer; dropping it withdraws the question.
    pub fn put(&self, question: Question) -> impl Future<Output = Outcome> + Send + use<> {
        let deadline = Instant::now() + question.timeout();
        let question = Arc::new(question);
        let (answer, mut answered) = oneshot::channel();
        let place = {
            let mut state = self.shared.lock();
            (state.pending.len() < PENDING).then(|| {
                state.pending.push(Pending { question: Arc::clone(&question), deadline, answer });
                if let Some(caller) = state.callers.get(&question.asker().call) {
                    // Gone in this moment: the question waits for others, or for its end.
                    let _ = caller.send(Arc::clone(&question));
                }
                self.shared.tell(News::Put(Arc::clone(&question)));
                Place { id: question.id().clone(), shared: Arc::clone(&self.shared) }
            })
        };
        async move {
            let Some(place) = place else { return Outcome::Full };
            tokio::select! {
                biased;
                Ok((answer, by)) = &mut answered => Outcome::Answered(answer, by),
                () = sleep_until(deadline) => {
                    place.shared.lock().end(&place.shared, &place.id, Ended::Expired);
                    // An answer that was accepted before the lock was had counts: its giver was told so.
                    answered.try_recv().map_or(Outcome::Expired, |(answer, by)| Outcome::Answered(answer, by))
                }
            }
        }
    }

    /// Answers a question, as the embedding program. Of many answers exactly one is taken; the others are told that they were not.
    pub fn answer(&self, id: &QuestionId, answer: Answer) -> Result<(), AnswerError> {
        self.answer_from(id, answer, DecidedBy::Program)
    }

    /// The same from elsewhere.
    pub fn answer_from(&self, id: &QuestionId, answer: Answer, by: DecidedBy) -> Result<(), AnswerError> {
        let mut state = self.shared.lock();
        let Some(found) = state.pending.iter().find(|it| it.question.id() == id) else {
            let ended = state.ended.iter().find(|(ended, _)| ended == id).map(|(_, how)| *how);
            return Err(ended.map_or(AnswerError::Unknown, AnswerError::from));
        };
        if Instant::now() >= found.deadline {
            return Err(AnswerError::Expired);
        }
        let choices = found.question.choices();
        if !choices.contains(&answer.word()) {
            return Err(AnswerError::NotOffered { word: answer.word(), choices: choices.join(", ") });
        }
        // It is taken out and sent under one lock: whoever comes next does not find it.
        let taken = state.end(&self.shared, id, Ended::Answered);
        taken.and_then(|it| it.answer.send((answer, by)).ok()).ok_or(AnswerError::Withdrawn)
    }
}

impl From<Ended> for AnswerError {
    fn from(how: Ended) -> Self {
        match how {
            Ended::Answered => Self::Already,
            Ended::Expired => Self::Expired,
            Ended::Withdrawn => Self::Withdrawn,
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // No code that can panic runs while it is held half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, news: News) {
        // Fails only if nobody listens.
        let _ = self.news.send(news);
    }
}

impl State {
    /// Takes a question out, notes how it ended and tells the listeners. Does nothing if it is out already.
    fn end(&mut self, shared: &Shared, id: &QuestionId, how: Ended) -> Option<Pending> {
        let index = self.pending.iter().position(|it| it.question.id() == id)?;
        if self.ended.len() == ENDED {
            self.ended.pop_front();
        }
        self.ended.push_back((id.clone(), how));
        shared.tell(News::Ended(id.clone(), how));
        Some(self.pending.remove(index))
    }
}

/// A question's place in the queue, given up when nobody waits for it any more.
struct Place {
    id: QuestionId,
    shared: Arc<Shared>,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.shared.lock().end(&self.shared, &self.id, Ended::Withdrawn);
    }
}
