//! `POST /v1/call` and `POST /v1/batch`.

use std::time::Duration;

use axum::{
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::Response,
};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::{
    Api,
    body::parse,
    limits::{BATCH_TIMEOUT, ID_BYTES},
    problem::{Problem, RETRY_AFTER, json, json_text},
};
use crate::{
    dispatch::{BATCH_CALLS, BatchCall, BatchTooLarge, CallContext, ErrorKind, Outcome},
    registry::Selection,
    sandbox::KillReason,
    serve::{HTTP_CLIENT, OWN_CALL, OWN_SESSION},
};

/// One call.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CallRequest {
    /// The tool.
    name: String,
    /// Its arguments: an object. None where it is left out.
    #[schema(value_type = Option<Object>)]
    arguments: Option<Box<RawValue>>,
    /// Names the call in the audit. Made up where it is left out. Names that begin with `call-` are the host's.
    call_id: Option<String>,
    /// The agent's task. Files read, commands running and guardrails are counted by it, so whoever names the same task
    /// shares them. Names that begin with `mcp-` are the host's.
    task_id: Option<String>,
    /// The agent's session. What is approved for a session holds for it. Names that begin with `mcp-` are the host's.
    session_id: Option<String>,
    /// The toolsets that the caller has. Tools outside them are not there for it. All where it is left out.
    toolsets: Option<Vec<String>>,
}

/// Several calls. Those that may run at the same time do; the answers come in the order of the calls.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BatchRequest {
    /// At most 1,000.
    calls: Vec<BatchItem>,
    /// The agent's task.
    task_id: Option<String>,
    /// The agent's session.
    session_id: Option<String>,
    /// The toolsets that the caller has.
    toolsets: Option<Vec<String>>,
    /// Seconds that all of it may take. Then what runs is ended.
    timeout: Option<f64>,
}

/// One call of several.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BatchItem {
    /// The tool.
    name: String,
    /// Its arguments: an object.
    #[schema(value_type = Option<Object>)]
    arguments: Option<Box<RawValue>>,
    /// Names the call in the audit.
    call_id: Option<String>,
}

/// What came of several calls.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct BatchResponse {
    /// In the order of the calls.
    results: Vec<BatchResult>,
}

/// What came of one of them.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct BatchResult {
    /// The status that `/v1/call` would have answered with.
    status: u16,
    /// The body that it would have answered with.
    #[schema(value_type = Value)]
    body: Box<RawValue>,
}

#[utoipa::path(
    post,
    path = "/v1/call",
    request_body = CallRequest,
    description = "Calls a tool. The body of the answer is the tool's own JSON. Closing the connection ends the call.",
    responses(
        (status = 200, description = "The tool answered", body = Value),
        (status = 400, description = "The request or the arguments are wrong", body = Problem),
        (status = 403, description = "Something was refused", body = Problem),
        (status = 404, description = "No tool has this name", body = Problem),
        (status = 429, description = "The same thing was tried too often in this task", body = Problem),
        (status = 500, description = "The host failed", body = Problem),
        (status = 502, description = "The tool failed or was ended for what it did", body = Problem),
        (status = 503, description = "The host is busy, or the tool can't work here", body = Problem),
        (status = 504, description = "The tool took too long", body = Problem),
    )
)]
pub(super) async fn call(State(api): State<Api>, headers: HeaderMap, body: Bytes) -> Result<Response, Problem> {
    let request: CallRequest = parse(&headers, &body)?;
    // The text of the arguments is all that is needed from here on, and a body may have megabytes.
    drop(body);
    let context = CallContext {
        call_id: id("call_id", OWN_CALL, request.call_id)?,
        ..context(request.task_id, request.session_id, request.toolsets)?
    };
    let counted = api.metrics.begin(&request.name);
    let outcome = api.host.call(&request.name, text(&request.arguments), context).await;
    counted.end(&outcome);
    let mut response = json_text(status(&outcome), outcome.json());
    if is_busy(&outcome) {
        response.headers_mut().insert(header::RETRY_AFTER, RETRY_AFTER);
    }
    Ok(response)
}

