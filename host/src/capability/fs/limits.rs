//! What a call may do to the file system: every bound a constant, its reason above it.

use std::time::Duration;

use crate::sandbox::limits::{CONCURRENT_CALLS, KIB, MIB};

/// Bytes of a file that one answer carries. A guest has 64 MiB: it can hold a file of this size, its new text and what it computes.
/// A larger file is read in pieces. Attack 39.
pub(super) const READ_BYTES: u64 = 16 * MIB as u64;

/// Bytes of lines in one answer. Ten times what a model is ever shown of a file.
pub(super) const EXCERPT_BYTES: usize = MIB;

/// Files up to this size are read on the guest's own thread, where the folder lies on a local disk: handing the work to another
/// thread would cost more than reading.
pub(super) const INLINE_BYTES: u64 = 256 * KIB as u64;

/// Bytes before and after what is asked for that are looked at for secrets: a private key that begins there is one here too. The
/// longest that is known as one has 256 KiB, and its opening line stands before them.
pub(super) const CONTEXT_BYTES: u64 = 320 * KIB as u64;

/// Bytes one call may write, all its changes together. Attack 38.
pub(super) const WRITTEN_BYTES: u64 = 64 * MIB as u64;

/// Files one call may change or make, all its commits together. A patch of a thousand files is no patch. Attack 38.
pub(super) const CHANGED_FILES: usize = 1_000;

/// Directories in one path, counted from the granted folder. Attack 38.
pub(super) const DEPTH: usize = 64;

/// Bytes of one path. The system's own bound.
pub(super) const PATH_BYTES: usize = 4096;

/// What must stay free on a disk that a tool writes to: no tool fills it up, however often it is called. Attack 38.
pub(super) const DISK_RESERVE: u64 = 512 * MIB as u64;

/// Inodes that must stay free, for the same reason. Attack 38.
pub(super) const INODE_RESERVE: u64 = 10_000;

/// Entries of a directory in one answer.
pub(super) const ENTRIES: usize = 5_000;

/// Descriptors that one call may hold through WASI at a time; a file that is written takes two. A tool that merges or compares files
/// holds a few dozen. Without it one call holds as many as it has handles. Attack 58.
pub(super) const OPEN_FILES: usize = 128;

/// Descriptors that all calls of this process may hold through WASI: the limit of one call, for every call that may run. Where the
/// process may open fewer than twice as many, half of what it may: a guest must not keep the host from accepting a connection or
/// starting a command. Attack 58.
pub(super) const OPEN_FILES_OF_PROCESS: usize = OPEN_FILES * CONCURRENT_CALLS;

/// Entries that `read-directory` of WASI gives of one directory. It has no way to give a part, so a larger directory is refused. The
/// largest package caches have some ten thousand in one. Attack 58.
pub(super) const LISTED_ENTRIES: usize = 100_000;

/// Bytes of such a listing, which also count as the call's memory for as long as the guest keeps it. Attack 58.
pub(super) const LISTED_BYTES: usize = 16 * MIB;

/// How long one search takes at most. What was found by then is given, and said to be a part.
pub(super) const SEARCH_WALL: Duration = Duration::from_secs(20);

/// Bytes that the start of a file is judged by: text or not.
pub(super) const HEAD_BYTES: usize = 8 * KIB;

/// Tasks whose reading is remembered. The one that was idle longest is forgotten first.
pub(super) const TASKS: usize = 256;

/// Files remembered of one task.
pub(super) const FILES_OF_A_TASK: usize = 1_000;

/// Excerpts remembered of one file.
pub(super) const EXCERPTS_OF_A_FILE: usize = 64;

/// The table of limits on files for the documentation, in Markdown.
pub(crate) fn table() -> String {
    let count = |n: usize| crate::sandbox::limits::thousands(n as u64);
    let size = |n: u64| crate::sandbox::limits::bytes(n as usize);
    let rows = [
        ("bytes of a file in one answer", size(READ_BYTES)),
        ("bytes of lines in one answer", size(EXCERPT_BYTES as u64)),
        ("bytes written by one call", size(WRITTEN_BYTES)),
        ("files changed by one call", count(CHANGED_FILES)),
        ("directories in a path", count(DEPTH)),
        ("entries of a directory in one answer", count(ENTRIES)),
        ("descriptors of one call through WASI", count(OPEN_FILES)),
        ("descriptors of all calls through WASI, at most half of the process's limit", count(OPEN_FILES_OF_PROCESS)),
        ("entries in one WASI listing", count(LISTED_ENTRIES)),
        ("bytes of one WASI listing, counted as memory", size(LISTED_BYTES as u64)),
        ("one search", format!("{} s", SEARCH_WALL.as_secs())),
        ("disk space that stays free", size(DISK_RESERVE)),
        ("inodes that stay free", count(INODE_RESERVE as usize)),
        ("tasks whose reading is remembered", count(TASKS)),
        ("files remembered of one task", count(FILES_OF_A_TASK)),
    ];
    let rows = rows.map(|(name, value)| format!("| {name} | {value} |\n"));
    format!("| limit | value |\n|---|---|\n{}", rows.concat())
}
