//! `hermes:tool/filesystem`: files in the folders that the operator granted, and nothing else.
//!
//! The way of a path: its text becomes one from the root ([`folders`]), which must lie in a granted folder; from that folder's handle
//! it is opened without following any link ([`beneath`]), after its name was judged ([`sensitive`]); what is open must be a
//! regular file ([`open`]). Only then does an operation see it: one file for each. WASI's files take the same way
//! ([`wasi`]).
//!
//! Nothing else in the host touches files on behalf of a guest.

mod beneath;
mod budget;
mod commit;
mod decider;
mod fault;
mod folders;
mod host;
pub(crate) mod limits;
mod lines;
mod list;
mod look;
mod memory;
mod open;
mod permit;
mod read;
mod real;
mod search;
mod secrets;
mod sensitive;
mod stat;
mod turns;
mod wasi;

use std::sync::Arc;

pub(crate) use decider::{ChangeCaller, ChangeDecider, PlannedChanges};
pub(crate) use folders::{Folder, Folders, Own, Shared};
pub(super) use host::link;
pub(crate) use permit::ObeyedChange;
pub(crate) use real::real;
pub(crate) use secrets::mask;
pub(super) use wasi::link as link_wasi;

/// What one call has of the file system.
#[derive(Debug)]
pub(crate) struct Files {
    folders: Arc<Folders>,
    /// The call; none for a check, which changes nothing that needs a decision.
    caller: Option<ChangeCaller>,
    budget: Arc<budget::Budget>,
    /// The directories that the guest holds by WASI, by their handles.
    held: wasi::Held,
}

impl Files {
    pub(crate) fn new(folders: Arc<Folders>, caller: Option<ChangeCaller>) -> Self {
        Self { folders, caller, budget: Arc::default(), held: wasi::Held::default() }
    }
}
