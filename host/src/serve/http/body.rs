//! Bodies of requests, read whole: none is larger or takes longer than it may, and together they have a bound, too.

use std::{sync::Arc, time::Duration};

use axum::{
    body::{Body, HttpBody},
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use serde::de::DeserializeOwned;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, timeout, timeout_at},
};

use super::{
    connections::Slot,
    limits::{BODIES_BYTES, BODY_BYTES, BODY_WAIT, DISCARD_BYTES, DISCARD_WAIT, SMALL_BODY_BYTES},
    problem::Problem,
};

/// The room that all bodies share. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct Room {
    /// In bytes.
    left: Arc<Semaphore>,
    /// For a body to arrive, and for the room that it needs.
    wait: Duration,
}

impl Default for Room {
    fn default() -> Self {
        Self { left: Arc::new(Semaphore::new(BODIES_BYTES)), wait: BODY_WAIT }
    }
}

/// A body, and the room that it takes. A small one takes none.
type Held = (Bytes, Option<OwnedSemaphorePermit>);

/// Hands a request on once its body is there. The body's room is its own until whoever handles it has answered, so it
/// also covers what a call keeps of its arguments; where the answer is a stream, until the stream begins.
pub(super) async fn whole(State(room): State<Room>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let (bytes, _taken) = match room.read(&parts.headers, body).await {
        Ok(held) => held,
        Err(problem) => return last(problem),
    };
    // From here on it is work, and no longer a client that takes its time.
    if parts.extensions.get::<Slot>().is_some_and(|slot| !slot.works()) {
        let error = "the connection is closed to make room for another, and nothing was done; send the request again";
        return last(Problem::busy(error));
    }
    next.run(Request::from_parts(parts, Body::from(bytes))).await
}

