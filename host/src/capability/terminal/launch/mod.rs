//! This binary as a launcher: what can only be done from inside a new process is done here, without `unsafe`.
//!
//! Two stages, each a start of this same binary. The *supervisor* (`supervise`) stays for as long as the command: orphans become
//! its children, so nothing that the command starts gets out of its sight, and it ends all of them when the command ends, when the
//! host says so, or when the host is gone. The *command* stage (`command`) makes itself a session, takes the terminal, confines
//! itself and becomes the command.
//!
//! A process has three descriptors for certain, so those are used: the supervisor gets its line to the host as its input, the
//! command's output as its output, and the command's input in place of its errors. Both stages run without any variable that a
//! loader would obey: those of the command travel under another name until its last moment.

mod carve;
mod command;
mod confine;
mod plan;
mod signals;
mod sockets;
mod supervise;
pub(crate) mod tree;

use std::{
    env,
    ffi::OsString,
    io::{Write, stderr},
    process::exit,
};

pub use confine::{Confinement, support};
pub use plan::Launch;
pub(crate) use plan::{COMMAND, SUPERVISE, Stage};
pub(crate) use signals::{END, Report, TERMINATE};

/// The exit code when a program is there and can't be run, as shells have it.
const NOT_RUN: i32 = 126;

/// The exit code when there is no such program, as shells have it.
const NOT_FOUND: i32 = 127;

/// Turns this process into a launcher if it was started as one: it then never returns. Call it first thing in `main`.
///
/// ```no_run
/// hermes_host::capability::terminal::launch::run_if_asked();
/// // … the host's program …
/// ```
pub fn run_if_asked() {
    if !was_asked() {
        return;
    }
    let mut words = env::args_os().skip(2);
    let stage = words.next();
    let words: Vec<OsString> = words.collect();
    let result = match stage.as_ref().and_then(|stage| stage.to_str()) {
        Some(SUPERVISE) => supervise::run(&words),
        Some(Stage::RUN) => command::run(words),
        _ => Err((NOT_RUN, "usage: __launch supervise|run …".into())),
    };
    exit(match result {
        Ok(never) => match never {},
        Err((code, why)) => {
            // Nobody reads a complaint that can't be written.
            let _ = writeln!(stderr(), "{why}");
            code
        }
    })
}

/// Whether this process was started as a launcher.
pub(crate) fn was_asked() -> bool {
    env::args_os().nth(1).is_some_and(|first| first == COMMAND)
}

/// The name that a supervisor goes by.
pub(crate) const fn supervisor_name() -> &'static str {
    supervise::NAME
}

/// What a stage ends with if it can't do its work.
type Failure = (i32, String);
