//! Everything that descends from one process, as /proc tells it, and its end.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    process::id,
    time::{Duration, Instant},
};

use rustix::{
    io::Errno,
    process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal},
};

/// How often a tree is looked at while its processes are being stopped. Each look stops whatever was born since the last, and what
/// is stopped has no children: a few are enough even for a fork bomb.
const LOOKS: usize = 100;

/// Between two looks at processes that were killed and have not gone yet. The kernel takes as long as their memory is large.
const PAUSE: Duration = Duration::from_millis(2);

/// A living process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its parent.
    parent: i32,
    /// Its name.
    pub name: String,
}

/// Every living process below this one, without itself. A zombie is not alive, unless one of its threads is. Fails if /proc can't be
/// read: a process that could not be looked at is not gone.
pub fn below(root: i32) -> io::Result<BTreeMap<i32, Process>> {
    let mut all = BTreeMap::new();
    let mut parents: BTreeMap<i32, i32> = BTreeMap::new();
    for pid in pids()? {
        let Some((process, alive)) = look(pid)? else { continue };
        parents.insert(pid, process.parent);
        if alive {
            all.insert(pid, process);
        }
    }
    all.retain(|pid, _| descends(&parents, *pid, root));
    Ok(all)
}

/// The names of all living processes but one. For process 1 of a pid namespace: those that the command left, which end with the
/// namespace. What can't be read has no name to tell.
pub(crate) fn all_but(own: i32) -> BTreeMap<i32, String> {
    let others = pids().unwrap_or_default().into_iter().filter(|pid| *pid != own);
    let living = |pid: i32| look(pid).ok().flatten().filter(|(_, alive)| *alive);
    others.filter_map(|pid| living(pid).map(|(process, _)| (pid, process.name))).collect()
}

fn pids() -> io::Result<Vec<i32>> {
    let mut pids = Vec::new();
    for entry in fs::read_dir("/proc")? {
        pids.extend(entry?.file_name().to_str().and_then(|name| name.parse::<i32>().ok()));
    }
    Ok(pids)
}

/// Ends every process below this one. Gives those that were there at first, by name, and whether all are gone in time.
pub fn end(root: i32, within: Duration) -> (BTreeMap<i32, String>, bool) {
    let until = Instant::now() + within;
    let mut seen = BTreeMap::new();
    let mut stopped = BTreeSet::new();
    // What is stopped can't start another: once a look finds no new process, none will come.
    for _ in 0..LOOKS {
        // What can't be read now is looked at again below.
        let Ok(alive) = below(root) else { break };
        let mut has_new = false;
        for (pid, process) in alive {
            if stopped.insert(pid) {
                has_new = true;
                seen.insert(pid, process.name);
                signal(pid, root, Signal::STOP);
            }
        }
        if !has_new {
            break;
        }
    }
    loop {
        match below(root) {
            Ok(alive) if alive.is_empty() => return (seen, true),
            Ok(alive) => alive.into_keys().for_each(|pid| signal(pid, root, Signal::KILL)),
            // A machine short of descriptors or memory: those that were seen are ended all the same.
            Err(_) => seen.keys().for_each(|pid| signal(*pid, root, Signal::KILL)),
        }
        if Instant::now() >= until {
            return (seen, false);
        }
        std::thread::sleep(PAUSE);
    }
}

/// Sends a signal to every process below this one. If /proc can't be read, none gets it; the end that follows does not depend on it.
pub fn tell(root: i32, what: Signal) {
    for pid in below(root).unwrap_or_default().into_keys() {
        signal(pid, root, what);
    }
}

/// Ends one process that is a child of this one and was not waited for, so that its number is still its own.
pub fn kill(child: i32) {
    if let Some(child) = Pid::from_raw(child) {
        // It may have ended just now, which is as good.
        let _ = kill_process(child, Signal::KILL);
    }
}

/// Lets a child of this process go on, if it was stopped.
pub fn wake(child: i32) {
    let is_ours = || matches!(look(child), Ok(Some((process, _))) if process.parent == id() as i32);
    if let Some(pid) = Pid::from_raw(child).filter(|_| is_ours()) {
        // It may have ended just now, which is as good.
        let _ = kill_process(pid, Signal::CONT);
    }
}

/// A number may belong to another process by now: it is held first, and looked at again.
fn signal(pid: i32, root: i32, what: Signal) {
    let Some(held) = Pid::from_raw(pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()) else { return };
    let mut ancestor = pid;
    while ancestor != root {
        match look(ancestor) {
            Ok(Some((process, _))) if process.parent > 0 => ancestor = process.parent,
            _ => return,
        }
    }
    // It may have ended just now, which is as good.
    let _ = pidfd_send_signal(held, what);
}

fn descends(parents: &BTreeMap<i32, i32>, pid: i32, root: i32) -> bool {
    let mut at = pid;
    // A look at a moving tree may show a circle; no tree is deeper than it has processes.
    for _ in 0..=parents.len() {
        match parents.get(&at) {
            Some(parent) if *parent == root => return true,
            Some(parent) => at = *parent,
            None => return false,
        }
    }
    false
}

