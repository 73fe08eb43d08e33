//! Finding files by name and searching their contents below an open folder.
//!
//! Other processes may swap folders for links while a walk runs. So everything is opened relative to a folder that is open
//! already, by one name at a time, and no symbolic link is ever followed: what lies outside can't be reached.
//!
//! ```text
//! Start ─ walk ─ sieve (hidden, ignored, globs, refused) ─ find: the names, kept in order
//!                                                       └ contents: matching lines counted, then the wanted ones given
//! ```

mod contents;
mod decode;
mod excerpt;
mod find;
mod give;
mod globs;
mod halt;
mod ignored;
mod listing;
mod open;
mod order;
mod pattern;
mod queue;
mod read;
mod records;
mod sieve;
mod skipped;
mod walk;
mod worker;

pub(crate) use self::{
    contents::search,
    find::find,
    records::{Extent, Filter, Granularity, Hit, Place, Problem, Query, Rules, Start, Step, Stop},
};

#[cfg(test)]
mod tests;
