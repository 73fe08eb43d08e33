//! Streams from and to a file. An output stream counts what passes, and lets nothing pass that must not be written. Both keep what
//! the host holds for their file for as long as they live.

use std::{io, sync::Arc};

use bytes::Bytes;
use wasmtime_wasi::p2::{
    DynInputStream, DynOutputStream, InputStream, OutputStream, Pollable, StreamError, StreamResult,
};

use super::{
    super::{budget::Budget, fault::Outcome},
    open_files::DescriptorLease,
    written::Written,
};
use crate::{
    sandbox::{MemoryCharge, limits::KIB},
    wit::latest::filesystem::{Fault, Reason},
};

/// Bytes that wasmtime reads ahead for one input stream at most, and keeps until the guest takes them.
pub(super) const READ_AHEAD: usize = 64 * KIB;

/// An input stream from a file.
pub(super) struct LeasedInput {
    pub(super) inner: DynInputStream,
    pub(super) _lease: Option<Arc<DescriptorLease>>,
    pub(super) _buffer: MemoryCharge,
}

#[wasmtime_wasi::async_trait]
impl Pollable for LeasedInput {
    async fn ready(&mut self) {
        self.inner.ready().await;
    }
}

#[wasmtime_wasi::async_trait]
impl InputStream for LeasedInput {
    fn read(&mut self, size: usize) -> StreamResult<Bytes> {
        self.inner.read(size)
    }

    async fn blocking_read(&mut self, size: usize) -> StreamResult<Bytes> {
        self.inner.blocking_read(size).await
    }

    fn skip(&mut self, count: usize) -> StreamResult<usize> {
        self.inner.skip(count)
    }

    async fn blocking_skip(&mut self, count: usize) -> StreamResult<usize> {
        self.inner.blocking_skip(count).await
    }

    async fn cancel(&mut self) {
        self.inner.cancel().await;
    }
}

pub(super) struct Counted {
    pub(super) inner: DynOutputStream,
    pub(super) written: Arc<Written>,
    pub(super) budget: Arc<Budget>,
    /// Where the next bytes go, if not to the file's end.
    pub(super) at: Option<u64>,
    pub(super) _lease: Option<Arc<DescriptorLease>>,
}

impl Counted {
    fn pass(&self, bytes: &[u8]) -> Outcome<()> {
        self.written.judge(bytes)?;
        self.budget.take(bytes.len() as u64, 0)?;
        // Here nobody may wait for a disk that does not answer: such a one was looked at when the file was opened.
        if self.written.is_local() {
            let at = self.at.map_or_else(|| self.written.size(), Ok)?;
            self.written.judge_at(at, bytes)?;
        }
        Ok(())
    }
}

/// A fault in a stream's words.
fn refused(why: Fault) -> StreamError {
    let kind = match why.reason {
        Reason::Denied => io::ErrorKind::PermissionDenied,
        Reason::TooLarge => io::ErrorKind::StorageFull,
        _ => io::ErrorKind::Other,
    };
    StreamError::LastOperationFailed(io::Error::new(kind, why.message).into())
}

#[wasmtime_wasi::async_trait]
impl Pollable for Counted {
    async fn ready(&mut self) {
        self.inner.ready().await;
    }
}

#[wasmtime_wasi::async_trait]
impl OutputStream for Counted {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.pass(&bytes).map_err(refused)?;
        let length = bytes.len() as u64;
        self.inner.write(bytes)?;
        self.at = self.at.map(|at| at.saturating_add(length));
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        self.inner.flush()
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        self.inner.check_write()
    }

    async fn cancel(&mut self) {
        self.inner.cancel().await;
    }
}
