//! The background processes of all tasks. A task sees its own.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::time::Instant;

use super::{
    super::{
        Child, Fault, Request,
        limits::{FINISHED, FINISHED_FOR},
    },
    Listener, Slot, Status, Watch,
    background::{Background, Ears},
    watch::Throttle,
};

/// Background processes, by the number in their name.
#[derive(Default)]
pub(crate) struct Table {
    processes: Mutex<Processes>,
    listener: Option<Listener>,
    throttle: Arc<Throttle>,
}

#[derive(Default)]
struct Processes {
    all: BTreeMap<u64, Arc<Background>>,
    next: u64,
}

impl Table {
    /// A table whose processes tell this listener.
    pub(crate) fn new(listener: Option<Listener>) -> Self {
        Self { listener, ..Self::default() }
    }

    /// Takes a process that was started.
    pub(crate) fn add(&self, task: &str, request: &Request, child: Child, slot: Slot, watch: Watch) -> Status {
        let mut processes = self.lock();
        processes.forget_old(Instant::now());
        let number = processes.next;
        let ears = Ears { listener: self.listener.clone(), throttle: Arc::clone(&self.throttle), watch };
        let process = Background::new(task, name(number), request, child, slot, ears);
        let status = process.status();
        processes.next += 1;
        processes.all.insert(number, Arc::new(process));
        status
    }

    /// A task's process by its name.
    pub(crate) fn get(&self, task: &str, id: &str) -> Result<Arc<Background>, Fault> {
        let number = id.strip_prefix(NAME).and_then(|number| number.parse().ok());
        let processes = self.lock();
        let process = number.and_then(|number: u64| processes.all.get(&number)).filter(|process| process.task == task);
        process.cloned().ok_or_else(|| Fault::Unknown(id.to_owned()))
    }

    /// A task's processes, the oldest first.
    pub(crate) fn of(&self, task: &str) -> Vec<Arc<Background>> {
        self.lock().all.values().filter(|process| process.task == task).cloned().collect()
    }

    /// All processes.
    pub(crate) fn all(&self) -> Vec<Arc<Background>> {
        self.lock().all.values().cloned().collect()
    }

    /// Forgets a task's processes.
    pub(crate) fn forget(&self, task: &str) {
        self.lock().all.retain(|_, process| process.task != task);
    }

    fn lock(&self) -> MutexGuard<'_, Processes> {
        self.processes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a process's name begins with.
const NAME: &str = "proc_";

fn name(number: u64) -> String {
    format!("{NAME}{number}")
}

impl Processes {
    fn forget_old(&mut self, now: Instant) {
        self.all.retain(|_, process| process.ended_at().is_none_or(|at| now < at + FINISHED_FOR));
        let ended: Vec<u64> =
            self.all.iter().filter(|(_, process)| process.ended_at().is_some()).map(|(number, _)| *number).collect();
        for number in ended.iter().take(ended.len().saturating_sub(FINISHED - 1)) {
            self.all.remove(number);
        }
    }
}
