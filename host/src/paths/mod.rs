//! Paths that mean the same to every part of the host, as data: where keys and tokens lie ([`credentials`]) and which files other
//! programs obey without being asked ([`obeyed`]). File tools, the judge of commands and the sandbox all read these two tables.
//!
//! This module stands below all others of the crate.

pub(crate) mod credentials;
pub(crate) mod obeyed;
mod pattern;
pub(crate) mod workspace;
