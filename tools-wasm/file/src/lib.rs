//! Files in the granted folders: reading, writing and searching them.
//!
//! Every tool is a folder with the same shape: `mod.rs` holds the arguments, the answer and the function, the other files one
//! idea each. What more than one tool needs stands beside them. What may be touched is not decided here: the host refuses.

mod cut;
mod missing;
mod read;
mod search;
mod syntax;
mod workspace;
mod write;

hermes_tool::export!(toolset = "file", tools = [read::read_file, write::write_file, search::search_files]);
