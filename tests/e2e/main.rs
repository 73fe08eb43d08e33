//! End-to-end tests: the real binary, real components, the library as an embedder uses it.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod attack;
mod cli;
mod folder;
mod guest;
mod python;
mod start;
mod tree;
