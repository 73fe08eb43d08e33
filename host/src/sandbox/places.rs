//! How many guests run at the same time, and how many may wait for that.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Busy;

/// Places for runs of one kind, and a bounded queue before them.
pub(super) struct Places {
    free: Arc<Semaphore>,
    waiting: AtomicUsize,
    most_waiting: usize,
}

impl Places {
    pub(super) fn new(places: usize, most_waiting: usize) -> Self {
        Self { free: Arc::new(Semaphore::new(places)), waiting: AtomicUsize::new(0), most_waiting }
    }

    /// How many are free.
    pub(super) fn free(&self) -> usize {
        self.free.available_permits()
    }

    /// How many wait for one.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// A place, at once or after a wait. It is free again when the permit is dropped, so whoever runs holds on to it.
    pub(super) async fn take(&self) -> Result<OwnedSemaphorePermit, Busy> {
        if let Ok(place) = Arc::clone(&self.free).try_acquire_owned() {
            return Ok(place);
        }
        let _waiting = Waiting::join(self)?;
        Arc::clone(&self.free).acquire_owned().await.map_err(|_| Busy)
    }
}

/// A stay in the queue; leaves it when dropped, however the wait ends.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn join(places: &'a Places) -> Result<Self, Busy> {
        let place = Self(&places.waiting);
        if places.waiting.fetch_add(1, Ordering::Relaxed) >= places.most_waiting { Err(Busy) } else { Ok(place) }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
