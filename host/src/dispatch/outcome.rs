//! The end of a call, and its JSON.

use std::fmt;

use serde_json::json;

use super::{Reply, sanitise::sanitise};
use crate::{
    sandbox::{Busy, Kill, KillReason, Level, LogLine, Usage},
    wit::latest::Failure,
};

/// How many of a killed guest's last complaints are told. A Python traceback ends in two lines that matter.
const COMPLAINTS: usize = 3;

/// What a call came to.
#[derive(Debug)]
pub struct Outcome {
    /// The reply, or why there is none.
    pub result: Result<Reply, CallError>,
    /// A word to a model that goes round in circles.
    pub warning: Option<String>,
    /// What the tool logged.
    pub log: Vec<LogLine>,
    /// What it used. Zero where it never ran.
    pub usage: Usage,
}

impl Outcome {
    /// The JSON text for the caller: always well formed. A warning stands in the member `_warning`.
    pub fn json(&self) -> String {
        let json = match &self.result {
            Ok(reply) => reply.json(),
            Err(error) => error.json(),
        };
        match &self.warning {
            None => json,
            Some(warning) => annotated(&json, warning),
        }
    }
}

/// An object gets one more member, anything else becomes an object's. On text: a result is never parsed into values.
fn annotated(json: &str, warning: &str) -> String {
    let warning = serde_json::Value::from(warning);
    match json.strip_prefix('{').map(str::trim_start) {
        Some("}") => format!("{{\"_warning\":{warning}}}"),
        Some(rest) => format!("{{\"_warning\":{warning},{rest}"),
        None => format!("{{\"_warning\":{warning},\"result\":{json}}}"),
    }
}

/// What came about without a guest.
impl From<Result<Reply, CallError>> for Outcome {
    fn from(result: Result<Reply, CallError>) -> Self {
        Self { result, warning: None, log: Vec::new(), usage: Usage::default() }
    }
}

impl From<CallError> for Outcome {
    fn from(error: CallError) -> Self {
        Err(error).into()
    }
}

/// Why a call gave no reply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CallError {
    /// Of which kind.
    pub kind: ErrorKind,
    /// For the model: sanitised, bounded.
    pub message: String,
}

/// The kinds of errors. Their names are part of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// No tool has this name.
    UnknownTool,
    /// The arguments do not fit the tool's schema, or the tool can't use them.
    InvalidArguments,
    /// The tool can't work here or now.
    Unavailable,
    /// Something was refused.
    Denied,
    /// The tool tried and failed, or broke its own contract.
    Failed,
    /// Too many calls at once.
    Busy,
    /// The same thing was tried too often in this task.
    Stopped,
    /// The host ended the call.
    Killed(KillReason),
}

impl ErrorKind {
    /// The name that callers see.
    pub const fn name(self) -> &'static str {
        match self {
            Self::UnknownTool => "unknown-tool",
            Self::InvalidArguments => "invalid-arguments",
            Self::Unavailable => "unavailable",
            Self::Denied => "denied",
            Self::Failed => "failed",
            Self::Busy => "busy",
            Self::Stopped => "stopped",
            Self::Killed(reason) => reason.name(),
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl CallError {
    pub(crate) fn new(kind: ErrorKind, message: &str) -> Self {
        Self { kind, message: sanitise(message) }
    }

    /// `{"error": "…", "kind": "…"}`.
    pub fn json(&self) -> String {
        json!({"error": self.message, "kind": self.kind.name()}).to_string()
    }

    /// The host ended the call. What the guest last complained of goes along: it usually is its panic.
    pub(crate) fn killed(tool: &str, kill: &Kill, log: &[LogLine]) -> Self {
        let complaints = log.iter().filter(|line| line.level >= Level::Warn).map(|line| line.message.as_str());
        let complaints: Vec<&str> = complaints.filter(|line| !line.contains("RUST_BACKTRACE")).collect();
        let said = match complaints.get(complaints.len().saturating_sub(COMPLAINTS)..) {
            None | Some([]) => String::new(),
            Some(last) => format!(" (it last said: {})", last.join(" / ")),
        };
        Self::new(ErrorKind::Killed(kill.reason), &format!("{tool} was ended: {kill}{said}"))
    }
}

impl From<Failure> for CallError {
    fn from(failure: Failure) -> Self {
        let (kind, message) = match failure {
            Failure::InvalidArguments(message) => (ErrorKind::InvalidArguments, message),
            Failure::Unavailable(message) => (ErrorKind::Unavailable, message),
            Failure::Denied(message) => (ErrorKind::Denied, message),
            Failure::Failed(message) => (ErrorKind::Failed, message),
        };
        Self::new(kind, &message)
    }
}

impl From<Busy> for CallError {
    fn from(busy: Busy) -> Self {
        Self::new(ErrorKind::Busy, &busy.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_leaves_the_json_well_formed_and_the_rest_as_it_was() {
        for (json, expected) in [
            ("{}", r#"{"_warning":"w\"w"}"#),
            (r#"{"a":1.0}"#, r#"{"_warning":"w\"w","a":1.0}"#),
            ("[1]", r#"{"_warning":"w\"w","result":[1]}"#),
            (r#""text""#, r#"{"_warning":"w\"w","result":"text"}"#),
        ] {
            assert_eq!(annotated(json, "w\"w"), expected);
        }
    }
}
