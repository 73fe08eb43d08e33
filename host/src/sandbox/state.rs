//! What belongs to one call, and dies with it.

use std::{fmt, sync::Arc};

use wasmtime::component::ResourceTable;
use wasmtime_wasi::{
    WasiCtx, WasiCtxView,
    filesystem::{WasiFilesystemCtx, WasiFilesystemCtxView},
};

use super::{
    clock::Clock,
    kill::{Kill, KillReason},
    limits::{self, Limits},
    log::{CallLog, Progress},
    meter::{MemoryAccount, Meter},
};
use crate::capability::{Capability, Decision, OfCall, Used};

/// Hears of a call's progress while it runs. Called on the guest's thread: it must not block.
pub type ProgressListener = Arc<dyn Fn(Progress) + Send + Sync>;

/// The state of one call. A store is built around it and dropped with it: nothing survives.
pub struct CallState {
    pub(crate) log: CallLog,
    pub(crate) held: OfCall,
    /// Whether it asked WASI for its folders and was given none.
    pub(crate) lacks_folders: bool,
    /// What was decided about its commands and changes, where a decision was needed.
    pub(crate) decision: Option<Decision>,
    /// The time it has.
    pub(crate) clock: Arc<Clock>,
    pub(super) meter: Meter,
    limits: Limits,
    host_calls: u32,
    wasi_calls: u32,
    used: Used,
    wasi: Option<WasiCtx>,
    filesystem: WasiFilesystemCtx,
    table: ResourceTable,
    progress: Option<ProgressListener>,
}

impl CallState {
    pub(super) fn new(limits: Limits, held: OfCall, clock: Arc<Clock>, progress: Option<ProgressListener>) -> Self {
        let mut table = ResourceTable::new();
        table.set_max_capacity(limits::HANDLES);
        Self {
            log: CallLog::default(),
            held,
            lacks_folders: false,
            decision: None,
            clock,
            meter: Meter::new(limits.memory),
            limits,
            host_calls: 0,
            wasi_calls: 0,
            used: Used::default(),
            wasi: None,
            filesystem: WasiFilesystemCtx::default(),
            table,
            progress,
        }
    }

    /// Counts one call to a `hermes:tool` function; the one too many ends the call.
    pub(crate) fn count_host_call(&mut self, capability: Capability) -> Result<(), Kill> {
        self.used.add(capability);
        self.host_calls += 1;
        if self.host_calls > self.limits.host_calls {
            let detail = format!("the guest made more than {} calls to the host", self.limits.host_calls);
            return Err(Kill::new(KillReason::HostCallBudget, detail));
        }
        Ok(())
    }

    /// Notes what was decided about something that the call wanted, where a decision was needed.
    pub(crate) fn note(&mut self, decision: Option<Decision>) {
        self.decision = decision.map(|decision| decision.after(self.decision)).or(self.decision);
    }

    /// Notes that a capability was made use of.
    pub(crate) fn use_capability(&mut self, capability: Capability) {
        self.used.add(capability);
    }

    /// Counts one call to a WASI function. There is no way to fail from here, so [`overdue`](Self::overdue) finds it out at
    /// the next tick.
    pub(crate) fn count_wasi_call(&mut self) {
        self.used.add(Capability::Wasi);
        self.wasi_calls = self.wasi_calls.saturating_add(1);
    }

    pub(crate) fn wasi_view(&mut self) -> WasiCtxView<'_> {
        let log = &self.log;
        WasiCtxView {
            ctx: self.wasi.get_or_insert_with(|| crate::capability::wasi::context(log)),
            table: &mut self.table,
        }
    }

    /// wasmtime's part of `wasi:filesystem`: work on open files. It has no preopened directory. Not counted here: the functions
    /// that use it are.
    pub(crate) fn filesystem_view(&mut self) -> WasiFilesystemCtxView<'_> {
        WasiFilesystemCtxView { ctx: &mut self.filesystem, table: &mut self.table }
    }

    /// What copies that the host holds for the guest are charged to.
    pub(crate) fn memory(&self) -> &Arc<MemoryAccount> {
        self.meter.account()
    }

    pub(crate) fn report(&self, progress: Progress) {
        if let Some(listener) = &self.progress {
            listener(progress);
        }
    }

    /// Who hears of the call's progress.
    pub(crate) fn listener(&self) -> Option<ProgressListener> {
        self.progress.clone()
    }

    pub(super) fn host_calls(&self) -> u32 {
        self.host_calls
    }

    pub(super) fn wasi_calls(&self) -> u32 {
        self.wasi_calls
    }

    pub(super) fn used(&self) -> Used {
        self.used
    }

    /// Why the call must end now, asked at every tick.
    pub(super) fn overdue(&self) -> Option<Kill> {
        if self.wasi_calls > self.limits.wasi_calls {
            let detail = format!("the guest made more than {} WASI calls", self.limits.wasi_calls);
            return Some(Kill::new(KillReason::HostCallBudget, detail));
        }
        self.clock.left().is_none().then(|| past_deadline(&self.limits))
    }
}

/// The kill of a call whose time is up.
pub(super) fn past_deadline(limits: &Limits) -> Kill {
    let wall = limits.wall.as_secs_f64();
    Kill::at_limit(KillReason::Deadline, format!("the call took longer than {wall} s, which is its limit"))
}

impl fmt::Debug for CallState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallState").field("limits", &self.limits).finish_non_exhaustive()
    }
}
