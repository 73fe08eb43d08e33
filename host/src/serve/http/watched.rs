//! A connection whose client is watched: one that takes nothing of what is sent is given up.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Sleep, sleep},
};

use super::connections::Slot;

/// A stream, and how long it may be stuck.
#[derive(Debug)]
pub(super) struct Watched<S> {
    stream: S,
    slot: Slot,
    patience: Duration,
    /// Runs while something waits to be taken.
    stuck: Option<Pin<Box<Sleep>>>,
}

impl<S> Watched<S> {
    pub(super) fn new(stream: S, slot: Slot, patience: Duration) -> Self {
        Self { stream, slot, patience, stuck: None }
    }

    /// What became of a write: progress, or a wait that has an end.
    fn watched<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            if self.stuck.take().is_some() {
                self.slot.set_stuck(false);
            }
            return written;
        }
        let patience = self.patience;
        let slot = &self.slot;
        let timer = self.stuck.get_or_insert_with(|| {
            slot.set_stuck(true);
            Box::pin(sleep(patience))
        });
        ready!(timer.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client takes nothing")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.watched(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.watched(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::{super::connections::Connections, *};

    #[tokio::test]
    async fn a_client_that_takes_nothing_is_given_up_and_a_slow_one_is_not() {
        let connections = Connections::new(1);
        let place = connections.admit().unwrap();
        let patience = Duration::from_millis(300);
        let (near, mut far) = duplex(8);
        let mut watched = Watched::new(near, place.slot().clone(), patience);
        let reads = async {
            // Longer than the patience in all, and each byte is progress.
            for _ in 0..30 {
                sleep(patience / 20).await;
                far.read_u8().await.unwrap();
            }
        };
        let (written, ()) = tokio::join!(watched.write_all(&[0; 38]), reads);
        written.unwrap();
        assert!(place.slot().is_idle());
        let why = watched.write_all(&[0; 38]).await.unwrap_err();
        assert_eq!(why.kind(), io::ErrorKind::TimedOut);
        assert!(!place.slot().is_idle());
    }
}
