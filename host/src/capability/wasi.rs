//! WASI 0.2 for components of other languages, on an empty context: no environment, no arguments, no network, and files only in the
//! folders that were granted. What
//! a guest prints goes to its call's log, never to the host's own streams.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::io::AsyncWrite;
use wasmtime::component::Linker;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamError, StreamResult};
use wasmtime_wasi::{WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};

use crate::sandbox::{CallLog, CallState, Level, Stream, limits};

pub(super) fn link(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    wasmtime_wasi::p2::add_to_linker_async(linker)?;
    super::fs::link_wasi(linker)
}

/// The context of one call. Made when the guest first asks for it: most never do.
pub(crate) fn context(log: &CallLog) -> WasiCtx {
    WasiCtxBuilder::new()
        .stdout(LogStream { log: log.clone(), stream: Stream::Out, level: Level::Info })
        .stderr(LogStream { log: log.clone(), stream: Stream::Err, level: Level::Warn })
        .max_random_size(limits::RANDOM_BYTES)
        .allow_tcp(false)
        .allow_udp(false)
        .allow_ip_name_lookup(false)
        .socket_addr_check(|_, _| Box::pin(async { false }))
        .build()
}

impl WasiView for CallState {
    /// Every WASI function passes here first, so this is where they are counted.
    fn ctx(&mut self) -> WasiCtxView<'_> {
        self.count_wasi_call();
        self.wasi_view()
    }
}

/// A standard stream that ends in the call's log. Its size is bounded there; the number of writes by the WASI-call budget.
#[derive(Clone)]
struct LogStream {
    log: CallLog,
    stream: Stream,
    level: Level,
}

impl LogStream {
    fn push(&self, bytes: &[u8]) {
        self.log.write(self.stream, self.level, bytes);
    }
}

impl IsTerminal for LogStream {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for LogStream {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

impl OutputStream for LogStream {
    fn write(&mut self, bytes: bytes::Bytes) -> StreamResult<()> {
        self.push(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> Result<usize, StreamError> {
        Ok(limits::LOG_LINE_BYTES)
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for LogStream {
    async fn ready(&mut self) {}
}

impl AsyncWrite for LogStream {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.push(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
