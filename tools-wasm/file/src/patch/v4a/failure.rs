//! Why a patch can't be made, in words for the model.

use std::fmt;

use super::super::near::Snippet;

/// Failures that are told at once. A model mends some and tries again.
const TOLD: usize = 10;

/// Why a patch can't be made. No file was touched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlanError {
    /// The first failures, in the order of the patch.
    pub(crate) failures: Vec<Failure>,
    /// How many more there are.
    pub(crate) more: usize,
}

/// What is wrong with one operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The line of the patch at which the operation or the change begins.
    pub(crate) line: usize,
    /// The file.
    pub(crate) path: String,
    /// What is wrong.
    pub(crate) why: Why,
}

/// What can be wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// There is no such file.
    Missing,
    /// A file that shall be made is there.
    Exists,
    /// A file that another shall be moved to is there.
    Taken(String),
    /// It can't be read.
    Unreadable(String),
    /// The file has more lines than can be searched.
    TooManyLines,
    /// The lines of a change are not in the file.
    NotFound(Vec<Snippet>),
    /// The hint that says where lines are is not in the file, or not above them.
    NoHint(String),
    /// The lines are there several times.
    Several(Vec<usize>),
    /// They are there, but before the change above.
    Order(Vec<usize>),
    /// They are there with other indentation, and it is not certain how deep the new ones belong.
    Indentation(usize),
    /// The file would stay as it is.
    Unchanged,
}

impl PlanError {
    /// One more.
    pub(super) fn add(&mut self, line: usize, path: &str, why: Why) {
        if self.failures.len() < TOLD {
            self.failures.push(Failure { line, path: path.to_owned(), why });
        } else {
            self.more += 1;
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.failures.is_empty()
    }

    /// Sorts by the line of the patch.
    pub(super) fn sorted(mut self) -> Self {
        self.failures.sort_by_key(|failure| failure.line);
        self
    }
}

impl std::error::Error for PlanError {}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no file was changed")?;
        self.failures.iter().try_for_each(|failure| write!(f, "\n{failure}"))?;
        if self.more > 0 { write!(f, "\nand {} more failures", self.more) } else { Ok(()) }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = &self.path;
        write!(f, "line {} of the patch: ", self.line)?;
        let list = |lines: &[usize]| lines.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        match &self.why {
            Why::Missing => write!(f, "{path} does not exist; to make it use *** Add File:"),
            Why::Exists => write!(f, "{path} already exists; to change it use *** Update File:"),
            Why::Taken(target) => write!(f, "{path} can't be moved to {target}: that already exists; delete it first"),
            Why::Unreadable(why) => write!(f, "{path} can't be read: {why}"),
            Why::TooManyLines => write!(f, "{path} has too many lines for a patch; use mode replace"),
            Why::NotFound(near) => {
                write!(f, "the context and the lines to remove were not found in {path}")?;
                if near.is_empty() {
                    return f.write_str("; read the file again and copy the lines");
                }
                f.write_str(". Did you mean one of these places?")?;
                near.iter().try_for_each(|snippet| write!(f, "\n\n{}", snippet.numbered()))?;
                f.write_str("\n")
            }
            Why::NoHint(hint) => write!(
                f,
                "the line {hint:?} after @@ is not in {path}, or not above these lines; read the file again, or leave it out"
            ),
            Why::Several(lines) => write!(
                f,
                "the lines were found several times in {path}, at lines {}; add context, or a line above it after @@",
                list(lines)
            ),
            Why::Order(lines) => write!(
                f,
                "the lines were found in {path} only where an earlier change of this patch is or before it, at lines {}; put the \
                 changes in the order of the file",
                list(lines)
            ),
            Why::Indentation(line) => write!(
                f,
                "the lines are at line {line} of {path} with other indentation, and it is not certain how deep the new ones \
                 belong; give all of them as the file indents them"
            ),
            Why::Unchanged => write!(f, "{path} would stay as it is"),
        }
    }
}
