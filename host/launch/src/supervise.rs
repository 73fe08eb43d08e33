//! The first stage: it starts the command, sees every process that comes of it, and leaves none.

use std::{
    convert::Infallible,
    ffi::OsString,
    fs::File,
    io::{self, BufRead, BufReader, Read, Write},
    net::TcpListener,
    os::{
        fd::{AsFd, OwnedFd},
        unix::{net::UnixStream, process::CommandExt},
    },
    process::{Command, Stdio, exit, id},
    time::Duration,
};

use close_fds::CloseFdsBuilder;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg},
    process::{
        Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, getpid, pidfd_open, set_child_subreaper,
        set_parent_process_death_signal, setsid, wait,
    },
    stdio::{dup2_stderr, dup2_stdin, dup2_stdout},
    thread::set_name,
};

use crate::{
    COMMAND, END, Ended, Failure, INIT, NOT_RUN, Network, REAP_INTERVAL, RUN, Report, Stage, TERMINATE,
    cgroup::CommandCgroup, namespace, resources, tree,
};

/// The name of the process: a command that kills the host by its name must not kill what cleans up after the command.
pub const NAME: &str = "terminal-guard";

/// How long processes may take to end after they were killed. The kernel takes as long as their memory is large.
pub const TREE_DEADLINE: Duration = Duration::from_secs(5);

/// Names of processes that were left and ended, as a result tells them.
pub(crate) const LEFT_NAMES: usize = 8;

/// Bytes that are read of what the init stage reports. It reports a few lines, and a command may have become it.
const REPORT_BYTES: u64 = 16 * 1024;

/// Runs a command and exits after everything that came of it.
pub(crate) fn run(words: &[OsString]) -> Result<Infallible, Failure> {
    let control = prepare().map_err(|why| (NOT_RUN, format!("failed to prepare the supervisor: {why}")))?;
    let mut supervisor = Supervisor { control, cgroup: CommandCgroup::default() };
    match supervisor.start(words) {
        Ok(command) => {
            supervisor.say(&Report::Started(command.pid.as_raw_nonzero().get() as u32));
            supervisor.attend(command);
        }
        Err(why) => supervisor.say(&Report::Failed(why)),
    }
    drop(supervisor);
    exit(0)
}

fn prepare() -> io::Result<UnixStream> {
    // Whatever a library of the host left open ends here.
    CloseFdsBuilder::new().cloexecfrom(3);
    set_name(c"terminal-guard")?;
    // No signal that the host's terminal sends comes here.
    setsid()?;
    set_child_subreaper(Some(getpid()))?;
    // An unconfined command may have stopped this process. When the host goes, it goes on, reads the end of its line, and ends all.
    set_parent_process_death_signal(Some(Signal::CONT))?;
    Ok(UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?))
}

struct Supervisor {
    control: UnixStream,
    cgroup: CommandCgroup,
}

/// The process below this one.
struct Started {
    pid: Pid,
    handle: OwnedFd,
    /// The reports of the init stage, where it has namespaces: then its end is the end of all.
    reports: Option<UnixStream>,
}

impl Supervisor {
    fn say(&mut self, report: &Report) {
        // A host that is gone hears nothing, and its end is noticed elsewhere.
        let _ = self.control.write_all(report.line().as_bytes());
    }

    fn start(&mut self, words: &[OsString]) -> Result<Started, String> {
        let stage = Stage::received().map_err(|(_, why)| why)?;
        if let Some(limits) = &stage.limits.cgroup {
            self.cgroup = CommandCgroup::enter(limits);
            if !self.cgroup.limits_memory() {
                resources::limit_memory(limits.memory_bytes)
                    .map_err(|why| format!("memory can't be limited: {why}"))?;
            }
        }
        let confinement = stage.confinement.as_ref();
        let namespaces = confinement.and_then(|confinement| confinement.namespaces.as_ref());
        if let Some(namespaces) = namespaces {
            let network = confinement.map_or(Network::None, |confinement| confinement.network);
            if let Some(listener) = namespace::enter(namespaces, network)? {
                self.hand_over(listener).map_err(|why| format!("the host did not take the proxy's port: {why}"))?;
            }
        }
        spawn(words, namespaces.is_some()).map_err(|why| why.to_string())
    }

    /// Sends the listener to the host, which answers what comes there.
    fn hand_over(&mut self, listener: TcpListener) -> io::Result<()> {
        let descriptors = [listener.as_fd()];
        let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        ancillary.push(SendAncillaryMessage::ScmRights(&descriptors));
        let line = Report::Proxy.line();
        sendmsg(&self.control, &[io::IoSlice::new(line.as_bytes())], &mut ancillary, SendFlags::empty())?;
        Ok(())
    }

