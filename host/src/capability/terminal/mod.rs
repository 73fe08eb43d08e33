//! Commands on this machine or another: run to their end, or kept in the background.
//!
//! The way of a command: `host` hears the guest, `commands` asks whether the grant has room for it, `decider` whether it may run; a
//! [`Request`] says what to run; a [`Backend`] makes a launch of it, from what its task carries on (working
//! directory and exported variables); `child` starts the launch under a supervisor ([`hermes_launch`]), which confines it and ends
//! every process that it leaves, however it hid; what it prints goes through a window of constant size (`output`).
//! [`Terminal`] is the front: it counts what runs, keeps the background processes ([`process`]) and forgets a task that ended.
//!
//! Nothing else in the host starts commands on behalf of a guest.

pub mod backend;
mod child;
mod commands;
mod decider;
mod environment;
mod fault;
mod front;
mod host;
pub mod layers;
pub mod limits;
mod live;
mod note;
mod notices;
mod outcome;
mod output;
pub mod process;
mod proxy;
mod quote;
mod readers;
mod request;
mod scratch;
mod state;
mod task;
mod terminals;

pub(crate) use backend::cache_names;
pub use backend::{Backend, SandboxPolicy, Target};
pub use child::{Afterwards, Child, Launcher};
pub(crate) use commands::{Caller, Commands};
pub use commands::{EscalationRule, EscalationRules};
pub use decider::{Decider, Escalation, EscalationKind, Here, Isolation, NotPassed, Passed, Planned};
pub use fault::Fault;
pub use front::Terminal;
pub(super) use host::link;
pub use outcome::{Ended, Outcome};
pub use output::{Captured, Excerpt};
pub use request::{Decided, Input, Request, SandboxUse, Sink, What};
pub use terminals::Place;
pub(crate) use terminals::Terminals;
