//! What a compile worker uses, as the kernel accounts it: proc(5).

use std::{fs, time::Duration};

use crate::sandbox::limits::KIB;

/// Ticks of /proc/PID/stat in a second: `USER_HZ`, which is 100 on every architecture that wasmtime compiles for.
const TICKS: u64 = 100;

/// How much less CPU time than the limit counts as the limit: the ticks of user and system time are rounded down, each.
const CPU_TOLERANCE: Duration = Duration::from_millis(100);

/// What one worker has used so far.
#[derive(Debug)]
pub(super) struct WorkerAccount {
    pid: u32,
    cpu: Duration,
    /// The most address space it had.
    peak: u64,
}

impl WorkerAccount {
    pub(super) fn of(pid: u32) -> Self {
        Self { pid, cpu: Duration::ZERO, peak: 0 }
    }

    /// Reads on. A process that has ended and was not waited for still has its CPU time, but no memory.
    pub(super) fn look(&mut self) {
        let read = |file: &str| fs::read_to_string(format!("/proc/{}/{file}", self.pid)).unwrap_or_default();
        self.cpu = self.cpu.max(cpu_time(&read("stat")).unwrap_or_default());
        self.peak = self.peak.max(peak(&read("status")).unwrap_or_default());
    }

    /// Whether it used up this CPU time.
    pub(super) fn has_used(&self, cpu: Duration) -> bool {
        self.cpu + CPU_TOLERANCE >= cpu
    }

    /// Whether this much more memory would bring it near a limit. Near is three quarters: between two looks it may have grown, and the
    /// allocator asks the system for more than it was asked for.
    pub(super) fn is_near(&self, memory: u64, more: u64) -> bool {
        self.peak.saturating_add(more) >= memory / 4 * 3
    }

    #[cfg(test)]
    pub(super) fn with(cpu: Duration, peak: u64) -> Self {
        Self { pid: 0, cpu, peak }
    }
}

/// User and system time of all threads, fields 14 and 15. The name, field 2, may hold spaces and parentheses.
fn cpu_time(stat: &str) -> Option<Duration> {
    let mut fields = stat.rsplit_once(") ")?.1.split(' ').skip(11);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    Some(Duration::from_millis((ticks()? + ticks()?) * 1000 / TICKS))
}

fn peak(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmPeak:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? * KIB as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_and_peak_are_read_as_the_kernel_writes_them() {
        let stat = "7 (a) b) R 1 7 7 0 -1 4194560 1 0 0 0 150 25 0 0 20 0 1 0 5 6 7";
        assert_eq!(cpu_time(stat), Some(Duration::from_millis(1750)));
        assert_eq!(peak("Name:\tx\nVmPeak:\t    2048 kB\nVmSize:\t 1 kB\n"), Some(2 << 20));
        let mut account = WorkerAccount::of(std::process::id());
        account.look();
        assert!(account.peak > 1 << 20);
    }
}
