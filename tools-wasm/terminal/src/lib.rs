//! Commands on the operator's machine: run to their end, or kept in the background.
//!
//! Each tool is a folder: `mod.rs` holds the arguments, the answer and the function, the other files one idea each. What both
//! need stands beside them. What may be run is not decided here: the host judges every command, and refuses.

mod available;
mod notices;
mod plain;
mod process;
mod run;

hermes_tool::export!(toolset = "terminal", tools = [run::terminal, process::process]);
