//! One thing that somebody has to decide.

use std::{
    fmt,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde::{Serialize, Serializer};

use super::{answer::Answer, remembered::Remembered, shell::Judgement, shown::Shown};

/// Names a question. 128 random bits: who was not shown a question can't answer it, and no id of an earlier process comes back.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct QuestionId(String);

/// The system gave no random bytes, so no question can be put.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the system gave no random bytes for the question's id")]
pub struct NoRandomness;

/// 128 random bits as 32 hex digits.
pub(super) fn random_hex() -> Result<String, NoRandomness> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|_| NoRandomness)?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}

impl QuestionId {
    /// An id as a client sends it. Whether it names a question is for the queue to say.
    pub fn from_client(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The hex digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for QuestionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Who wants something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asker {
    /// The tool that was called.
    pub tool: String,
    /// The component it is from. What is remembered holds for this component alone.
    pub component: String,
    /// The call's id: whoever made it may be asked.
    pub call: String,
    /// The task, if the caller named one.
    pub task: Option<String>,
    /// The session, if the caller named one. Without it nothing can be remembered for a session.
    pub session: Option<String>,
}

/// What is wanted, as it came. Not safe to print: [`Question::shown`] is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A command line.
    Command {
        /// Its exact text.
        command: String,
        /// Where it would run, if that is known.
        directory: Option<String>,
        /// The digest of what the task exported and aliased before, if it did.
        exports: Option<String>,
        /// What stands against it.
        judgement: Judgement,
    },
    /// A call of a tool.
    Call {
        /// Its exact arguments, as JSON text.
        arguments: String,
        /// Why somebody has to decide.
        reasons: Vec<String>,
        /// What an answer may be extended to.
        extent: CallExtent,
    },
}

impl Subject {
    /// Whether something could be lost by others of its kind.
    fn may_destroy(&self) -> bool {
        match self {
            Self::Command { judgement, .. } => judgement.reasons.iter().any(|reason| reason.category.is_destructive()),
            Self::Call { extent, .. } => *extent != CallExtent::Tool,
        }
    }
}

/// What the approval of a call may be extended to. Allowing every call of a tool allows none that a hook or a condition of the policy
/// asks about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallExtent {
    /// Calls with these very arguments.
    SameArguments,
    /// Every call of the tool, for a session: the tool may destroy something.
    ToolForSession,
    /// Every call of the tool, for good too.
    Tool,
}

/// Something that somebody has to decide, until when. What an agent wrote in it is only to be had made safe.
#[derive(Clone, Debug)]
pub struct Question {
    id: QuestionId,
    asker: Asker,
    subject: Subject,
    note: Option<String>,
    asked: SystemTime,
    timeout: Duration,
}

impl Question {
    /// A new question with an id of its own.
    pub(super) fn new(asker: Asker, subject: Subject, timeout: Duration) -> Result<Self, NoRandomness> {
        let id = QuestionId(random_hex()?);
        Ok(Self { id, asker, subject, note: None, asked: SystemTime::now(), timeout })
    }

    /// The same question with what a reviewer said about it.
    pub(super) fn with_note(self, note: Option<String>) -> Self {
        Self { note, ..self }
    }

    /// Its id.
    pub fn id(&self) -> &QuestionId {
        &self.id
    }

    /// It made safe for people.
    pub fn shown(&self) -> Shown {
        Shown::of(self)
    }

    /// How long it waits.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// The answers that are possible. What could not be kept is not offered.
    pub fn choices(&self) -> Vec<&'static str> {
        let session = self.asker.session.as_deref().is_some_and(|session| !session.is_empty());
        let exactly = Remembered::exactly(&self.asker, &self.subject).is_some();
        let kind = !Remembered::kind(&self.asker, &self.subject).is_empty();
        let possible = |word: &&str| match *word {
            "session" => exactly && session,
            "always" => exactly,
            "session-category" => kind && session,
            "always-category" => kind && !self.subject.may_destroy(),
            _ => true,
        };
        Answer::CHOICES.into_iter().filter(possible).collect()
    }

    /// The answers that are possible, each with its title for people.
    pub fn titled_choices(&self) -> Vec<(&'static str, &'static str)> {
        let is_command = matches!(self.subject, Subject::Command { .. });
        self.choices().into_iter().map(|word| (word, Answer::title(word, is_command))).collect()
    }

    pub(super) fn asker(&self) -> &Asker {
        &self.asker
    }

    pub(super) fn subject(&self) -> &Subject {
        &self.subject
    }

    pub(super) fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    pub(super) fn asked_at(&self) -> u64 {
        milliseconds(self.asked)
    }

    pub(super) fn expires_at(&self) -> u64 {
        milliseconds(self.asked + self.timeout)
    }
}

/// What goes to clients is what is safe to show.
impl Serialize for Question {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.shown().serialize(serializer)
    }
}

fn milliseconds(time: SystemTime) -> u64 {
    // A clock before 1970 shows as 1970: it is only for people.
    time.duration_since(UNIX_EPOCH).map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
