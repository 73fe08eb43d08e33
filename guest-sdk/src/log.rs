//! Lines for the operator, and signs of life for the caller.
//!
//! ```
//! use hermes_tool::log;
//!
//! log::info("three pages left");
//! log::progress(7, Some(10), "page 7");
//! ```

#[cfg(target_family = "wasm")]
use crate::bindings::hermes::tool::log as host;
#[cfg(not(target_family = "wasm"))]
use crate::testing::fake_log as host;

pub use crate::bindings::hermes::tool::log::Level;

/// One line in the call's log.
pub fn log(level: Level, message: impl AsRef<str>) {
    host::log(level, message.as_ref());
}

/// A line that only debugging needs.
pub fn debug(message: impl AsRef<str>) {
    log(Level::Debug, message);
}

/// A line of normal work.
pub fn info(message: impl AsRef<str>) {
    log(Level::Info, message);
}

/// A line about something odd that did no harm.
pub fn warn(message: impl AsRef<str>) {
    log(Level::Warn, message);
}

/// A line about something that went wrong.
pub fn error(message: impl AsRef<str>) {
    log(Level::Error, message);
}

/// How far the call has come; `total` where it is known.
pub fn progress(done: u64, total: Option<u64>, message: impl AsRef<str>) {
    host::progress(done, total, Some(message.as_ref()));
}
