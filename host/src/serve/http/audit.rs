//! `GET /v1/audit`.

use std::collections::VecDeque;

use axum::{
    extract::State,
    http::{StatusCode, Uri},
    response::Response,
};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    Api,
    limits::{AUDIT_LINES, AUDIT_LINES_MAX},
    problem::{Problem, json, json_text},
    query::Parameters,
};
use crate::{
    audit::{self, AuditError, Filter, Line, parse_since},
    sandbox::limits::thousands,
};

/// What was called.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(super) struct AuditResponse {
    /// The last ones that were asked for, the oldest first.
    #[schema(value_type = Vec<Line>)]
    lines: VecDeque<Line>,
    /// Lines that could not be read. `hermes-host audit --verify` says more.
    damaged: u64,
}

#[utoipa::path(
    get,
    path = "/v1/audit",
    description = "The last calls, the oldest first.",
    params(
        ("limit" = Option<u64>, Query, description = format!(
            "How many: at most {}; {AUDIT_LINES} unless it is given",
            thousands(AUDIT_LINES_MAX as u64)
        )),
        ("tool" = Option<String>, Query, description = "Only calls of this tool"),
        ("since" = Option<String>, Query, description = "Only calls since then: 30m, 2h, 7d, 2026-11-16 or 2026-11-16T08:00:00Z"),
    ),
    responses(
        (status = 200, description = "The calls", body = AuditResponse),
        (status = 400, description = "A parameter is wrong", body = Problem),
        (status = 500, description = "The audit log can't be read", body = Problem),
    )
)]
pub(super) async fn audit(State(api): State<Api>, uri: Uri) -> Result<Response, Problem> {
    let mut query = Parameters::of(&uri)?;
    let limit = query.number("limit", AUDIT_LINES_MAX as u64)?;
    let filter = Filter {
        tool: query.one("tool", |name| Ok::<_, &str>(name.to_owned()))?,
        since: query.one("since", |text| parse_since(text, Timestamp::now()))?,
        call: None,
    };
    query.end()?;
    // Up to the limit of `number`, so it fits.
    let limit = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(AUDIT_LINES);
    let reader = api.audit_readers.clone().acquire_owned().await;
    let home = api.host.home().to_owned();
    let read = tokio::task::spawn_blocking(move || {
        let _reader = reader;
        last(audit::read(&home, &filter)?, limit)
    });
    let found = read.await.map_err(|why| Problem::internal(why.to_string()))?;
    let found = found.map_err(|why| Problem::internal(why.to_string()))?;
    Ok(json_text(StatusCode::OK, json(&found)))
}

/// The last of them. One bad line must not hide the others.
fn last(lines: impl Iterator<Item = Result<Line, AuditError>>, limit: usize) -> Result<AuditResponse, AuditError> {
    let mut found = AuditResponse::default();
    for line in lines {
        match line {
            Ok(line) => found.lines.push_back(line),
            Err(AuditError::Line { .. }) => found.damaged += 1,
            Err(why) => return Err(why),
        }
        if found.lines.len() > limit {
            found.lines.pop_front();
        }
    }
    Ok(found)
}
