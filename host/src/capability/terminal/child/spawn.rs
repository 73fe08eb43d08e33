//! Starting a launch.

use std::{fmt::Debug, io, os::fd::OwnedFd, path::PathBuf, process::Stdio};

use tokio::{
    net::UnixStream,
    process::{self, Command},
};

use super::{
    super::{
        Input,
        launch::{COMMAND, Launch, SUPERVISE, supervisor_name},
    },
    pipes::{self, Inlet, Outlet},
    supervisor::{self, Hold, Reports},
};

/// The binary that launches: one whose `main` begins with [`run_if_asked`](super::super::launch::run_if_asked).
#[derive(Clone, Debug)]
pub struct Launcher(PathBuf);

impl Default for Launcher {
    /// This very process's binary, even if its file was replaced since.
    fn default() -> Self {
        Self("/proc/self/exe".into())
    }
}

impl Launcher {
    /// Another binary.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Starts a launch. Its input is a pipe if it is to read anything, and always the terminal if it has one.
    pub(crate) fn spawn(&self, launch: &Launch, input: &Input) -> io::Result<Child> {
        let ends = match launch.stage.pty {
            true => pipes::terminal(*input == Input::Open)?,
            false => pipes::pipes(*input != Input::Closed)?,
        };
        let (ours, its) = std::os::unix::net::UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let mut command = Command::new(&self.0);
        command.arg0(supervisor_name()).args([COMMAND, SUPERVISE]).args(&launch.words);
        command.env_clear().envs(launch.disguised()?).current_dir(&launch.cwd);
        // The three descriptors of a supervisor, as `launch` tells.
        command.stdin(Stdio::from(OwnedFd::from(its))).stdout(ends.writes).stderr(ends.reads);
        let supervisor = command.spawn()?;
        let pid = supervisor.id().ok_or_else(|| io::Error::other("the supervisor has no process id"))?;
        let (hold, reports) = supervisor::line(UnixStream::from_std(ours)?, pid);
        Ok(Child { hold, reports, outlet: ends.outlet, inlet: ends.inlet, supervisor, afterwards: None })
    }
}

/// A launch that was started. When it is dropped, everything that came of it is ended.
#[derive(Debug)]
pub struct Child {
    pub(super) hold: Hold,
    pub(super) reports: Reports,
    pub(super) outlet: Outlet,
    /// What it reads, until somebody takes it.
    pub(crate) inlet: Option<Inlet>,
    pub(super) supervisor: process::Child,
    /// What is dropped when nothing is left of it here: a backend may have to clean up elsewhere.
    pub(crate) afterwards: Option<Box<dyn Afterwards>>,
}

/// What a backend does, by being dropped, after a command has ended.
pub trait Afterwards: Debug + Send {}
