//! One call, from a name and a text to a text. `pipeline` is the whole way; each step is a room of its own.
//!
//! Whatever happens, the caller gets well-formed JSON: the result, or `{"error": "…", "kind": "…"}`.

use crate::{
    registry::{CHECK_TTL, FLAP_GRACE},
    sandbox::{Limits, limits::thousands},
};

mod arguments;
mod batch;
mod bound;
mod context;
mod fault;
mod guardrail;
mod hooks;
mod intercept;
mod marked;
mod outcome;
mod outside;
mod pipeline;
mod plain;
mod plan;
mod reply;
mod sanitise;
mod spill;
mod summary;
mod trail;
mod ungranted;
mod validation;

pub(crate) use arguments::{check_size, prepare};
pub use batch::{BATCH_CALLS, BATCH_WALL, BatchCall, BatchTooLarge};
pub(crate) use batch::{run as run_batch, safety};
pub use bound::Bounds;
pub(crate) use bound::{CHARS_PER_TOKEN, bound_turn};
pub use context::CallContext;
pub use guardrail::{Counts, Thresholds};
pub(crate) use guardrail::{Ended, Guardrails, reports_failure};
pub(crate) use hermes_coerce::coerce;
pub use hooks::{Hook, OnFailure};
pub(crate) use hooks::{Source as HookSource, Watcher};
pub use intercept::{Intercepted, Interceptor};
pub use outcome::{CallError, ErrorKind, Outcome};
pub(crate) use pipeline::{Incoming, Pipeline, Policy, REPORT_INTERVAL, Target};
pub use plain::ResultForm;
pub(crate) use plain::plain;
pub(crate) use plan::Safety;
use plan::plan;
pub use reply::Reply;
pub(crate) use spill::Spill;
pub(crate) use validation::Validation;

/// The table of what bounds dispatch, for the documentation, in Markdown.
pub fn limits_table() -> String {
    let seconds = |wall: std::time::Duration| format!("{} s", wall.as_secs());
    let rows = [arguments::limits(), bound::limits(), spill::limits()].concat().into_iter().chain([
        ("calls in one batch", thousands(BATCH_CALLS as u64)),
        ("calls of one batch at the same time", batch::BATCH_PARALLEL.to_string()),
        ("one batch, unless its caller says otherwise", seconds(BATCH_WALL)),
        ("answer of a hook in the embedding program", seconds(Limits::HANDLE.wall)),
        ("answer of `check` is kept", seconds(CHECK_TTL)),
        ("a tool whose check fails is still offered after its last success", seconds(FLAP_GRACE)),
    ]);
    let rows = rows.map(|(name, value)| format!("| {name} | {value} |\n"));
    format!("| limit | value |\n|---|---|\n{}", rows.collect::<String>())
}
