//! One call, from a name and a text to a text: look up, coerce, validate, run, bound, sanitise.
//!
//! Whatever happens, the caller gets well-formed JSON: the result, or `{"error": "…", "kind": "…"}`.

mod arguments;
mod coerce;
mod outcome;
mod reply;
mod sanitise;

pub(crate) use arguments::prepare;
pub use outcome::{CallError, ErrorKind, Outcome};
pub use reply::Reply;