#[utoipa::path(
    post,
    path = "/v1/batch",
    request_body = BatchRequest,
    description = "Calls several tools. Each result has the status and the body that a call of its own would have had. Closing the \
                   connection ends all of them.",
    responses(
        (status = 200, description = "What came of each call, in their order", body = BatchResponse),
        (status = 400, description = "The request is wrong", body = Problem),
        (status = 413, description = "There are too many calls", body = Problem),
        (status = 500, description = "The host failed", body = Problem),
    )
)]
pub(super) async fn batch(State(api): State<Api>, headers: HeaderMap, body: Bytes) -> Result<Response, Problem> {
    let request: BatchRequest = parse(&headers, &body)?;
    drop(body);
    let deadline = request.timeout.map(timeout).transpose()?;
    let context = context(request.task_id, request.session_id, request.toolsets)?;
    // The host would say the same; here it comes before anything is counted.
    if request.calls.len() > BATCH_CALLS {
        return Err(Problem::too_large(BatchTooLarge(request.calls.len()).to_string()));
    }
    let call = |item: BatchItem| {
        let (arguments, call_id) = (text(&item.arguments).to_owned(), id("call_id", OWN_CALL, item.call_id)?);
        Ok(BatchCall { name: item.name, arguments, call_id })
    };
    let calls: Vec<BatchCall> = request.calls.into_iter().map(call).collect::<Result<_, Problem>>()?;
    // Each is counted once: by what came of it, or as given up where this is dropped before.
    let counted: Vec<_> = calls.iter().map(|call| api.metrics.begin(&call.name)).collect();
    let outcomes = api.host.call_batch(&calls, context, deadline).await;
    let outcomes = outcomes.map_err(|why| Problem::too_large(why.to_string()))?;
    counted.into_iter().zip(&outcomes).for_each(|(counted, outcome)| counted.end(outcome));
    let result = |outcome: &Outcome| {
        let body = RawValue::from_string(outcome.json()).map_err(|why| Problem::internal(why.to_string()))?;
        Ok(BatchResult { status: status(outcome).as_u16(), body })
    };
    let results = outcomes.iter().map(result).collect::<Result<_, Problem>>()?;
    Ok(json_text(StatusCode::OK, json(&BatchResponse { results })))
}

/// The arguments as they came: what is wrong with them is the dispatcher's to say.
fn text(arguments: &Option<Box<RawValue>>) -> &str {
    arguments.as_deref().map_or("{}", RawValue::get)
}

fn context(
    task: Option<String>,
    session: Option<String>,
    toolsets: Option<Vec<String>>,
) -> Result<CallContext, Problem> {
    Ok(CallContext {
        task_id: id("task_id", OWN_SESSION, task)?,
        session_id: id("session_id", OWN_SESSION, session)?,
        client: Some(HTTP_CLIENT.to_owned()),
        toolsets: toolsets.map(|enabled| Selection { enabled: Some(enabled), ..Selection::default() }),
        ..CallContext::default()
    })
}

/// A name of the client's choice: not one of those that the host gives, which begin with `own`. The tasks that clients
/// of MCP name without a session are not kept apart from these: such a task belongs to all who name it.
fn id(member: &str, own: &str, id: Option<String>) -> Result<Option<String>, Problem> {
    match id {
        Some(id) if id.len() > ID_BYTES => {
            Err(Problem::bad_request(format!("{member} has {} bytes; the limit is {ID_BYTES}", id.len())))
        }
        Some(id) if id.starts_with(own) => {
            let error = format!("{member} begins with {own}, as names do that the host gives; choose another");
            Err(Problem::bad_request(error))
        }
        id => Ok(id),
    }
}

