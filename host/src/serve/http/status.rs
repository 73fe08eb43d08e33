//! `GET /healthz`, `GET /metrics` and `GET /openapi.json`.

use axum::{
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    Api, openapi,
    problem::{Problem, json, json_text},
};

/// What the metrics are written in.
const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The server is there.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Health {
    /// Always `ok`: a server that is not answers nothing.
    status: &'static str,
}

#[utoipa::path(
    get,
    path = "/healthz",
    description = "Says that the server is there. Needs no token.",
    security(()),
    responses((status = 200, description = "It is", body = Health))
)]
pub(super) async fn health() -> Response {
    json_text(StatusCode::OK, json(&Health { status: "ok" }))
}

#[utoipa::path(
    get,
    path = "/metrics",
    description = "How many calls, of what kind, how long, and how the host is: for Prometheus.",
    responses(
        (status = 200, description = "The metrics", body = String, content_type = "application/openmetrics-text"),
        (status = 500, description = "The metrics can't be written", body = Problem),
    )
)]
pub(super) async fn metrics(State(api): State<Api>) -> Result<Response, Problem> {
    let text = api.metrics.text().map_err(|why| Problem::internal(why.to_string()))?;
    Ok(([(header::CONTENT_TYPE, OPENMETRICS)], text).into_response())
}

#[utoipa::path(
    get,
    path = "/openapi.json",
    description = "This document.",
    responses((status = 200, description = "The document", body = Object))
)]
pub(super) async fn document() -> Response {
    json_text(StatusCode::OK, json(&openapi::document()))
}
