//! The one engine: what wasm may do here, where instances live, and the clock that interrupts them.

use std::thread;

use wasmtime::{Config, Engine, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig, Strategy};

use super::limits::{self, KIB};

/// Bytes of a linear memory that stay with its slot when a call ends. Giving pages back and faulting them in again is most of
/// what a small call costs; this is the memory of a small tool, its stack, its data and its heap. Every byte is written anew
/// after every call, touched or not, so more would make each call pay for what it does not use. Slots at rest hold at most
/// this much each: 20 MiB when all 80 were used.
const MEMORY_KEPT: usize = 256 * KIB;

/// Bytes of a table that stay. CPython's fits.
const TABLE_KEPT: usize = 64 * KIB;

/// How instances get their memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocation {
    /// From slots reserved at the start: fast.
    Pooling,
    /// By a mapping for each instance: works where the address space is limited.
    OnDemand,
}

impl Allocation {
    /// The name that `doctor` prints.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pooling => "pooling",
            Self::OnDemand => "on demand",
        }
    }
}

/// An engine for running guests: pooling where the address space allows it, on demand otherwise.
pub(crate) fn new() -> wasmtime::Result<(Engine, Allocation)> {
    let mut config = config();
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool()));
    if let Ok(engine) = Engine::new(&config) {
        return Ok((engine, Allocation::Pooling));
    }
    config.allocation_strategy(InstanceAllocationStrategy::OnDemand);
    Ok((Engine::new(&config)?, Allocation::OnDemand))
}

/// An engine for the compile worker, which runs nothing: the same machine code, no pool.
pub(crate) fn for_compiling() -> wasmtime::Result<Engine> {
    Engine::new(&config())
}

/// What is common to both engines. Whatever changes the machine code belongs here, or artifacts would not fit.
fn config() -> Config {
    let mut config = Config::new();
    config
        .strategy(Strategy::Cranelift)
        .cranelift_opt_level(OptLevel::Speed)
        .consume_fuel(true)
        .epoch_interruption(true)
        .max_wasm_stack(limits::STACK)
        .async_stack_size(limits::FIBER_STACK)
        .memory_init_cow(true)
        .wasm_component_model(true)
        // The adapters that wasmtime makes between composed components see the memories of both. All count against one limit.
        .wasm_multi_memory(true)
        // Proposals that no guest toolchain in reach needs are off: less code to trust.
        .wasm_memory64(false)
        .wasm_relaxed_simd(false)
        .wasm_wide_arithmetic(false)
        .wasm_custom_page_sizes(false)
        .wasm_tail_call(false)
        .wasm_extended_const(true);
    config
}

/// The slots. What a call leaves in one is gone before the next call gets it: of a memory or a table, the bytes that stay are
/// overwritten with what they are at the start, all of them and without asking which were used, and the rest is given back to the
/// kernel, which hands out zeroes or the component's own data. wasmtime can also ask the kernel for the pages that were written
/// (`pagemap_scan`) and overwrite only those. That is not done here: in wasmtime 48 a written page that was swapped out, or is
/// being moved, is missed, and the next call would read it. Stacks are not overwritten, since no guest can read
/// one: compiled code reads a slot of its frame only after it wrote it.
fn pool() -> PoolingAllocationConfig {
    let calls = (limits::CONCURRENT_CALLS + limits::CONCURRENT_CHECKS) as u32;
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(calls)
        .total_stacks(calls)
        .max_core_instances_per_component(limits::CORE_INSTANCES as u32)
        .total_core_instances(calls * limits::CORE_INSTANCES as u32)
        .max_memories_per_component(limits::MEMORIES as u32)
        .max_memories_per_module(limits::MEMORIES as u32)
        .total_memories(calls * limits::MEMORIES as u32)
        .max_memory_size(limits::MEMORY_CEILING)
        .max_tables_per_component(limits::TABLES as u32)
        .max_tables_per_module(limits::TABLES as u32)
        .total_tables(calls * limits::TABLES as u32)
        .table_elements(limits::TABLE_ELEMENTS)
        .max_unused_warm_slots(calls)
        .linear_memory_keep_resident(MEMORY_KEPT)
        .table_keep_resident(TABLE_KEPT);
    pool
}

/// Moves the epoch on for as long as the engine lives. One for all calls: each store has its own deadline in it.
pub(crate) fn start_ticker(engine: &Engine) -> std::io::Result<()> {
    let engine = engine.weak();
    thread::Builder::new().name("hermes-epoch".into()).spawn(move || {
        while let Some(engine) = engine.upgrade() {
            engine.increment_epoch();
            drop(engine);
            thread::sleep(limits::TICK);
        }
    })?;
    Ok(())
}
