//! What bounds MCP, each with its reason.

use std::time::Duration;

use crate::sandbox::limits::{MIB, bytes, thousands};

/// One message on stdio, and one request over HTTP. As much as the arguments of a call may have; a client can't make the host hold more.
pub(super) const MESSAGE: usize = 4 * MIB;

/// Tools in one page of a list. Clients that ask for one page alone see all tools of most hosts.
pub(super) const PAGE: usize = 200;

/// Calls that wait for a client's retry. Each may hold the place of a call, and most places must be left for those that work.
pub(super) const WAITING: usize = 16;

/// The longest task that a client may name.
pub(super) const TASK_BYTES: usize = 128;

/// How long an HTTP session without a request or an open stream is kept. Clients before 2026-07-28 begin a new one after that.
pub(super) const SESSION_IDLE: Duration = Duration::from_secs(30 * 60);

/// Clients at the same time: sessions of those before 2026-07-28, and single requests of later ones. A session is some kilobytes, and who
/// begins ones without end must not fill the memory.
pub(super) const AGENTS: usize = 2_000;

/// The table of these limits for the documentation, in Markdown.
pub fn table() -> String {
    let rows = [
        ("one MCP message", bytes(MESSAGE)),
        ("tools in one page of `tools/list`", PAGE.to_string()),
        ("calls that wait for a client's answer", WAITING.to_string()),
        ("MCP sessions of clients before 2026-07-28, with all open requests of later ones", thousands(AGENTS as u64)),
        ("such a session without a request", format!("{} min", SESSION_IDLE.as_secs() / 60)),
    ];
    let rows = rows.map(|(name, value)| format!("| {name} | {value} |\n"));
    format!("| limit | value |\n|---|---|\n{}", rows.concat())
}
