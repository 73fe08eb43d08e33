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

/// All of a text file, up to what the host gives at once. Secrets are masked in it, unless the grant shows them.
///
/// ```
/// use hermes_tool::{NoArgs, Result, fs, tool};
///
/// /// Shows the notes.
/// #[tool(read_only)]
/// fn notes(_: NoArgs) -> Result<String> {
///     Ok(fs::read_to_string("notes.txt")?)
/// }
/// # use hermes_tool::testing::FakeHost;
/// # let host = FakeHost::new().file("notes.txt", "one\ntwo");
/// # assert_eq!(host.call(notes::TOOL, "{}").unwrap().text(), "one\ntwo");
/// # let host = FakeHost::new().file("notes.txt", b"\xff");
/// # assert!(host.call(notes::TOOL, "{}").unwrap_err().message().contains("not text"));
/// ```
pub fn read_to_string(path: &str) -> Result<String, Fault> {
    let piece = read(path, 0, u64::MAX)?;
    String::from_utf8(piece.bytes).map_err(|_| Fault {
        reason: Reason::Failed,
        message: format!("{path} is not text in UTF-8; read its bytes with fs::read"),
    })
}

/// Makes a file with this content, or replaces all that is in it. Missing folders are made. What must not overwrite another's change
/// is a [`commit`] with the version that was read.
///
/// ```
/// use hermes_tool::{NoArgs, Result, fs, tool};
///
/// /// Begins a new list.
/// #[tool]
/// fn begin(_: NoArgs) -> Result<String> {
///     fs::write("lists/today.txt", "milk\n")?;
///     fs::append("lists/today.txt", "bread\n")?;
///     Ok(fs::read_to_string("lists/today.txt")?)
/// }
/// # use hermes_tool::testing::FakeHost;
/// # let host = FakeHost::new().file("lists/today.txt", "old");
/// # assert_eq!(host.call(begin::TOOL, "{}").unwrap().text(), "milk\nbread\n");
/// ```
pub fn write(path: &str, content: impl AsRef<[u8]>) -> Result<(), Fault> {
    put(path, content.as_ref(), Expected::Anything)
}

/// Adds to the end of a file, which is made where there is none. Between two calls at the same time nothing is lost.
///
/// ```
/// use hermes_tool::fs;
/// # use hermes_tool::testing::FakeHost;
/// # let host = FakeHost::new();
///
/// fs::append("log.txt", "one\n")?;
/// fs::append("log.txt", "two\n")?;
/// assert_eq!(fs::read_to_string("log.txt")?, "one\ntwo\n");
/// # Ok::<(), fs::Fault>(())
/// ```
pub fn append(path: &str, content: impl AsRef<[u8]>) -> Result<(), Fault> {
    let content = content.as_ref();
    let mut tries = APPEND_TRIES;
    loop {
        let done = match stat(path) {
            Ok(found) => {
                let splice = Splice { offset: found.size, length: 0, bytes: content.to_vec() };
                let edit = Edit { path: path.to_owned(), version: found.version, splices: vec![splice] };
                commit(&[Change::Edit(edit)]).map(drop)
            }
            Err(fault) if fault.reason == Reason::NotFound => put(path, content, Expected::Nothing),
            Err(fault) => Err(fault),
        };
        tries -= 1;
        match done {
            // Another call changed it, or made it, in between.
            Err(fault) if matches!(fault.reason, Reason::Changed | Reason::Exists) && tries > 0 => {}
            done => return done,
        }
    }
}

/// How often [`append`] looks again at a file that others change meanwhile.
const APPEND_TRIES: u32 = 10;

fn put(path: &str, content: &[u8], expected: Expected) -> Result<(), Fault> {
    let write = Write { path: path.to_owned(), content: content.to_vec(), expected };
    commit(&[Change::Write(write)]).map(drop)
}

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
///
/// ```
/// use hermes_tool::fs;
/// # use hermes_tool::testing::FakeHost;
/// # let host = FakeHost::new().file("notes/a.txt", "").file("notes/b.txt", "");
///
/// let names: Vec<String> = fs::list("notes")?.entries.into_iter().map(|entry| entry.name).collect();
/// assert_eq!(names, ["a.txt", "b.txt"]);
/// # Ok::<(), fs::Fault>(())
/// ```
pub fn list(path: &str) -> Result<Listing, Fault> {
    Ok(host::list(path)?)
}

/// Makes all of these changes or none.
///
/// ```
/// use hermes_tool::fs::{self, Change, Expected, Remove, Write};
/// # use hermes_tool::testing::FakeHost;
/// # let host = FakeHost::new().file("draft.md", "Dear");
///
/// // The letter is there and the draft is gone, or neither.
/// let letter = Write { path: "letter.md".into(), content: b"Dear".to_vec(), expected: Expected::Nothing };
/// let draft = Remove { path: "draft.md".into(), version: None };
/// fs::commit(&[Change::Write(letter), Change::Remove(draft)])?;
/// # assert_eq!(host.content("letter.md").unwrap(), b"Dear");
/// # assert_eq!(host.content("draft.md"), None);
/// # Ok::<(), fs::Fault>(())
/// ```
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
