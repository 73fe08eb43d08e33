//! One call, from a name and a text to a text. [`pipeline`] is the whole way; each step is a room of its own.
//!
//! Whatever happens, the caller gets well-formed JSON: the result, or `{"error": "…", "kind": "…"}`.

mod approval;
mod arguments;
mod batch;
mod bound;
mod coerce;
mod context;
mod fault;
mod guardrail;
mod hooks;
mod intercept;
mod marked;
mod numeral;
mod outcome;
mod outside;
mod pipeline;
mod plan;
mod reply;
mod sanitise;
mod spill;

pub use approval::{ApprovalRequest, Approver, Decision, Nobody};
pub use batch::{BATCH_CALLS, BATCH_WALL, BatchCall, BatchTooLarge};
pub(crate) use batch::{run as run_batch, safety};
pub use bound::Bounds;
pub(crate) use bound::{CHARS_PER_TOKEN, bound_turn};
pub(crate) use coerce::coerce;
pub use context::CallContext;
pub use guardrail::{Counts, Thresholds};
pub(crate) use guardrail::{Ended, Guardrails, reports_failure};
pub use hooks::{Hook, OnFailure};
pub(crate) use hooks::{Source as HookSource, Watcher};
pub use intercept::{Intercepted, Interceptor};
pub use outcome::{CallError, ErrorKind, Outcome};
pub(crate) use pipeline::{Incoming, Pipeline, Policy, Target};
pub(crate) use plan::{Safety, normalise, plan};
pub use reply::Reply;
pub(crate) use spill::Spill;
