//! How many guests run at the same time, how many wait, and how both are shared between components.
//!
//! The rule is that of shared buffers in network switches (dynamic thresholds, Choudhury and Hahne 1998): a component gets one more
//! permit only while it holds fewer than are free. One component alone gets half of them, a second one a quarter, and however many
//! came before, a component that holds none is served at once as long as one is free. A fixed cap of a half for each would let two
//! components take everything, and a cap that holds only while others wait would let a newcomer wait for the deadline of calls that
//! run already. The same rule holds for the queue.

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use tokio::sync::oneshot;

use super::Busy;

/// A linked component, as far as permits go. Two of the same bytes are two components.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ComponentId(u64);

impl ComponentId {
    pub(super) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// Permits for runs of one kind, and a bounded queue before them.
#[derive(Clone, Debug)]
pub(super) struct ConcurrencyLimit(Arc<Mutex<Permits>>);

#[derive(Debug)]
struct Permits {
    running: SharedSlots,
    waiting: SharedSlots,
    /// In the order in which they came.
    queue: VecDeque<QueuedRun>,
    next_ticket: u64,
}

#[derive(Debug)]
struct QueuedRun {
    component: ComponentId,
    ticket: u64,
    permit: oneshot::Sender<RunPermit>,
}

/// A number of slots, and how many of them each component holds.
#[derive(Debug)]
struct SharedSlots {
    free: usize,
    held: HashMap<ComponentId, usize>,
}

impl SharedSlots {
    fn new(count: usize) -> Self {
        Self { free: count, held: HashMap::new() }
    }

    fn has_one_for(&self, component: ComponentId) -> bool {
        self.held.get(&component).copied().unwrap_or_default() < self.free
    }

    fn take(&mut self, component: ComponentId) {
        self.free -= 1;
        *self.held.entry(component).or_default() += 1;
    }

    fn give_back(&mut self, component: ComponentId) {
        self.free += 1;
        if let Some(held) = self.held.get_mut(&component) {
            *held -= 1;
            if *held == 0 {
                self.held.remove(&component);
            }
        }
    }
}

impl ConcurrencyLimit {
    pub(super) fn new(permits: usize, most_waiting: usize) -> Self {
        let (running, waiting) = (SharedSlots::new(permits), SharedSlots::new(most_waiting));
        Self(Arc::new(Mutex::new(Permits { running, waiting, queue: VecDeque::new(), next_ticket: 0 })))
    }

    /// How many are free.
    pub(super) fn free(&self) -> usize {
        self.lock().running.free
    }

    /// How many runs wait for one.
    pub(super) fn waiting(&self) -> usize {
        self.lock().queue.len()
    }

    /// A permit, at once or after a wait.
    pub(super) async fn take(&self, component: ComponentId) -> Result<RunPermit, Busy> {
        let (ticket, permit) = {
            let mut permits = self.lock();
            // None of this component waits then: a permit that is free for it is handed over when it is released.
            if permits.running.has_one_for(component) {
                permits.running.take(component);
                return Ok(RunPermit { limit: self.clone(), component });
            }
            if !permits.waiting.has_one_for(component) {
                return Err(Busy);
            }
            permits.waiting.take(component);
            let (sender, receiver) = oneshot::channel();
            let ticket = permits.next_ticket;
            permits.next_ticket += 1;
            permits.queue.push_back(QueuedRun { component, ticket, permit: sender });
            (ticket, receiver)
        };
        let _queued = LeaveQueueOnDrop { limit: self, ticket };
        permit.await.map_err(|_| Busy)
    }

