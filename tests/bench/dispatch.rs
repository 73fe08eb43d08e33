//! What the host costs on top of wasmtime, and how fast it starts. Both sides are measured in one run, in turns, so that a
//! noisy machine disturbs them alike; ratios are what counts. Exits with 1 when a bound is missed.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

#[path = "../e2e/guest.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod guest;

use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, ExitCode, Stdio},
    time::{Duration, Instant},
};

use hermes_host::{
    CallContext, Host,
    component::{CompileLimits, Compiler},
    sandbox::{Limits, Sandbox},
    wit::latest::{Call, Context, ToolPre, log},
};
use wasmtime::component::{Component, HasSelf, Linker};
use wasmtime::{Store, StoreLimits, StoreLimitsBuilder};

/// The most that dispatch may cost, as a multiple of raw wasmtime.
const MOST_OVERHEAD: f64 = 1.5;

/// The longest that a start with 50 cached components may take.
const LONGEST_START: Duration = Duration::from_millis(60);

const ROUNDS: usize = 40;
const CALLS_A_ROUND: usize = 250;
const STARTS: usize = 15;

const BINARY: &str = env!("CARGO_BIN_EXE_hermes-host");

/// The allocator of the binary, for all sides that are measured.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
const ARGUMENTS: &str = r#"{"name":"Ada"}"#;

fn main() -> ExitCode {
    let overhead = dispatch();
    let start = start();
    let mut good = true;
    for (what, ok) in [("dispatch / raw", overhead <= MOST_OVERHEAD), ("start", start <= LONGEST_START)] {
        if !ok {
            println!("MISSED: {what}");
            good = false;
        }
    }
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A trivial tool through the whole pipeline, beside wasmtime alone with the same engine, guest and kinds of limits.
fn dispatch() -> f64 {
    let bytes = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/examples/hello.wasm"))
        .expect("target/examples/hello.wasm: run make tools");
    let place = tempfile::tempdir().unwrap();
    let tools = place.path().join("tools");
    fs::create_dir(&tools).unwrap();
    fs::write(tools.join("hello.wasm"), &bytes).unwrap();
    let worker = Compiler::Worker(BINARY.into(), CompileLimits::STANDARD);
    let host = Host::builder().home(place.path().join("home")).tools(&tools).without_bundled().compiler(worker).build();
    let host = host.unwrap();
    let raw = Raw::new(host.sandbox(), &bytes);

    let through_host =
        || assert_eq!(host.call_blocking("hello", ARGUMENTS, CallContext::default()).json(), "\"Hello, Ada!\"");
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        theirs.push(time(|| raw.call()));
        ours.push(time(through_host));
    }
    let (ours, theirs) = (median(ours), median(theirs));
    let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
    println!("dispatch          {:>9.1} µs a call", ours.as_secs_f64() * 1e6);
    println!("raw wasmtime      {:>9.1} µs a call", theirs.as_secs_f64() * 1e6);
    println!("dispatch / raw    {ratio:>9.2}    (at most {MOST_OVERHEAD})");
    ratio
}

fn time(mut call: impl FnMut()) -> Duration {
    let start = Instant::now();
    for _ in 0..CALLS_A_ROUND {
        call();
    }
    start.elapsed() / CALLS_A_ROUND as u32
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// wasmtime as one would use it by hand: a fresh store with fuel, epoch and memory limits, a fresh instance, one call.
struct Raw<'a> {
    sandbox: &'a Sandbox,
    pre: ToolPre<State>,
}

struct State(StoreLimits);

impl log::Host for State {
    fn log(&mut self, _: log::Level, _: String) -> wasmtime::Result<()> {
        Ok(())
    }
    fn progress(&mut self, _: u64, _: Option<u64>, _: Option<String>) -> wasmtime::Result<()> {
        Ok(())
    }
}

impl<'a> Raw<'a> {
    fn new(sandbox: &'a Sandbox, bytes: &[u8]) -> Self {
        let component = Component::new(sandbox.engine(), bytes).unwrap();
        let mut linker = Linker::new(sandbox.engine());
        log::add_to_linker::<_, HasSelf<State>>(&mut linker, |state| state).unwrap();
        Self { sandbox, pre: ToolPre::new(linker.instantiate_pre(&component).unwrap()).unwrap() }
    }

    fn call(&self) {
        let limits = StoreLimitsBuilder::new().memory_size(Limits::HANDLE.memory).build();
        let mut store = Store::new(self.sandbox.engine(), State(limits));
        store.limiter(|state| &mut state.0);
        store.set_fuel(Limits::HANDLE.fuel).unwrap();
        store.set_hostcall_fuel(Limits::HANDLE.hostcall_bytes());
        store.epoch_deadline_async_yield_and_update(1);
        store.set_epoch_deadline(1);
        let call = Call {
            name: "hello".into(),
            arguments: ARGUMENTS.into(),
            context: Context { call_id: "1".into(), task_id: None, session_id: None },
        };
        let content = pollster::block_on(async {
            let guest = self.pre.instantiate_async(&mut store).await?;
            guest.hermes_tool_provider().call_handle(&mut store, &call).await
        });
        assert_eq!(content.unwrap().unwrap().len(), 1);
    }
}

/// From the start of the process to the line that says it is ready, with 50 components that were compiled before.
fn start() -> Duration {
    let place = tempfile::tempdir().unwrap();
    let tools = place.path().join("tools");
    fs::create_dir(&tools).unwrap();
    for n in 0..50 {
        fs::write(tools.join(format!("tool{n}.wasm")), guest::good(&format!("tool{n}"))).unwrap();
    }
    let run = || ready(&tools, &place.path().join("home"));
    run();
    let times: Vec<Duration> = (0..STARTS).map(|_| run()).collect();
    let null: Vec<Duration> = (0..STARTS).map(|_| process_alone()).collect();
    let (typical, null) = (median(times), median(null));
    println!(
        "start, 50 cached  {:>9.1} ms to ready (at most {})",
        typical.as_secs_f64() * 1e3,
        LONGEST_START.as_millis()
    );
    println!("process alone     {:>9.1} ms (hermes-host --version)", null.as_secs_f64() * 1e3);
    println!("start / process   {:>9.2}", typical.as_secs_f64() / null.as_secs_f64());
    typical
}

fn ready(tools: &Path, home: &Path) -> Duration {
    let start = Instant::now();
    let mut child = Command::new(BINARY)
        .arg("run")
        .arg("--tools")
        .arg(tools)
        .arg("--home")
        .arg(home)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    while !lines.next().unwrap().unwrap().starts_with("Ready") {}
    let time = start.elapsed();
    child.kill().unwrap();
    child.wait().unwrap();
    time
}

fn process_alone() -> Duration {
    let start = Instant::now();
    Command::new(BINARY).arg("--version").output().unwrap();
    start.elapsed()
}
