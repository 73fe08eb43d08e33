//! A guest that the tests steer: each of its tools takes a list of steps, does them one after the other in one call, and
//! answers each with `{"ok": …}` or `{"error": "kind"}`. It judges nothing: what may be done is for the host to say.

#[allow(missing_docs, unsafe_code, unreachable_pub, clippy::all)]
mod bindings;
mod commands;
mod hoard;
mod ours;
mod repeat;
mod wasi;

hermes_tool::export!(
    toolset = "probe",
    tools = [ours::ours, wasi::wasi, hoard::hoard, repeat::repeat, commands::commands]
);
