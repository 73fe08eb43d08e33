//! The launcher: everything about a command that can only be done from inside a new process, without `unsafe`.
//!
//! A command has two processes of the launcher above it. The *supervisor* (`supervise`) lives as long as the command, reports to
//! the host, and ends everything when the command ends, when the host says so, or when the host is gone. Below it:
//!
//! - With namespaces, the *init* stage (`init`) is process 1 of the command's own pid namespace. It mounts the command's files,
//!   gives up its privileges, confines itself (Landlock, seccomp), starts the command and reaps orphans. When it ends, the kernel
//!   ends every process of the namespace.
//! - Without them, the *command* stage (`command`) confines itself if it is told to and becomes the command. Orphans become
//!   children of the supervisor, which finds them in /proc and ends them.
//!
//! The supervisor's input is its line to the host, and the input of the stage below it a line to the supervisor. Both are started and
//! prepared before their command is known: namespaces, cgroup, the start of two processes. Then the launch comes down the lines with
//! the descriptors of the command ([`LaunchMessage`]). No stage has an argument or a variable of the command.

#[cfg(not(target_os = "linux"))]
compile_error!("commands are confined with Landlock, seccomp and namespaces, which only Linux has");

mod beneath;
mod carve;
mod cgroup;
mod command;
mod confinement;
mod ended;
mod init;
mod landlock;
mod line;
mod namespace;
mod plan;
mod privileges;
mod probe;
mod report;
mod resources;
mod seccomp;
mod supervise;
pub mod tree;

use std::{
    env,
    ffi::OsString,
    io::{Write, stderr},
    process::exit,
    time::Duration,
};

pub use confinement::{Confinement, Mount, MountAccess, Namespaces, Network, PROXY_PORT};
pub use ended::Ended;
pub use line::LaunchMessage;
pub use plan::{Launch, Preparation, Stage};
pub use probe::{ConfinementLayers, NamespaceSupport};
pub use report::{END, Report, TERMINATE};
pub use resources::{CgroupLimits, ResourceLimits};
pub use supervise::{NAME as SUPERVISOR_NAME, TREE_DEADLINE};

/// The argument that makes a process a launcher.
pub const COMMAND: &str = "__launch";

/// The first stage.
pub const SUPERVISE: &str = "supervise";

/// The stage that only tells what this kernel can hold, as JSON.
pub const PROBE: &str = "probe";

/// The stage that is process 1 of a pid namespace.
const INIT: &str = "init";

/// The stage that becomes the command.
const RUN: &str = "run";

/// The exit code when a program is there and can't be run, as shells have it.
const NOT_RUN: i32 = 126;

/// The exit code when there is no such program, as shells have it.
const NOT_FOUND: i32 = 127;

/// Between two looks at orphans that ended. The command's own end is noticed at once.
const REAP_INTERVAL: Duration = Duration::from_millis(500);

/// What a stage ends with if it can't do its work.
type Failure = (i32, String);

/// Turns this process into a launcher if it was started as one: it then never returns. Call it first thing in `main`.
pub fn run_if_asked() {
    if was_asked() {
        run();
    }
}

/// Whether this process was started as a launcher.
pub fn was_asked() -> bool {
    env::args_os().nth(1).is_some_and(|first| first == COMMAND)
}

/// Runs the stage that the arguments name.
pub fn run() -> ! {
    let mut words = env::args_os().skip(2);
    let stage = words.next();
    let words: Vec<OsString> = words.collect();
    let result = match stage.as_ref().and_then(|stage| stage.to_str()) {
        Some(SUPERVISE) => supervise::run(&words),
        Some(INIT) => init::run(),
        Some(RUN) => command::run(&words),
        Some(PROBE) => probe::run(),
        _ => Err((NOT_RUN, format!("usage: {COMMAND} {SUPERVISE}|{INIT}|{RUN}|{PROBE} …"))),
    };
    exit(match result {
        Ok(never) => match never {},
        Err((code, why)) => {
            // A message that can't be written has no reader.
            let _ = writeln!(stderr(), "{why}");
            code
        }
    })
}
