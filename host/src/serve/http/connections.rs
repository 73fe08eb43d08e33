//! The connections that are open, and which of them must go when there are too many.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::limits::STUCK;

/// What is known of one connection. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct Slot(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    phase: Mutex<Phase>,
    close: CancellationToken,
}

/// What a connection does.
#[derive(Clone, Copy, Debug)]
struct Phase {
    /// Since when the server waits for a request or the rest of one. Nothing while it works on one or answers it.
    receiving: Option<Instant>,
    /// Since when the client takes nothing of what was sent.
    stuck: Option<Instant>,
    /// It was told to go, and begins nothing any more.
    closing: bool,
}

impl Phase {
    /// How much it would be missed if it were closed now: the least goes first. Nothing where it must stay.
    fn missed(&self, now: Instant) -> Option<(u8, Instant)> {
        match (self.receiving, self.stuck) {
            (Some(since), None) => Some((0, since)),
            (_, Some(since)) if now.duration_since(since) >= STUCK => Some((1, since)),
            _ => None,
        }
    }
}

impl Slot {
    fn new() -> Self {
        let phase = Phase { receiving: Some(Instant::now()), stuck: None, closing: false };
        Self(Arc::new(Inner { phase: Mutex::new(phase), close: CancellationToken::new() }))
    }

    fn phase(&self) -> MutexGuard<'_, Phase> {
        // Nothing that can panic runs while it is held.
        self.0.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request is waited for.
    pub(super) fn receives(&self) {
        self.phase().receiving = Some(Instant::now());
    }

    /// A request is whole. Says whether it may be worked on: not where the connection was told to go meanwhile.
    #[must_use]
    pub(super) fn works(&self) -> bool {
        let mut phase = self.phase();
        if phase.closing {
            return false;
        }
        phase.receiving = None;
        true
    }

    /// Tells it to go, unless it must stay by now. Decided in one step with [`works`](Self::works): what has begun is
    /// not cut off, and what was told to go begins nothing.
    fn close(&self, now: Instant) -> bool {
        let closing = {
            let mut phase = self.phase();
            phase.closing |= phase.missed(now).is_some();
            phase.closing
        };
        if closing {
            self.0.close.cancel();
        }
        closing
    }

    /// The client takes nothing of what is sent, or takes it again.
    pub(super) fn set_stuck(&self, stuck: bool) {
        let mut phase = self.phase();
        phase.stuck = stuck.then(|| phase.stuck.unwrap_or_else(Instant::now));
    }

    /// Whether nothing is lost if it is closed now.
    pub(super) fn is_idle(&self) -> bool {
        let phase = self.phase();
        phase.receiving.is_some() && phase.stuck.is_none()
    }

    /// Waits until it must go.
    pub(super) async fn closed(&self) {
        self.0.close.cancelled().await;
    }
}

/// All that are open.
#[derive(Debug)]
pub(super) struct Connections {
    most: usize,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    next: u64,
    slots: HashMap<u64, Slot>,
}

/// A connection's place; given up when dropped.
#[derive(Debug)]
pub(super) struct Place {
    id: u64,
    slot: Slot,
    connections: Arc<Connections>,
}

impl Place {
    pub(super) fn slot(&self) -> &Slot {
        &self.slot
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.connections.open().slots.remove(&self.id);
    }
}

