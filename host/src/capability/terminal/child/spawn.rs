//! Starting a launch.

use std::{
    fmt::Debug,
    io,
    os::fd::{AsRawFd, OwnedFd},
    path::PathBuf,
    process::Stdio,
    sync::{Arc, LazyLock},
};

use hermes_launch::{COMMAND, ConfinementLayers, Launch, LaunchMessage, PROBE};
use rustix::{
    fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create},
    io::write,
};
use tokio::process;

use super::{
    super::{Input, backend::SandboxRemarks},
    pipes::{self, Inlet, Outlet},
    spare::{SpareSupervisors, SupervisorProcess},
    supervisor::{self, Hold, Reports},
};

/// The launcher that `make build` embeds.
const EMBEDDED: Option<&[u8]> = include!(concat!(env!("OUT_DIR"), "/launcher.rs"));

/// This very process's binary, even if its file was replaced since.
const OWN_PROGRAM: &str = "/proc/self/exe";

/// The program that launches: the embedded launcher, or one whose `main` begins with [`run_if_asked`](crate::run_if_asked).
#[derive(Clone, Debug)]
pub struct Launcher {
    program: PathBuf,
    spares: Arc<SpareSupervisors>,
}

impl Default for Launcher {
    /// The embedded launcher, and this process's own program where there is none.
    fn default() -> Self {
        Self::embedded_or(OWN_PROGRAM)
    }
}

/// The embedded launcher as a file in memory that nothing can change.
static EMBEDDED_FILE: LazyLock<Option<OwnedFd>> = LazyLock::new(|| {
    // A kernel that lets no program run from memory has the host's own program.
    let bytes = EMBEDDED?;
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    // The flag is younger than the call.
    let file = memfd_create(c"hermes-launch", flags | MemfdFlags::EXEC)
        .or_else(|_| memfd_create(c"hermes-launch", flags))
        .ok()?;
    let mut rest = bytes;
    while !rest.is_empty() {
        let written = write(&file, rest).ok()?;
        rest = rest.get(written..)?;
    }
    fcntl_add_seals(&file, SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL).ok()?;
    Some(file)
});

impl Launcher {
    /// The embedded launcher, or this program where there is none.
    pub fn embedded_or(program: impl Into<PathBuf>) -> Self {
        match &*EMBEDDED_FILE {
            Some(file) => Self::at(format!("/proc/self/fd/{}", file.as_raw_fd())),
            None => Self::at(program),
        }
    }

    /// Another program.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { program: path.into(), spares: Arc::default() }
    }

    /// What this machine can hold, by trying it.
    pub(crate) fn probe(&self) -> Result<ConfinementLayers, String> {
        let mut command = std::process::Command::new(&self.program);
        command.args([COMMAND, PROBE]).env_clear().current_dir("/").stdin(Stdio::null());
        let output = command.output().map_err(|why| format!("failed to start the launcher: {why}"))?;
        serde_json::from_slice(&output.stdout).map_err(|_| {
            format!("the launcher could not tell what holds: {}", String::from_utf8_lossy(&output.stderr).trim())
        })
    }

    /// Starts a launch. Its input is a pipe if it is to read anything, and always the terminal if it has one.
    pub(crate) fn spawn(&self, launch: &Launch, input: &Input) -> io::Result<Child> {
        let ends = match launch.stage.pty {
            true => pipes::terminal(*input == Input::Open)?,
            false => pipes::pipes(*input != Input::Closed)?,
        };
        let preparation = launch.preparation();
        let message = LaunchMessage::new(launch, ends.reads, ends.writes)?;
        let spare = self.spares.take(&preparation);
        // A spare may have been ended since: by the kernel, for want of memory, or by an unconfined command.
        let SupervisorProcess { process, line } = match spare.filter(|spare| message.send(&spare.line).is_ok()) {
            Some(spare) => spare,
            None => {
                let started = SupervisorProcess::start(&self.program, &preparation)?;
                message.send(&started.line)?;
                started
            }
        };
        let pid = process.id().ok_or_else(|| io::Error::other("the supervisor has no process id"))?;
        let (hold, reports) = supervisor::line(line, pid, preparation.has_proxy);
        self.spares.replenish(&self.program, preparation);
        Ok(Child {
            hold,
            reports,
            outlet: ends.outlet,
            inlet: ends.inlet,
            supervisor: process,
            remarks: None,
            afterwards: None,
        })
    }
}

/// A launch that was started. When it is dropped, everything that came of it is ended.
#[derive(Debug)]
pub struct Child {
    pub(super) hold: Hold,
    pub(super) reports: Reports,
    pub(super) outlet: Outlet,
    /// What it reads, until it is taken.
    pub(crate) inlet: Option<Inlet>,
    pub(super) supervisor: process::Child,
    /// What its sandbox has to say at its end.
    pub(crate) remarks: Option<SandboxRemarks>,
    /// What is dropped when nothing is left of it here: a backend may have to clean up elsewhere.
    pub(crate) afterwards: Option<Box<dyn Afterwards>>,
}

/// What a backend does, by being dropped, after a command has ended.
pub trait Afterwards: Debug + Send {}
