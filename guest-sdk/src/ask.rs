//! Questions to the person at the other end of a call.
//!
//! ```
//! use hermes_tool::ask::{self, Answer};
//! use hermes_tool::{NoArgs, Result, tool};
//!
//! /// Greets the person by name.
//! #[tool]
//! fn greet(_: NoArgs) -> Result<String> {
//!     let form = r#"{"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}"#;
//!     match ask::ask("name", "What is your name?", form)? {
//!         Answer::Given(form) => Ok(format!("Hello, {}!", form["name"].as_str().unwrap_or("you"))),
//!         Answer::Declined | Answer::Dismissed => Ok("Hello, whoever you are!".into()),
//!     }
//! }
//! # use hermes_tool::testing::FakeHost;
//! # let host = FakeHost::new().answer(Ok(Answer::Given(serde_json::json!({"name": "Ada"}))));
//! # assert_eq!(host.call(greet::TOOL, "{}").unwrap().text(), "Hello, Ada!");
//! ```

use serde_json::Value;

pub use crate::bindings::hermes::tool::ask::Reason;

#[cfg(target_family = "wasm")]
use crate::bindings::hermes::tool::ask as host;
#[cfg(not(target_family = "wasm"))]
use crate::testing::ask as host;

use crate::{Error, bindings::hermes::tool::ask as wit};

/// What came of a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The filled form, as the host validated it.
    Given(Value),
    /// The person said no.
    Declined,
    /// The person closed it without a word.
    Dismissed,
}

/// Puts a form before the person and waits for it. The name tells this question from the tool's others; the form is the JSON Schema
/// of a flat object.
pub fn ask(name: &str, message: &str, form: &str) -> Result<Answer, Fault> {
    Ok(match host::ask(name, message, form)? {
        // The host validated it: what is no JSON can't come, and would be an empty form.
        wit::Answer::Given(form) => Answer::Given(serde_json::from_str(&form).unwrap_or_default()),
        wit::Answer::Declined => Answer::Declined,
        wit::Answer::Dismissed => Answer::Dismissed,
    })
}

/// Why there is no answer. It is no standard error, so that `?` keeps its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The kind of reason.
    pub reason: Reason,
    /// For the model: what to do without an answer.
    pub message: String,
}

impl From<host::Fault> for Fault {
    fn from(fault: host::Fault) -> Self {
        Self { reason: fault.reason, message: fault.message }
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        match fault.reason {
            Reason::Denied => Self::denied(fault.message),
            Reason::Invalid => Self::failed(fault.message),
            Reason::Nobody | Reason::Unanswered => Self::unavailable(fault.message),
        }
    }
}
