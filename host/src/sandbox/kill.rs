//! Why the host ended a call: a closed list, and how wasmtime's errors map to it.

use std::fmt;

use wasmtime::{Trap, WasmBacktrace};

/// Why the host ended a call. Callers see the name as `kind`, so the names are part of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KillReason {
    /// The guest used up its fuel.
    OutOfFuel,
    /// The call's wall clock ran out, wherever the guest was.
    Deadline,
    /// The guest's memories together went past their limit.
    OutOfMemory,
    /// Too many calls into the host, or too much data in one of them.
    HostCallBudget,
    /// The result is larger than the limit.
    ResultTooLarge,
    /// The guest's stack ran out.
    StackOverflow,
    /// Any other trap: a panic, a bad access, a value that breaks the interface.
    Trap,
    /// The caller gave the call up.
    Cancelled,
    /// The host itself panicked while it served the call. A bug of the host's; only this call is lost.
    HostPanic,
}

impl KillReason {
    /// Every reason.
    pub const ALL: [Self; 9] = [
        Self::OutOfFuel,
        Self::Deadline,
        Self::OutOfMemory,
        Self::HostCallBudget,
        Self::ResultTooLarge,
        Self::StackOverflow,
        Self::Trap,
        Self::Cancelled,
        Self::HostPanic,
    ];

    /// The name that callers see.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OutOfFuel => "out-of-fuel",
            Self::Deadline => "deadline",
            Self::OutOfMemory => "out-of-memory",
            Self::HostCallBudget => "host-call-budget",
            Self::ResultTooLarge => "result-too-large",
            Self::StackOverflow => "stack-overflow",
            Self::Trap => "trap",
            Self::Cancelled => "cancelled",
            Self::HostPanic => "host-panic",
        }
    }
}

impl fmt::Display for KillReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The host ended the call. Inside the sandbox it travels as an error through wasmtime and is found again by `from_error`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct Kill {
    /// The reason from the closed list.
    pub reason: KillReason,
    /// What happened, for people.
    pub detail: String,
    /// Whether the call reached a limit of its component, which the operator can raise.
    pub at_limit: bool,
}

impl Kill {
    pub(crate) fn new(reason: KillReason, detail: impl Into<String>) -> Self {
        Self { reason, detail: detail.into(), at_limit: false }
    }

    /// The kill of a call that reached a limit of its component.
    pub(crate) fn at_limit(reason: KillReason, detail: impl Into<String>) -> Self {
        Self { at_limit: true, ..Self::new(reason, detail) }
    }

    /// Finds the reason in an error that came out of wasmtime.
    pub(crate) fn from_error(error: &wasmtime::Error) -> Self {
        if let Some(kill) = error.downcast_ref::<Self>() {
            return kill.clone();
        }
        if let Some(trap) = error.downcast_ref::<Trap>() {
            let reason = match trap {
                Trap::OutOfFuel => KillReason::OutOfFuel,
                Trap::Interrupt => KillReason::Deadline,
                Trap::StackOverflow => KillReason::StackOverflow,
                _ => KillReason::Trap,
            };
            return Self::new(reason, trap.to_string());
        }
        if let Some(exit) = error.downcast_ref::<wasmtime_wasi::I32Exit>() {
            return Self::new(KillReason::Trap, format!("it exited with status {} instead of answering", exit.0));
        }
        let text = error.root_cause().to_string();
        // The machine's shortage, not the guest's doing: it must not be told, or remembered, as a fault of the component.
        if is_out_of_memory(error) {
            return Self::new(
                KillReason::OutOfMemory,
                format!("the host could not allocate memory for the call: {text}"),
            );
        }
        // The type behind this text is private to wasmtime; the attack test `returns_1_gib` fails should it change.
        if text.contains("too much data") || text.contains("fuel allocated for hostcalls") {
            // An error raised inside a host call has passed through guest frames; one raised while the result is read has not.
            return if error.downcast_ref::<WasmBacktrace>().is_some() {
                Self::new(KillReason::HostCallBudget, "the guest passed too much data in one call to the host")
            } else {
                Self::new(KillReason::ResultTooLarge, "the result is larger than the limit")
            };
        }
        if text.contains("resource limit exceeded") {
            return Self::new(KillReason::OutOfMemory, text);
        }
        Self::new(KillReason::Trap, text)
    }
}

/// Whether the operating system refused memory. The kind of error depends on which call met the refusal.
pub(crate) fn is_out_of_memory(error: &wasmtime::Error) -> bool {
    let io = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::raw_os_error);
    let errno = error.downcast_ref::<rustix::io::Errno>().map(|errno| errno.raw_os_error());
    io.or(errno) == Some(rustix::io::Errno::NOMEM.raw_os_error())
}
