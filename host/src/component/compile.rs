//! Compiling in a child process, so that a component made to exhaust the compiler takes only the child with it.

use std::{
    io::{Read, Write},
    os::unix::process::{CommandExt, ExitStatusExt},
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use wasmtime::{Engine, Precompiled};

use super::{cache::VerifiedArtifact, worker};
use crate::sandbox::limits::MIB;

/// What one compilation may use. wasmtime does not count compile-time exhaustion as a vulnerability, so the host bounds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompileLimits {
    /// CPU seconds of the child, all threads.
    pub cpu: Duration,
    /// Address space of the child.
    pub memory: u64,
    /// Wall clock.
    pub wall: Duration,
}

impl CompileLimits {
    /// An 18 MB component made by componentize-py takes 21 CPU seconds and 600 MiB; a hello tool a tenth of a second.
    /// Attack 27.
    pub const STANDARD: Self =
        Self { cpu: Duration::from_secs(180), memory: 4096 * MIB as u64, wall: Duration::from_secs(180) };
}

/// Signals that a worker brings upon itself: SIGABRT, SIGKILL at the CPU limit's end, SIGSEGV, SIGXCPU.
const OWN_DOING: [i32; 4] = [6, 9, 11, 24];

/// The most machine code that is read from a worker: about ten times the largest component.
const ARTIFACT_BYTES: u64 = 640 * MIB as u64;

/// The most of a worker's complaint that is read.
const COMPLAINT_BYTES: u64 = 4096;

/// Who compiles.
#[derive(Clone, Debug)]
pub enum Compiler {
    /// A child process: the hermes-host binary, or an embedder's own that calls [`worker::run_if_asked`] first thing.
    Worker(PathBuf, CompileLimits),
    /// This process. For embedders that compile only what they trust: nothing bounds it.
    InProcess,
}

/// Why there is no artifact.
#[derive(Debug, thiserror::Error)]
pub(super) enum CompileError {
    /// The component is to blame: remembered.
    #[error("{0}")]
    Component(String),
    /// The machine is to blame: tried again next time.
    #[error("{0}")]
    Machine(String),
}

impl Compiler {
    pub(super) fn compile(&self, engine: &Engine, bytes: &[u8]) -> Result<VerifiedArtifact, CompileError> {
        let artifact = match self {
            Self::Worker(program, limits) => in_child(program, limits, bytes)?,
            Self::InProcess => {
                engine.precompile_component(bytes).map_err(|why| CompileError::Component(worker::complaint(&why)))?
            }
        };
        Ok(VerifiedArtifact::from_worker(artifact))
    }
}

fn in_child(program: &PathBuf, limits: &CompileLimits, bytes: &[u8]) -> Result<Vec<u8>, CompileError> {
    let machine = |what: &str, why: &dyn std::fmt::Display| {
        CompileError::Machine(format!("failed to {what} the compile worker {}: {why}", program.display()))
    };
    let mut child = Command::new(program)
        .arg(worker::COMMAND)
        .args([limits.cpu.as_secs().to_string(), limits.memory.to_string()])
        .env_clear()
        // By itself the allocator reserves a gigabyte ahead, and the limit is one of address space. In KiB.
        .env("MIMALLOC_ARENA_RESERVE", "32768")
        .current_dir("/")
        // Ctrl-C is for the host; a worker that it ended would look like one that failed.
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|why| machine("start", &why))?;
    let (artifact, complaint, status) = converse(&mut child, limits, bytes).map_err(|why| match why {
        Broken::Late => CompileError::Component(format!(
            "failed to compile within its limits: it took longer than {} s",
            limits.wall.as_secs()
        )),
        Broken::Io(why) => machine("talk to", &why),
    })?;
    verdict(status, artifact, &complaint, limits)
}

enum Broken {
    Late,
    Io(std::io::Error),
}

/// Feeds the child and reads it to its end, or ends it when its time is up.
fn converse(child: &mut Child, limits: &CompileLimits, bytes: &[u8]) -> Result<(Vec<u8>, String, ExitStatus), Broken> {
    let deadline = Instant::now() + limits.wall;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            // A child that dies early closes the pipe; its exit status says why.
            let _ = stdin.map(|mut stdin| stdin.write_all(bytes));
        });
        let artifact = scope.spawn(move || {
            let artifact = read_bounded(stdout, ARTIFACT_BYTES);
            let _ = sender.send(());
            artifact
        });
        let complaint = scope.spawn(move || read_bounded(stderr, COMPLAINT_BYTES));
        let late = receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())).is_err();
        if late {
            // Also ends the threads above: their pipes close.
            let _ = child.kill();
        }
        let (status, late) = end(child, deadline, late).map_err(Broken::Io)?;
        if late {
            return Err(Broken::Late);
        }
        let joined = |result: thread::Result<std::io::Result<Vec<u8>>>| {
            result.unwrap_or_else(|_| Err(std::io::Error::other("a reader failed"))).map_err(Broken::Io)
        };
        let artifact = joined(artifact.join())?;
        let complaint = String::from_utf8_lossy(&joined(complaint.join())?).into_owned();
        Ok((artifact, complaint, status))
    })
}

/// Waits for the child's end, but not past its deadline: a child may close its output and stay.
fn end(child: &mut Child, deadline: Instant, mut late: bool) -> std::io::Result<(ExitStatus, bool)> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((status, late));
        }
        if Instant::now() >= deadline && !late {
            late = true;
            child.kill()?;
        }
        thread::sleep(Duration::from_millis(1));
    }
}

fn read_bounded(stream: Option<impl Read>, most: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        stream.take(most).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

fn verdict(
    status: ExitStatus,
    artifact: Vec<u8>,
    complaint: &str,
    limits: &CompileLimits,
) -> Result<Vec<u8>, CompileError> {
    let complaint = crate::text::one_line(complaint, COMPLAINT_BYTES as usize);
    match status.code() {
        Some(0) if Engine::detect_precompiled(&artifact) == Some(Precompiled::Component) => Ok(artifact),
        Some(0) => Err(CompileError::Machine(
            "the compile worker answered with something else; does its main call run_if_asked first?".into(),
        )),
        // What Rust exits with after a panic: the compiler met something it can't handle.
        Some(101) => Err(CompileError::Component("failed to compile: the compiler panicked".into())),
        Some(worker::INVALID) => Err(CompileError::Component(complaint)),
        Some(code) => Err(CompileError::Machine(format!("the compile worker exited with {code}: {complaint}"))),
        // SIGXCPU or SIGKILL at the CPU limit, SIGABRT or SIGSEGV when an allocation or a stack meets the memory limit.
        None if status.signal().is_some_and(|signal| OWN_DOING.contains(&signal)) => {
            Err(CompileError::Component(format!(
                "failed to compile within its limits: {} CPU seconds, {} MiB",
                limits.cpu.as_secs(),
                limits.memory / MIB as u64
            )))
        }
        None => Err(CompileError::Machine(format!("the compile worker was ended from outside: {status}"))),
    }
}
