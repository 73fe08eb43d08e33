//! Where guests run: one engine, a fresh store and instance for every call, and limits that hold wherever the guest is.
//!
//! Three things end a call that will not end by itself. Fuel stops a guest that computes. The epoch stops it too, and makes
//! it give its thread back at every tick. The outer timer drops the whole call, and so holds when the guest sits in a host
//! function. Whichever strikes, the store is gone: no state of a call is ever used again.

mod clock;
mod concurrency;
mod engine;
mod entry;
mod guests;
mod kill;
pub mod limits;
mod log;
mod meter;
mod remedy;
mod signals;
mod state;

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use tokio_util::sync::CancellationToken;
use wasmtime::component::{Component, Linker};
use wasmtime::{Engine, Store, UpdateDeadline};

use clock::Clock;
use concurrency::{ComponentId, ConcurrencyLimit};
pub use engine::Allocation;
pub(crate) use engine::for_compiling;
use entry::{
    Check, Describe, Entry, Handle, PostToolCall, PreToolCall, Register, Subscribe, TransformToolResult, too_large,
};
pub(crate) use guests::caught;
use guests::{Guests, Lost};
pub(crate) use kill::is_out_of_memory;
pub use kill::{Kill, KillReason};
pub use limits::Limits;
pub(crate) use log::{CallLog, Stream};
pub use log::{Level, LogLine, Progress};
pub(crate) use meter::{MemoryAccount, MemoryCharge};
pub(crate) use remedy::raise_memory;
pub use state::{CallState, ProgressListener};

use crate::capability::{Decision, Granted, OfCall, Used};
use crate::wit::{
    DESCRIBER, PACKAGE,
    latest::{
        Call, Content, Definition, DescribesPre, Failure, HookPre, Outcome, Redescription, Subscription, Surroundings,
        ToolPre, Verdict,
    },
};

/// A component of tools, linked to the host functions: everything that can be done before a call is done.
#[derive(Clone)]
pub struct PreparedTools {
    id: ComponentId,
    tools: ToolPre<CallState>,
    describer: Option<DescribesPre<CallState>>,
}

/// A hook, linked.
#[derive(Clone)]
pub struct PreparedHook {
    id: ComponentId,
    hook: HookPre<CallState>,
}

impl std::fmt::Debug for PreparedTools {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PreparedTools")
    }
}

impl std::fmt::Debug for PreparedHook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PreparedHook")
    }
}

/// The end of one run of a guest.
#[derive(Debug)]
pub struct Run<T> {
    /// The guest's answer, or why the host ended the run.
    pub answer: Result<T, Kill>,
    /// What the guest logged.
    pub log: Vec<LogLine>,
    /// What it used.
    pub usage: Usage,
}

/// What one run used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Fuel.
    pub fuel: u64,
    /// Bytes of memory at the peak: the guest's memories, and what the host held in memory for it.
    pub memory: usize,
    /// Calls to `hermes:tool` functions.
    pub host_calls: u32,
    /// Calls to WASI functions. One that answers an error counts twice: the error is converted in a second step.
    pub wasi_calls: u32,
    /// Which capabilities it made use of.
    pub capabilities: Used,
    /// Whether it asked WASI for its folders and was given none.
    pub lacks_folders: bool,
    /// What was decided about its commands and changes, where a decision was needed.
    pub decision: Option<Decision>,
    /// Wall clock, waiting for a permit not included.
    pub duration: Duration,
}

/// What a caller may attach to a run.
#[derive(Clone, Default)]
pub struct Control {
    /// Ends the run when cancelled.
    pub cancel: Option<CancellationToken>,
    /// Hears of progress.
    pub progress: Option<ProgressListener>,
}

impl Control {
    /// Tells of progress, where the caller wants to hear of it.
    pub(crate) fn report(&self, progress: Progress) {
        if let Some(listener) = &self.progress {
            listener(progress);
        }
    }

    /// Waits until the caller gives the call up; for ever, where it can't.
    pub(crate) async fn cancelled(&self) {
        match &self.cancel {
            Some(token) => token.cancelled().await,
            None => std::future::pending().await,
        }
    }
}

/// There is no permit: as many calls of this component, or of all, run and wait as may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the host is busy: as many calls of this tool's component run and wait as may; try again later")]
pub struct Busy;

/// Runs guests.
pub struct Sandbox {
    engine: Engine,
    allocation: Allocation,
    linker: Linker<CallState>,
    guests: Guests,
    calls: ConcurrencyLimit,
    checks: ConcurrencyLimit,
    entered: AtomicUsize,
}

impl std::fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sandbox").field("allocation", &self.allocation).finish_non_exhaustive()
    }
}