    /// Does what the host says until the command has ended, and ends everything when the host says nothing any more.
    fn attend(&mut self, command: Started) {
        let ended = loop {
            let (has_order, has_ended) = self.wait_for_event(&command);
            if let Some(ended) = reap(command.pid) {
                break ended;
            }
            if has_order && !self.obey(&command) {
                return;
            }
            // A process that is traced by another of the command is reaped later than its end is seen.
            if has_ended && !has_order {
                std::thread::yield_now();
            }
        };
        let (left, ended) = match command.reports {
            Some(reports) => reported(reports, ended),
            None => (end_rest(), ended),
        };
        left.into_iter().take(LEFT_NAMES).for_each(|name| self.say(&Report::Left(name)));
        self.say(&Report::Ended(ended));
    }

    /// Waits for an order, for the command's end, or until orphans are due to be reaped.
    fn wait_for_event(&self, command: &Started) -> (bool, bool) {
        let mut descriptors = [PollFd::new(&self.control, PollFlags::IN), PollFd::new(&command.handle, PollFlags::IN)];
        let interval = Timespec { tv_sec: 0, tv_nsec: REAP_INTERVAL.subsec_nanos().into() };
        match poll(&mut descriptors, Some(&interval)) {
            Ok(_) => {
                let [control, handle] = &descriptors;
                (!control.revents().is_empty(), !handle.revents().is_empty())
            }
            // A signal came between.
            Err(_) => (false, false),
        }
    }

    /// Follows one order. False when the host is gone and everything was ended.
    fn obey(&mut self, command: &Started) -> bool {
        let mut order = [0];
        match self.control.read(&mut order) {
            Err(why) if why.kind() == io::ErrorKind::Interrupted => true,
            Ok(1) if order == [TERMINATE] => {
                tree::tell(id() as i32, Signal::TERM);
                true
            }
            Ok(1) if order != [END] => true,
            said => {
                end(command);
                matches!(said, Ok(1))
            }
        }
    }
}

/// Ends every process of the command, and waits until they have gone: a cgroup is only removed without processes.
fn end(command: &Started) {
    match command.reports {
        // Its end is the end of its namespace.
        Some(_) => {
            tree::kill(command.pid.as_raw_nonzero().get());
            let deadline = Timespec { tv_sec: TREE_DEADLINE.as_secs() as i64, tv_nsec: 0 };
            // A signal that comes between only makes the wait shorter.
            let _ = poll(&mut [PollFd::new(&command.handle, PollFlags::IN)], Some(&deadline));
        }
        None => drop(tree::end(id() as i32, TREE_DEADLINE)),
    }
}

fn spawn(words: &[OsString], has_namespaces: bool) -> io::Result<Started> {
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    let input = io::stderr().as_fd().try_clone_to_owned()?;
    let mut command = Command::new("/proc/self/exe");
    command.arg0(NAME).arg(COMMAND);
    let reports = if has_namespaces {
        let (ours, its) = UnixStream::pair()?;
        command.arg(INIT).stderr(OwnedFd::from(its));
        Some(ours)
    } else {
        command.args([RUN, &id().to_string()]).stderr(output.try_clone()?);
        None
    };
    let child = command.args(words).stdin(Stdio::from(input)).stdout(output).spawn()?;
    // Only the command holds its pipes now: their ends tell the host what the command does.
    drop(command);
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&nothing)?;
    dup2_stdout(&nothing)?;
    dup2_stderr(&nothing)?;
    let pid = Pid::from_child(&child);
    Ok(Started { pid, handle: pidfd_open(pid, PidfdFlags::empty())?, reports })
}

/// Reaps every child that ended. How the command ended, if it is among them.
fn reap(command: Pid) -> Option<Ended> {
    let mut ended = None;
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) if pid == command => ended = Some(how(status)),
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) | Err(_) => return ended,
        }
    }
}

/// What the init stage said before it ended. It was killed if it said nothing.
fn reported(reports: UnixStream, ended: Ended) -> (Vec<String>, Ended) {
    let (mut left, mut told) = (Vec::new(), None);
    let lines = BufReader::new(reports.take(REPORT_BYTES)).lines();
    for report in lines.map_while(Result::ok).filter_map(|line| Report::read(&line)) {
        match report {
            Report::Left(name) => left.push(name),
            Report::Ended(ended) => told = Some(ended),
            Report::Ready | Report::Proxy | Report::Started(_) | Report::Failed(_) => {}
        }
    }
    (left, told.unwrap_or(ended))
}

/// Ends what a command without namespaces left, and gives the names.
fn end_rest() -> Vec<String> {
    let mut left = std::collections::BTreeMap::new();
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(Errno::INTR) => {}
            // A process lives: every orphan is a child of this process.
            Ok(None) => {
                let (seen, gone) = tree::end(id() as i32, TREE_DEADLINE);
                left.extend(seen);
                if !gone {
                    break;
                }
            }
            Err(_) => break,
        }
    }
    left.into_values().collect()
}

/// How a process ended.
pub(crate) fn how(status: WaitStatus) -> Ended {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Ended::Exit(code),
        (None, Some(number)) => Ended::Signal(number),
        (None, None) => Ended::Lost,
    }
}
