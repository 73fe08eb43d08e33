//! The HTTP API: what agents and people that speak no MCP use.
//!
//! [`router`] has the routes, [`guarded`] lets in who may, [`Server`] serves both within bounds.
//!
//! ```no_run
//! # async fn example(host: hermes_host::Host) -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::Arc;
//!
//! use hermes_host::serve::http::{Metrics, Server, Settings, TokenFile, guarded, router};
//! use tokio_util::sync::CancellationToken;
//!
//! let token = TokenFile::in_home(&hermes_host::default_home()?)?.token()?;
//! let settings = Arc::new(Settings::new("127.0.0.1:7411".parse()?, token, &[])?);
//! let (metrics, stop) = (Metrics::new(&host), CancellationToken::new());
//! let routes = router(&host, &metrics, &stop);
//! let server = Server::bind(&settings)?;
//! server.serve(guarded(routes, settings), metrics.connections(), stop).await;
//! # Ok(())
//! # }
//! ```

mod approvals;
mod audit;
mod authority;
mod body;
mod call;
mod connections;
mod guard;
pub mod limits;
mod listener;
mod metrics;
mod openapi;
mod problem;
mod process;
mod query;
mod refusals;
mod server;
mod settings;
mod status;
mod token;
mod token_file;
mod tools;
mod watched;

use std::sync::Arc;

use axum::{
    Router,
    http::{Method, StatusCode, Uri},
    routing::{MethodRouter, get, post},
};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::{Host, text::one_line};
use problem::Problem;

pub use guard::guarded;
pub use metrics::{Call, Metrics};
pub use server::{BindError, Server};
pub use settings::{Settings, SettingsError};
pub use token::{TOKEN_ENV, Token};
pub use token_file::{TokenError, TokenFile};

/// Bytes of a path that an error repeats.
const SHOWN: usize = 120;

/// What handlers share.
#[derive(Clone, Debug)]
struct Api {
    host: Host,
    metrics: Arc<Metrics>,
    attended: approvals::Attended,
    audit_readers: Arc<Semaphore>,
    /// The server stops: whoever only waits ends.
    stop: CancellationToken,
}

/// The routes of the API, without a guard: merge and nest what else is served, then call [`guarded`]. Requests that only wait end
/// when `stop` is cancelled.
pub fn router(host: &Host, metrics: &Arc<Metrics>, stop: &CancellationToken) -> Router {
    let api = Api {
        host: host.clone(),
        metrics: Arc::clone(metrics),
        attended: approvals::Attended::default(),
        audit_readers: Arc::new(Semaphore::new(limits::AUDIT_READERS)),
        stop: stop.clone(),
    };
    let router = routes().into_iter().fold(Router::new(), |router, (path, route)| router.route(path, route));
    router.fallback(unknown_path).method_not_allowed_fallback(wrong_method).with_state(api)
}

/// Every path and who answers there. The OpenAPI document has the same ones.
fn routes() -> [(&'static str, MethodRouter<Api>); 9] {
    [
        ("/v1/tools", get(tools::tools)),
        ("/v1/call", post(call::call)),
        ("/v1/batch", post(call::batch)),
        ("/v1/approvals", get(approvals::list)),
        ("/v1/approvals/{id}", post(approvals::answer)),
        ("/v1/audit", get(audit::audit)),
        (guard::OPEN, get(status::health)),
        ("/metrics", get(status::metrics)),
        ("/openapi.json", get(status::document)),
    ]
}

async fn unknown_path(uri: Uri) -> Problem {
    Problem::not_found(format!("there is nothing at {}; see /openapi.json", one_line(uri.path(), SHOWN)))
}

async fn wrong_method(method: Method, uri: Uri) -> Problem {
    let (method, path) = (one_line(method.as_str(), SHOWN), one_line(uri.path(), SHOWN));
    let error = format!("{method} is not possible at {path}; see /openapi.json");
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method-not-allowed", error)
}
