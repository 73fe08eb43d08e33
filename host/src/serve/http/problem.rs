//! What is wrong with a request. Always told as JSON, like the errors of tools.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use utoipa::ToSchema;

/// When a client that found the server or the host busy may try again, in seconds.
pub(super) const RETRY_AFTER: HeaderValue = HeaderValue::from_static("1");

/// Why there is no answer. `kind` is from a closed list, `error` says what to do next.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Error)]
pub(super) struct Problem {
    #[serde(skip)]
    status: StatusCode,
    /// What is wrong, and what to do about it.
    error: String,
    /// The kind of error: those of tools, and those of requests.
    #[schema(value_type = String)]
    kind: &'static str,
}

impl Problem {
    pub(super) fn new(status: StatusCode, kind: &'static str, error: impl Into<String>) -> Self {
        Self { status, error: error.into(), kind }
    }

    /// The request says something that is not understood.
    pub(super) fn bad_request(error: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad-request", error)
    }

    /// Something that the client named does not exist.
    pub(super) fn not_found(error: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not-found", error)
    }

    /// The body is larger than it may be.
    pub(super) fn too_large(error: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", error)
    }

    /// There is no room for the request now. Nothing of it was done.
    pub(super) fn busy(error: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "busy", error)
    }

    /// The host itself failed.
    pub(super) fn internal(error: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "failed", error)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = json_text(self.status, json(&self));
        let hint = match self.status {
            StatusCode::UNAUTHORIZED => Some((header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))),
            StatusCode::SERVICE_UNAVAILABLE => Some((header::RETRY_AFTER, RETRY_AFTER)),
            _ => None,
        };
        response.headers_mut().extend(hint);
        response
    }
}

/// The JSON text of what is sent.
pub(super) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|why| {
        tracing::error!("failed to write a response: {why}");
        r#"{"error":"the response could not be written","kind":"failed"}"#.to_owned()
    })
}

/// A response with this JSON text.
pub(super) fn json_text(status: StatusCode, text: String) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], text).into_response()
}
