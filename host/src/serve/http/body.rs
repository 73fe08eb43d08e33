//! Bodies of requests, read whole: none is larger or takes longer than it may, whoever handles it.

use axum::{
    body::{Body, HttpBody},
    extract::Request,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use super::{
    connections::Slot,
    limits::{BODY_BYTES, BODY_WAIT, DISCARD_BYTES, DISCARD_WAIT},
    problem::Problem,
};

/// Hands a request on once its body is there.
pub(super) async fn whole(request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let bytes = match read(&parts.headers, body).await {
        Ok(bytes) => bytes,
        Err(problem) => {
            let mut response = problem.into_response();
            // What is left of the body would pass for the next request.
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            return response;
        }
    };
    // From here on it is work, and no longer a client that takes its time.
    if let Some(slot) = parts.extensions.get::<Slot>() {
        slot.works();
    }
    next.run(Request::from_parts(parts, Body::from(bytes))).await
}

async fn read(headers: &HeaderMap, mut body: Body) -> Result<Bytes, Problem> {
    let too_large = || Problem::too_large(format!("the body is larger than {BODY_BYTES} bytes; send less at once"));
    if body.is_end_stream() {
        return Ok(Bytes::new());
    }
    if body.size_hint().lower() > BODY_BYTES as u64 {
        // Who waits to be told to go on has sent nothing yet.
        if !headers.contains_key(header::EXPECT) {
            discard(&mut body).await;
        }
        return Err(too_large());
    }
    match timeout(BODY_WAIT, Limited::new(&mut body, BODY_BYTES).collect()).await {
        Ok(Ok(whole)) => Ok(whole.to_bytes()),
        Ok(Err(why)) if why.is::<LengthLimitError>() => {
            discard(&mut body).await;
            Err(too_large())
        }
        Ok(Err(why)) => Err(Problem::bad_request(format!("the body broke off: {why}"))),
        Err(_) => {
            let error = format!("the body did not arrive within {} s", BODY_WAIT.as_secs());
            Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "timeout", error))
        }
    }
}

/// Reads what is left, as far as it is worth it.
async fn discard(body: &mut Body) {
    let all = async {
        let mut left = DISCARD_BYTES;
        while let Some(Ok(frame)) = body.frame().await {
            let length = frame.data_ref().map_or(0, Bytes::len);
            let Some(less) = left.checked_sub(length) else { return };
            left = less;
        }
    };
    // Late or not, the answer is the same.
    let _late = timeout(DISCARD_WAIT, all).await;
}

/// What a body of JSON says.
pub(super) fn parse<T: DeserializeOwned>(headers: &HeaderMap, body: &Bytes) -> Result<T, Problem> {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = given.split(';').next().unwrap_or_default().trim();
    // Pages of other sites can send every other type without asking first.
    if !essence.eq_ignore_ascii_case("application/json") {
        let error = "the body must be JSON; send it with: Content-Type: application/json";
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported-media-type", error));
    }
    serde_json::from_slice(body).map_err(|why| Problem::bad_request(format!("the body is not as it must be: {why}")))
}
