//! The first stage: it starts the command, sees every process that comes of it, and leaves none.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    ffi::OsString,
    fs::File,
    io::{self, Read, Write},
    os::{
        fd::AsFd,
        unix::{net::UnixStream, process::CommandExt},
    },
    process::{Command, Stdio, exit, id},
    thread,
};

use close_fds::CloseFdsBuilder;
use rustix::{
    io::Errno,
    process::{
        Pid, Signal, WaitOptions, WaitStatus, getpid, set_child_subreaper, set_parent_process_death_signal, setsid,
        wait,
    },
    stdio::{dup2_stderr, dup2_stdin, dup2_stdout},
    thread::set_name,
};

use super::{
    super::{Ended, limits},
    COMMAND, END, Failure, NOT_RUN, Report, Stage, TERMINATE, tree,
};

/// The name it goes by: who kills the host by its name must not kill those who clean up after it.
pub(crate) const NAME: &str = "terminal-guard";

/// Runs a command and exits after everything that came of it.
pub(super) fn run(words: &[OsString]) -> Result<Infallible, Failure> {
    let control = prepare().map_err(|why| (NOT_RUN, format!("failed to prepare the supervisor: {why}")))?;
    let mut host = &control;
    let mut say = |report: Report| {
        // A host that is gone hears nothing, and its end is noticed elsewhere.
        let _ = host.write_all(report.line().as_bytes());
    };
    let command = match start(words) {
        Ok(command) => command,
        Err(why) => {
            say(Report::Failed(why.to_string()));
            exit(0)
        }
    };
    say(Report::Started(command.as_raw_nonzero().get() as u32));
    let orders = control.try_clone().map_err(|why| (NOT_RUN, why.to_string()))?;
    thread::spawn(move || obey(orders));
    let ended = await_end(command);
    for name in end_rest().into_values().take(limits::LEFT_NAMES) {
        say(Report::Left(name));
    }
    say(Report::Ended(ended));
    exit(0)
}

fn prepare() -> io::Result<UnixStream> {
    // Whatever a library of the host left open ends here.
    CloseFdsBuilder::new().cloexecfrom(3);
    set_name(c"terminal-guard")?;
    // No signal that the host's terminal sends comes here.
    setsid()?;
    set_child_subreaper(Some(getpid()))?;
    // A command may have stopped this process. When the host goes, it goes on, hears nothing any more, and ends everything.
    set_parent_process_death_signal(Some(Signal::CONT))?;
    Ok(UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?))
}

fn start(words: &[OsString]) -> io::Result<Pid> {
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    let errors = output.try_clone()?;
    let input = io::stderr().as_fd().try_clone_to_owned()?;
    let mut command = Command::new("/proc/self/exe");
    command.arg0(NAME).args([COMMAND, Stage::RUN, &id().to_string()]).args(words);
    command.stdin(Stdio::from(input)).stdout(output).stderr(errors);
    let child = command.spawn()?;
    // Only the command holds its pipes now: their ends tell the host what the command does.
    drop(command);
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&nothing)?;
    dup2_stdout(&nothing)?;
    dup2_stderr(&nothing)?;
    Ok(Pid::from_child(&child))
}

/// Does what the host says, and ends everything when it says nothing any more.
fn obey(mut orders: UnixStream) {
    let mut order = [0];
    loop {
        match orders.read(&mut order) {
            Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
            Ok(1) if order == [TERMINATE] => tree::tell(id() as i32, Signal::TERM),
            Ok(1) if order != [END] => {}
            said => {
                tree::end(id() as i32, limits::STUCK);
                if !matches!(said, Ok(1)) {
                    exit(0)
                }
            }
        }
    }
}

/// Takes every orphan until the command itself has ended.
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

/// Ends what the command left, and gives the names.
fn end_rest() -> BTreeMap<i32, String> {
    let mut left = BTreeMap::new();
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(Errno::INTR) => {}
            // Somebody lives: every orphan is a child of this process.
            Ok(None) => {
                let (seen, gone) = tree::end(id() as i32, limits::STUCK);
                left.extend(seen);
                if !gone {
                    return left;
                }
            }
            Err(_) => return left,
        }
    }
}

fn how(status: WaitStatus) -> Ended {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Ended::Exit(code),
        (None, Some(number)) => Ended::Signal(number),
        (None, None) => Ended::Lost,
    }
}
