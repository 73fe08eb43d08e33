//! Why a replacement was not made, in words for the model.

use std::fmt;

use super::super::near::Snippet;

/// Why nothing was replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mismatch {
    /// There is nothing to search for.
    Empty,
    /// The old text and the new one are the same.
    Identical,
    /// The old text is not in the file.
    NotFound {
        /// What resembles it, the best first.
        near: Vec<Snippet>,
    },
    /// It is there several times, and only one was meant.
    Several {
        /// The strategy that found them.
        strategy: &'static str,
        /// How often.
        count: usize,
        /// The lines of the first ones.
        lines: Vec<usize>,
    },
    /// It is there more often than can be told apart or replaced.
    TooMany,
    /// The new texts together are larger than a call can hold.
    TooLarge,
    /// It is there in other form, and it is not certain what the new text must look like.
    Refused {
        /// The line of the place.
        line: usize,
        /// What is not certain.
        why: Refusal,
    },
    /// The file already is what it would be.
    Unchanged {
        /// The line of the place.
        line: usize,
    },
}

/// What is not certain about a place that was found in other form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// How deep the new lines must be indented.
    Indentation,
    /// Which backslashes are meant.
    Escapes,
}

impl std::error::Error for Mismatch {}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str(
                "old_string is empty; to insert text, give the line beside it as old_string and both as new_string, \
                 and to make a new file use write_file",
            ),
            Self::Identical => f.write_str("old_string and new_string are the same, so nothing would change"),
            Self::NotFound { near } if near.is_empty() => f.write_str(
                "old_string was not found, and nothing resembles it; read the file again and copy the lines",
            ),
            Self::NotFound { near } => {
                f.write_str("old_string was not found. Did you mean one of these places?")?;
                near.iter().try_for_each(|snippet| write!(f, "\n\n{}", snippet.numbered()))
            }
            Self::Several { strategy, count, lines } => {
                let spelled = if *strategy == "exact" { "" } else { ", in slightly different form" };
                let more = if lines.len() < *count { ", …" } else { "" };
                let lines: Vec<String> = lines.iter().map(usize::to_string).collect();
                write!(
                    f,
                    "old_string was found {count} times{spelled}, at lines {}{more}; add lines around it to say which one is \
                     meant, or set replace_all",
                    lines.join(", ")
                )
            }
            Self::TooMany => f.write_str("old_string fits too many places; add lines around it"),
            Self::TooLarge => f.write_str("the new text is too large for so many places; replace fewer of them"),
            Self::Refused { line, why: Refusal::Indentation } => write!(
                f,
                "old_string is at line {line} with other indentation, and it is not certain how deep the lines of new_string \
                 belong there; read the file again and give both as it indents them"
            ),
            Self::Refused { line, why: Refusal::Escapes } => write!(
                f,
                "old_string is at line {line} without its backslashes, and it is not certain which of those in new_string \
                 are meant; give both as they should be in the file, with real line breaks and quotes that are not escaped"
            ),
            Self::Unchanged { line } => {
                write!(f, "nothing would change: what new_string asks for is already at line {line}")
            }
        }
    }
}
