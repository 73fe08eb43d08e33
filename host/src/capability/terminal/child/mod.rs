//! The host's side of a launch: its pipes or its terminal, its supervisor, its end.

mod finish;
mod pipes;
mod spare;
mod spawn;
mod supervisor;

pub(crate) use finish::{Event, Finished, finish};
pub(crate) use pipes::Inlet;
pub use spawn::{Afterwards, Child, Launcher};
