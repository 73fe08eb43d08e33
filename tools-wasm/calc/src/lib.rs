//! Exact arithmetic, units of measure and time zones: what language models get wrong in their heads.
//!
//! Three tools in one component, and no capability: they see nothing but their arguments. This file only wires; each
//! tool is a folder with the same shape: `mod.rs` holds the arguments, the answer and the function, the other files one
//! idea each.

mod calculate;
mod convert;
mod number;
mod suggest;
mod time;

hermes_tool::export!(toolset = "calc", tools = [calculate::calculate, convert::convert_units, time::convert_time]);
