//! Compiling in a child process, so that a component made to exhaust the compiler takes only the child with it.

use std::{
    io::{Read, Write},
    os::unix::process::{CommandExt, ExitStatusExt},
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use wasmtime::{Engine, Precompiled};

use super::{accounting::WorkerAccount, cache::VerifiedArtifact, worker};
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
    /// An 18 MB component made by componentize-py takes 21 CPU seconds and 600 MiB; a hello tool a tenth of a second. The wall
    /// clock is twice the CPU time: on a machine that is not overloaded the CPU limit strikes first, and only that one is
    /// remembered. Attacks 27, 63.
    pub const STANDARD: Self =
        Self { cpu: Duration::from_secs(180), memory: 4096 * MIB as u64, wall: Duration::from_secs(360) };
}

/// What Rust exits with after a panic.
const PANICKED: i32 = 101;

/// Numbers of signals, see signal(7).
const SIGABRT: i32 = 6;
const SIGKILL: i32 = 9;
const SIGSEGV: i32 = 11;
const SIGXCPU: i32 = 24;

/// How often the worker's use of the machine is looked at.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

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
    /// How long to wait while another process compiles the same component: as long as that may take.
    pub(super) fn patience(&self) -> Duration {
        match self {
            Self::Worker(_, limits) => limits.wall,
            Self::InProcess => CompileLimits::STANDARD.wall,
        }
    }

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
    let ended = converse(&mut child, limits, bytes).map_err(|why| match why {
        // However long the component takes on an idle machine: here others had the processors.
        Broken::Late => CompileError::Machine(format!(
            "failed to compile: it took longer than {} s on a machine that is busy; it is tried again",
            limits.wall.as_secs()
        )),
        Broken::Io(why) => machine("talk to", &why),
    })?;
    ended.verdict(limits)
}

enum Broken {
    Late,
    Io(std::io::Error),
}

/// A worker that has ended, and what it left.
struct EndedWorker {
    artifact: Vec<u8>,
    complaint: String,
    status: ExitStatus,
    account: WorkerAccount,
}

/// Feeds the child and reads it to its end, or ends it when its time is up.
fn converse(child: &mut Child, limits: &CompileLimits, bytes: &[u8]) -> Result<EndedWorker, Broken> {
    let deadline = Instant::now() + limits.wall;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (sender, receiver) = mpsc::channel();
    let mut account = WorkerAccount::of(child.id());
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
        while receiver.recv_timeout(POLL_INTERVAL) == Err(RecvTimeoutError::Timeout) && Instant::now() < deadline {
            account.look();
        }
        let (status, late) = end(child, deadline, &mut account).map_err(Broken::Io)?;
        if late {
            return Err(Broken::Late);
        }
        let joined = |result: thread::Result<std::io::Result<Vec<u8>>>| {
            result.unwrap_or_else(|_| Err(std::io::Error::other("a reader failed"))).map_err(Broken::Io)
        };
        let artifact = joined(artifact.join())?;
        let complaint = String::from_utf8_lossy(&joined(complaint.join())?).into_owned();
        Ok(EndedWorker { artifact, complaint, status, account })
    })
}

