//! What commands print, in bounded room: a window for what ends, a log for what goes on.

mod lines;
mod log;
mod text;
mod window;

pub(crate) use lines::Lines;
pub use log::Excerpt;
pub(crate) use log::Log;
pub use window::Captured;
pub(crate) use window::Window;
