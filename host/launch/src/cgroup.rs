//! A cgroup for one command, version 2 or 1, where this user may make one. Where not, the limits on each process are left.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::id,
};

use rustix::process::Pid;

use crate::CgroupLimits;

/// Where cgroups are mounted.
const MOUNT: &str = "/sys/fs/cgroup";

/// The start of the names of our cgroups.
const PREFIX: &str = "hermes-host-";

/// The file that lists the processes of a cgroup, and moves a process there.
const PROCESSES: &str = "cgroup.procs";

/// The cgroups of one command. They are removed when it is dropped.
///
/// The supervisor is in none of them: the kernel never ends it for the memory of its command, and it has none to leave at the end.
#[derive(Debug, Default)]
pub(crate) struct CommandCgroup {
    made: Vec<PathBuf>,
    limits_memory: bool,
}

impl CommandCgroup {
    /// Makes cgroups for memory and processes, limits both, and moves a process there. What it starts later is there, too.
    pub(crate) fn around(process: Pid, limits: &CgroupLimits) -> Self {
        let mut own = Self::default();
        let memberships = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        for (controller, parent) in parents(&memberships) {
            let settings = match controller {
                Controller::Unified => {
                    vec![("memory.max", limits.memory_bytes), ("memory.swap.max", 0), ("pids.max", limits.processes)]
                }
                Controller::Memory => vec![("memory.limit_in_bytes", limits.memory_bytes)],
                Controller::Pids => vec![("pids.max", limits.processes)],
            };
            // A user who may not make one has the limits on each process.
            if own.make_one(process, &parent, &settings).is_ok() {
                own.limits_memory |= controller != Controller::Pids;
            }
        }
        own
    }

    /// Whether the memory of all processes together is limited.
    pub(crate) fn limits_memory(&self) -> bool {
        self.limits_memory
    }

    fn make_one(&mut self, process: Pid, parent: &Path, settings: &[(&str, u64)]) -> io::Result<()> {
        let cgroup = parent.join(format!("{PREFIX}{}", id()));
        fs::create_dir(&cgroup)?;
        let made = settings
            .iter()
            // A kernel without swap accounting has no such file.
            .filter(|(file, _)| cgroup.join(file).exists())
            .try_for_each(|(file, value)| fs::write(cgroup.join(file), value.to_string()))
            .and_then(|()| fs::write(cgroup.join(PROCESSES), process.as_raw_nonzero().to_string()));
        match made {
            Ok(()) => self.made.push(cgroup),
            Err(_) => fs::remove_dir(&cgroup)?,
        }
        made
    }
}

impl Drop for CommandCgroup {
    fn drop(&mut self) {
        for cgroup in &self.made {
            // A cgroup with a process in it stays, and a later one of the same name fails: the limits on each process are left.
            let _ = fs::remove_dir(cgroup);
        }
    }
}

/// Removes cgroups of commands whose supervisor was killed. The kernel keeps those with a process in them.
pub(crate) fn sweep() {
    let memberships = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    parents(&memberships).iter().for_each(|(_, parent)| sweep_below(parent));
}

fn sweep_below(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let supervisor = name.to_str().and_then(|name| name.strip_prefix(PREFIX)).and_then(|id| id.parse::<u32>().ok());
        if supervisor.is_some_and(|id| !Path::new("/proc").join(id.to_string()).exists()) {
            // Another supervisor may have removed it just now.
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// What a cgroup limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Controller {
    /// Everything, in version 2.
    Unified,
    Memory,
    Pids,
}

/// The cgroups below which those of a command are made, from the lines of /proc/self/cgroup. In version 2 only where both controllers
/// are given to children already: turning them on is not possible beside a process.
fn parents(memberships: &str) -> Vec<(Controller, PathBuf)> {
    let line = |line: &str| {
        let mut fields = line.splitn(3, ':');
        let (_, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        let path = path.trim_start_matches('/');
        if controllers.is_empty() {
            let parent = [MOUNT, "/sys/fs/cgroup/unified"].map(|mount| Path::new(mount).join(path));
            let given = |parent: &PathBuf| {
                let given = fs::read_to_string(parent.join("cgroup.subtree_control")).unwrap_or_default();
                ["memory", "pids"].iter().all(|name| given.split_whitespace().any(|word| word == *name))
            };
            return parent.into_iter().find(given).map(|parent| (Controller::Unified, parent));
        }
        let controller = match controllers {
            "memory" => Controller::Memory,
            "pids" => Controller::Pids,
            _ => return None,
        };
        Some((controller, Path::new(MOUNT).join(controllers).join(path)))
    };
    memberships.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_1_hierarchies_are_found_by_controller() {
        let found = parents("9:name=systemd:/\n8:pids:/\n4:memory:/a/b\n1:cpu,cpuacct:/\n");
        let at = |path: &str| PathBuf::from(path);
        assert_eq!(
            found,
            [(Controller::Pids, at("/sys/fs/cgroup/pids/")), (Controller::Memory, at("/sys/fs/cgroup/memory/a/b"))]
        );
    }
}