impl Sandbox {
    /// An engine, its clock, its threads and its host functions.
    pub fn new() -> wasmtime::Result<Self> {
        let (engine, allocation) = engine::new()?;
        engine::start_ticker(&engine)?;
        let mut linker = Linker::new(&engine);
        crate::capability::link(&mut linker)?;
        Ok(Self {
            engine,
            allocation,
            linker,
            guests: Guests::new()?,
            calls: ConcurrencyLimit::new(limits::CONCURRENT_CALLS, limits::QUEUED_CALLS),
            // As many wait as there are tools: bounded by what was loaded.
            checks: ConcurrencyLimit::new(limits::CONCURRENT_CHECKS, usize::MAX),
            entered: AtomicUsize::new(0),
        })
    }

    /// The engine that artifacts must fit.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// How instances get their memory here.
    pub fn allocation(&self) -> Allocation {
        self.allocation
    }

    /// How many instances were made so far.
    pub fn instances_made(&self) -> usize {
        self.entered.load(Ordering::Relaxed)
    }

    /// How many calls run now.
    pub fn calls_running(&self) -> usize {
        limits::CONCURRENT_CALLS.saturating_sub(self.calls.free())
    }

    /// How many calls wait for a permit.
    pub fn calls_waiting(&self) -> usize {
        self.calls.waiting()
    }

    /// Links a component of tools. Fails where its types are not those of the interface.
    pub fn prepare_tools(&self, component: &Component) -> wasmtime::Result<PreparedTools> {
        let pre = self.linker.instantiate_pre(component)?;
        let exported = |name: &str| name.split('@').next() == Some(&*format!("{PACKAGE}/{DESCRIBER}"));
        let describes = component.component_type().exports(&self.engine).any(|(name, _)| exported(name));
        let describer = describes.then(|| DescribesPre::new(pre.clone())).transpose()?;
        Ok(PreparedTools { id: ComponentId::new(), tools: ToolPre::new(pre)?, describer })
    }

    /// Links a hook.
    pub fn prepare_hook(&self, component: &Component) -> wasmtime::Result<PreparedHook> {
        Ok(PreparedHook { id: ComponentId::new(), hook: HookPre::new(self.linker.instantiate_pre(component)?)? })
    }

    /// Asks a component what it offers. Of its own limits only the memory counts: it may need it to start at all.
    pub async fn register(&self, guest: &PreparedTools, memory: usize) -> Result<Run<Vec<Definition>>, Busy> {
        let limits = Limits { memory, ..Limits::REGISTER };
        self.run((&self.checks, guest.id), &guest.tools, limits, OfCall::default(), Register, Control::default()).await
    }

    /// Asks whether a tool can work here.
    pub async fn check(
        &self,
        guest: &PreparedTools,
        memory: usize,
        granted: &Granted,
        name: String,
    ) -> Result<Run<Result<(), String>>, Busy> {
        let limits = Limits { memory, ..Limits::CHECK };
        self.run((&self.checks, guest.id), &guest.tools, limits, granted.for_check(), Check(name), Control::default())
            .await
    }

    /// Asks a component to describe its tools for these surroundings. Nothing where it can't.
    pub async fn describe(
        &self,
        guest: &PreparedTools,
        memory: usize,
        surroundings: Surroundings,
    ) -> Option<Result<Run<Vec<Redescription>>, Busy>> {
        let limits = Limits { memory, ..Limits::REGISTER };
        let entry = Describe(surroundings);
        Some(
            self.run(
                (&self.checks, guest.id),
                guest.describer.as_ref()?,
                limits,
                OfCall::default(),
                entry,
                Control::default(),
            )
            .await,
        )
    }

    /// Executes one call.
    pub async fn handle(
        &self,
        guest: &PreparedTools,
        limits: Limits,
        granted: &Granted,
        call: Call,
        control: Control,
    ) -> Result<Run<Result<Vec<Content>, Failure>>, Busy> {
        let held = granted.for_call(&call);
        self.run((&self.calls, guest.id), &guest.tools, limits, held, Handle(call), control).await
    }

    /// Asks a hook what it wants to be asked about.
    pub async fn subscribe(&self, guest: &PreparedHook, memory: usize) -> Result<Run<Subscription>, Busy> {
        let limits = Limits { memory, ..Limits::REGISTER };
        self.run((&self.checks, guest.id), &guest.hook, limits, OfCall::default(), Subscribe, Control::default()).await
    }

    /// Asks a hook whether a call may run.
    pub async fn pre_tool_call(
        &self,
        guest: &PreparedHook,
        limits: Limits,
        call: Call,
        control: Control,
    ) -> Result<Run<Verdict>, Busy> {
        self.run((&self.calls, guest.id), &guest.hook, limits, OfCall::default(), PreToolCall(call), control).await
    }

    /// Tells a hook how a call ended.
    pub async fn post_tool_call(
        &self,
        guest: &PreparedHook,
        limits: Limits,
        call: Call,
        outcome: Outcome,
        control: Control,
    ) -> Result<Run<()>, Busy> {
        self.run((&self.calls, guest.id), &guest.hook, limits, OfCall::default(), PostToolCall(call, outcome), control)
            .await
    }

