//! What bounds MCP, each with its reason.

use std::time::Duration;

use crate::sandbox::{
    Limits,
    limits::{MIB, bytes, thousands},
};

/// One message on stdio, and one request over HTTP. As much as the arguments of a call may have; a client can't make the host hold more.
pub(super) const MESSAGE: usize = 4 * MIB;

/// Tools in one page of a list. Clients that ask for one page alone see all tools of most hosts.
pub(super) const PAGE: usize = 200;

/// Calls that wait for a client's retry, or did: one that may ask again keeps its place. Each may hold the place of a call, and most places
/// must be left for those that work.
pub(super) const WAITING: usize = 16;

/// The longest task that a client may name.
pub(super) const TASK_BYTES: usize = 128;

/// Tasks of one session or connection that are remembered, so that they end with it. No more commands run at once, and a task that was
/// not named while so many others were is over.
pub(super) const TASKS: usize = 64;

/// How long an HTTP session is kept without a request. Clients before 2026-07-28 begin a new one after that, and what the old one ran in
/// the background ends with it.
pub(super) const SESSION_IDLE: Duration = Duration::from_secs(30 * 60);

/// HTTP sessions at the same time. Each is some kilobytes, and who begins ones without end must not fill the memory. Clients of 2026-07-28
/// and later have none.
pub(super) const SESSIONS: usize = 1_000;

/// How long a client has to say which folder it works on; then the host stays in the one that it was started with. Calls wait for it.
pub(super) const ROOTS_WAIT: Duration = Duration::from_secs(10);

/// Roots of a client that are looked at. Each costs a look at the disk, and people work on a few folders.
pub(super) const ROOTS: usize = 16;

/// How long running calls have when the server stops: as long as a call without grants of its own may take.
pub(super) const DRAIN: Duration = Limits::HANDLE.wall;

/// For the answer of the last call to be written, once it is there.
pub(super) const LAST_WORDS: Duration = Duration::from_millis(200);

/// The table of these limits for the documentation, in Markdown.
pub fn table() -> String {
    let rows = [
        ("one MCP message", bytes(MESSAGE)),
        ("tools in one page of `tools/list`", PAGE.to_string()),
        ("calls that wait for a client's answer", WAITING.to_string()),
        ("tasks that a session or a connection names", TASKS.to_string()),
        ("HTTP sessions of clients before 2026-07-28", thousands(SESSIONS as u64)),
        ("such a session without a request", format!("{} min", SESSION_IDLE.as_secs() / 60)),
        ("wait for a client's roots", format!("{} s", ROOTS_WAIT.as_secs())),
        ("roots of a client that are looked at", ROOTS.to_string()),
    ];
    let rows = rows.map(|(name, value)| format!("| {name} | {value} |\n"));
    format!("| limit | value |\n|---|---|\n{}", rows.concat())
}
