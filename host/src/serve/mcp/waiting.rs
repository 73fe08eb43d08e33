//! Calls that wait for their client's retry, and the state that brings it back to them. What the client holds is a name and a seal:
//! the call itself stays here, so nothing runs twice and nothing that came back is believed but the answer.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use rmcp::model::{RequestStateCodec, RequestStateError, SealOptions};
use tokio::task::AbortHandle;

use super::{conversation::Conversation, limits::WAITING, question::Asked, random_name};

/// A call and what it wants to know.
pub(super) struct Waits {
    pub(super) conversation: Conversation,
    pub(super) asked: Asked,
    /// Until when it waits. Asking again wins no time.
    pub(super) until: Instant,
}

/// A call that waits, and what ends its waiting.
struct Kept {
    waits: Waits,
    expiry: AbortHandle,
}

/// The calls that wait, by their names. Each is there once and for its time alone.
#[derive(Clone, Default)]
pub(super) struct Waiting(Arc<Mutex<HashMap<String, Kept>>>);

/// Why a state brings nothing back.
#[derive(Debug, thiserror::Error)]
pub(super) enum Lost {
    /// It was not made here, not for this call, or was changed.
    #[error("the request state can't be used ({0}); call the tool again without it")]
    Seal(#[from] RequestStateError),
    /// It was used, or its time is over, or the host was started anew.
    #[error("no call waits for this request state any more; call the tool again without it")]
    Gone,
}

impl Waiting {
    /// Keeps a call until it is taken back or its time is over, and gives its sealed name. Nothing where too many wait: then the call
    /// is dropped, which ends its guest.
    pub(super) fn keep(&self, seal: &RequestStateCodec, binding: &[u8], waits: Waits) -> Option<String> {
        let name = random_name("").ok()?;
        let until = waits.until;
        let (waiting, expiring) = (self.clone(), name.clone());
        let mut calls = self.lock();
        if calls.len() >= WAITING {
            return None;
        }
        let expiry = tokio::spawn(async move {
            tokio::time::sleep_until(until.into()).await;
            let expired = waiting.lock().remove(&expiring);
            // Outside the lock: dropping it ends its guest.
            drop(expired);
        });
        calls.insert(name.clone(), Kept { waits, expiry: expiry.abort_handle() });
        drop(calls);
        let time = until.saturating_duration_since(Instant::now());
        Some(seal.seal_with(name.as_bytes(), &SealOptions::new().associated_data(binding).ttl(time)))
    }

    /// Takes a call back, once.
    pub(super) fn take(&self, seal: &RequestStateCodec, binding: &[u8], state: &str) -> Result<Waits, Lost> {
        let name = seal.open_with(state, binding)?;
        let name = String::from_utf8(name).map_err(|_| Lost::Gone)?;
        let Kept { waits, expiry } = self.lock().remove(&name).ok_or(Lost::Gone)?;
        expiry.abort();
        Ok(waits)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Kept>> {
        // No code that can panic runs while it is held half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a state is bound to: this tool with these arguments.
pub(super) fn binding(tool: &str, arguments: &str) -> Vec<u8> {
    let mut bytes = (tool.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(tool.as_bytes());
    bytes.extend_from_slice(blake3::hash(arguments.as_bytes()).as_bytes());
    bytes
}
