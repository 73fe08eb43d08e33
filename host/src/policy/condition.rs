//! What a rule wants of one argument.

use globset::{GlobBuilder, GlobMatcher};
use serde_json::{Number, Value};

use super::InvalidRule;

/// One argument, by its JSON pointer, and the values of which it must have one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Condition {
    pointer: String,
    wanted: Vec<Wanted>,
}

/// A value that an argument may have.
#[derive(Clone, Debug)]
pub(super) enum Wanted {
    /// This very value.
    Equals(Value),
    /// A text like this: `*` is any text, `?` one character.
    Glob(GlobMatcher),
}

impl PartialEq for Wanted {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Equals(one), Self::Equals(other)) => one == other,
            (Self::Glob(one), Self::Glob(other)) => one.glob() == other.glob(),
            _ => false,
        }
    }
}

impl Wanted {
    pub(super) fn glob(pattern: &str) -> Result<Self, InvalidRule> {
        let glob = GlobBuilder::new(pattern).literal_separator(false).build();
        let invalid =
            |why: globset::Error| InvalidRule::Glob { pattern: pattern.to_owned(), why: why.kind().to_string() };
        Ok(Self::Glob(glob.map_err(invalid)?.compile_matcher()))
    }

    fn is_met(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Equals(Value::Number(wanted)), Value::Number(found)) => is_same_number(wanted, found),
            (Self::Equals(wanted), found) => wanted == found,
            (Self::Glob(glob), Value::String(found)) => glob.is_match(found),
            (Self::Glob(_), _) => false,
        }
    }

    fn describe(&self) -> String {
        match self {
            Self::Equals(value) => format!("is {value}"),
            Self::Glob(glob) => format!("is like {:?}", glob.glob().glob()),
        }
    }
}

/// 1 and 1.0 are one number: a tool takes either.
fn is_same_number(one: &Number, other: &Number) -> bool {
    let whole = |number: &Number| number.to_string().parse::<i128>().ok();
    match (whole(one), whole(other)) {
        (Some(one), Some(other)) => one == other,
        _ => one == other || one.as_f64().is_some() && one.as_f64() == other.as_f64(),
    }
}

impl Condition {
    /// A condition on the argument that a JSON pointer (RFC 6901) names.
    pub(super) fn new(pointer: &str, wanted: Vec<Wanted>) -> Result<Self, InvalidRule> {
        let is_escaped = |token: &str| token.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
        if !pointer.starts_with('/') || !pointer.split('/').all(is_escaped) {
            return Err(InvalidRule::Pointer(pointer.to_owned()));
        }
        if wanted.is_empty() {
            return Err(InvalidRule::NoValue(pointer.to_owned()));
        }
        Ok(Self { pointer: pointer.to_owned(), wanted })
    }

    /// An argument that is missing meets no condition.
    pub(super) fn is_met(&self, arguments: &Value) -> bool {
        let found = arguments.pointer(&self.pointer);
        found.is_some_and(|found| self.wanted.iter().any(|wanted| wanted.is_met(found)))
    }

    pub(super) fn describe(&self) -> String {
        let wanted: Vec<String> = self.wanted.iter().map(Wanted::describe).collect();
        format!("{} {}", self.pointer, wanted.join(" or "))
    }
}
