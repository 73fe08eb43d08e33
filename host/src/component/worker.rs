//! The compile worker: the child's side. Bytes of a component on stdin, machine code on stdout, under limits it puts on itself.

use std::{
    ffi::OsString,
    io::{Read, Write, stderr, stdin, stdout},
};

use rustix::process::{Resource, Rlimit, Signal, getrlimit, set_parent_process_death_signal, setrlimit};

use super::file::COMPONENT_BYTES;
use crate::sandbox::limits::MIB;

/// The argument that makes this process a worker.
pub(super) const COMMAND: &str = "__compile";

/// The exit code for "this component can't be compiled", with the reason on stderr. Others mean the machine is to blame.
pub(super) const INVALID: i32 = 3;

/// The exit code for "the system refused memory". The parent decides by the worker's accounting whose doing that was.
pub(super) const NO_MEMORY: i32 = 4;

/// Larger components take many seconds on every processor. They are compiled at a lower priority, so that small ones, and the calls of
/// those that are there already, do not wait for them.
pub(crate) const LARGE: usize = 4 * MIB;

/// How much lower: see nice(2).
const NICE: i32 = 10;

/// Whether this process was started as a worker.
pub(crate) fn was_asked() -> bool {
    std::env::args_os().nth(1).is_some_and(|first| first == COMMAND)
}

/// Turns this process into a compile worker if it was started as one: it then compiles, exits and never returns.
///
/// An embedder that names its own binary as the worker calls this first thing in `main`:
///
/// ```no_run
/// hermes_host::component::worker::run_if_asked();
/// // … the embedder's program …
/// ```
pub fn run_if_asked() {
    if !was_asked() {
        return;
    }
    std::process::exit(match work(std::env::args_os().skip(2)) {
        Ok(()) => 0,
        Err(Failure { code, why }) => {
            // Nobody reads a complaint that can't be written.
            let _ = writeln!(stderr(), "{why}");
            code
        }
    })
}

struct Failure {
    code: i32,
    why: String,
}

fn work(mut arguments: impl Iterator<Item = OsString>) -> Result<(), Failure> {
    let machine = |why: String| Failure { code: 1, why };
    let mut number = || arguments.next()?.to_str()?.parse::<u64>().ok();
    let (Some(cpu), Some(memory)) = (number(), number()) else {
        return Err(machine("usage: __compile CPU_SECONDS MEMORY_BYTES".into()));
    };
    for (resource, limit) in [(Resource::Cpu, cpu), (Resource::As, memory), (Resource::Core, 0), (Resource::Fsize, 0)] {
        // The operator's own limit may be lower already, and can't be raised.
        let limit = getrlimit(resource).maximum.map_or(limit, |hard| hard.min(limit));
        let limit = Rlimit { current: Some(limit), maximum: Some(limit) };
        setrlimit(resource, limit).map_err(|why| machine(format!("failed to limit itself: {why}")))?;
    }
    // Nobody would read the artifact of a worker whose host was killed.
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|why| machine(format!("failed to limit itself: {why}")))?;
    let mut bytes = Vec::new();
    let read = stdin().lock().take(COMPONENT_BYTES).read_to_end(&mut bytes);
    read.map_err(|why| machine(format!("failed to read the component: {why}")))?;
    if bytes.len() > LARGE {
        // Where it is refused, only the order changes.
        let _ = rustix::process::nice(NICE);
    }
    let engine =
        crate::sandbox::for_compiling().map_err(|why| machine(format!("failed to make an engine: {why:#}")))?;
    let artifact = engine.precompile_component(&bytes).map_err(|why| Failure {
        code: if crate::sandbox::is_out_of_memory(&why) { NO_MEMORY } else { INVALID },
        why: complaint(&why),
    })?;
    stdout().lock().write_all(&artifact).map_err(|why| machine(format!("failed to hand over the artifact: {why}")))
}

/// The compiler's own words, without its chain of contexts.
pub(super) fn complaint(why: &wasmtime::Error) -> String {
    format!("failed to compile: {}", why.root_cause())
}
