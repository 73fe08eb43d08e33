//! The second stage: it becomes the command.

use std::{convert::Infallible, ffi::OsString, io, os::unix::process::CommandExt, process::Command};

use close_fds::CloseFdsBuilder;
use rustix::process::{
    Pid, Resource, Rlimit, Signal, getppid, getrlimit, ioctl_tiocsctty, set_parent_process_death_signal, setrlimit,
    setsid,
};

use super::{Failure, NOT_FOUND, NOT_RUN, Stage, plan};

/// Becomes the command, under the supervisor whose process id is the first word.
pub(super) fn run(words: Vec<OsString>) -> Result<Infallible, Failure> {
    let mut words = words.into_iter();
    let supervisor = words.next().and_then(|word| word.to_str()?.parse().ok()).and_then(Pid::from_raw);
    let (Some(supervisor), Some(program)) = (supervisor, words.next()) else {
        return Err((NOT_RUN, "usage: __launch run SUPERVISOR PROGRAM …".into()));
    };
    let stage = Stage::told()?;
    prepare(supervisor, stage.pty).map_err(|why| (NOT_RUN, format!("failed to prepare the command: {why}")))?;
    if let Some(confinement) = &stage.confinement {
        confinement
            .apply()
            .map_err(|why| (NOT_RUN, format!("failed to confine the command, so it is not run: {why}")))?;
    }
    let mut command = Command::new(&program);
    command.args(words).env_clear().envs(plan::own_variables());
    CloseFdsBuilder::new().cloexecfrom(3);
    let why = command.exec();
    let code = if why.kind() == io::ErrorKind::NotFound { NOT_FOUND } else { NOT_RUN };
    Err((code, format!("failed to start '{}': {why}", program.display())))
}

fn prepare(supervisor: Pid, pty: bool) -> io::Result<()> {
    // A supervisor that is killed can't end the command: the kernel does.
    set_parent_process_death_signal(Some(Signal::KILL))?;
    if getppid() != Some(supervisor) {
        return Err(io::Error::other("the supervisor is gone"));
    }
    setsid()?;
    if pty {
        ioctl_tiocsctty(io::stdin())?;
    }
    // A core file is a copy of memory in the workspace, and it may be huge.
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: getrlimit(Resource::Core).maximum })?;
    Ok(())
}
