//! The threads that guests run on.
//!
//! A guest that is quick, as most are, runs on its caller's thread: handing it over would cost more than the call. One that
//! is still there after its first slice (one epoch tick, or the first wait) moves to threads of its own, so that busy guests
//! never hold up whoever serves the callers.

use std::{
    any::Any,
    future::{Future, poll_fn},
    panic::AssertUnwindSafe,
    pin::Pin,
    task::Poll,
    time::Duration,
};

use futures_util::FutureExt as _;
use tokio::runtime::{Builder, Runtime};
use tokio_util::task::AbortOnDropHandle;

use super::clock::Clock;

/// Why there is no answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Lost {
    /// It did not come in time.
    Late,
    /// The host's own code panicked, with this message.
    Panic(String),
}

/// Owns the threads. Dropped, it stops them without waiting: whatever still runs is dropped at its next slice.
#[derive(Debug)]
pub(super) struct Guests(Option<Runtime>);

impl Guests {
    pub(super) fn new() -> std::io::Result<Self> {
        // Timers are looked at after every slice: busy guests would hold them up for dozens of slices otherwise.
        let runtime = Builder::new_multi_thread().thread_name("hermes-guest").event_interval(1).enable_all().build()?;
        super::signals::survive(&runtime)?;
        Ok(Self(Some(runtime)))
    }

    /// Runs work that blocks, on a thread where it may.
    pub(super) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, String> {
        let Some(runtime) = &self.0 else { return Err("the sandbox is shutting down".into()) };
        runtime.spawn_blocking(work).await.map_err(|why| why.to_string())
    }

    /// Runs a future whose timers and tasks belong to the guests' runtime, on whatever executor it is awaited.
    pub(super) async fn entered<T>(&self, future: impl Future<Output = T>) -> T {
        let mut future = std::pin::pin!(future);
        poll_fn(|cx| {
            let _context = self.0.as_ref().map(Runtime::enter);
            future.as_mut().poll(cx)
        })
        .await
    }

    /// Ends after this time, on whatever executor it is awaited.
    pub(super) async fn sleep(&self, time: Duration) {
        let sleep = self.0.as_ref().map(|runtime| {
            let _context = runtime.enter();
            tokio::time::sleep(time)
        });
        if let Some(sleep) = sleep {
            sleep.await;
        }
    }

    /// Runs a guest to its end, or until its clock has run out and the caller's patience too. Works on any executor; dropping the future ends the guest.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        guest: impl Future<Output = T> + Send + 'static,
        clock: &Clock,
        patience: Duration,
    ) -> Result<T, Lost> {
        // The runtime is only taken out on drop.
        let Some(runtime) = &self.0 else { return Err(Lost::Late) };
        let mut guest: Pin<Box<_>> = Box::pin(caught(guest));
        let first = poll_fn(|cx| {
            // Timers and I/O of the guest belong to the guests' runtime from the start.
            let _context = runtime.enter();
            Poll::Ready(guest.as_mut().poll(cx))
        });
        if let Poll::Ready(result) = first.await {
            return result.map_err(Lost::Panic);
        }
        let guest = AbortOnDropHandle::new(runtime.spawn(guest));
        // This timer wakes the caller itself, however many guests wait for a thread.
        let late = clock.run_out(patience, |time| self.sleep(time));
        tokio::select! {
            biased;
            finished = guest => match finished {
                Ok(result) => result.map_err(Lost::Panic),
                Err(why) => Err(Lost::Panic(why.to_string())),
            },
            () = late => Err(Lost::Late),
        }
    }
}

impl Drop for Guests {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// A future with a panic turned into its message. After a panic it is never polled again, and the store in it is dropped: nothing half
/// done is seen.
pub(crate) fn caught<T>(guest: impl Future<Output = T>) -> impl Future<Output = Result<T, String>> {
    AssertUnwindSafe(guest).catch_unwind().map(|result| result.map_err(|panic| message(panic.as_ref())))
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock() -> Clock {
        Clock::new(Duration::from_secs(10))
    }

    #[tokio::test]
    async fn the_caller_is_answered_when_its_patience_ends() {
        let guests = Guests::new().unwrap();
        let never = std::future::pending::<()>();
        assert_eq!(guests.run(never, &Clock::new(Duration::from_millis(5)), Duration::ZERO).await, Err(Lost::Late));
    }

    #[tokio::test]
    async fn a_panic_in_host_code_becomes_an_error_and_the_next_call_works() {
        let guests = Guests::new().unwrap();
        let panics = async {
            if std::hint::black_box(true) {
                panic!("boom")
            }
        };
        assert_eq!(guests.run(panics, &clock(), Duration::ZERO).await, Err(Lost::Panic("boom".into())));
        assert_eq!(guests.run(async { 7 }, &clock(), Duration::ZERO).await, Ok(7));
    }

    #[tokio::test]
    async fn a_panic_after_the_first_slice_is_caught_too() {
        let guests = Guests::new().unwrap();
        let panics = async {
            tokio::time::sleep(Duration::from_millis(1)).await;
            if std::hint::black_box(true) {
                panic!("late")
            }
        };
        assert_eq!(guests.run(panics, &clock(), Duration::ZERO).await, Err(Lost::Panic("late".into())));
    }

    #[test]
    fn it_runs_without_a_tokio_runtime_of_the_callers() {
        let guests = Guests::new().unwrap();
        let sleeps = async { tokio::time::sleep(Duration::from_millis(1)).await };
        assert_eq!(pollster::block_on(guests.run(sleeps, &clock(), Duration::ZERO)), Ok(()));
    }
}
