//! The stage without namespaces: it becomes the command.

use std::{convert::Infallible, ffi::OsString, io, os::unix::process::CommandExt, process::Command};

use close_fds::CloseFdsBuilder;
use rustix::process::{Pid, Signal, getppid, ioctl_tiocsctty, set_parent_process_death_signal, setsid};

use crate::{Confinement, Failure, NOT_FOUND, NOT_RUN, Stage, landlock, plan, privileges, seccomp};

/// Becomes the command, under the supervisor whose process id is the first word.
pub(crate) fn run(words: Vec<OsString>) -> Result<Infallible, Failure> {
    let mut words = words.into_iter();
    let supervisor = words.next().and_then(|word| word.to_str()?.parse().ok()).and_then(Pid::from_raw);
    let (Some(supervisor), Some(program)) = (supervisor, words.next()) else {
        return Err((NOT_RUN, "usage: __launch run SUPERVISOR PROGRAM …".into()));
    };
    let stage = Stage::received()?;
    // A supervisor that is killed can't end the command: the kernel does.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(unprepared)?;
    if getppid() != Some(supervisor) {
        return Err((NOT_RUN, "the supervisor is gone".into()));
    }
    prepare(&stage)?;
    let mut command = Command::new(&program);
    command.args(words).env_clear().envs(plan::own_variables());
    CloseFdsBuilder::new().cloexecfrom(3);
    Err(not_started(&program, &command.exec()))
}

/// A session with the terminal as its own, limits, and the confinement. What comes after is the command's.
pub(crate) fn prepare(stage: &Stage) -> Result<(), Failure> {
    setsid().map_err(unprepared)?;
    if stage.pty {
        ioctl_tiocsctty(io::stdin()).map_err(unprepared)?;
    }
    stage.limits.apply().map_err(unprepared)?;
    match &stage.confinement {
        Some(confinement) => confine(confinement)
            .map_err(|why| (NOT_RUN, format!("failed to confine the command, so it is not run: {why}"))),
        None => Ok(()),
    }
}

fn confine(confinement: &Confinement) -> Result<(), String> {
    privileges::drop_all().map_err(|why| why.to_string())?;
    landlock::restrict(confinement)?;
    seccomp::restrict(confinement).map_err(|why| why.to_string())
}

fn unprepared(why: rustix::io::Errno) -> Failure {
    (NOT_RUN, format!("failed to prepare the command: {why}"))
}

/// The exit code and the words of a program that could not be started.
pub(crate) fn not_started(program: &OsString, why: &io::Error) -> Failure {
    let code = if why.kind() == io::ErrorKind::NotFound { NOT_FOUND } else { NOT_RUN };
    (code, format!("failed to start '{}': {why}", program.display()))
}
