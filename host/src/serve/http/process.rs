//! What the system says about this process.

use std::fs;

/// Bytes of memory that this process holds. Nothing where the system does not say.
pub(super) fn resident_bytes() -> Option<usize> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_holds_some_memory() {
        assert!(resident_bytes().unwrap() > 100_000);
    }
}