fn timeout(seconds: f64) -> Result<Duration, Problem> {
    let time = Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero() && *time <= BATCH_TIMEOUT);
    let expected = || format!("timeout is a number of seconds, more than 0 and at most {}", BATCH_TIMEOUT.as_secs());
    time.ok_or_else(|| Problem::bad_request(expected()))
}

fn is_busy(outcome: &Outcome) -> bool {
    outcome.result.as_ref().is_err_and(|error| error.kind == ErrorKind::Busy)
}

/// Which kind of outcome it is, in HTTP's words. The body says it more exactly.
fn status(outcome: &Outcome) -> StatusCode {
    let Err(error) = &outcome.result else { return StatusCode::OK };
    status_of(error.kind)
}

fn status_of(kind: ErrorKind) -> StatusCode {
    match kind {
        ErrorKind::UnknownTool => StatusCode::NOT_FOUND,
        ErrorKind::InvalidArguments => StatusCode::BAD_REQUEST,
        ErrorKind::Denied => StatusCode::FORBIDDEN,
        ErrorKind::Stopped => StatusCode::TOO_MANY_REQUESTS,
        // A call that was given up while its client is still there: the server stops.
        ErrorKind::Unavailable | ErrorKind::Busy | ErrorKind::Killed(KillReason::Cancelled) => {
            StatusCode::SERVICE_UNAVAILABLE
        }
        ErrorKind::Killed(KillReason::Deadline) => StatusCode::GATEWAY_TIMEOUT,
        ErrorKind::Killed(KillReason::HostPanic) => StatusCode::INTERNAL_SERVER_ERROR,
        ErrorKind::Failed | ErrorKind::Killed(_) => StatusCode::BAD_GATEWAY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_of_a_call_but_a_good_one_is_an_error_in_http_too() {
        let kinds = [ErrorKind::UnknownTool, ErrorKind::InvalidArguments, ErrorKind::Unavailable, ErrorKind::Denied];
        let more = [ErrorKind::Failed, ErrorKind::Busy, ErrorKind::Stopped];
        let killed = KillReason::ALL.map(ErrorKind::Killed);
        for kind in kinds.into_iter().chain(more).chain(killed) {
            let status = status_of(kind);
            assert!(status.is_client_error() || status.is_server_error(), "{kind}");
        }
    }

    #[test]
    fn a_timeout_is_a_span_of_time() {
        assert_eq!(timeout(1.5).unwrap(), Duration::from_millis(1_500));
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY, 3_601.0, 1e300] {
            assert!(timeout(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn names_that_the_host_gives_are_nobodys_to_take() {
        let given = |member, own, text: &str| id(member, own, Some(text.to_owned()));
        for taken in ["mcp-", "mcp-0123456789abcdef0123456789abcdef"] {
            assert!(given("task_id", OWN_SESSION, taken).is_err() && given("session_id", OWN_SESSION, taken).is_err());
            assert!(context(Some(taken.to_owned()), None, None).is_err(), "{taken}");
            assert!(context(None, Some(taken.to_owned()), None).is_err(), "{taken}");
        }
        assert!(given("call_id", OWN_CALL, "call-1-1").is_err());
        for free in ["", "mcp", "MCP-x", "my-mcp-", "task-1", "call_1", "call"] {
            assert!(context(Some(free.to_owned()), Some(free.to_owned()), None).is_ok(), "{free}");
            assert!(given("call_id", OWN_CALL, free).is_ok(), "{free}");
        }
    }

    #[test]
    fn a_misspelt_member_is_an_error_and_numbers_keep_their_digits() {
        let read = |text: &str| serde_json::from_str::<CallRequest>(text);
        assert!(read(r#"{"name":"x","args":{}}"#).unwrap_err().to_string().contains("unknown field `args`"));
        assert_eq!(text(&read(r#"{"name":"x","arguments":{"n":1.0e400}}"#).unwrap().arguments), r#"{"n":1.0e400}"#);
        assert_eq!(text(&read(r#"{"name":"x"}"#).unwrap().arguments), "{}");
    }
}
