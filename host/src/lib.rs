//! A runtime in which AI agents use tools that nobody has to trust.
//!
//! Every tool is a WebAssembly component. The host finds the files ([`component`]), asks each what it offers ([`registry`])
//! and runs every call in a fresh sandbox with fuel, memory and time limits ([`sandbox`]); what a tool may ask of the machine
//! is a host function behind the operator's grant ([`capability`], [`grant`]).
//!
//! ```no_run
//! use hermes_host::{CallContext, Host};
//!
//! // A program that embeds the host also compiles and launches for it: first thing, it asks whether it was started for that.
//! fn main() -> Result<(), hermes_host::HostError> {
//!     hermes_host::run_if_asked();
//!     let host = Host::builder().tools("./tools").build()?;
//!     let outcome = host.call_blocking("calculate", r#"{"expression": "2^64"}"#, CallContext::default());
//!     println!("{}", outcome.json());
//!     Ok(())
//! }
//! ```
//!
//! [`Host::call`] is the same without blocking, on any executor. The binary `hermes-host` is a thin command line on top.

pub mod approval;
pub mod audit;
pub mod capability;
pub mod component;
mod digest;
pub mod dispatch;
pub mod grant;
mod host;
mod open_file_limit;
mod paths;
mod pattern_cost;
pub mod policy;
pub mod registry;
pub mod sandbox;
pub mod serve;
mod text;
pub mod wit;

pub use dispatch::CallContext;
pub use host::{
    BUNDLED, BackgroundCompiler, Definitions, DefinitionsRequest, Host, HostBuilder, HostError, LoadEvent,
    LoadListener, NewFile, PolicyOutcome, RegisterError, ToolStatus, ToolsetStatus, WorkspaceError, default_home,
    megabytes, tokens,
};
pub use open_file_limit::raise_open_file_limit;
pub use text::is_hidden;

/// Does what this process was started for, if that is to compile a component or to run a command, and then never returns. Call it
/// first thing in `main`: the host starts its own program for both.
pub fn run_if_asked() {
    component::worker::run_if_asked();
    hermes_launch::run_if_asked();
}