/// Waits for the child's end, but not past its deadline: a child may close its output and stay. Killing it also ends the threads that
/// talk to it: their pipes close.
fn end(child: &mut Child, deadline: Instant, account: &mut WorkerAccount) -> std::io::Result<(ExitStatus, bool)> {
    let mut late = false;
    loop {
        // Before it is waited for: the kernel keeps what it used until then.
        account.look();
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

impl EndedWorker {
    /// The artifact, or whose fault it is that there is none. Only what the component itself caused may be remembered.
    fn verdict(self, limits: &CompileLimits) -> Result<Vec<u8>, CompileError> {
        let complaint = crate::text::one_line(&self.complaint, COMPLAINT_BYTES as usize);
        let past_limits = || {
            CompileError::Component(format!(
                "failed to compile within its limits: {} CPU seconds, {} MiB",
                limits.cpu.as_secs(),
                limits.memory / MIB as u64
            ))
        };
        let no_memory = || match self.account.is_near(limits.memory, refused_bytes(&complaint)) {
            true => past_limits(),
            false => CompileError::Machine(format!("the machine has no memory for the compile worker: {complaint}")),
        };
        match (self.status.code(), self.status.signal()) {
            (Some(0), _) if Engine::detect_precompiled(&self.artifact) == Some(Precompiled::Component) => {
                Ok(self.artifact)
            }
            (Some(0), _) => Err(CompileError::Machine(
                "the compile worker answered with something else; does its main call run_if_asked first?".into(),
            )),
            // A panic about an error of the system: no thread, no descriptor, no memory.
            (Some(PANICKED), _) if complaint.contains("Os { code:") => {
                Err(CompileError::Machine(format!("the machine failed the compile worker: {complaint}")))
            }
            // The compiler met something it can't handle.
            (Some(PANICKED), _) => {
                Err(CompileError::Component(format!("failed to compile: the compiler panicked: {complaint}")))
            }
            (Some(worker::INVALID), _) => Err(CompileError::Component(complaint)),
            (Some(worker::NO_MEMORY), _) => Err(no_memory()),
            (Some(code), _) => {
                Err(CompileError::Machine(format!("the compile worker exited with {code}: {complaint}")))
            }
            // The kernel's signals at the CPU limit. Without that much CPU time the signal is the OOM killer's, or a person's.
            (None, Some(SIGXCPU | SIGKILL)) if self.account.has_used(limits.cpu) => Err(past_limits()),
            (None, Some(SIGABRT)) if refused_bytes(&complaint) > 0 => Err(no_memory()),
            // A stack that ran out, or a crash.
            (None, Some(SIGABRT | SIGSEGV)) => {
                Err(CompileError::Component(format!("failed to compile: the compiler crashed: {complaint}")))
            }
            (None, _) => {
                Err(CompileError::Machine(format!("the compile worker was ended from outside: {}", self.status)))
            }
        }
    }
}

/// How many bytes the allocator asked for in vain, in the words of Rust's runtime: `memory allocation of 4096 bytes failed`.
fn refused_bytes(complaint: &str) -> u64 {
    let number = complaint.split_once("memory allocation of ").and_then(|(_, rest)| rest.split_once(" bytes"));
    number.and_then(|(number, _)| number.parse().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: CompileLimits = CompileLimits::STANDARD;

    fn is_remembered(raw_status: i32, complaint: &str, cpu: Duration, peak: u64) -> bool {
        let (status, account) = (ExitStatus::from_raw(raw_status), WorkerAccount::with(cpu, peak));
        let ended = EndedWorker { artifact: Vec::new(), complaint: complaint.into(), status, account };
        matches!(ended.verdict(&LIMITS), Err(CompileError::Component(_)))
    }

    #[test]
    fn a_signal_counts_as_the_cpu_limit_only_with_that_much_cpu_time() {
        for signal in [SIGXCPU, SIGKILL] {
            assert!(is_remembered(signal, "", LIMITS.cpu, 0));
            assert!(!is_remembered(signal, "", LIMITS.cpu / 2, 0));
        }
        assert!(!is_remembered(15, "", LIMITS.cpu, 0));
    }

    #[test]
    fn refused_memory_counts_as_the_limit_only_near_the_limit() {
        let small = "memory allocation of 65536 bytes failed";
        let large = format!("memory allocation of {} bytes failed", LIMITS.memory);
        assert!(is_remembered(SIGABRT, small, Duration::ZERO, LIMITS.memory - 1));
        assert!(is_remembered(SIGABRT, &large, Duration::ZERO, 0));
        assert!(!is_remembered(SIGABRT, small, Duration::ZERO, LIMITS.memory / 2));
        assert!(is_remembered(worker::NO_MEMORY << 8, "mmap failed", Duration::ZERO, LIMITS.memory - 1));
        assert!(!is_remembered(worker::NO_MEMORY << 8, "mmap failed", Duration::ZERO, LIMITS.memory / 2));
    }

    #[test]
    fn what_a_panicking_compiler_said_is_told() {
        let said = "thread 'main' panicked at src/lib.rs:1: called unwrap on None".to_owned();
        let (status, account) = (ExitStatus::from_raw(PANICKED << 8), WorkerAccount::with(Duration::ZERO, 0));
        let ended = EndedWorker { artifact: Vec::new(), complaint: said.clone(), status, account };
        assert!(ended.verdict(&LIMITS).unwrap_err().to_string().contains(&said));
    }

    #[test]
    fn a_panic_of_the_compiler_is_remembered_and_one_about_the_system_is_not() {
        assert!(is_remembered(PANICKED << 8, "index out of bounds", Duration::ZERO, 0));
        let spawn = "called `Result::unwrap()` on an `Err` value: Os { code: 11, kind: WouldBlock, message: \"\" }";
        assert!(!is_remembered(PANICKED << 8, spawn, Duration::ZERO, 0));
        assert!(is_remembered(worker::INVALID << 8, "failed to compile: bad", Duration::ZERO, 0));
        assert!(is_remembered(SIGABRT, "thread has overflowed its stack", Duration::ZERO, 0));
    }
}
