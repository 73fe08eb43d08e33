//! MCP, the protocol that agents speak, on stdio and over HTTP. Nothing else in the house knows rmcp.
//!
//! A request becomes a `Conversation`: the call runs, and whatever it asks a person comes back here. Clients of the revisions before
//! 2026-07-28 are asked by a request of ours while their call is open. Later ones get an answer that says what is missing, the call waits
//! (`Waiting`), and they retry it with a state that only this process can make.

// Logs and roots are deprecated from 2026-07-28 on, and clients before it still have them.
#![expect(deprecated)]

mod agent;
mod call;
mod conversation;
mod elicit;
mod http;
mod limits;
mod question;
mod result;
mod roots;
mod stdio;
mod tools;
mod waiting;

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use rmcp::model::RequestStateCodec;

pub use limits::table as limits_table;

use crate::{
    CallContext, Host,
    dispatch::{CallError, Outcome},
    sandbox::given_up,
};
use waiting::Waiting;

/// Hears of every call that ended, once: the tool, what came of it and how long it took, with the time that it waited for answers.
pub type CallListener = Arc<dyn Fn(&str, &Outcome, Duration) + Send + Sync>;

/// Serves a host's tools by MCP. Clones share what waits.
#[derive(Clone)]
pub struct Mcp(Arc<Shared>);

struct Shared {
    host: Host,
    waiting: Waiting,
    seal: RequestStateCodec,
    /// HTTP sessions of clients before 2026-07-28.
    sessions: AtomicUsize,
    /// Calls that are being answered.
    running: AtomicUsize,
    listener: Option<CallListener>,
}

/// The system gave no random bytes, so nothing can be named or sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the system gave no random bytes")]
pub struct NoRandomness;

impl Mcp {
    /// A server for these tools.
    pub fn new(host: Host, listener: Option<CallListener>) -> Result<Self, NoRandomness> {
        let mut key = [0; RequestStateCodec::MIN_KEY_LENGTH];
        getrandom::fill(&mut key).map_err(|_| NoRandomness)?;
        // The key has the least length there is, so this can't fail.
        let seal = RequestStateCodec::try_new(key).map_err(|_| NoRandomness)?;
        Ok(Self(Arc::new(Shared {
            host,
            waiting: Waiting::default(),
            seal,
            sessions: AtomicUsize::new(0),
            running: AtomicUsize::new(0),
            listener,
        })))
    }
}

impl Shared {
    /// A call. Its end is told here and nowhere else, so that the listener hears of it also where nobody waits for it any more: such a
    /// call was given up, whatever its guest still came to.
    fn call(
        &self,
        name: String,
        arguments: String,
        context: CallContext,
    ) -> impl Future<Output = Outcome> + Send + use<> {
        let (host, listener, started) = (self.host.clone(), self.listener.clone(), Instant::now());
        async move {
            let cancel = context.control.cancel.clone();
            let mut outcome = host.call(&name, &arguments, context).await;
            if cancel.is_some_and(|cancel| cancel.is_cancelled()) {
                outcome = CallError::killed(&name, &given_up(), &[]).into();
            }
            if let Some(listener) = listener {
                listener(&name, &outcome, started.elapsed());
            }
            outcome
        }
    }
}

/// A call that is being answered, for as long as it lives.
struct Running<'a>(&'a AtomicUsize);

impl<'a> Running<'a> {
    fn new(shared: &'a Shared) -> Self {
        shared.running.fetch_add(1, Ordering::AcqRel);
        Self(&shared.running)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// 128 random bits in hex: names that nobody guesses.
fn random_name(prefix: &str) -> Result<String, NoRandomness> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|_| NoRandomness)?;
    Ok(format!("{prefix}{:032x}", u128::from_be_bytes(bytes)))
}
