//! Who decides about what a tool wants to do, and how long a decision holds.
//!
//! `shell` judges the text of a command. `gate` is the way of every question: what no approval can buy is refused, what was
//! decided before is remembered, and the rest goes to a reviewer or a person. `queue` holds the questions that wait for a person,
//! `memory` what was decided. With nobody to ask the answer is no.

mod answer;
mod changes;
mod commands;
mod config;
mod deny;
mod disk;
mod gate;
mod keep;
mod memory;
mod question;
mod queue;
mod remembered;
mod reviewer;
pub mod shell;
mod shown;
#[cfg(test)]
mod tests;

pub use answer::{Answer, Bound, Scope, UnknownAnswer};
pub use config::{Approval, Mode, MovedToPolicy, SmartWithoutReviewer, TIMEOUT, TIMEOUT_CEILING};
pub use deny::DenyRules;
pub use disk::judge_on_disk;
pub use gate::{Approver, Gate, Ruling};
pub use keep::{Keep, KeepError, add_to_document, remove_from_document};
pub use memory::Memory;
pub use question::{Asker, CallExtent, NoRandomness, Question, QuestionId, Subject};
pub use queue::{AnswerError, Attendance, CallAttendance, Ended, News, Outcome, Queue};
pub(crate) use remembered::quoted;
pub use remembered::{InvalidRemembered, Remembered};
pub use reviewer::{Review, Reviewer, ReviewerConfig, ReviewerError};
pub use shown::Shown;
