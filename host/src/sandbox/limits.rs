//! Every limit of a call: a named constant, its reason above it. The table in SECURITY.md is generated from [`table`].

use std::time::Duration;

/// One kibibyte.
pub const KIB: usize = 1 << 10;
/// One mebibyte.
pub const MIB: usize = 1 << 20;

/// What one run of a guest may use. There is no default: whoever runs a guest says which limits hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Instructions, roughly: one unit of wasmtime's fuel for most of them.
    pub fuel: u64,
    /// From the moment the call gets its permit to its end, host calls included.
    pub wall: Duration,
    /// Bytes of all linear memories together.
    pub memory: usize,
    /// Calls to `hermes:tool` functions.
    pub host_calls: u32,
    /// Calls to WASI functions.
    pub wasi_calls: u32,
    /// Bytes of the answer.
    pub result: usize,
    /// Characters of it that a model is shown, where the operator set them: the rest goes to a file.
    pub shown: Option<usize>,
}

impl Limits {
    /// `handle`. Fuel: bounds runaway work, not ordinary work. Measured on one core: 3e9 to 9e9 units a second in JavaScript (componentize-js),
    /// 2e9 to 4e9 in Python (componentize-py), so what uses this up in 30 s is rare, and the wall clock is what usually ends a call. It
    /// still ends a guest whose clock stands still. A busy guest gives its thread back at every tick meanwhile. Wall clock: what an agent waits for a tool before it looks broken. Memory: a CPython built
    /// by componentize-py starts in under 40 MiB. Host calls: a tool that reads a few thousand files fits, one that logs
    /// without end does not. Result: forty times what a model is ever shown. Attacks 1, 5, 8, 13, 19.
    pub const HANDLE: Self = Self {
        fuel: 500_000_000_000,
        wall: Duration::from_secs(30),
        memory: 64 * MIB,
        host_calls: 10_000,
        wasi_calls: 100_000,
        result: 4 * MIB,
        shown: None,
    };

    /// The points of a hook. It runs at every call that it covers, so an endless loop must end long before the wall clock: about half a
    /// second of busy work on one core.
    pub const HOOK: Self = Self { fuel: 2_000_000_000, ..Self::HANDLE };

    /// `check`. It runs while somebody waits for a list, so it is small. Attack 2.
    pub const CHECK: Self = Self {
        fuel: 50_000_000,
        wall: Duration::from_secs(1),
        host_calls: 100,
        wasi_calls: 10_000,
        result: 4 * KIB,
        ..Self::HANDLE
    };

    /// `register`. It depends on nothing but the component, so it may ask the host for nothing. Attack 4.
    pub const REGISTER: Self = Self {
        fuel: 100_000_000,
        wall: Duration::from_secs(1),
        host_calls: 0,
        wasi_calls: 10_000,
        result: MIB,
        ..Self::HANDLE
    };

    /// Data the host copies out of the guest in one host call or for one result: wasmtime's hostcall fuel. A little more than
    /// the result, so that a result that is just too large is measured and named as such. Without it, a list whose elements
    /// all alias one buffer makes the host copy far more than the guest's memory holds. Attacks 19, 20.
    pub const fn hostcall_bytes(&self) -> usize {
        self.result + 64 * KIB
    }
}

/// How often the epoch moves on. A busy guest gives its thread back this often, and no deadline is missed by more. Lower
/// costs wake-ups while idle, higher makes neighbours wait. Attacks 1, 12.
pub const TICK: Duration = Duration::from_millis(10);

/// How long after the wall clock the caller is answered even if the guest could not be asked to stop, because all threads were
/// busy with others. The guest is dropped as soon as one is free. Attack 11.
pub const GRACE: Duration = Duration::from_millis(50);

/// Memories one call may have. A component made from several modules shares one or two; the sum of their sizes is bounded
/// separately. Attack 14.
pub const MEMORIES: usize = 16;

/// Tables one call may have. componentize-py makes two. Attack 16.
pub const TABLES: usize = 32;

/// Elements in one table. CPython's function table has about 6,000. Attack 16.
pub const TABLE_ELEMENTS: usize = 100_000;

/// Core instances one call may have. componentize-py makes 14. Attack 17.
pub const CORE_INSTANCES: usize = 64;

/// Resource handles (streams, pollables, descriptors) one call may hold at a time. Attack 18.
pub const HANDLES: usize = 1_000;

/// Random bytes in one WASI request. Seeds and keys need less than a hundred. Attack 22.
pub const RANDOM_BYTES: u64 = 64 * KIB as u64;

/// Guest stack. Deep enough for a recursive parser, and a runaway recursion ends in milliseconds. Attack 24.
pub const STACK: usize = MIB;

/// The fiber that a call runs on: the guest's stack and what host functions need on top. Attack 24.
pub const FIBER_STACK: usize = 2 * MIB;

