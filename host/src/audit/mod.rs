//! The audit log: one JSON line per call, each chained to the one before by its hash. A call that runs commands has one more, written
//! before the first of them: a command may end the host.
//!
//! `audit.jsonl` holds the lines. A line is one JSON object without spaces and one `\n`; its members are `seq`, those of
//! [`Record`] in their order, `prev` and `hash`:
//!
//! ```text
//! {"seq":7,"time":"2026-11-16T08:00:00.000000Z",…,"outcome":"ok","prev":"64 hex digits","hash":"64 hex digits"}
//! ```
//!
//! `seq` counts from 1. `prev` is the `hash` of the line before; the first line has 64 zeros. `hash` is the BLAKE3 hash, in
//! lower case hex, of these bytes: the 64 ASCII characters of `prev`, then the line from its `{` up to but without `"hash"`, so
//! the comma is the last. To check one line with other programs:
//!
//! ```text
//! line='…'; prev=${line##*\"prev\":\"}; printf '%s%s' "${prev%%\"*}" "${line%\"hash\"*}" | b3sum
//! ```
//!
//! A log that has reached its size is renamed to `audit.N.jsonl`, where N is the number of its last line in 20 digits, and
//! `audit.jsonl` begins anew: the chain goes on from file to file. Full logs are never removed. Move the oldest away to archive them;
//! verifying then says from which number on the rest is.
//!
//! `audit.head` holds the last `seq`, its `hash` and the length of its file after it: 20 digits, a space, 64 hex digits, a
//! space, 20 digits, `\n`. It is what shows that lines are missing at the end. It is written after the line, so after a crash it
//! may lag behind lines that are there, which is no fault.
//!
//! What the log can't carry on from stays visible for good: where lines are missing at the end, the next line goes on from the
//! head, and where the head is gone, the next line starts a new chain with 64 zeros. An append never repairs a fault.
//!
//! The chain has no secret. It shows damage and careless edits; somebody who can write to both files as this user can make both
//! anew. Who needs more keeps a copy of `audit.head` elsewhere.

mod append;
mod chain;
mod config;
mod files;
mod follow;
mod head;
mod lines;
mod read;
mod record;
mod shared;
mod since;
mod verify;

use std::{io, path::PathBuf};

pub use config::{AuditConfig, AuditedArguments, LOG_BYTES};
pub use follow::Follower;
pub use read::{Entries, Filter, read};
pub use record::Record;
pub use shared::Audit;
pub use since::parse_since;
pub use verify::{Fault, Report, verify};

/// One line of the log whose hash is that of its text.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
#[schema(as = AuditLine)]
pub struct Line {
    /// Its number in the chain, from 1.
    pub seq: u64,
    /// The call.
    #[serde(flatten)]
    pub record: Record,
    /// The hash of the line before.
    pub prev: String,
    /// The hash of this line.
    pub hash: String,
}

/// The log can't be written or read.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// A file or the directory can't be used.
    #[error("failed to use the audit log {}: {why}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: io::Error,
    },
    /// What is there is not a file of this user alone.
    #[error("refused to use the audit log {}: {why}; move it away, or make it a file that only you can write", path.display())]
    Unsafe {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// One line can't be read. Those after it can.
    #[error("line {number} of the audit log {}{why}; verify the log to see what else is wrong", file.as_ref().map_or_else(String::new, |file| format!("{file} ")))]
    Line {
        /// The name of the file, where it is a full one.
        file: Option<String>,
        /// Its number in the file, from 1.
        number: u64,
        /// What is wrong with it.
        why: &'static str,
    },
}
