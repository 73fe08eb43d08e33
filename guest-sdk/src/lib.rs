//! Write a tool for hermes-host: a plain function on a typed argument struct. Or a [`hook`], which watches over calls.
//!
//! ```
//! use hermes_tool::{Result, args, tool};
//!
//! #[args]
//! struct Hello {
//!     /// Who to greet.
//!     name: String,
//! }
//!
//! /// Greets a person by name.
//! #[tool]
//! fn hello(args: Hello) -> Result<String> {
//!     Ok(format!("Hello, {}!", args.name))
//! }
//!
//! hermes_tool::export!(toolset = "demo", tools = [hello]);
//! ```
//!
//! The function's name is the tool's name, its doc comment is the description that the model reads, and the struct's fields
//! with their doc comments are the JSON Schema of its arguments. The host has checked the arguments against that schema
//! before the function runs.
//!
//! - **Results**: [`Output`] lists what a tool may return: text, [`Json`], [`Content`] of every kind.
//! - **Errors**: [`Error`] has four kinds; `?` on any other error becomes [`Error::failed`].
//! - **Files** in the folders that the operator granted: [`fs`] reads, changes and searches them.
//! - **Commands** on the operator's machine: [`terminal`] runs them, or keeps them in the background.
//! - **Questions** to the person at the other end: [`ask`] puts a form before them.
//! - **Options**: `#[tool(name = "…", emoji = "…", check = path, env = ["…"], max_result_size = n, read_only, …)]`, see [`tool`].
//! - **Descriptions** that change with what the model is offered beside the tools: `describe` in [`export!`].
//! - **Tests**: [`testing::FakeHost`] calls a tool natively, in a plain `cargo test`.
//!
//! A crate that watches over the calls of others instead of offering tools is a [`hook`]:
//!
//! ```
//! use hermes_tool::hook::{Call, Verdict};
//!
//! fn no_removal(call: &Call) -> Verdict {
//!     if call.arguments.contains("rm -rf") { Verdict::block("not here") } else { Verdict::Allow }
//! }
//!
//! hermes_tool::export_hook!(tools = ["terminal"], pre = no_removal);
//! ```
//!
//! Built for wasm, the crate is a component: `cargo build --release --target wasm32-wasip2`.
//!
//! # A small component
//!
//! A tool is loaded once and mostly waits, so its size matters more than its speed: a smaller one compiles sooner at its first start. With
//! this profile the example `hello` has 97 kB. A panic ends the call either way, so that nothing needs to unwind.
//!
//! ```toml
//! [lib]
//! crate-type = ["cdylib"]
//!
//! [profile.release]
//! opt-level = "s"      # 3 for a tool that computes
//! lto = true
//! codegen-units = 1
//! panic = "abort"
//! strip = true
//! ```

pub mod ask;
// Public only because the code that the macros put into the author's crate names it.
#[doc(hidden)]
#[allow(missing_docs, unsafe_code, unreachable_pub, clippy::all)]
pub mod bindings;
mod content;
mod describer;
mod error;
mod export;
pub mod fs;
#[cfg(target_family = "wasm")]
mod heap;
pub mod hook;
pub mod log;
mod schema;
pub mod terminal;
#[cfg(not(target_family = "wasm"))]
pub mod testing;
mod tool;

pub use content::{Body, Content, Embedded, Json, Media, Output};
pub use describer::{Redescription, Surroundings};
pub use error::{Error, Result};
pub use export::context;
pub use schema::{Arguments, Schema};
pub use tool::{Context, Hints, NoArgs, Tool};

/// Marks a type that comes in as arguments, or is part of one: it can be deserialised and has a JSON Schema.
///
/// Field doc comments become the descriptions that the model reads; `Option` and `#[serde(default)]` make a field optional;
/// `#[serde(rename = "…")]` and `#[serde(rename_all = "…")]` are followed. `#[schema(minimum = 1, max_length = 20)]` on a
/// field adds JSON Schema keywords, which the host then enforces. An enum of plain names becomes a choice.
///
/// ```
/// use hermes_tool::{Result, args, tool};
///
/// #[args]
/// struct Roll {
///     /// How many dice.
///     #[schema(minimum = 1, maximum = 100)]
///     count: u32,
///     kind: Option<Kind>,
/// }
///
/// #[args]
/// #[serde(rename_all = "lowercase")]
/// enum Kind { D6, D20 }
///
/// /// Rolls dice.
/// #[tool]
/// fn roll(args: Roll) -> Result<String> {
///     Ok(format!("{} dice", args.count))
/// }
///
/// let schema = hermes_tool::testing::FakeHost::new().parameters(roll::TOOL);
/// assert_eq!(schema["required"][0], "count");
/// assert_eq!(schema["properties"]["count"]["maximum"], 100);
/// assert_eq!(schema["properties"]["kind"]["enum"][1], "d20");
/// ```
pub use hermes_tool_macros::args;
/// Marks a type that goes out inside [`Json`], or is part of one: it can be serialised and has a JSON Schema.
pub use hermes_tool_macros::output;
/// Marks a function as a tool.
///
/// | option | meaning |
/// |---|---|
/// | `name = "…"` | the tool's name, where it is not the function's |
/// | `emoji = "…"` | a picture for lists |
/// | `check = path` | a function `fn() -> Result<()>` that says whether the tool can work here |
/// | `env = ["NAME"]` | environment variables the host must have |
/// | `max_result_size = n` | the most characters of a result that make sense to a model |
/// | `read_only`, `destructive`, `idempotent`, `open_world`, `parallel_safe` | hints for the model's side |
///
/// ```
/// use hermes_tool::{Error, NoArgs, Result, tool};
///
/// /// Says what time it is on the moon.
/// #[tool(emoji = "🌙", read_only, check = moon_is_up)]
/// fn moon_time(_: NoArgs) -> Result<String> {
///     Ok("half past crater".into())
/// }
///
/// fn moon_is_up() -> Result<()> {
///     Err(Error::unavailable("the moon is below the horizon"))
/// }
/// # let host = hermes_tool::testing::FakeHost::new();
/// # assert_eq!(host.check(moon_time::TOOL), Err("the moon is below the horizon".to_owned()));
/// ```
pub use hermes_tool_macros::tool;

/// What the macros expand to. Not part of the interface.
#[doc(hidden)]
pub mod __private {
    pub use crate::describer::describe;
    pub use crate::export::Provider;
    pub use crate::schema::parameters;
    pub use crate::tool::{handle, output_of};
    pub use serde;
}
