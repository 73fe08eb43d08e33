//! The first stage: it starts the command, sees every process that comes of it, and leaves none.
//!
//! A supervisor prepares first what does not depend on the command: namespaces, a cgroup, and the process that becomes the command or
//! starts it. Then it waits for the launch. The host keeps one prepared, so that the next command does not wait for that.

use std::{
    convert::Infallible,
    ffi::OsString,
    io::{self, Read, Write},
    net::{Shutdown, TcpListener},
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
    process::{
        Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, getpid, pidfd_open, set_child_subreaper,
        set_parent_process_death_signal, setsid, wait,
    },
    thread::set_name,
};

use crate::{
    COMMAND, END, Ended, Failure, INIT, LaunchMessage, NOT_RUN, Preparation, REAP_INTERVAL, RUN, Report, TERMINATE,
    cgroup::CommandCgroup, line, namespace, resources, tree,
};

/// The name of the process: a command that kills the host by its name must not kill what cleans up after the command.
pub const NAME: &str = "terminal-guard";

/// How long processes may take to end after they were killed. The kernel takes as long as their memory is large.
pub const TREE_DEADLINE: Duration = Duration::from_secs(5);

/// Names of processes that were left and ended, as a result tells them.
pub(crate) const LEFT_NAMES: usize = 8;

/// Bytes that are read of what the init stage reports. It reports a few lines, and a command may have become it.
const REPORT_BYTES: usize = 16 * 1024;

/// Prepares for a command, runs it when it is there, and exits after everything that came of it.
pub(crate) fn run(words: &[OsString]) -> Result<Infallible, Failure> {
    let preparation = received(words)?;
    let control = prepare().map_err(|why| (NOT_RUN, format!("failed to prepare the supervisor: {why}")))?;
    let mut supervisor = Supervisor { control, cgroup: CommandCgroup::default() };
    let waiting = supervisor.start_waiting(&preparation);
    // A host that goes before it has a command leaves nothing to do.
    let message = LaunchMessage::receive(&supervisor.control);
    match (message, waiting) {
        (Ok(Some(message)), Ok(waiting)) => match waiting.launch(&message, preparation.namespaces.is_some()) {
            Ok(command) => {
                // Only the command holds its pipes now: their ends tell the host what the command does.
                drop(message);
                supervisor.say(&Report::Started(command.pid.as_raw_nonzero().get() as u32));
                supervisor.attend(command);
            }
            Err(why) => supervisor.say(&Report::Failed(why.to_string())),
        },
        (Ok(Some(_)), Err(why)) => supervisor.say(&Report::Failed(why)),
        (Err(why), _) => supervisor.say(&Report::Failed(format!("the launch can't be read: {why}"))),
        (Ok(None), Ok(waiting)) => waiting.end(),
        (Ok(None), Err(_)) => {}
    }
    drop(supervisor);
    exit(0)
}

/// What this supervisor was told to prepare.
fn received(words: &[OsString]) -> Result<Preparation, Failure> {
    let text = words.first().and_then(|word| word.to_str()).unwrap_or_default();
    serde_json::from_str(text).map_err(|why| (NOT_RUN, format!("the preparation can't be read: {why}")))
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

/// The process below this one, before it has its launch.
struct Waiting {
    pid: Pid,
    line: UnixStream,
}

impl Waiting {
    fn launch(self, message: &LaunchMessage, has_reports: bool) -> io::Result<Started> {
        let handle = pidfd_open(self.pid, PidfdFlags::empty())?;
        message.send(&self.line)?;
        Ok(Started { pid: self.pid, handle, reports: has_reports.then_some(self.line) })
    }

    /// Waits for its end, which comes with the end of its line: a cgroup is only removed without processes.
    fn end(self) {
        drop(self.line);
        let _ = rustix::process::waitpid(Some(self.pid), WaitOptions::empty());
    }
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

    /// Starts the process that becomes the command or starts it, in its namespaces and its cgroup.
    fn start_waiting(&mut self, preparation: &Preparation) -> Result<Waiting, String> {
        if let Some(user) = preparation.namespaces
            && let Some(listener) = namespace::enter(user, preparation.has_proxy)?
        {
            self.hand_over(&listener).map_err(|why| format!("the host did not take the proxy's port: {why}"))?;
        }
        let stage = if preparation.namespaces.is_some() { INIT } else { RUN };
        let waiting = spawn(stage).map_err(|why| format!("the stage {stage} can't be started: {why}"))?;
        if let Some(limits) = &preparation.cgroup {
            self.cgroup = CommandCgroup::around(waiting.pid, limits);
            if !self.cgroup.limits_memory() {
                resources::limit_memory(waiting.pid, limits.memory_bytes)
                    .map_err(|why| format!("memory can't be limited: {why}"))?;
            }
        }
        Ok(waiting)
    }

    /// Sends the listener to the host, which answers what comes there.
    fn hand_over(&mut self, listener: &TcpListener) -> io::Result<()> {
        line::send_with_descriptors(&self.control, Report::Proxy.line().as_bytes(), &[listener.as_fd()])
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
        let (left, ended, _mounts) = match command.reports {
            Some(reports) => reported(&reports, ended),
            None => (end_rest(), ended, Vec::new()),
        };
        drop(std::mem::take(&mut self.cgroup));
        left.into_iter().take(LEFT_NAMES).for_each(|name| self.say(&Report::Left(name)));
        self.say(&Report::Ended(ended));
        // Nothing of the command is left. The host need not wait until the kernel has taken its mounts away.
        let _ = self.control.shutdown(Shutdown::Write);
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

/// Starts a stage below this one. Its input is its line.
fn spawn(stage: &str) -> io::Result<Waiting> {
    let (line, its) = UnixStream::pair()?;
    let mut command = Command::new("/proc/self/exe");
    command.arg0(NAME).args([COMMAND, stage, &id().to_string()]);
    command.stdin(OwnedFd::from(its)).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(Waiting { pid: Pid::from_child(&command.spawn()?), line })
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

/// What the init stage said before it ended, and what holds its mounts. It was killed if it said nothing.
fn reported(reports: &UnixStream, ended: Ended) -> (Vec<String>, Ended, Vec<OwnedFd>) {
    let (mut bytes, mut count, mut held) = (vec![0; REPORT_BYTES], 0, Vec::new());
    while let Some(rest) = bytes.get_mut(count..).filter(|rest| !rest.is_empty())
        && let Ok((more, descriptors)) = line::receive_with_descriptors(reports, rest)
        && more > 0
    {
        count += more;
        held.extend(descriptors);
    }
    bytes.truncate(count);
    let (mut left, mut told) = (Vec::new(), None);
    for report in String::from_utf8_lossy(&bytes).lines().filter_map(Report::read) {
        match report {
            Report::Left(name) => left.push(name),
            Report::Ended(ended) => told = Some(ended),
            Report::Ready | Report::Proxy | Report::Started(_) | Report::Failed(_) => {}
        }
    }
    (left, told.unwrap_or(ended), held)
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
