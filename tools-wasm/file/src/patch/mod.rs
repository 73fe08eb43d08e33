//! The logic of the tool `patch`, without any access to files: finding the text that is meant, working out what takes its place,
//! and showing it as a diff.
//!
//! A change is a list of [`Splice`]s of the file's text. Everything outside of them stays as it is, byte by byte: line breaks,
//! typographic characters, a byte order mark, a masked secret.

mod align;
mod diff;
mod fold;
mod indent;
mod merge;
mod near;
mod replace;
mod splice;
mod text;
mod tokens;
mod v4a;

pub(crate) use diff::{Names, diff};
pub(crate) use replace::replace;
pub(crate) use splice::{Splice, apply};
pub(crate) use v4a::{Change, Files, Planned, parse, plan};