    /// Takes a permit back, and hands free ones to runs that wait.
    fn release(&self, component: ComponentId) {
        let mut permits = self.lock();
        permits.running.give_back(component);
        while let Some(queued) = permits.next_served() {
            drop(permits);
            let permit = RunPermit { limit: self.clone(), component: queued.component };
            // A run that was given up meanwhile drops the permit, which comes back here.
            drop(queued.permit.send(permit));
            permits = self.lock();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Permits> {
        // No code that can panic runs while it is held half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Permits {
    /// The run that waits longest among those whose component may have a permit. It has one then.
    fn next_served(&mut self) -> Option<QueuedRun> {
        let at = self.queue.iter().position(|queued| self.running.has_one_for(queued.component))?;
        let queued = self.queue.remove(at)?;
        self.waiting.give_back(queued.component);
        self.running.take(queued.component);
        Some(queued)
    }
}

/// The right to run. The run holds it until its instance is gone.
#[derive(Debug)]
pub(super) struct RunPermit {
    limit: ConcurrencyLimit,
    component: ComponentId,
}

impl Drop for RunPermit {
    fn drop(&mut self) {
        self.limit.release(self.component);
    }
}

/// Takes a run out of the queue, however its wait ends.
struct LeaveQueueOnDrop<'a> {
    limit: &'a ConcurrencyLimit,
    ticket: u64,
}

impl Drop for LeaveQueueOnDrop<'_> {
    fn drop(&mut self) {
        let mut permits = self.limit.lock();
        // Tickets are in order. One that was served is gone already.
        if let Ok(at) = permits.queue.binary_search_by_key(&self.ticket, |queued| queued.ticket)
            && let Some(queued) = permits.queue.remove(at)
        {
            permits.waiting.give_back(queued.component);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::{FutureExt, future::BoxFuture};

    use super::*;

    type Wait<'a> = BoxFuture<'a, Result<RunPermit, Busy>>;

    fn now(limit: &ConcurrencyLimit, component: ComponentId) -> Option<Result<RunPermit, Busy>> {
        limit.take(component).now_or_never()
    }

    /// As many permits as a component gets at once.
    fn all(limit: &ConcurrencyLimit, component: ComponentId) -> Vec<RunPermit> {
        std::iter::from_fn(|| now(limit, component)?.ok()).collect()
    }

    fn waits<'a>(limit: &'a ConcurrencyLimit, component: ComponentId) -> Wait<'a> {
        let mut wait = limit.take(component).boxed();
        assert!((&mut wait).now_or_never().is_none(), "it did not wait");
        wait
    }

    fn is_served(wait: &mut Wait<'_>) -> Option<RunPermit> {
        wait.now_or_never().map(Result::unwrap)
    }

    #[test]
    fn one_component_gets_half_and_others_are_served_at_once() {
        let limit = ConcurrencyLimit::new(64, 256);
        let held: Vec<_> = (0..6).map(|_| all(&limit, ComponentId::new())).collect();
        assert_eq!(held.iter().map(Vec::len).collect::<Vec<_>>(), [32, 16, 8, 4, 2, 1]);
        assert!(now(&limit, ComponentId::new()).unwrap().is_ok());
        drop(held);
        assert_eq!(limit.free(), 64);
    }

    #[test]
    fn a_run_of_another_component_overtakes_the_queue_of_a_greedy_one() {
        let limit = ConcurrencyLimit::new(4, 8);
        let (greedy, other) = (ComponentId::new(), ComponentId::new());
        let mut held = all(&limit, greedy);
        assert_eq!(held.len(), 2);
        let mut queued = [waits(&limit, greedy), waits(&limit, greedy)];
        assert!(now(&limit, other).unwrap().is_ok());
        assert!(queued.iter_mut().all(|wait| is_served(wait).is_none()));
        // One ends: the first of the queue has its permit, and not the second.
        held.pop();
        let first = is_served(&mut queued[0]).unwrap();
        assert!(is_served(&mut queued[1]).is_none());
        drop((held, first));
        assert!(is_served(&mut queued[1]).is_some());
    }

    #[test]
    fn one_component_fills_half_of_the_queue_and_is_refused_then() {
        let limit = ConcurrencyLimit::new(2, 8);
        let (greedy, other, third) = (ComponentId::new(), ComponentId::new(), ComponentId::new());
        let held = (all(&limit, greedy), all(&limit, other));
        assert_eq!((held.0.len(), held.1.len(), limit.free()), (1, 1, 0));
        let queued: Vec<_> = (0..4).map(|_| waits(&limit, greedy)).collect();
        assert!(now(&limit, greedy).unwrap().is_err());
        let newcomer = waits(&limit, third);
        assert_eq!(limit.waiting(), 5);
        drop(newcomer);
        drop(queued);
        assert_eq!(limit.waiting(), 0);
        drop(held);
        assert_eq!(limit.free(), 2);
    }

    #[test]
    fn a_permit_for_a_run_that_was_given_up_goes_to_the_next() {
        let limit = ConcurrencyLimit::new(2, 8);
        let component = ComponentId::new();
        let held = all(&limit, component);
        let (given_up, mut next) = (waits(&limit, component), waits(&limit, component));
        // Served, and not looked at any more.
        drop(held);
        assert!(is_served(&mut next).is_none());
        drop(given_up);
        assert!(is_served(&mut next).is_some());
        assert_eq!((limit.free(), limit.waiting()), (2, 0));
    }
}
