//! Guests that take memory.

use super::*;

#[test]
pub(super) fn grows_memory() {
    let outcome = assert_ends("grows_memory", "out-of-memory");
    assert!(outcome.usage.memory <= Limits::HANDLE.memory);
}

#[test]
pub(super) fn has_many_memories() {
    assert_refused("has_many_memories", "register was ended (out-of-memory)");
}

/// One module may have several memories, for composed components do; they count together all the same.
#[test]
pub(super) fn grows_many_memories() {
    let outcome = assert_ends("grows_many_memories", "out-of-memory");
    assert!(outcome.usage.memory <= Limits::HANDLE.memory, "{:?}", outcome.usage);
    let message = &outcome.result.unwrap_err().message;
    assert!(
        message.contains("its limit is 64 MiB; to raise it: hermes-host grant grows_many_memories --memory 128MiB"),
        "{message}"
    );
    // With as much as they ask for, they get it.
    let stage = Stage::of("grows_many_memories").limits("grows_many_memories", "memory = \"128MiB\"");
    assert_ends_on(&stage, "grows_many_memories", "\"ok\"", Limits::HANDLE.wall);
}

#[test]
pub(super) fn declares_many_memories() {
    assert_refused_before_compiling("declares_many_memories", "has a module with 17 memories; the limit is 16");
}

#[test]
pub(super) fn declares_huge_memory() {
    assert_refused_before_compiling("declares_huge_memory", "needs at least 4294967296 bytes of memory");
}

#[test]
pub(super) fn declares_huge_table() {
    assert_refused_before_compiling("declares_huge_table", "needs a table of 4294967295 elements");
}

#[test]
pub(super) fn grows_a_table() {
    assert_ends("grows_a_table", "\"denied\"");
}

#[test]
pub(super) fn has_many_tables() {
    assert_refused("has_many_tables", "contains 40 tables, which exceeds");
}

#[test]
pub(super) fn has_nested_instances() {
    assert_refused("has_nested_instances", "contains 10001 core module instances, which exceeds");
}

/// A guest that filled its memory leaves none of it behind when it is ended.
#[test]
pub(super) fn grows_to_the_limit() {
    const KILLS: usize = 50;
    /// Pages of this process in memory. A guest's memory is mapped, not allocated, so the heap does not show it.
    fn resident_pages() -> usize {
        fs::read_to_string("/proc/self/statm").unwrap().split(' ').nth(1).unwrap().parse().unwrap()
    }
    let host = Stage::of("grows_to_the_limit").host();
    let kill = || {
        let (outcome, _) = timed(&host, "grows_to_the_limit");
        assert_eq!(kind(&outcome), "out-of-memory", "{}", outcome.json());
        assert!(outcome.usage.memory > 60 << 20);
    };
    // What the first calls make for good (threads, slots, code pages) is part of the baseline.
    for _ in 0..3 {
        kill();
    }
    let pages: Vec<usize> = (0..KILLS)
        .map(|_| {
            kill();
            resident_pages()
        })
        .collect();
    heap::assert_flat("pages", &pages);
    assert_good(&host);
}
