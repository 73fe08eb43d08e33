//! Files in the granted folders: reading, writing, patching and searching them.
//!
//! Every tool is a folder with the same shape: `mod.rs` holds the arguments, the answer and the function, the other files one
//! idea each; `patching` is the tool `patch`, and `patch` its logic. What more than one tool needs stands beside them. What may be
//! touched is not decided here: the host refuses.

mod cut;
mod missing;
mod patch;
mod patching;
mod read;
mod search;
mod syntax;
mod workspace;
mod write;

hermes_tool::export!(
    toolset = "file",
    tools = [read::read_file, write::write_file, patching::patch, search::search_files]
);
