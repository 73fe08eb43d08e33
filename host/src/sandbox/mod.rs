//! Where guests run: one engine, a fresh store and instance for every call, and limits that hold wherever the guest is.
//!
//! Three things end a call that will not end by itself. Fuel stops a guest that computes. The epoch stops it too, and makes
//! it give its thread back at every tick. The outer timer drops the whole call, and so holds when the guest sits in a host
//! function. Whichever strikes, the store is gone: no state of a call is ever used again.

mod engine;
mod entry;
mod guests;
mod kill;
pub mod limits;
mod log;
mod meter;
mod places;
mod state;

use std::{
    future::Future,
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use tokio_util::sync::CancellationToken;
use wasmtime::component::{Component, Linker};
use wasmtime::{Engine, Store, UpdateDeadline};

pub use engine::Allocation;
pub(crate) use engine::for_compiling;
use entry::{Check, Entry, Handle, Register, too_large};
pub(crate) use guests::caught;
use guests::{Guests, Lost};
pub use kill::{Kill, KillReason};
pub use limits::Limits;
pub(crate) use log::{CallLog, Stream};
pub use log::{Level, LogLine, Progress};
use places::Places;
pub use state::{CallState, ProgressListener};

use crate::wit::latest::{Call, Content, Definition, Failure, ToolPre};

/// A compiled component, linked to the host functions: everything that can be done before a call is done.
#[derive(Clone)]
pub struct Prepared(ToolPre<CallState>);

impl std::fmt::Debug for Prepared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Prepared")
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
    /// Bytes of memory at the peak.
    pub memory: usize,
    /// Calls to `hermes:tool` functions.
    pub host_calls: u32,
    /// Wall clock, waiting for a place not included.
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

/// There is no place: as many calls run and wait as may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the host is busy: {CONCURRENT} calls run and {QUEUED} wait; try again later", CONCURRENT = limits::CONCURRENT_CALLS, QUEUED = limits::QUEUED_CALLS)]
pub struct Busy;

/// Runs guests.
pub struct Sandbox {
    engine: Engine,
    allocation: Allocation,
    linker: Linker<CallState>,
    guests: Guests,
    calls: Places,
    checks: Places,
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
            calls: Places::new(limits::CONCURRENT_CALLS, limits::QUEUED_CALLS),
            // As many wait as there are tools: bounded by what was loaded.
            checks: Places::new(limits::CONCURRENT_CHECKS, usize::MAX),
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

    /// Links a component. Fails where its types are not those of the interface.
    pub fn prepare(&self, component: &Component) -> wasmtime::Result<Prepared> {
        Ok(Prepared(ToolPre::new(self.linker.instantiate_pre(component)?)?))
    }

    /// Asks the component what it offers. Of its own limits only the memory counts: it may need it to start at all.
    pub async fn register(&self, guest: &Prepared, memory: usize) -> Result<Run<Vec<Definition>>, Busy> {
        self.run(&self.checks, guest, Limits { memory, ..Limits::REGISTER }, Register, Control::default()).await
    }

    /// Asks whether a tool can work here.
    pub async fn check(&self, guest: &Prepared, memory: usize, name: String) -> Result<Run<Result<(), String>>, Busy> {
        self.run(&self.checks, guest, Limits { memory, ..Limits::CHECK }, Check(name), Control::default()).await
    }

    /// Executes one call.
    pub async fn handle(
        &self,
        guest: &Prepared,
        limits: Limits,
        call: Call,
        control: Control,
    ) -> Result<Run<Result<Vec<Content>, Failure>>, Busy> {
        self.run(&self.calls, guest, limits, Handle(call), control).await
    }

    async fn run<E: Entry>(
        &self,
        places: &Places,
        guest: &Prepared,
        limits: Limits,
        entry: E,
        control: Control,
    ) -> Result<Run<E::Answer>, Busy> {
        let waited = tokio::select! {
            biased;
            place = places.take() => Some(place?),
            () = cancelled(control.cancel.as_ref()) => None,
        };
        let Some(place) = waited else {
            return Ok(Run { answer: Err(given_up()), log: Vec::new(), usage: Usage::default() });
        };
        self.entered.fetch_add(1, Ordering::Relaxed);
        let state = CallState::new(limits, control.progress);
        let log = state.log.clone();
        let start = Instant::now();
        let store = Store::new(&self.engine, state);
        let pre = guest.0.clone();
        let guest = async move {
            // In this order: when the call is dropped, its instance is gone before its place is free.
            let _place = place;
            let mut store = store;
            let answer = match configure(&mut store, &limits) {
                Ok(()) => tokio::select! {
                    biased;
                    answer = call(&pre, &mut store, entry) => answer,
                    () = tokio::time::sleep(limits.wall) => Err(state::past_deadline(&limits)),
                    () = cancelled(control.cancel.as_ref()) => Err(given_up()),
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
                duration: Duration::ZERO,
            };
            (answer, usage)
        };
        let (answer, mut usage) = match self.guests.run(guest, limits.wall + limits::GRACE).await {
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

async fn call<E: Entry>(pre: &ToolPre<CallState>, store: &mut Store<CallState>, entry: E) -> Result<E::Answer, Kill> {
    let entered = async {
        let guest = pre.instantiate_async(&mut *store).await?;
        entry.enter(&guest, store).await
    };
    entered.await.map_err(|why| Kill::from_error(&why))
}

fn given_up() -> Kill {
    Kill::new(KillReason::Cancelled, "the caller gave the call up")
}

async fn cancelled(token: Option<&CancellationToken>) {
    match token {
        Some(token) => token.cancelled().await,
        None => std::future::pending().await,
    }
}
