//! The memory of one call: its linear memories and what the host holds in memory on its behalf, under one limit.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use wasmtime::ResourceLimiter;

use super::{
    kill::{Kill, KillReason},
    limits,
};

/// Bytes that one call holds, wherever they lie. One limit for both kinds: the operator gives a component one number, and what a
/// call takes of the machine is bounded by it. A second budget would let each call take the sum.
#[derive(Debug)]
pub(crate) struct MemoryAccount {
    limit: usize,
    used: AtomicUsize,
    peak: AtomicUsize,
}

impl MemoryAccount {
    pub(crate) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self { limit, used: AtomicUsize::new(0), peak: AtomicUsize::new(0) })
    }

    /// A charge of these bytes, released on drop. Nothing where they do not fit.
    pub(crate) fn charge(self: &Arc<Self>, bytes: usize) -> Option<MemoryCharge> {
        let mut charge = MemoryCharge { account: Arc::clone(self), bytes: 0 };
        charge.grow(bytes).then_some(charge)
    }

    fn take(&self, bytes: usize) -> Result<(), usize> {
        let add = |used: usize| used.checked_add(bytes).filter(|total| *total <= self.limit);
        match self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add) {
            Ok(before) => {
                self.peak.fetch_max(before + bytes, Ordering::Relaxed);
                Ok(())
            }
            Err(used) => Err(used.saturating_add(bytes)),
        }
    }
}

/// Bytes that the host holds in memory for a guest.
#[derive(Debug)]
pub(crate) struct MemoryCharge {
    account: Arc<MemoryAccount>,
    bytes: usize,
}

impl MemoryCharge {
    /// Adds to the charge; false, and nothing is added, where that does not fit.
    pub(crate) fn grow(&mut self, more: usize) -> bool {
        let fits = self.account.take(more).is_ok();
        self.bytes += if fits { more } else { 0 };
        fits
    }
}

impl Drop for MemoryCharge {
    fn drop(&mut self) {
        self.account.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Counts all linear memories of a store together. wasmtime's own `StoreLimits` counts each by itself.
#[derive(Debug)]
pub(crate) struct Meter(Arc<MemoryAccount>);

impl Meter {
    pub(crate) fn new(limit: usize) -> Self {
        Self(MemoryAccount::new(limit))
    }

    /// What the host charges its own copies to.
    pub(crate) fn account(&self) -> &Arc<MemoryAccount> {
        &self.0
    }

    /// The most that was held at one time.
    pub(crate) fn peak(&self) -> usize {
        self.0.peak.load(Ordering::Relaxed)
    }
}

impl ResourceLimiter for Meter {
    /// A growth past the limit ends the call instead of answering -1: most allocators would abort on that anyway, and the
    /// caller is to see `out-of-memory`, not `unreachable`.
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        if maximum.is_some_and(|maximum| desired > maximum) {
            return Ok(false);
        }
        match self.0.take(desired.saturating_sub(current)) {
            Ok(()) => Ok(true),
            Err(total) => {
                let detail = format!(
                    "it asked for {} bytes of memory, copies that the host holds for it included; its limit is {}",
                    limits::thousands(total as u64),
                    limits::bytes(self.0.limit)
                );
                Err(Kill::at_limit(KillReason::OutOfMemory, detail).into())
            }
        }
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

    #[test]
    fn copies_of_the_host_share_the_limit_of_the_memories() {
        let mut meter = Meter::new(100);
        assert!(meter.memory_growing(0, 60, None).unwrap());
        let mut charge = meter.account().charge(30).unwrap();
        assert!(!charge.grow(11));
        assert!(meter.account().charge(11).is_none());
        let why = meter.memory_growing(60, 71, None).unwrap_err();
        assert_eq!(Kill::from_error(&why).reason, KillReason::OutOfMemory);
        assert!(charge.grow(10));
        drop(charge);
        assert!(meter.memory_growing(60, 100, None).unwrap());
        assert_eq!(meter.peak(), 100);
        assert!(meter.account().charge(usize::MAX).is_none());
    }
}
