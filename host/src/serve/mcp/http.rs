//! MCP over HTTP, as a route for the server. Who may come in at all is the guard's to say, for every route alike.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use axum::Router;
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};
use tokio_util::sync::CancellationToken;

use super::{
    Mcp, Shared,
    agent::Agent,
    limits::{DRAIN, LAST_WORDS, MESSAGE, SESSION_IDLE},
};

impl Mcp {
    /// The route `/mcp`, to be put behind [`guarded`](crate::serve::http::guarded): clients may answer what the host asks about
    /// commands, and a command that an agent runs must not be such a client. When `stop` is cancelled, running calls are finished, and
    /// then the streams end.
    pub fn routes(&self, stop: CancellationToken) -> Router {
        let ended = CancellationToken::new();
        let (shared, end) = (Arc::clone(&self.0), ended.clone());
        tokio::spawn(async move {
            stop.cancelled().await;
            // Late or not, the streams end.
            let _ = tokio::time::timeout(DRAIN, drained(&shared)).await;
            end.cancel();
        });
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(SESSION_IDLE);
        let config = StreamableHttpServerConfig::default()
            .with_max_request_body_bytes(MESSAGE)
            .with_cancellation_token(ended)
            // The guard before all routes checks both, by the operator's own list.
            .disable_allowed_hosts()
            .disable_allowed_origins();
        let mcp = self.clone();
        let agent = move || Agent::of_requests(&mcp).map_err(std::io::Error::other);
        let service = StreamableHttpService::new(agent, Arc::new(sessions), config);
        Router::new().route_service("/mcp", service)
    }
}

/// How often it is looked whether calls still run.
const LOOK: Duration = Duration::from_millis(20);

/// Waits until no call is being answered, and the last answer is written.
async fn drained(shared: &Shared) {
    while shared.running.load(Ordering::Acquire) > 0 {
        tokio::time::sleep(LOOK).await;
    }
    tokio::time::sleep(LAST_WORDS).await;
}
