//! Signals by which lowered resource limits would end the host.

use std::io;

use rustix::process::Signal;
use tokio::{
    runtime::Runtime,
    signal::unix::{SignalKind, signal},
};

/// `RLIMIT_FSIZE` and `RLIMIT_CPU`: a write past the first then fails with `EFBIG`, which its caller hears of, and past the second the
/// host goes on to the hard limit.
const SURVIVED: [Signal; 2] = [Signal::XFSZ, Signal::XCPU];

/// Catches the signals for the life of the process. They are caught and not ignored: `execve` gives programs that the host starts the
/// default action back, while an ignored signal would stay ignored in them (signal(7)).
pub(super) fn survive(runtime: &Runtime) -> io::Result<()> {
    let _context = runtime.enter();
    for caught in SURVIVED {
        // The handler stays when the stream of signals is dropped.
        drop(signal(SignalKind::from_raw(caught.as_raw()))?);
    }
    Ok(())
}