/// Log bytes kept of one call, guest stdout and stderr included. What is over is counted and dropped. Attacks 8, 19.
pub const LOG_BYTES: usize = 64 * KIB;

/// Lines kept of one call's log: empty ones cost memory too. Attack 8.
pub const LOG_LINES: usize = 1_000;

/// Bytes of one log line. A longer one is cut with a mark.
pub const LOG_LINE_BYTES: usize = 4 * KIB;

/// Calls that run at the same time. Each may hold its memory limit, so this also bounds what guests take of the machine:
/// 64 times 64 MiB. Attack 11.
pub const CONCURRENT_CALLS: usize = 64;

/// Calls of one component that run at the same time, where no other component has any. It gets one more only while it holds fewer
/// permits than are free, so that another component's call is served at once; with others there are fewer. Lower, and a host with one
/// busy tool leaves the machine idle; higher, and slow calls of one tool keep every other from running. Attack 62.
pub const COMPONENT_CALLS: usize = CONCURRENT_CALLS / 2;

/// Calls that wait for a permit, shared by the same rule: half of them for one component. One more is refused at once as `busy`: a queue that grows without end only hides an overload.
/// Attack 11.
pub const QUEUED_CALLS: usize = 256;

/// Runs of `check` and `register` at the same time, half of them for one component. They have permits of their own: tools that are slow to say whether they work
/// must not keep others from working. Attack 2.
pub const CONCURRENT_CHECKS: usize = 16;

/// How long a list of tools waits for their checks. Whoever has not answered by then is listed as unavailable. Attack 2.
pub const CATALOGUE_WALL: Duration = Duration::from_secs(3);

/// The largest memory an operator can give a component. The pool reserves address space for it.
pub const MEMORY_CEILING: usize = 1024 * MIB;

/// The longest wall clock an operator can give a component.
pub const WALL_CEILING: Duration = Duration::from_secs(600);

/// The tables of limits for the documentation, in Markdown.
pub fn table() -> String {
    let per_run = [("handle", Limits::HANDLE), ("check", Limits::CHECK), ("register", Limits::REGISTER)];
    let row = |name: &str, value: &dyn Fn(&Limits) -> String| {
        let cells: Vec<String> = per_run.iter().map(|(_, limits)| value(limits)).collect();
        format!("| {name} | {} |\n", cells.join(" | "))
    };
    let mut text = String::from("| limit | handle | check | register |\n|---|---|---|---|\n");
    text += &row("fuel", &|l| thousands(l.fuel));
    text += &row("wall clock", &|l| format!("{} s", l.wall.as_secs()));
    text += &row("memory, all memories together", &|l| bytes(l.memory));
    text += &row("host calls", &|l| thousands(l.host_calls.into()));
    text += &row("WASI calls", &|l| thousands(l.wasi_calls.into()));
    text += &row("result", &|l| bytes(l.result));
    text += &row("data copied in one host call", &|l| bytes(l.hostcall_bytes()));
    text += "\n| limit | value |\n|---|---|\n";
    let count = |n: usize| thousands(n as u64);
    for (name, value) in [
        ("memories of one call", count(MEMORIES)),
        ("tables of one call", count(TABLES)),
        ("elements of one table", count(TABLE_ELEMENTS)),
        ("core instances of one call", count(CORE_INSTANCES)),
        ("resource handles of one call", count(HANDLES)),
        ("random bytes in one request", bytes(RANDOM_BYTES as usize)),
        ("guest stack", bytes(STACK)),
        ("log of one call", bytes(LOG_BYTES)),
        ("lines in that log", count(LOG_LINES)),
        ("one log line", bytes(LOG_LINE_BYTES)),
        ("calls at the same time", count(CONCURRENT_CALLS)),
        ("of these, calls of one component, at most", count(COMPONENT_CALLS)),
        ("calls waiting for a permit", count(QUEUED_CALLS)),
        ("of these, calls of one component, at most", count(QUEUED_CALLS / 2)),
        ("checks at the same time", count(CONCURRENT_CHECKS)),
        ("all checks for one list", format!("{} s", CATALOGUE_WALL.as_secs())),
        ("epoch tick", format!("{} ms", TICK.as_millis())),
        ("memory, most an operator can give", bytes(MEMORY_CEILING)),
        ("wall clock, most an operator can give", format!("{} s", WALL_CEILING.as_secs())),
    ] {
        text += &format!("| {name} | {value} |\n");
    }
    text
}

pub(crate) fn bytes(n: usize) -> String {
    if n > 0 && n.is_multiple_of(1024 * MIB) {
        return format!("{} GiB", n / (1024 * MIB));
    }
    if n.is_multiple_of(MIB) { format!("{} MiB", n / MIB) } else { format!("{} KiB", n / KIB) }
}

pub(crate) fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
