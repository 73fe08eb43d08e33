//! Work that makes more work, shared by some threads.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A stack of jobs: the newest first, so that a walk goes down before it goes on and few folders are open at a time.
pub(super) struct Queue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    jobs: Vec<T>,
    /// Jobs being done: each may bring more.
    running: usize,
    waiting: usize,
}

impl<T> Queue<T> {
    pub(super) fn new() -> Self {
        Self { state: Mutex::new(State { jobs: Vec::new(), running: 0, waiting: 0 }), changed: Condvar::new() }
    }

    pub(super) fn push(&self, jobs: impl IntoIterator<Item = T>) {
        let mut state = self.lock();
        state.jobs.extend(jobs);
        if state.waiting > 0 {
            self.changed.notify_all();
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lock().jobs.is_empty()
    }

    /// Does jobs until there are none and none can come.
    pub(super) fn work(&self, mut job: impl FnMut(T)) {
        while let Some(next) = self.next() {
            let _running = Running(self);
            job(next);
        }
    }

    fn next(&self) -> Option<T> {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.jobs.pop() {
                state.running += 1;
                return Some(job);
            }
            if state.running == 0 {
                return None;
            }
            state.waiting += 1;
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        // No job runs while the lock is held: what it guards is whole even after a panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A job being done. It ends even by a panic, or the other threads would wait for ever.
struct Running<'a, T>(&'a Queue<T>);

impl<T> Drop for Running<'_, T> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.running -= 1;
        if state.running == 0 && state.jobs.is_empty() {
            self.0.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        panic::{AssertUnwindSafe, catch_unwind},
        sync::atomic::{AtomicU64, Ordering},
        thread,
    };

    use super::*;

    #[test]
    fn all_work_is_done_also_the_work_that_work_brings() {
        let (queue, done) = (Queue::new(), AtomicU64::new(0));
        queue.push([14]);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    queue.work(|depth: u32| {
                        done.fetch_add(1, Ordering::Relaxed);
                        queue.push((0..2).filter(|_| depth > 0).map(|_| depth - 1));
                    });
                });
            }
        });
        assert_eq!(done.into_inner(), (1 << 15) - 1);
        assert!(queue.is_empty());
    }

    #[test]
    fn a_panic_leaves_nobody_waiting() {
        let queue = Queue::new();
        queue.push(0..100);
        thread::scope(|scope| {
            let failing = scope.spawn(|| catch_unwind(AssertUnwindSafe(|| queue.work(|_| panic!("on purpose")))));
            scope.spawn(|| queue.work(|_| thread::yield_now()));
            failing.join().unwrap().ok();
        });
        assert!(queue.is_empty());
    }
}
