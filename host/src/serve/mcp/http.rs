//! MCP over HTTP, as a route for the server. Who may come in at all is the guard's to say, for every route alike.

use std::sync::Arc;

use axum::Router;
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};
use tokio_util::sync::CancellationToken;

use super::{
    Mcp,
    agent::Agent,
    limits::{MESSAGE, SESSION_IDLE},
};

impl Mcp {
    /// The route `/mcp`, without a guard. Its streams end when the token is cancelled.
    pub fn routes(&self, stop: CancellationToken) -> Router {
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(SESSION_IDLE);
        let config = StreamableHttpServerConfig::default()
            .with_max_request_body_bytes(MESSAGE)
            .with_cancellation_token(stop)
            // The guard before all routes checks both, by the operator's own list.
            .disable_allowed_hosts()
            .disable_allowed_origins();
        let mcp = self.clone();
        let agent = move || Agent::of_requests(&mcp).map_err(std::io::Error::other);
        let service = StreamableHttpService::new(agent, Arc::new(sessions), config);
        Router::new().route_service("/mcp", service)
    }
}