impl Connections {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, open: Mutex::default() })
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        // Nothing that can panic runs while it is held half changed.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for one more. Where there is none, whoever was idle longest makes room; nothing where all of them are at work.
    pub(super) fn admit(self: &Arc<Self>) -> Option<Place> {
        if self.open().slots.len() >= self.most && !self.make_room() {
            return None;
        }
        let slot = Slot::new();
        let mut open = self.open();
        let id = open.next;
        open.next += 1;
        open.slots.insert(id, slot.clone());
        Some(Place { id, slot, connections: Arc::clone(self) })
    }

    /// Closes the connection that is missed least. Says whether there was one.
    pub(super) fn make_room(&self) -> bool {
        let mut open = self.open();
        loop {
            let now = Instant::now();
            let missed = open.slots.iter().filter_map(|(id, slot)| {
                let phase = *slot.phase();
                Some((phase.missed(now)?, *id))
            });
            let Some((_, id)) = missed.min() else { return false };
            // Whoever began to work since it was looked at stays, and another one goes.
            if open.slots.get(&id).is_some_and(|slot| slot.close(now)) {
                // It counts no more from now on: its task ends as soon as it runs.
                open.slots.remove(&id);
                return true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Barrier, thread, time::Duration};

    use super::*;

    fn is_closed(place: &Place) -> bool {
        place.slot.0.close.is_cancelled()
    }

    /// So many milliseconds ago, seen from far enough in time.
    fn ago(milliseconds: u64) -> Option<Instant> {
        Some(Instant::now() + Duration::from_secs(10) - Duration::from_millis(milliseconds))
    }

    #[test]
    fn the_one_that_was_idle_longest_makes_room() {
        let connections = Connections::new(3);
        let places = [1, 3, 2].map(|since| {
            let place = connections.admit().unwrap();
            place.slot.phase().receiving = ago(since);
            place
        });
        let fourth = connections.admit().unwrap();
        fourth.slot.phase().receiving = ago(0);
        assert_eq!(places.each_ref().map(is_closed), [false, true, false]);
        assert!(places[2].slot.works());
        let _fifth = connections.admit().unwrap();
        assert_eq!((is_closed(&places[0]), is_closed(&places[2]), is_closed(&fourth)), (true, false, false));
    }

    #[test]
    fn nobody_at_work_is_closed_unless_its_client_takes_nothing() {
        let connections = Connections::new(2);
        let places = [connections.admit().unwrap(), connections.admit().unwrap()];
        assert!(places.iter().all(|place| place.slot.works()));
        assert!(connections.admit().is_none());
        places[1].slot.set_stuck(true);
        assert!(connections.admit().is_none(), "it may be reading");
        places[1].slot.phase().stuck = Instant::now().checked_sub(STUCK);
        places[1].slot.set_stuck(true);
        let _third = connections.admit().unwrap();
        assert_eq!((is_closed(&places[0]), is_closed(&places[1])), (false, true));
    }

    #[test]
    fn who_began_to_work_after_it_was_looked_at_stays_and_who_was_told_to_go_begins_nothing() {
        let connections = Connections::new(2);
        let places = [connections.admit().unwrap(), connections.admit().unwrap()];
        let looked_at = Instant::now();
        assert!(places[0].slot.works());
        assert!(!places[0].slot.close(looked_at) && !is_closed(&places[0]));
        assert!(places[1].slot.close(looked_at) && is_closed(&places[1]));
        assert!(!places[1].slot.works() && places[1].slot.is_idle());
    }

    #[test]
    fn a_connection_begins_its_work_or_is_closed_and_never_both() {
        for _ in 0..500 {
            let connections = Connections::new(1);
            let (place, together) = (connections.admit().unwrap(), Barrier::new(2));
            let (begun, closed) = thread::scope(|scope| {
                let begins = scope.spawn(|| {
                    together.wait();
                    place.slot.works()
                });
                together.wait();
                let closed = connections.make_room();
                (begins.join().unwrap(), closed)
            });
            assert_eq!((begun, is_closed(&place)), (!closed, closed));
        }
    }

    #[test]
    fn what_is_being_sent_is_not_idle() {
        let connections = Connections::new(1);
        let place = connections.admit().unwrap();
        assert!(place.slot.is_idle());
        assert!(place.slot.works());
        assert!(!place.slot.is_idle());
        place.slot.set_stuck(true);
        place.slot.receives();
        assert!(!place.slot.is_idle(), "the end of the answer is still on its way");
        place.slot.set_stuck(false);
        assert!(place.slot.is_idle());
    }

    #[test]
    fn a_place_is_free_again_when_its_connection_ends() {
        let connections = Connections::new(1);
        let place = connections.admit().unwrap();
        assert!(place.slot.works());
        assert!(connections.admit().is_none());
        drop(place);
        assert!(connections.admit().is_some());
    }
}
