//! The background processes that run what is written to them, and all that was.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use super::decider::Isolation;

/// All that was written to a process that runs what it reads. Nothing once that is no longer known.
pub(super) type Written = Arc<tokio::sync::Mutex<Option<Vec<u8>>>>;

/// A process that runs what is written to it.
#[derive(Clone, Debug)]
pub(super) struct CodeReader {
    /// What was written to it.
    pub(super) written: Written,
    /// What confines it: it may have been started with less than its component's other commands have.
    pub(super) isolation: Isolation,
}

/// The processes that run what is written to them.
#[derive(Debug, Default)]
pub(super) struct Readers {
    all: Mutex<HashMap<(String, String), CodeReader>>,
    /// Taken to start one, and to look one up: nobody finds a process before it is known whether it is one.
    pub(super) starting: tokio::sync::RwLock<()>,
}

impl Readers {
    pub(super) fn add(&self, task: &str, id: &str, isolation: Isolation) {
        let written = Arc::new(tokio::sync::Mutex::new(Some(Vec::new())));
        let reader = CodeReader { written, isolation };
        self.all.lock().unwrap_or_else(PoisonError::into_inner).insert((task.into(), id.into()), reader);
    }

    pub(super) fn get(&self, task: &str, id: &str) -> Option<CodeReader> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).get(&(task.into(), id.into())).cloned()
    }

    /// Forgets those of a task that are gone.
    pub(super) fn keep_only(&self, task: &str, is_there: impl Fn(&str) -> bool) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|(of, id), _| of != task || is_there(id));
    }

    /// Forgets those of a task.
    pub(super) fn forget(&self, task: &str) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).retain(|(of, _), _| of != task);
    }
}
