//! Tools that say something while they work: progress and lines of a log, and one that never comes to an end.

use std::hint::spin_loop;

use hermes_tool::{NoArgs, Result, log, tool};

/// Reports progress three times.
#[tool(read_only)]
pub(crate) fn test_tool_with_progress(_: NoArgs) -> Result<String> {
    for (done, message) in [(0, "at the start"), (50, "half way"), (100, "done")] {
        log::progress(done, Some(100), message);
    }
    Ok("Progress was reported three times.".into())
}

/// Logs three lines.
#[tool(read_only)]
pub(crate) fn test_tool_with_logging(_: NoArgs) -> Result<String> {
    for line in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        log::info(line);
    }
    Ok("Three lines were logged.".into())
}

/// Logs one line. Who did not ask for lines must not get it.
#[tool(read_only)]
pub(crate) fn test_logging_tool(_: NoArgs) -> Result<String> {
    log::warn("a line that only those get who asked for lines");
    Ok("One line was logged.".into())
}

/// Says that it has begun and never ends: for those who cancel calls.
#[tool(read_only)]
pub(crate) fn test_endless(_: NoArgs) -> Result<String> {
    log::progress(1, None, "begun");
    loop {
        spin_loop();
    }
}
