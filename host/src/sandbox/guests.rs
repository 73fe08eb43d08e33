//! The threads that guests run on.
//!
//! A guest that is quick, as most are, runs on its caller's thread: handing it over would cost more than the call. One that
//! is still there after its first slice (one epoch tick, or the first wait) moves to threads of its own, so that busy guests
//! never hold up whoever serves the callers.

use std::{
    any::Any,
    future::{Future, poll_fn},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::Poll,
};

use tokio::runtime::{Builder, Runtime};
use tokio_util::task::AbortOnDropHandle;

/// Owns the threads. Dropped, it stops them without waiting: whatever still runs is dropped at its next slice.
#[derive(Debug)]
pub(super) struct Guests(Option<Runtime>);

impl Guests {
    pub(super) fn new() -> std::io::Result<Self> {
        let runtime = Builder::new_multi_thread().thread_name("hermes-guest").enable_all().build()?;
        Ok(Self(Some(runtime)))
    }

    /// Runs a guest to its end. Works on any executor; dropping the future ends the guest. A panic comes back as its message.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        guest: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, String> {
        // The runtime is only taken out on drop.
        let Some(runtime) = &self.0 else { return Err("the sandbox is shutting down".into()) };
        let mut guest: Pin<Box<_>> = Box::pin(caught(guest));
        let first = poll_fn(|cx| {
            // Timers and I/O of the guest belong to the guests' runtime from the start.
            let _context = runtime.enter();
            Poll::Ready(guest.as_mut().poll(cx))
        });
        if let Poll::Ready(result) = first.await {
            return result;
        }
        match AbortOnDropHandle::new(runtime.spawn(guest)).await {
            Ok(result) => result,
            Err(why) => Err(why.to_string()),
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

/// The guest's future, with a panic of the host's code turned into its message.
async fn caught<T>(guest: impl Future<Output = T>) -> Result<T, String> {
    let mut guest = Box::pin(guest);
    poll_fn(move |cx| {
        // After a panic the future is never polled again, and the store in it is dropped: nothing half done is seen.
        match catch_unwind(AssertUnwindSafe(|| guest.as_mut().poll(cx))) {
            Ok(poll) => poll.map(Ok),
            Err(panic) => Poll::Ready(Err(message(panic.as_ref()))),
        }
    })
    .await
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message").to_owned()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn a_panic_in_host_code_becomes_an_error_and_the_next_call_works() {
        let guests = Guests::new().unwrap();
        let panics = async {
            if std::hint::black_box(true) {
                panic!("boom")
            }
        };
        assert_eq!(guests.run(panics).await, Err("boom".into()));
        assert_eq!(guests.run(async { 7 }).await, Ok(7));
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
        assert_eq!(guests.run(panics).await, Err("late".into()));
    }

    #[test]
    fn it_runs_without_a_tokio_runtime_of_the_callers() {
        let guests = Guests::new().unwrap();
        let sleeps = async { tokio::time::sleep(Duration::from_millis(1)).await };
        assert_eq!(pollster::block_on(guests.run(sleeps)), Ok(()));
    }
}