    /// Asks a hook for another outcome.
    pub async fn transform_tool_result(
        &self,
        guest: &PreparedHook,
        limits: Limits,
        call: Call,
        outcome: Outcome,
        control: Control,
    ) -> Result<Run<Option<Outcome>>, Busy> {
        self.run(
            (&self.calls, guest.id),
            &guest.hook,
            limits,
            OfCall::default(),
            TransformToolResult(call, outcome),
            control,
        )
        .await
    }

    async fn run<E: Entry>(
        &self,
        (limit, component): (&ConcurrencyLimit, ComponentId),
        pre: &E::Pre,
        limits: Limits,
        held: OfCall,
        entry: E,
        control: Control,
    ) -> Result<Run<E::Answer>, Busy> {
        let waited = tokio::select! {
            biased;
            permit = limit.take(component) => Some(permit?),
            () = control.cancelled() => None,
        };
        // A token that was cancelled before is seen here: the guest would run its first slice otherwise.
        let given_up_already = control.cancel.as_ref().is_some_and(CancellationToken::is_cancelled);
        let Some(permit) = waited.filter(|_| !given_up_already) else {
            return Ok(Run { answer: Err(given_up()), log: Vec::new(), usage: Usage::default() });
        };
        self.entered.fetch_add(1, Ordering::Relaxed);
        let clock = Arc::new(Clock::new(limits.wall));
        let state = CallState::new(limits, held, Arc::clone(&clock), control.progress.clone());
        let its_clock = Arc::clone(&clock);
        let log = state.log.clone();
        let start = Instant::now();
        let store = Store::new(&self.engine, state);
        let pre = pre.clone();
        let guest = async move {
            // In this order: when the call is dropped, its instance is gone before its permit is free.
            let _permit = permit;
            let mut store = store;
            let answer = match configure(&mut store, &limits) {
                Ok(()) => tokio::select! {
                    biased;
                    answer = entry.enter(&pre, &mut store) => answer.map_err(|why| ended(&why, &limits)),
                    () = its_clock.run_out(Duration::ZERO, tokio::time::sleep) => Err(state::past_deadline(&limits)),
                    () = control.cancelled() => Err(given_up()),
                },
                Err(why) => Err(Kill::from_error(&why)),
            };
            let answer = answer.and_then(|answer| match E::size(&answer) {
                size if size > limits.result => Err(too_large(size, &limits)),
                _ => Ok(answer),
            });
            let usage = Usage {
                fuel: limits.fuel.saturating_sub(store.get_fuel().unwrap_or_default()),
                memory: store.data().meter.peak(),
                host_calls: store.data().host_calls(),
                wasi_calls: store.data().wasi_calls(),
                capabilities: store.data().used(),
                lacks_folders: store.data().lacks_folders,
                decision: store.data().decision,
                duration: Duration::ZERO,
            };
            (answer, usage)
        };
        let (answer, mut usage) = match self.guests.run(guest, &clock, limits::GRACE).await {
            Ok(finished) => finished,
            Err(Lost::Late) => (Err(state::past_deadline(&limits)), Usage::default()),
            Err(Lost::Panic(why)) => (Err(Kill::new(KillReason::HostPanic, why)), Usage::default()),
        };
        usage.duration = start.elapsed();
        Ok(Run { answer, log: log.take(), usage })
    }

    /// Runs work that blocks without holding up the caller's executor.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, String> {
        self.guests.blocking(work).await
    }

    /// Runs a future that needs a runtime for its timers and tasks, on any executor.
    pub(crate) async fn entered<T>(&self, future: impl Future<Output = T>) -> T {
        self.guests.entered(future).await
    }

    /// The future's result, if it comes in time. Works on any executor.
    pub(crate) async fn within<T>(&self, time: Duration, future: impl Future<Output = T>) -> Option<T> {
        let late = self.guests.sleep(time);
        tokio::select! {
            biased;
            result = future => Some(result),
            () = late => None,
        }
    }
}

/// Puts every limit on a store. Nothing else builds stores, so no guest runs without them.
fn configure(store: &mut Store<CallState>, limits: &Limits) -> wasmtime::Result<()> {
    store.limiter(|state| &mut state.meter);
    store.set_fuel(limits.fuel)?;
    store.set_hostcall_fuel(limits.hostcall_bytes());
    store.epoch_deadline_callback(|store| match store.data().overdue() {
        Some(kill) => Err(kill.into()),
        None => Ok(UpdateDeadline::Yield(1)),
    });
    store.set_epoch_deadline(1);
    Ok(())
}

/// Why wasmtime ended a run. It does not name the limit that was reached.
fn ended(why: &wasmtime::Error, limits: &Limits) -> Kill {
    let kill = Kill::from_error(why);
    match kill.reason {
        KillReason::OutOfFuel => {
            let fuel = limits::thousands(limits.fuel);
            Kill::at_limit(KillReason::OutOfFuel, format!("it used up its fuel; its limit is {fuel}"))
        }
        _ => kill,
    }
}

pub(crate) fn given_up() -> Kill {
    Kill::new(KillReason::Cancelled, "the caller gave the call up")
}
