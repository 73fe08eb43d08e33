//! The stage with namespaces: process 1 of the command's pid namespace.

use std::{
    convert::Infallible,
    fs::File,
    io::{self, Write},
    os::{fd::AsFd, unix::net::UnixStream},
    process::{Command, exit, id},
};

use close_fds::CloseFdsBuilder;
use rustix::{
    io::Errno,
    process::{
        DumpableBehavior, Pid, Signal, WaitOptions, chdir, set_dumpable_behavior, set_parent_process_death_signal, wait,
    },
    stdio::{dup2_stderr, dup2_stdin, dup2_stdout},
};

use crate::{
    Ended, Failure, Launch, NOT_RUN, Report, command, line, namespace,
    seccomp::SyscallFilters,
    supervise::{LEFT_NAMES, how},
    tree,
};

/// Waits for a launch, starts the command and ends after it. The line to the supervisor is its input until the launch is there.
pub(crate) fn run() -> Result<Infallible, Failure> {
    let filters = SyscallFilters::namespaced()
        .map_err(|why| (NOT_RUN, format!("the filters of system calls can't be made: {why}")))?;
    let (line, launch) = command::received()?;
    let ended = match start(&line, launch, &filters) {
        Ok(command) => {
            let ended = await_end(command);
            for name in tree::all_but(id() as i32).into_values().take(LEFT_NAMES) {
                say(&line, &Report::Left(name));
            }
            ended
        }
        Err((code, why)) => {
            // The command's output is where a shell would say it.
            let _ = writeln!(io::stdout(), "{why}");
            Ended::Exit(code)
        }
    };
    say(&line, &Report::Ended(ended));
    // The kernel ends what is left of the namespace.
    exit(0)
}

fn say(mut line: &UnixStream, report: &Report) {
    // A supervisor that is gone has no reader, and this process ends with it.
    let _ = line.write_all(report.line().as_bytes());
}

fn start(line: &UnixStream, launch: Launch, filters: &SyscallFilters) -> Result<Pid, Failure> {
    let confinement = launch.stage.confinement.as_ref();
    let Some((confinement, namespaces)) = confinement.and_then(|found| Some((found, found.namespaces.as_ref()?)))
    else {
        return Err((NOT_RUN, "the init stage was given no namespaces".into()));
    };
    let failed = |why: String| (NOT_RUN, format!("failed to confine the command, so it is not run: {why}"));
    // The folder's name was checked outside: what it leads to in here is the command's own business.
    let cwd = command::enter(&launch.cwd)
        .and_then(|()| std::env::current_dir())
        .map_err(|why| failed(format!("the working directory is gone: {why}")))?;
    namespace::root::build(namespaces, confinement).map_err(failed)?;
    chdir(&cwd).map_err(|why| {
        (NOT_RUN, format!("the sandbox holds no directory '{}' ({why}): run in the workspace", cwd.display()))
    })?;
    // Held by the supervisor until it has reported the end: the kernel takes long to take the mounts away.
    let mounts = File::open("/proc/self/ns/mnt").map_err(|why| failed(why.to_string()))?;
    command::prepare(&launch.stage, Some(filters))?;
    // Last: giving up capabilities clears it. A supervisor that is killed ends this process, and with it the namespace.
    let set = set_parent_process_death_signal(Some(Signal::KILL))
        // The command can't look into this process, nor stop it as a debugger.
        .and_then(|()| set_dumpable_behavior(DumpableBehavior::NotDumpable));
    set.map_err(|why| failed(why.to_string()))?;
    // A supervisor that went before that is noticed here.
    line::send_with_descriptors(line, Report::Ready.line().as_bytes(), &[mounts.as_fd()])
        .map_err(|why| failed(why.to_string()))?;
    drop(mounts);
    let Some((program, arguments)) = launch.words.split_first() else {
        return Err((NOT_RUN, "the launch names no program".into()));
    };
    let mut process = Command::new(program);
    process.args(arguments).env_clear().envs(launch.variables);
    CloseFdsBuilder::new().cloexecfrom(3);
    let child = process.spawn().map_err(|why| command::not_started(program, &why))?;
    // Only the command holds its pipes now: their ends tell the host what the command does.
    let released = File::options()
        .read(true)
        .write(true)
        .open("/dev/null")
        .and_then(|nothing| Ok((dup2_stdin(&nothing)?, dup2_stdout(&nothing)?, dup2_stderr(&nothing)?)));
    released.map_err(|why| failed(why.to_string()))?;
    Ok(Pid::from_child(&child))
}

/// Reaps every orphan until the command itself has ended.
fn await_end(command: Pid) -> Ended {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == command => return how(status),
            Ok(_) | Err(Errno::INTR) => {}
            // The command is a child until it was waited for.
            Err(_) => return Ended::Lost,
        }
    }
}