/// Its parent and name, and whether it is alive; nothing, if it is gone. A process whose main thread exited is a zombie by its state;
/// it is alive as long as another of its threads is.
fn look(pid: i32) -> io::Result<Option<(Process, bool)>> {
    let Some((process, state)) = stat(&format!("/proc/{pid}/stat"))? else { return Ok(None) };
    let is_alive = !is_over(&state) || has_live_thread(pid)?;
    Ok(Some((process, is_alive)))
}

fn is_over(state: &str) -> bool {
    matches!(state, "Z" | "X")
}

fn has_live_thread(pid: i32) -> io::Result<bool> {
    let Some(threads) = unless_gone(fs::read_dir(format!("/proc/{pid}/task")))? else { return Ok(false) };
    for thread in threads {
        let Some(thread) = unless_gone(thread)? else { continue };
        if stat(&thread.path().join("stat").to_string_lossy())?.is_some_and(|(_, state)| !is_over(&state)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Parent, name and state, from a file of /proc; nothing, if its process is gone.
fn stat(path: &str) -> io::Result<Option<(Process, String)>> {
    let Some(stat) = unless_gone(fs::read(path))? else { return Ok(None) };
    let stat = String::from_utf8_lossy(&stat);
    Ok(parse(&stat))
}

fn parse(stat: &str) -> Option<(Process, String)> {
    // The name stands in brackets and may hold anything, brackets too.
    let (name, rest) = stat.split_once('(')?.1.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    let state = fields.next()?.to_owned();
    let parent = fields.next()?.parse().ok()?;
    Some((Process { parent, name: name.to_owned() }, state))
}

/// Nothing for a process that is gone, or that /proc hides from this user. Every other failure is one of the machine.
fn unless_gone<T>(read: io::Result<T>) -> io::Result<Option<T>> {
    let is_gone = |why: &io::Error| {
        matches!(why.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied)
            || why.raw_os_error() == Some(Errno::SRCH.raw_os_error())
    };
    match read {
        Ok(found) => Ok(Some(found)),
        Err(why) if is_gone(&why) => Ok(None),
        Err(why) => Err(why),
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn children_and_their_children_are_below() {
        let mut child = Command::new("sh").args(["-c", "sleep 1000 & read x"]).stdin(Stdio::piped()).spawn().unwrap();
        let own = std::process::id() as i32;
        let shell = child.id() as i32;
        let until = Instant::now() + Duration::from_secs(10);
        // Between its fork and its exec it still has the shell's name.
        while !below(shell).unwrap().values().any(|process| process.name == "sleep") && Instant::now() < until {
            std::thread::yield_now();
        }
        assert!(below(own).unwrap().contains_key(&shell));
        assert_eq!(below(shell).unwrap().into_values().map(|process| process.name).collect::<Vec<_>>(), ["sleep"]);
        let (seen, all) = end(shell, Duration::from_secs(10));
        assert!(all);
        assert_eq!(seen.into_values().collect::<Vec<_>>(), ["sleep"]);
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_name_with_brackets_is_read_whole() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("a) R 1 (b");
        std::os::unix::fs::symlink("/bin/sleep", &program).unwrap();
        let mut child = Command::new(&program).arg("1000").spawn().unwrap();
        let own = std::process::id() as i32;
        let until = Instant::now() + Duration::from_secs(10);
        while look(child.id() as i32).unwrap().unwrap().0.name != "a) R 1 (b" && Instant::now() < until {
            std::thread::yield_now();
        }
        let (process, alive) = look(child.id() as i32).unwrap().unwrap();
        assert_eq!((process.parent, process.name.as_str(), alive), (own, "a) R 1 (b", true));
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// The limit of open files holds for the whole process, and each test has a process of its own.
    #[test]
    fn a_process_that_can_not_be_looked_at_is_not_gone() {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
        let limit = getrlimit(Resource::Nofile);
        setrlimit(Resource::Nofile, Rlimit { current: Some(0), maximum: limit.maximum }).unwrap();
        let (looked, (_, gone)) = (below(id() as i32), end(id() as i32, Duration::ZERO));
        setrlimit(Resource::Nofile, limit).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(looked.is_err() && !gone);
    }

    #[test]
    fn a_process_is_alive_while_one_of_its_threads_is() {
        // Its main thread exits with the system call exit(2), which ends that thread alone.
        let program = "import ctypes, threading, time\n\
                       threading.Thread(target=lambda: time.sleep(1000)).start()\n\
                       ctypes.CDLL(None).syscall(60 if __import__('platform').machine() == 'x86_64' else 93, 0)";
        let mut child = Command::new("python3").args(["-c", program]).spawn().unwrap();
        let pid = child.id() as i32;
        let until = Instant::now() + Duration::from_secs(60);
        let state = || stat(&format!("/proc/{pid}/stat")).unwrap().map(|(_, state)| state);
        while state().as_deref() != Some("Z") {
            assert!(Instant::now() < until, "its main thread never exited");
            std::thread::yield_now();
        }
        assert!(below(id() as i32).unwrap().contains_key(&pid));
        let (_, gone) = end(id() as i32, Duration::from_secs(60));
        assert!(gone && !below(id() as i32).unwrap().contains_key(&pid));
        child.wait().unwrap();
    }
}
