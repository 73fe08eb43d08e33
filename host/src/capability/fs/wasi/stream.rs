//! An output stream to a file that counts what passes, and lets no mask pass.

use std::{io, sync::Arc};

use bytes::Bytes;
use wasmtime_wasi::p2::{DynOutputStream, OutputStream, Pollable, StreamError, StreamResult};

use super::super::{budget::Budget, secrets};

pub(super) struct Counted {
    pub(super) inner: DynOutputStream,
    pub(super) budget: Arc<Budget>,
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
        if secrets::has_mask(&bytes) {
            let why = io::Error::new(io::ErrorKind::PermissionDenied, "a masked secret is not written back");
            return Err(StreamError::LastOperationFailed(why.into()));
        }
        if let Err(why) = self.budget.take(bytes.len() as u64, 0) {
            let why = io::Error::new(io::ErrorKind::StorageFull, why.message);
            return Err(StreamError::LastOperationFailed(why.into()));
        }
        self.inner.write(bytes)
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
