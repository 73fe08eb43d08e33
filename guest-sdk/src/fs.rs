//! Files in the folders that the operator granted.
//!
//! A path is absolute, or relative to the workspace. What lies outside every grant, or is never handed out, answers with a
//! [`Fault`]; `?` turns one into the tool's [`Error`]. Finding, counting and searching are the host's work: ask for
//! [`lines`] instead of reading a large file, and [`search`] instead of reading many.
//!
//! ```
//! use hermes_tool::{Result, args, fs, tool};
//!
//! #[args]
//! struct Count {
//!     /// The file to count.
//!     path: String,
//! }
//!
//! /// Counts the lines of a file.
//! #[tool(read_only)]
//! fn count_lines(args: Count) -> Result<String> {
//!     let excerpt = fs::lines(&fs::LinesQuery { path: args.path, first: 1, count: 0, width: 0 })?;
//!     Ok(excerpt.total.to_string())
//! }
//! # use hermes_tool::testing::FakeHost;
//! # let host = FakeHost::new().file("notes.txt", "one\ntwo");
//! # assert_eq!(host.call(count_lines::TOOL, r#"{"path": "notes.txt"}"#).unwrap().text(), "2");
//! ```

pub use crate::bindings::hermes::tool::filesystem::{
    Change, Changed, Edit, Entry, Excerpt, Expected, Extent, Filter, Findings, Found, Granularity, Hit, Kind,
    Knowledge, LinesQuery, Listing, Metadata, Piece, Reason, Remove, Rename, SearchQuery, Splice, Tally, Write,
};

#[cfg(target_family = "wasm")]
use crate::bindings::hermes::tool::filesystem as host;
#[cfg(not(target_family = "wasm"))]
use crate::testing::files as host;

use crate::Error;

/// What a path leads to.
pub fn stat(path: &str) -> Result<Metadata, Fault> {
    Ok(host::stat(path)?)
}

/// Bytes from a position on: `length` of them, or as many as there are. The host gives 16 MiB at once.
pub fn read(path: &str, offset: u64, length: u64) -> Result<Piece, Fault> {
    Ok(host::read(path, offset, length)?)
}

/// Lines of a file, and how many it has. One that was cut to the width ends with a line break like the others. Only what is read
/// this way counts as what the task knows of a file.
pub fn lines(query: &LinesQuery) -> Result<Excerpt, Fault> {
    Ok(host::lines(query)?)
}

/// What is in a directory.
pub fn list(path: &str) -> Result<Listing, Fault> {
    Ok(host::list(path)?)
}

/// Makes all of these changes or none.
pub fn commit(changes: &[Change]) -> Result<Vec<Changed>, Fault> {
    Ok(host::commit(changes)?)
}

/// Files by their names.
pub fn find(filter: &Filter) -> Result<Found, Fault> {
    Ok(host::find(filter)?)
}

/// Lines, or files, by their content.
pub fn search(query: &SearchQuery) -> Result<Findings, Fault> {
    Ok(host::search(query)?)
}

/// Why something was not done. It is no standard error, so that `?` keeps its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The kind of reason.
    pub reason: Reason,
    /// For the model: names the path and what to do.
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
            Reason::Invalid => Self::invalid(fault.message),
            _ => Self::failed(fault.message),
        }
    }
}
