//! An error with its place in the expression.

/// How many characters of the expression an error repeats: models count badly, but they find a quotation.
const QUOTED: usize = 16;

/// What is wrong, and where.
#[derive(Debug)]
pub(crate) struct Fault {
    /// The character of the expression, counted from 0.
    pub(crate) at: usize,
    pub(crate) message: String,
}

impl Fault {
    pub(crate) fn new(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into() }
    }

    /// The message for the model: what, where, and the place quoted.
    pub(crate) fn explain(&self, expression: &str) -> String {
        let rest: String = expression.chars().skip(self.at).take(QUOTED).collect();
        let Self { at, message } = self;
        if rest.trim().is_empty() {
            format!("{message} (at the end of the expression)")
        } else {
            format!("{message} (at character {}, where it says `{rest}`)", at + 1)
        }
    }
}
