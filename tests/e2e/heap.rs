//! What this process has allocated. Unlike resident memory, these figures do not depend on what the allocator keeps for later, on the
//! kernel, or on other programs.

use std::{alloc::System, fmt::Debug};

use stats_alloc::{INSTRUMENTED_SYSTEM, Stats, StatsAlloc};

#[global_allocator]
static HEAP: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Bytes that are allocated and not freed.
pub(crate) fn live_bytes() -> usize {
    // Other threads go on meanwhile: a block may be in the second figure and not in the first.
    let Stats { bytes_allocated, bytes_deallocated, .. } = HEAP.stats();
    bytes_allocated.saturating_sub(bytes_deallocated)
}

/// Bytes that something allocates in all, freed or not. It is a measure of work, too.
pub(crate) fn allocated_by(work: impl FnOnce()) -> usize {
    let before = HEAP.stats().bytes_allocated;
    work();
    HEAP.stats().bytes_allocated - before
}

/// Figures of many rounds that do not grow: some later one is no larger than the largest of the earlier ones. A single round may be an
/// exception in either half. A leak in each round is none: it makes every later figure larger than all earlier ones.
pub(crate) fn assert_flat<T: Ord + Copy + Debug>(what: &str, rounds: &[T]) {
    let (earlier, later) = rounds.split_at(rounds.len() / 2);
    assert!(later.iter().min() <= earlier.iter().max(), "{what} grow from round to round: {rounds:?}");
}

#[test]
fn a_leak_is_told_from_noise() {
    assert_flat("noise", &[5, 3, 9, 4, 8, 5, 7, 9]);
    std::panic::catch_unwind(|| assert_flat("a leak", &[1, 2, 3, 4, 5, 6, 7, 8])).unwrap_err();
}

#[test]
fn live_bytes_follow_what_is_kept_and_freed() {
    let before = live_bytes();
    let kept = vec![1_u8; 100 << 20];
    assert!(live_bytes() >= before + kept.len());
    drop(kept);
    assert!(live_bytes() < before + (50 << 20));
    assert!(allocated_by(|| drop(vec![1_u8; 100 << 20])) >= 100 << 20);
}
