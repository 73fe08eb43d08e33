//! Accepts connections and serves them, within bounds that hold whatever clients do.

use std::{io, net::SocketAddr, pin::pin, sync::Arc};

use axum::{
    Router,
    body::{Body, HttpBody},
    http::{Request, Response},
};
use bytes::Bytes;
use hyper::{
    body::{Frame, Incoming, SizeHint},
    server::conn::http1,
    service::{Service as _, service_fn},
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use prometheus_client::metrics::gauge::Gauge;
use tokio::{
    io::AsyncWriteExt,
    net::{TcpListener, TcpSocket, TcpStream},
    sync::Semaphore,
    time::{sleep, timeout},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    connections::{Connections, Place, Slot},
    limits::{
        ACCEPT_REST, BACKLOG, CLOSE_REST, CLOSING, CONNECTIONS, DRAIN, HEADER_BYTES, HEADER_WAIT, HEADERS, REFUSE_WAIT,
        WRITE_WAIT,
    },
    listener,
    refusals::PeerAddress,
    settings::Settings,
    watched::Watched,
};

/// What a client gets for which there is no place.
const FULL: &str = r#"{"error":"the server has as many requests as it can serve; try again later","kind":"busy"}"#;

/// A server that listens already and serves nobody yet.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
}

/// The address can't be listened on.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Another program listens there.
    #[error("failed to listen on {address}: {} listens there; end it, or choose another port with --http PORT", listener.as_deref().unwrap_or("another program"))]
    Taken {
        /// The address.
        address: SocketAddr,
        /// The program and its process, where the system says so.
        listener: Option<String>,
    },
    /// The system refuses it.
    #[error("failed to listen on {address}: {why}; choose another address with --http IP:PORT")]
    Refused {
        /// The address.
        address: SocketAddr,
        /// Why.
        why: io::Error,
    },
}

impl Server {
    /// Listens where the settings say. Called on a runtime that serves it later.
    pub fn bind(settings: &Settings) -> Result<Self, BindError> {
        let address = settings.address();
        let listen = || {
            let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
            // A server that was just stopped leaves connections behind that the system still remembers.
            socket.set_reuseaddr(true)?;
            socket.bind(address)?;
            socket.listen(BACKLOG)
        };
        listen().map(|listener| Self { listener }).map_err(|why| match why.kind() {
            io::ErrorKind::AddrInUse => BindError::Taken { address, listener: listener::on_port(address.port()) },
            _ => BindError::Refused { address, why },
        })
    }

    /// Where it listens: the port is a real one even if any was wanted.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `stop` is cancelled. Then nobody is let in any more, idle connections are closed, and running requests have
    /// [`DRAIN`] to finish. `open` shows how many connections there are.
    pub async fn serve(self, router: Router, open: Gauge, stop: CancellationToken) {
        let connections = Connections::new(CONNECTIONS);
        let places = Arc::new(Semaphore::new(CONNECTIONS + CLOSING));
        let (tasks, abandon) = (TaskTracker::new(), CancellationToken::new());
        let shared = Arc::new(Shared { router, stop: stop.clone(), abandon: abandon.clone(), open });
        loop {
            let next = async {
                // Never closed, so there is always a place in the end: those that were told to close do.
                let permit = Arc::clone(&places).acquire_owned().await;
                (permit, self.listener.accept().await)
            };
            let (permit, accepted) = tokio::select! {
                biased;
                () = stop.cancelled() => break,
                next = next => next,
            };
            match accepted {
                Ok((stream, peer)) => {
                    let (place, shared) = (connections.admit(), Arc::clone(&shared));
                    tasks.spawn(async move {
                        match place {
                            Some(place) => shared.connection(stream, peer, place).await,
                            None => refuse(stream).await,
                        }
                        drop(permit);
                    });
                }
                // The client was gone before it was let in.
                Err(why) if is_of_client(&why) => {}
                Err(why) if connections.make_room() => {
                    tracing::debug!("closed an idle connection to accept another: {why}");
                    sleep(CLOSE_REST).await;
                }
                Err(why) => {
                    tracing::warn!("failed to accept a connection: {why}");
                    sleep(ACCEPT_REST).await;
                }
            }
        }
        drop(self.listener);
        tasks.close();
        if timeout(DRAIN, tasks.wait()).await.is_err() {
            tracing::warn!("{} requests were still running after {} s and are ended", tasks.len(), DRAIN.as_secs());
            abandon.cancel();
            tasks.wait().await;
        }
    }
}

/// Tells a client that there is no place.
async fn refuse(mut stream: TcpStream) {
    let head =
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 1\r\nconnection: close";
    let text = format!("{head}\r\ncontent-length: {}\r\n\r\n{FULL}", FULL.len());
    let told = async {
        stream.write_all(text.as_bytes()).await?;
        stream.shutdown().await?;
        // What it sent is read before the connection is closed: otherwise the system would take the answer back.
        tokio::io::copy(&mut stream, &mut tokio::io::sink()).await
    };
    // Whether it heard it or not, it goes.
    let _told = timeout(REFUSE_WAIT, told).await;
}

/// Errors of one client, after which the next one is let in at once.
fn is_of_client(why: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(why.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}

/// What all connections have in common.
struct Shared {
    router: Router,
    /// No new requests.
    stop: CancellationToken,
    /// No requests at all.
    abandon: CancellationToken,
    open: Gauge,
}

impl Shared {
    /// Serves one connection to its end.
    async fn connection(self: Arc<Self>, stream: TcpStream, peer: SocketAddr, place: Place) {
        self.open.inc();
        let _open = Counted(&self.open);
        // Small answers are sent at once. If it can't be set, they are sent a little later.
        let _unset = stream.set_nodelay(true);
        let slot = place.slot().clone();
        let service = service_fn(|request| answer(self.router.clone(), request, peer, slot.clone()));
        let io = TokioIo::new(Watched::new(stream, slot.clone(), WRITE_WAIT));
        let served = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADER_WAIT)
            .max_headers(HEADERS)
            .max_buf_size(HEADER_BYTES)
            .serve_connection(io, service);
        let mut served = pin!(served);
        let mut stopping = false;
        loop {
            tokio::select! {
                // Clients break off as they like: nothing to tell anybody.
                _ended = served.as_mut() => return,
                () = slot.closed() => return,
                () = self.abandon.cancelled() => return,
                () = self.stop.cancelled(), if !stopping => {
                    stopping = true;
                    if slot.is_idle() {
                        return;
                    }
                    served.as_mut().graceful_shutdown();
                }
            }
        }
    }
}

/// One connection in the count; taken out when dropped.
struct Counted<'a>(&'a Gauge);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// Answers one request. Dropped with its connection, and with it the call that it made. One that makes room for another
/// is told to go before its request is whole, and then nothing is done for it, or while its client takes no answer.
async fn answer(
    router: Router,
    mut request: Request<Incoming>,
    peer: SocketAddr,
    slot: Slot,
) -> Result<Response<Answer>, std::convert::Infallible> {
    slot.receives();
    request.extensions_mut().insert(slot.clone());
    request.extensions_mut().insert(PeerAddress(peer));
    let response = TowerToHyperService::new(router).call(request).await?;
    Ok(response.map(|body| Answer { body, slot }))
}

/// A response's body. When it is over, the next request is waited for.
struct Answer {
    body: Body,
    slot: Slot,
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        std::pin::Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.slot.receives();
    }
}
