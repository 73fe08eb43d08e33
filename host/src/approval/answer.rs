//! What whoever was asked may say.

use std::{fmt, str::FromStr};

use super::shown::one_line;

/// The longest reason of a refusal, in bytes. It goes to the model as the operator's words: a few sentences, not a document.
pub(super) const REASON_BYTES: usize = 1_000;

/// How long an approval holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// For this one run.
    Once,
    /// Until the session or the host ends.
    Session,
    /// For good: it is written to the configuration.
    Always,
}

/// What an approval that holds longer is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The exact command in its directory, or the call with these very arguments.
    Command,
    /// Every command of these categories, or every call of the tool. Not to be had for grave categories.
    Category,
}

/// What was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It may run.
    Approve {
        /// For how long.
        scope: Scope,
        /// Bound to what. Says nothing where the scope is once.
        bound: Bound,
    },
    /// It may not.
    Refuse {
        /// Why, for the model.
        reason: Option<String>,
    },
}

/// A word that is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no answer; use one of {choices}", choices = Answer::CHOICES.join(", "))]
pub struct UnknownAnswer(String);

impl Answer {
    /// The words that are understood. There is no default: an empty line approves nothing. The gravest come after the others.
    pub const CHOICES: [&'static str; 6] = ["once", "session", "always", "session-category", "always-category", "deny"];

    /// An approval for one run.
    pub const ONCE: Self = Self::Approve { scope: Scope::Once, bound: Bound::Command };

    /// A refusal with a reason for the model, which is made one safe line.
    pub fn refuse(reason: &str) -> Self {
        let reason = one_line(reason, REASON_BYTES);
        Self::Refuse { reason: (!reason.is_empty()).then_some(reason) }
    }

    /// What people read in a word's place.
    pub(super) fn title(word: &str, is_command: bool) -> &'static str {
        match (word, is_command) {
            ("once", _) => "Yes, this once",
            ("session", _) => "Yes, for this session",
            ("always", true) => "Always, exactly this command here",
            ("always", false) => "Always, with exactly these arguments",
            ("session-category", true) => "Yes, every command of this kind in this session",
            ("session-category", false) => "Yes, every call of this tool in this session",
            ("always-category", true) => "Always, every command of this kind",
            ("always-category", false) => "Always, every call of this tool",
            _ => "No",
        }
    }

    /// The word for it.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Approve { scope: Scope::Once, .. } => "once",
            Self::Approve { scope: Scope::Session, bound: Bound::Command } => "session",
            Self::Approve { scope: Scope::Always, bound: Bound::Command } => "always",
            Self::Approve { scope: Scope::Session, bound: Bound::Category } => "session-category",
            Self::Approve { scope: Scope::Always, bound: Bound::Category } => "always-category",
            Self::Refuse { .. } => "deny",
        }
    }
}

impl FromStr for Answer {
    type Err = UnknownAnswer;

    fn from_str(word: &str) -> Result<Self, UnknownAnswer> {
        let (scope, bound) = match word {
            "once" => (Scope::Once, Bound::Command),
            "session" => (Scope::Session, Bound::Command),
            "always" => (Scope::Always, Bound::Command),
            "session-category" => (Scope::Session, Bound::Category),
            "always-category" => (Scope::Always, Bound::Category),
            "deny" => return Ok(Self::Refuse { reason: None }),
            other => return Err(UnknownAnswer(one_line(other, 40))),
        };
        Ok(Self::Approve { scope, bound })
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Once => "once",
            Self::Session => "for this session",
            Self::Always => "for good",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_is_an_answer_and_nothing_else_is() {
        for word in Answer::CHOICES {
            let answer: Answer = word.parse().unwrap();
            assert_eq!(answer.word(), word);
            assert_eq!(matches!(answer, Answer::Refuse { .. }), word == "deny");
        }
        for word in ["", "y", "yes", "ONCE", " once", "once ", "approve", "always-", "deny-category"] {
            let why = word.parse::<Answer>().unwrap_err().to_string();
            assert!(why.contains("once, session, always"), "{why}");
        }
    }

    #[test]
    fn a_reason_is_one_safe_line_and_bounded() {
        let reason = |text: &str| match Answer::refuse(text) {
            Answer::Refuse { reason } => reason,
            Answer::Approve { .. } => unreachable!("a refusal refuses"),
        };
        assert_eq!(reason("not\n\u{1b}[2Jnow").as_deref(), Some(r"not \u{1b}[2Jnow"));
        assert_eq!(reason(" \n"), None);
        assert!(reason(&"x".repeat(1 << 20)).unwrap().len() < REASON_BYTES + 100);
    }
}
