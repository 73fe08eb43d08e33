//! Calls that wait for their client's retry, and the state that brings it back to them. What the client holds is a name and a seal:
//! the call itself stays here, so nothing runs twice and nothing that came back is believed but the answer.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use rmcp::model::{RequestStateCodec, SealOptions};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    task::AbortHandle,
};

use super::{call::Called, conversation::Conversation, limits::WAITING, question::Asked, random_name};

/// A call that was begun, with what its retries and its end need.
pub(super) struct Begun {
    /// First: the call is given up before its place is free.
    pub(super) conversation: Conversation,
    pub(super) called: Called,
    /// What its states are bound to.
    binding: Vec<u8>,
    /// Its place among those that wait. It has it from its first question to its end, so that none is ended half-way for want of one.
    place: Option<OwnedSemaphorePermit>,
}

impl Begun {
    pub(super) fn new(conversation: Conversation, called: Called, binding: Vec<u8>) -> Self {
        Self { conversation, called, binding, place: None }
    }
}

/// A call and what it wants to know.
pub(super) struct Waits {
    /// First: the call is given up before its question is.
    pub(super) begun: Begun,
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
#[derive(Clone)]
pub(super) struct Waiting {
    calls: Arc<Mutex<HashMap<String, Kept>>>,
    places: Arc<Semaphore>,
}

impl Default for Waiting {
    fn default() -> Self {
        Self { calls: Arc::default(), places: Arc::new(Semaphore::new(WAITING)) }
    }
}

/// A state brings nothing back: it was not made here, not for this call, or changed; or it was used, or its time is over. Which of them
/// is for the log alone: a client that forges states must not learn how near it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no call waits for this request state; call the tool again without it")]
pub(super) struct Lost;

impl Waiting {
    /// Keeps a call until it is taken back or its time is over, and gives its sealed name. Nothing where too many wait: then the call
    /// is dropped, which ends its guest.
    pub(super) fn keep(&self, seal: &RequestStateCodec, mut waits: Waits) -> Option<String> {
        let name = random_name("").ok()?;
        if waits.begun.place.is_none() {
            waits.begun.place = Some(Arc::clone(&self.places).try_acquire_owned().ok()?);
        }
        let until = waits.until;
        let time = until.saturating_duration_since(Instant::now());
        let options = SealOptions::new().associated_data(&waits.begun.binding).ttl(time);
        let state = seal.seal_with(name.as_bytes(), &options);
        let (waiting, expiring) = (self.clone(), name.clone());
        // Held until it is there: its time may be over already.
        let mut calls = self.lock();
        let expiry = tokio::spawn(async move {
            tokio::time::sleep_until(until.into()).await;
            let expired = waiting.lock().remove(&expiring);
            // Outside the lock: dropping it ends its guest.
            drop(expired);
        });
        calls.insert(name, Kept { waits, expiry: expiry.abort_handle() });
        Some(state)
    }

    /// Takes a call back, once.
    pub(super) fn take(&self, seal: &RequestStateCodec, binding: &[u8], state: &str) -> Result<Waits, Lost> {
        let name = seal.open_with(state, binding).map_err(|why| {
            tracing::debug!("a request state was refused: {why}");
            Lost
        })?;
        let kept = String::from_utf8(name).ok().and_then(|name| self.lock().remove(&name));
        let Some(Kept { waits, expiry }) = kept else {
            tracing::debug!("a request state was refused: its call waits no more");
            return Err(Lost);
        };
        expiry.abort();
        Ok(waits)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Kept>> {
        // No code that can panic runs while it is held half changed.
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a state is bound to: this tool with these arguments.
pub(super) fn binding(tool: &str, arguments: &str) -> Vec<u8> {
    let mut bytes = (tool.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(tool.as_bytes());
    bytes.extend_from_slice(blake3::hash(arguments.as_bytes()).as_bytes());
    bytes
}
