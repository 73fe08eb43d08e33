//! What a call has used of the machine's memory, summed over everything it has.

use wasmtime::ResourceLimiter;

use super::{
    kill::{Kill, KillReason},
    limits,
};

/// Counts all linear memories of a store together. wasmtime's own `StoreLimits` counts each by itself.
#[derive(Debug)]
pub(crate) struct Meter {
    limit: usize,
    used: usize,
}

impl Meter {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, used: 0 }
    }

    /// Memory never shrinks, so what is used at the end is the peak.
    pub(crate) fn peak(&self) -> usize {
        self.used
    }
}

impl ResourceLimiter for Meter {
    /// A growth past the limit ends the call instead of answering -1: most allocators would abort on that anyway, and the
    /// caller is to see `out-of-memory`, not `unreachable`.
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        if maximum.is_some_and(|maximum| desired > maximum) {
            return Ok(false);
        }
        let total = self.used.saturating_sub(current).saturating_add(desired);
        if total > self.limit {
            let detail = format!("the guest asked for {total} bytes of memory; its limit is {}", self.limit);
            return Err(Kill::new(KillReason::OutOfMemory, detail).into());
        }
        self.used = total;
        Ok(true)
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        Ok(desired <= limits::TABLE_ELEMENTS)
    }

    fn instances(&self) -> usize {
        limits::CORE_INSTANCES
    }

    fn tables(&self) -> usize {
        limits::TABLES
    }

    fn memories(&self) -> usize {
        limits::MEMORIES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memories_are_counted_together() {
        let mut meter = Meter::new(100);
        assert!(meter.memory_growing(0, 60, None).unwrap());
        assert!(meter.memory_growing(0, 40, None).unwrap());
        let why = meter.memory_growing(60, 61, None).unwrap_err();
        assert_eq!(Kill::from_error(&why).reason, KillReason::OutOfMemory);
        assert_eq!(meter.peak(), 100);
    }

    #[test]
    fn a_growth_past_the_declared_maximum_is_refused_without_a_kill() {
        assert!(!Meter::new(100).memory_growing(0, 60, Some(50)).unwrap());
    }
}
