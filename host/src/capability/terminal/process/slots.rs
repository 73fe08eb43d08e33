//! How many commands run at once.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use super::super::{
    Fault,
    limits::{RUNNING, RUNNING_OF_A_TASK},
};

/// Counts what runs, by task.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slots(Arc<Mutex<HashMap<String, usize>>>);

/// The right to run one command, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Slot {
    of: Slots,
    task: String,
}

impl Slots {
    pub(crate) fn take(&self, task: &str) -> Result<Slot, Fault> {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let all: usize = running.values().sum();
        let own = running.get(task).copied().unwrap_or(0);
        if own >= RUNNING_OF_A_TASK {
            return Err(Fault::Busy(own));
        }
        if all >= RUNNING {
            return Err(Fault::Busy(all));
        }
        running.insert(task.to_owned(), own + 1);
        Ok(Slot { of: self.clone(), task: task.to_owned() })
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut running = self.of.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = running.get_mut(&self.task) {
            *own -= 1;
            if *own == 0 {
                running.remove(&self.task);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_and_all_together_are_bounded_and_places_come_back() {
        let slots = Slots::default();
        let mut held: Vec<Slot> = (0..RUNNING_OF_A_TASK).map(|_| slots.take("a").unwrap()).collect();
        assert!(matches!(slots.take("a"), Err(Fault::Busy(RUNNING_OF_A_TASK))));
        held.extend((0..RUNNING - RUNNING_OF_A_TASK).map(|n| slots.take(&n.to_string()).unwrap()));
        assert!(matches!(slots.take("z"), Err(Fault::Busy(RUNNING))));
        held.clear();
        assert!(slots.take("a").is_ok());
        assert!(slots.0.lock().unwrap().is_empty());
    }
}
