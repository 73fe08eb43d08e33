//! Every limit of the HTTP server: a named constant, its reason above it. The table in SECURITY.md is generated from [`table`].

use std::time::Duration;

use crate::sandbox::limits::{KIB, MIB, bytes, thousands};

/// Connections that are open at once. Most systems give a process 1,024 files, and tools need theirs; a machine full of agents holds
/// a few dozen. One more takes the place of the one that was idle longest, so idle connections never lock anybody out.
pub const CONNECTIONS: usize = 512;

/// Connections that the kernel holds until they are let in. One too many is tried again by its client a second later.
pub const BACKLOG: u32 = 1_024;

/// Connections that were told to close and are not gone yet. While there are more, new ones wait in the kernel.
pub const CLOSING: usize = 64;

/// For telling a client that there is no place. It takes one of [`CLOSING`] meanwhile, so it is short.
pub const REFUSE_WAIT: Duration = Duration::from_millis(500);

/// How long a client may leave its response unread before its place goes to somebody else, where there is no other place.
pub const STUCK: Duration = Duration::from_secs(1);

/// For a request's line and headers, and how long a connection may be idle before it. A client that is there sends them in one
/// packet; one that sends a byte now and then must not stay.
pub const HEADER_WAIT: Duration = Duration::from_secs(15);

/// Bytes of a request's line and headers together. A token and what browsers send have a tenth of it.
pub const HEADER_BYTES: usize = 64 * KIB;

/// Headers of a request. Browsers send some thirty.
pub const HEADERS: usize = 100;

/// Between two lines in the log about clients without the right token. Each line names one client, so that an operator sees who tries;
/// more often, and a client could fill the log.
pub const REFUSAL_LOG_INTERVAL: Duration = Duration::from_secs(10);

/// Bytes of a request's body: the arguments of one call may have as many, and a whole file to write fits.
pub const BODY_BYTES: usize = 4 * MIB;

/// For the whole body. At 140 kB a second the largest one makes it.
pub const BODY_WAIT: Duration = Duration::from_secs(30);

/// Bytes of all bodies that are held at once: while they are read, and until whoever handles them has answered. Without
/// it every connection could make the server hold a body of the largest kind, 2 GiB in all. Sixteen of those fit, or
/// hundreds of files as people write them. Who gets no room within [`BODY_WAIT`] is told to come back.
pub const BODIES_BYTES: usize = 64 * MIB;

/// Bodies up to this need none of that room: all connections together hold 36 MiB of them. Nearly all calls are that
/// small, and so are answers to questions, which must get through while the calls that wait for them hold the room.
pub const SMALL_BODY_BYTES: usize = 64 * KIB;

/// Bytes of a body that is too large which are read and thrown away, so that its sender reads the answer instead of meeting a
/// closed connection. What is larger is not worth it.
pub const DISCARD_BYTES: usize = 16 * MIB;

/// For that.
pub const DISCARD_WAIT: Duration = Duration::from_secs(5);

/// How long a client may take nothing of what waits for it. Streams that have nothing to say may stay silent for as long as they
/// like: this counts only while there is something to send.
pub const WRITE_WAIT: Duration = Duration::from_secs(30);

/// How long a server that was told to stop waits for running requests. A call with the standard limits has 30 s; what takes longer is
/// ended like any call whose caller has gone.
pub const DRAIN: Duration = Duration::from_secs(35);

/// How long the server waits for an idle connection to be closed when the system gives it no more files.
pub const CLOSE_REST: Duration = Duration::from_millis(1);

/// How long it rests where no connection is idle. Without it the loop would take a whole processor.
pub const ACCEPT_REST: Duration = Duration::from_millis(50);

/// Bytes of a task's, a session's or a call's id. Ids are short; what is counted by them is kept in memory.
pub const ID_BYTES: usize = 256;

/// The longest that a batch may be given.
pub const BATCH_TIMEOUT: Duration = Duration::from_secs(3600);

/// How long a question about approvals may wait for an answer. Under the minute after which proxies give up.
pub const APPROVALS_WAIT: Duration = Duration::from_secs(30);

/// How long somebody who asked for the questions counts as being there. Longer, and calls wait for a person who has left; shorter,
/// and they are refused between two looks of a person who is there.
pub const ATTENDED_FOR: Duration = Duration::from_secs(30);

/// Lines of the audit in one response where the client says nothing.
pub const AUDIT_LINES: usize = 100;

/// The most that it may ask for.
pub const AUDIT_LINES_MAX: usize = 1_000;

/// Requests that read the audit at once. Each reads the file from its start on a thread of its own.
pub const AUDIT_READERS: usize = 2;

/// Names of tools that calls are counted by. Tools come and go while the host runs, and Prometheus keeps every name for good.
pub const COUNTED_TOOLS: usize = 1_000;

/// Characters of a token, at least. 16 random ones take longer to guess than anybody has.
pub const TOKEN_CHARS: usize = 16;

/// Random bytes of a token that the host makes: 256 bits, 43 characters of base64url.
pub const MADE_TOKEN_BYTES: usize = 32;

/// Bytes of the file with the token.
pub const TOKEN_FILE_BYTES: usize = 4 * KIB;

/// The limits as a table in Markdown.
pub fn table() -> String {
    let seconds = |time: Duration| format!("{} s", time.as_secs());
    let count = |n: usize| thousands(n as u64);
    let rows = [
        ("connections at once; then the one that was idle longest is closed", count(CONNECTIONS)),
        ("a request's line and headers, and an idle connection", seconds(HEADER_WAIT)),
        ("a request's line and headers", format!("{}, {HEADERS} headers", bytes(HEADER_BYTES))),
        ("a request's body", format!("{}, within {}", bytes(BODY_BYTES), seconds(BODY_WAIT))),
        ("all bodies at once that are not small", bytes(BODIES_BYTES)),
        ("a small one", bytes(SMALL_BODY_BYTES)),
        ("a client that takes nothing of its response", seconds(WRITE_WAIT)),
        ("the same where all places are taken", seconds(STUCK)),
        ("running requests when the server stops", seconds(DRAIN)),
        ("a batch, most a client can ask for", seconds(BATCH_TIMEOUT)),
        ("id of a task, a session or a call", format!("{ID_BYTES} bytes")),
        ("a question for approvals that waits", seconds(APPROVALS_WAIT)),
        ("after it, somebody counts as being there", seconds(ATTENDED_FOR)),
        ("lines of the audit in one response", count(AUDIT_LINES_MAX)),
        ("names of tools in the metrics", count(COUNTED_TOOLS)),
        ("characters of a token, at least", count(TOKEN_CHARS)),
        ("random bits of a token that the host makes", count(MADE_TOKEN_BYTES * 8)),
    ];
    let rows = rows.iter().map(|(what, limit)| format!("| {what} | {limit} |\n"));
    format!("| limit on HTTP | value |\n|---|---|\n{}", rows.collect::<String>())
}