/// The last answer of a connection: what may be left of the body would pass for the next request.
fn last(problem: Problem) -> Response {
    let mut response = problem.into_response();
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

fn too_large() -> Problem {
    Problem::too_large(format!("the body is larger than {BODY_BYTES} bytes; send less at once"))
}

impl Room {
    async fn read(&self, headers: &HeaderMap, mut body: Body) -> Result<Held, Problem> {
        if body.is_end_stream() {
            return Ok((Bytes::new(), None));
        }
        if body.size_hint().lower() > BODY_BYTES as u64 {
            // Who waits to be told to go on has sent nothing yet.
            if !headers.contains_key(header::EXPECT) {
                discard(&mut body).await;
            }
            return Err(too_large());
        }
        self.receive(&mut body).await
    }

    /// Reads it into one piece: pieces that are kept one by one take more than what is in them, and a client may send
    /// every byte as one of its own.
    async fn receive(&self, body: &mut Body) -> Result<Held, Problem> {
        let deadline = Instant::now() + self.wait;
        let declared = body.size_hint().exact().and_then(|length| usize::try_from(length).ok());
        let most = declared.unwrap_or(BODY_BYTES);
        let (mut bytes, mut taken) = (BytesMut::new(), None);
        loop {
            let Ok(frame) = timeout_at(deadline, body.frame()).await else {
                let error = format!("the body did not arrive within {} s", self.wait.as_secs());
                return Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "timeout", error));
            };
            let Some(frame) = frame else { break };
            let frame = frame.map_err(|why| Problem::bad_request(format!("the body broke off: {why}")))?;
            // What comes after a body means nothing here.
            let Ok(data) = frame.into_data() else { continue };
            let length = bytes.len() + data.len();
            if length > BODY_BYTES {
                discard(body).await;
                return Err(too_large());
            }
            if length > SMALL_BODY_BYTES && taken.is_none() {
                // All of it at once. Nobody who has some room waits for more of it, so nobody waits for each other.
                taken = self.take(most, deadline).await;
                if taken.is_none() {
                    discard(body).await;
                    return Err(Problem::busy("the server has no room for a body of this size now; try again later"));
                }
                // What grows by doubling may hold twice as much as is in it.
                bytes.reserve(most.saturating_sub(bytes.len()));
            }
            bytes.extend_from_slice(&data);
        }
        if let Some(taken) = &mut taken {
            // What was not sent is for others.
            drop(taken.split(most.saturating_sub(bytes.len())));
        }
        Ok((bytes.freeze(), taken))
    }

    /// Room for so many bytes. Nothing where there is none in time.
    async fn take(&self, bytes: usize, deadline: Instant) -> Option<OwnedSemaphorePermit> {
        let bytes = u32::try_from(bytes).ok()?;
        timeout_at(deadline, Arc::clone(&self.left).acquire_many_owned(bytes)).await.ok()?.ok()
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

#[cfg(test)]
mod tests {
    use std::{
        convert::Infallible,
        sync::atomic::{AtomicBool, Ordering},
    };

    use axum::{Router, middleware, routing::post};
    use futures_util::stream;
    use hyper::service::Service as _;
    use hyper_util::service::TowerToHyperService;

    use super::{super::connections::Connections, *};

    fn room(bytes: usize) -> Room {
        Room { left: Arc::new(Semaphore::new(bytes)), wait: Duration::from_millis(50) }
    }

    /// A body that says nothing of its length and comes in so many pieces of this length.
    fn pieces(count: usize, length: usize) -> Body {
        let piece = Bytes::from(vec![b'x'; length]);
        Body::from_stream(stream::iter((0..count).map(move |_| Ok::<_, Infallible>(piece.clone()))))
    }

    async fn status(room: &Room, body: Body) -> StatusCode {
        match room.read(&HeaderMap::new(), body).await {
            Ok(_) => StatusCode::OK,
            Err(problem) => problem.into_response().status(),
        }
    }

    #[tokio::test]
    async fn a_body_in_many_pieces_takes_as_much_room_as_it_has_bytes() {
        let room = Room::default();
        let length = SMALL_BODY_BYTES + 1;
        let (bytes, taken) = room.read(&HeaderMap::new(), pieces(length, 1)).await.unwrap();
        assert!(bytes.len() == length && bytes.iter().all(|byte| *byte == b'x'));
        assert_eq!(room.left.available_permits(), BODIES_BYTES - length);
        drop(taken);
        assert_eq!(room.left.available_permits(), BODIES_BYTES);
    }

    #[tokio::test]
    async fn who_gets_no_room_in_time_is_told_so_and_a_small_body_needs_none() {
        let (small, large) = (vec![b'x'; SMALL_BODY_BYTES], vec![b'x'; SMALL_BODY_BYTES + 1]);
        let full = room(0);
        assert_eq!(status(&full, Body::from(small)).await, StatusCode::OK);
        assert_eq!(status(&full, Body::from(large.clone())).await, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(status(&full, pieces(large.len(), 1)).await, StatusCode::SERVICE_UNAVAILABLE);
        // Whoever says how much it is needs no more than that.
        let exact = room(large.len());
        assert_eq!(status(&exact, pieces(large.len(), 1)).await, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(status(&exact, Body::from(large)).await, StatusCode::OK);
    }

    #[tokio::test]
    async fn a_body_that_is_too_large_or_never_comes_leaves_its_room_to_others() {
        let room = room(BODIES_BYTES);
        assert_eq!(status(&room, pieces(BODY_BYTES / 1_024, 1_024)).await, StatusCode::OK);
        assert_eq!(status(&room, pieces(BODY_BYTES / 1_024 + 1, 1_024)).await, StatusCode::PAYLOAD_TOO_LARGE);
        assert_eq!(status(&room, Body::from(vec![b'x'; BODY_BYTES + 1])).await, StatusCode::PAYLOAD_TOO_LARGE);
        let never = Body::from_stream(stream::pending::<Result<Bytes, Infallible>>());
        assert_eq!(status(&room, never).await, StatusCode::REQUEST_TIMEOUT);
        assert_eq!(room.left.available_permits(), BODIES_BYTES);
    }

    #[tokio::test]
    async fn a_request_on_a_connection_that_must_go_runs_nothing() {
        let ran = Arc::new(AtomicBool::new(false));
        let handler = {
            let ran = Arc::clone(&ran);
            move || async move { ran.store(true, Ordering::Relaxed) }
        };
        let whole = middleware::from_fn_with_state(Room::default(), whole);
        let router = TowerToHyperService::new(Router::new().route("/", post(handler)).layer(whole));
        let connections = Connections::new(1);
        let place = connections.admit().unwrap();
        for (must_go, status) in [(false, StatusCode::OK), (true, StatusCode::SERVICE_UNAVAILABLE)] {
            place.slot().receives();
            assert!(!must_go || connections.make_room());
            let request = axum::http::Request::post("/").extension(place.slot().clone()).body(Body::from("{}"));
            let response = router.call(request.unwrap()).await.unwrap();
            assert_eq!(response.status(), status);
            assert_eq!(ran.swap(false, Ordering::Relaxed), !must_go);
        }
    }
}
