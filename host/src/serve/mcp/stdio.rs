//! MCP on a stream, such as standard input and output. Nothing but the protocol is ever written to the output, and its end is the end
//! of the host.

use rmcp::{
    service::{ServerInitializeError, serve_server_with_ct},
    transport::{async_rw::AsyncRwTransport, stdio_pipes},
};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio_util::sync::CancellationToken;

use super::{Mcp, agent::Agent, limits::MESSAGE};

impl Mcp {
    /// Serves one client on stdin and stdout until it closes its end or the token is cancelled.
    pub async fn serve_stdio(&self, stop: CancellationToken) -> std::io::Result<()> {
        let (read, write) = stdio_pipes();
        // On the heap: the compiler bounds how deep futures lie in each other.
        Box::pin(self.serve_stream(read, write, stop)).await
    }

    /// The same on any two ends of pipes or of a socket.
    pub async fn serve_stream(
        &self,
        read: impl AsyncRead + Send + Unpin + 'static,
        write: impl AsyncWrite + Send + Unpin + 'static,
        stop: CancellationToken,
    ) -> std::io::Result<()> {
        // A last line without its end is a message too.
        let read = read.chain(b"\n".as_slice());
        let transport = AsyncRwTransport::new(read, write).with_max_line_length(MESSAGE);
        let agent = Agent::of_connection(self).map_err(std::io::Error::other)?;
        match serve_server_with_ct(agent, transport, stop.clone()).await {
            Ok(running) => running.waiting().await.map(drop).map_err(std::io::Error::other),
            // A client that goes before it said a word has nothing to complain of.
            Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => Ok(()),
            Err(why) => Err(std::io::Error::other(why)),
        }
    }
}
