//! End-to-end tests: the real binary, real components, the library as an embedder uses it.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod approvals;
mod attack;
mod audit;
mod batch;
mod cli;
mod compiled;
mod definitions;
mod differential;
mod files;
mod folder;
mod grants;
mod guardrails;
mod guest;
mod heap;
mod intercept;
mod patience;
mod policy;
mod python;
mod registry;
mod results;
mod serve;
mod start;
mod terminal;
mod toolsets;
mod tree;
