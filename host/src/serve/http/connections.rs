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
}

impl Slot {
    fn new() -> Self {
        let phase = Phase { receiving: Some(Instant::now()), stuck: None };
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

    /// A request is whole, and is worked on.
    pub(super) fn works(&self) {
        self.phase().receiving = None;
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
        let now = Instant::now();
        let chosen = open.slots.iter().filter_map(|(id, slot)| {
            let phase = *slot.phase();
            match (phase.receiving, phase.stuck) {
                (Some(since), None) => Some((0, since, *id)),
                (_, Some(since)) if now.duration_since(since) >= STUCK => Some((1, since, *id)),
                _ => None,
            }
        });
        let Some((.., id)) = chosen.min() else { return false };
        // It counts no more from now on: its task ends as soon as it runs.
        open.slots.remove(&id).inspect(|slot| slot.0.close.cancel()).is_some()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

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
        places[2].slot.works();
        let _fifth = connections.admit().unwrap();
        assert_eq!((is_closed(&places[0]), is_closed(&places[2]), is_closed(&fourth)), (true, false, false));
    }

    #[test]
    fn nobody_at_work_is_closed_unless_its_client_takes_nothing() {
        let connections = Connections::new(2);
        let places = [connections.admit().unwrap(), connections.admit().unwrap()];
        places.iter().for_each(|place| place.slot.works());
        assert!(connections.admit().is_none());
        places[1].slot.set_stuck(true);
        assert!(connections.admit().is_none(), "it may be reading");
        places[1].slot.phase().stuck = Instant::now().checked_sub(STUCK);
        places[1].slot.set_stuck(true);
        let _third = connections.admit().unwrap();
        assert_eq!((is_closed(&places[0]), is_closed(&places[1])), (false, true));
    }

    #[test]
    fn what_is_being_sent_is_not_idle() {
        let connections = Connections::new(1);
        let place = connections.admit().unwrap();
        assert!(place.slot.is_idle());
        place.slot.works();
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
        place.slot.works();
        assert!(connections.admit().is_none());
        drop(place);
        assert!(connections.admit().is_some());
    }
}
