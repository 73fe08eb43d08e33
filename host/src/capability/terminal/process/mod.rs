//! Processes that go on while their caller does other things.

mod background;
mod notice;
mod slots;
mod table;
mod watch;

pub use background::Status;
pub use notice::{Listener, News, Notice};
pub(crate) use slots::{Slot, Slots};
pub(crate) use table::Table;
pub use watch::Watch;
