//! Calls that wait for their client's retry, and the state that brings it back to them. What the client holds is a name and a seal:
//! the call itself stays here, so nothing runs twice and nothing that came back is believed but the answer.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rmcp::model::{RequestStateCodec, RequestStateError, SealOptions};

use super::{conversation::Conversation, limits::WAITING, question::Asked, random_name};

/// A call and what it wants to know.
pub(super) struct Waits {
    pub(super) conversation: Conversation,
    pub(super) asked: Asked,
}

/// The calls that wait, by their names. Each is there once and for its time alone.
#[derive(Clone, Default)]
pub(super) struct Waiting(Arc<Mutex<HashMap<String, Waits>>>);

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
    /// Keeps a call until it is taken back, for at most this long, and gives its sealed name. Nothing where too many wait: then the call
    /// is dropped, which ends its guest.
    pub(super) fn keep(
        &self,
        seal: &RequestStateCodec,
        binding: &[u8],
        waits: Waits,
        time: Duration,
    ) -> Option<String> {
        let name = random_name("").ok()?;
        {
            let mut calls = self.lock();
            if calls.len() >= WAITING {
                return None;
            }
            calls.insert(name.clone(), waits);
        }
        let (waiting, expiring) = (self.clone(), name.clone());
        tokio::spawn(async move {
            tokio::time::sleep(time).await;
            let expired = waiting.lock().remove(&expiring);
            // Outside the lock: dropping it ends its guest.
            drop(expired);
        });
        Some(seal.seal_with(name.as_bytes(), &SealOptions::new().associated_data(binding).ttl(time)))
    }

    /// Takes a call back, once.
    pub(super) fn take(&self, seal: &RequestStateCodec, binding: &[u8], state: &str) -> Result<Waits, Lost> {
        let name = seal.open_with(state, binding)?;
        let name = String::from_utf8(name).map_err(|_| Lost::Gone)?;
        self.lock().remove(&name).ok_or(Lost::Gone)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Waits>> {
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
