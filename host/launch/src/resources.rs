//! What a command may use up: limits of the kernel on each process, and of a cgroup on all of them together.

use rustix::{
    io,
    process::{Pid, Resource, Rlimit, getrlimit, nice, prlimit, setrlimit},
};
use serde::{Deserialize, Serialize};

/// What a command may use up. Nothing is limited unless it is said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceLimits {
    /// Bytes of one file that it writes.
    pub file_bytes: Option<u64>,
    /// Files that one process has open, at most.
    pub open_files: Option<u64>,
    /// The same unless the process raises it: programs that use select(2) break above 1024.
    pub soft_open_files: Option<u64>,
    /// Processes and threads. The kernel counts those of the user, or of the user namespace.
    pub processes: Option<u64>,
    /// How much less of the processor it gets than the host.
    pub nice: Option<u8>,
    /// What all its processes use together.
    pub cgroup: Option<CgroupLimits>,
}

/// What all processes of a command use together, where a cgroup can be made.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CgroupLimits {
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// Processes and threads.
    pub processes: u64,
}

impl ResourceLimits {
    /// Limits this process and all that it starts.
    pub(crate) fn apply(&self) -> io::Result<()> {
        // A core file is a copy of memory in the workspace, and it may be huge.
        limit(Resource::Core, Some(0))?;
        limit(Resource::Fsize, self.file_bytes)?;
        limit(Resource::Nofile, self.open_files)?;
        if let Some(soft) = self.soft_open_files {
            let maximum = getrlimit(Resource::Nofile).maximum;
            let current = Some(maximum.map_or(soft, |maximum| maximum.min(soft)));
            setrlimit(Resource::Nofile, Rlimit { current, maximum })?;
        }
        limit(Resource::Nproc, self.processes)?;
        if let Some(by) = self.nice {
            nice(by.into())?;
        }
        Ok(())
    }
}

/// Limits the memory of a process and of each that it starts, where no cgroup limits all of them together. The kernel counts private
/// writable memory: address space that is only reserved, as runtimes of languages do, is free.
pub(crate) fn limit_memory(process: Pid, bytes: u64) -> io::Result<()> {
    let lower = lowered(getrlimit(Resource::Data), bytes);
    prlimit(Some(process), Resource::Data, lower).map(drop)
}

/// Lowers both limits of this process.
fn limit(resource: Resource, to: Option<u64>) -> io::Result<()> {
    match to {
        Some(to) => setrlimit(resource, lowered(getrlimit(resource), to)),
        None => Ok(()),
    }
}

/// Both limits at most this. What is lower already stays.
fn lowered(now: Rlimit, to: u64) -> Rlimit {
    let lower = |limit: Option<u64>| Some(limit.map_or(to, |limit| limit.min(to)));
    Rlimit { current: lower(now.current), maximum: lower(now.maximum) }
}
