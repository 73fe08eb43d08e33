//! The stage without namespaces: it becomes the command.

use std::{
    convert::Infallible,
    ffi::OsString,
    io,
    os::{
        fd::AsFd,
        unix::{net::UnixStream, process::CommandExt},
    },
    path::Path,
    process::{Command, exit},
};

use close_fds::CloseFdsBuilder;
use rustix::{
    process::{Pid, Signal, getppid, ioctl_tiocsctty, set_parent_process_death_signal, setsid},
    stdio::{dup2_stderr, dup2_stdin, dup2_stdout},
};

use crate::{
    Confinement, Failure, Launch, LaunchMessage, NOT_FOUND, NOT_RUN, Stage, landlock, privileges,
    seccomp::SyscallFilters,
};

/// Waits for a launch and becomes its command, under the supervisor whose process id is the first word.
pub(crate) fn run(words: &[OsString]) -> Result<Infallible, Failure> {
    let supervisor = words.first().and_then(|word| word.to_str()?.parse().ok()).and_then(Pid::from_raw);
    // A supervisor that is killed can't end the command: the kernel does. One that went before that left its launch on the line.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(unprepared)?;
    if supervisor.is_none() || getppid() != supervisor {
        return Err((NOT_RUN, "the supervisor is gone".into()));
    }
    let (_, launch) = received()?;
    enter(&launch.cwd).map_err(|why| (NOT_RUN, format!("the working directory is gone: {why}")))?;
    let filters = match &launch.stage.confinement {
        Some(confinement) => {
            let filters = SyscallFilters::without_namespaces(confinement.network);
            Some(filters.map_err(|why| (NOT_RUN, format!("the filters of system calls can't be made: {why}")))?)
        }
        None => None,
    };
    prepare(&launch.stage, filters.as_ref())?;
    let Some((program, arguments)) = launch.words.split_first() else {
        return Err((NOT_RUN, "the launch names no program".into()));
    };
    let mut command = Command::new(program);
    command.args(arguments).env_clear().envs(launch.variables);
    CloseFdsBuilder::new().cloexecfrom(3);
    Err(not_started(program, &command.exec()))
}

/// Waits for the launch on the line that is this process's input. Input, output and errors are the command's from then on. Without a
/// supervisor there is no launch, and the process exits.
pub(crate) fn received() -> Result<(UnixStream, Launch), Failure> {
    let unread = |why: io::Error| (NOT_RUN, format!("the launch can't be read: {why}"));
    let line = UnixStream::from(io::stdin().as_fd().try_clone_to_owned().map_err(unread)?);
    let Some(message) = LaunchMessage::receive(&line).map_err(unread)? else { exit(0) };
    let (reads, writes, launch) = message.open().map_err(unread)?;
    let put = dup2_stdin(&reads).and_then(|()| dup2_stdout(&writes)).and_then(|()| dup2_stderr(&writes));
    put.map_err(unprepared)?;
    Ok((line, launch))
}

/// Enters a folder.
pub(crate) fn enter(cwd: &Path) -> io::Result<()> {
    std::env::set_current_dir(cwd)
}

/// A session with the terminal as its own, limits, and the confinement. What comes after is the command's.
pub(crate) fn prepare(stage: &Stage, filters: Option<&SyscallFilters>) -> Result<(), Failure> {
    setsid().map_err(unprepared)?;
    if stage.pty {
        ioctl_tiocsctty(io::stdin()).map_err(unprepared)?;
    }
    stage.limits.apply().map_err(unprepared)?;
    match (&stage.confinement, filters) {
        (Some(confinement), Some(filters)) => confine(confinement, filters)
            .map_err(|why| (NOT_RUN, format!("failed to confine the command, so it is not run: {why}"))),
        (Some(_), None) => Err((NOT_RUN, "the command has no filters of system calls, so it is not run".into())),
        (None, _) => Ok(()),
    }
}

fn confine(confinement: &Confinement, filters: &SyscallFilters) -> Result<(), String> {
    privileges::drop_all().map_err(|why| why.to_string())?;
    landlock::restrict(confinement)?;
    filters.apply().map_err(|why| why.to_string())
}

fn unprepared(why: rustix::io::Errno) -> Failure {
    (NOT_RUN, format!("failed to prepare the command: {why}"))
}

/// The exit code and the words of a program that could not be started.
pub(crate) fn not_started(program: &OsString, why: &io::Error) -> Failure {
    let code = if why.kind() == io::ErrorKind::NotFound { NOT_FOUND } else { NOT_RUN };
    (code, format!("failed to start '{}': {why}", program.display()))
}
