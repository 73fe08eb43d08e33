//! The four ways in which a tool says no.

use std::fmt::{self, Display};

use crate::bindings::hermes::tool::types::Failure;

/// What a tool returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a call gave no result. The message is for the model: say what to do differently.
///
/// Any standard error turns into [`Error::failed`], so `?` works:
///
/// ```
/// fn parse(text: &str) -> hermes_tool::Result<u32> {
///     Ok(text.parse()?)
/// }
/// assert_eq!(parse("7").unwrap(), 7);
/// assert_eq!(parse("x").unwrap_err().to_string(), "invalid digit found in string");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The arguments can't be used.
    Invalid(String),
    /// The tool can't work here or now.
    Unavailable(String),
    /// Something the call needed was refused.
    Denied(String),
    /// It was tried and did not work.
    Failed(String),
}

impl Error {
    /// The arguments can't be used.
    pub fn invalid(message: impl Display) -> Self {
        Self::Invalid(message.to_string())
    }

    /// The tool can't work here or now.
    pub fn unavailable(message: impl Display) -> Self {
        Self::Unavailable(message.to_string())
    }

    /// Something the call needed was refused.
    pub fn denied(message: impl Display) -> Self {
        Self::Denied(message.to_string())
    }

    /// It was tried and did not work.
    pub fn failed(message: impl Display) -> Self {
        Self::Failed(message.to_string())
    }

    /// The message without its kind.
    pub fn message(&self) -> &str {
        match self {
            Self::Invalid(m) | Self::Unavailable(m) | Self::Denied(m) | Self::Failed(m) => m,
        }
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

// Error itself is no std::error::Error: that is what allows this conversion, and with it `?` on everything.
impl<E: std::error::Error> From<E> for Error {
    fn from(error: E) -> Self {
        Self::failed(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Invalid(m) => Self::InvalidArguments(m),
            Error::Unavailable(m) => Self::Unavailable(m),
            Error::Denied(m) => Self::Denied(m),
            Error::Failed(m) => Self::Failed(m),
        }
    }
}
