//! Everything that descends from one process, as /proc tells it, and its end.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    time::{Duration, Instant},
};

use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

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

/// Every living process below this one, without itself. A zombie is not alive, unless one of its threads is.
pub fn below(root: i32) -> BTreeMap<i32, Process> {
    let mut all = BTreeMap::new();
    let mut parents: BTreeMap<i32, i32> = BTreeMap::new();
    for pid in pids() {
        let Some((process, alive)) = look(pid) else { continue };
        parents.insert(pid, process.parent);
        if alive {
            all.insert(pid, process);
        }
    }
    all.retain(|pid, _| descends(&parents, *pid, root));
    all
}

/// The names of all living processes but one. For process 1 of a pid namespace: those that the command left.
pub(crate) fn all_but(own: i32) -> BTreeMap<i32, String> {
    let others = pids().filter(|pid| *pid != own);
    others.filter_map(|pid| look(pid).filter(|(_, alive)| *alive).map(|(process, _)| (pid, process.name))).collect()
}

fn pids() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Ends every process below this one. Gives those that were there at first, by name, and whether all are gone in time.
pub fn end(root: i32, within: Duration) -> (BTreeMap<i32, String>, bool) {
    let until = Instant::now() + within;
    let mut seen = BTreeMap::new();
    let mut stopped = BTreeSet::new();
    // What is stopped can't start another: once a look finds nobody new, nobody new will come.
    for _ in 0..LOOKS {
        let mut anybody_new = false;
        for (pid, process) in below(root) {
            if stopped.insert(pid) {
                anybody_new = true;
                seen.insert(pid, process.name);
                signal(pid, root, Signal::STOP);
            }
        }
        if !anybody_new {
            break;
        }
    }
    loop {
        let alive = below(root);
        if alive.is_empty() {
            return (seen, true);
        }
        for pid in alive.into_keys() {
            signal(pid, root, Signal::KILL);
        }
        if Instant::now() >= until {
            return (seen, false);
        }
        std::thread::sleep(PAUSE);
    }
}

/// Sends a signal to every process below this one.
pub fn tell(root: i32, what: Signal) {
    for pid in below(root).into_keys() {
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
    let is_ours = || look(child).is_some_and(|(process, _)| process.parent == std::process::id() as i32);
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
            Some((process, _)) if process.parent > 0 => ancestor = process.parent,
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

/// Its parent and name, and whether it is alive. A process whose main thread exited is a zombie by its state; it is alive as long
/// as another of its threads is.
fn look(pid: i32) -> Option<(Process, bool)> {
    let (process, state) = stat(&format!("/proc/{pid}/stat"))?;
    let is_alive = !is_over(&state) || has_live_thread(pid);
    Some((process, is_alive))
}

fn is_over(state: &str) -> bool {
    matches!(state, "Z" | "X")
}

fn has_live_thread(pid: i32) -> bool {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    threads.filter_map(|thread| stat(&thread.path().join("stat").to_string_lossy())).any(|(_, state)| !is_over(&state))
}

/// Parent, name and state, from a file of /proc.
fn stat(path: &str) -> Option<(Process, String)> {
    let stat = fs::read(path).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    // The name stands in brackets and may hold anything, brackets too.
    let (name, rest) = stat.split_once('(')?.1.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    let state = fields.next()?.to_owned();
    let parent = fields.next()?.parse().ok()?;
    Some((Process { parent, name: name.to_owned() }, state))
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
        while !below(shell).values().any(|process| process.name == "sleep") && Instant::now() < until {
            std::thread::yield_now();
        }
        assert!(below(own).contains_key(&shell));
        assert_eq!(below(shell).into_values().map(|process| process.name).collect::<Vec<_>>(), ["sleep"]);
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
        while look(child.id() as i32).unwrap().0.name != "a) R 1 (b" && Instant::now() < until {
            std::thread::yield_now();
        }
        let (process, alive) = look(child.id() as i32).unwrap();
        assert_eq!((process.parent, process.name.as_str(), alive), (own, "a) R 1 (b", true));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
