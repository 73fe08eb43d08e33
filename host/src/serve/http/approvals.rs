//! `GET /v1/approvals` and `POST /v1/approvals/{id}`: the questions that wait for a person, and the answers.
//!
//! A client that asks for the questions counts as attended by a person for a while, so it asks again and again, or lets its
//! request wait for the next one. While no such client is there, what needs a person is refused at once.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::{
    extract::{Path, State},
    http::{HeaderMap, StatusCode, Uri},
    response::Response,
};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep_until, timeout};
use utoipa::ToSchema;

use super::{
    Api,
    body::parse,
    limits::{APPROVALS_WAIT, ATTENDED_FOR},
    problem::{Problem, json, json_text},
    query::Parameters,
};
use crate::{
    approval::{Answer, AnswerError, Attendance, QuestionId, Queue, Shown},
    capability::DecidedBy,
};

/// The questions that wait.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ApprovalsResponse {
    /// The oldest first.
    questions: Vec<Shown>,
}

/// What a person said.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AnswerRequest {
    /// One of the question's choices: `once`, `session`, `always`, `session-category`, `always-category` or `deny`.
    answer: String,
    /// Why it was denied, for the model.
    reason: Option<String>,
}

/// The answer was taken.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct AnswerResponse {
    /// The question.
    id: String,
    /// The answer.
    answer: &'static str,
}

#[utoipa::path(
    get,
    path = "/v1/approvals",
    description = format!(
        "The questions that wait for a person. A client that asks counts as being there for the next {} seconds.",
        ATTENDED_FOR.as_secs()
    ),
    params(
        ("wait" = Option<u64>, Query, description = format!(
            "Seconds to wait, at most {}, until the questions are others than those in `seen`",
            APPROVALS_WAIT.as_secs()
        )),
        ("seen" = Option<Vec<String>>, Query, description = "Ids of questions that the client knows; may be given several times"),
    ),
    responses(
        (status = 200, description = "The questions", body = ApprovalsResponse),
        (status = 400, description = "A parameter is wrong", body = Problem),
    )
)]
pub(super) async fn list(State(api): State<Api>, uri: Uri) -> Result<Response, Problem> {
    let mut query = Parameters::of(&uri)?;
    let wait = query.number("wait", APPROVALS_WAIT.as_secs())?.map(Duration::from_secs);
    let seen: BTreeSet<String> = query.all("seen").into_iter().collect();
    query.end()?;
    let queue = api.host.approvals();
    api.attended.renew(queue);
    let _there = queue.attend();
    if let Some(wait) = wait {
        tokio::select! {
            _late = timeout(wait, others_than(queue, &seen)) => {}
            () = api.stop.cancelled() => {}
        }
        api.attended.renew(queue);
    }
    let questions = queue.pending().iter().map(|question| question.shown()).collect();
    Ok(json_text(StatusCode::OK, json(&ApprovalsResponse { questions })))
}

/// Waits until the questions are not those that the client knows.
async fn others_than(queue: &Queue, seen: &BTreeSet<String>) {
    // Before the first look, so that nothing falls between.
    let mut news = queue.subscribe();
    loop {
        let pending: BTreeSet<String> = queue.pending().iter().map(|question| question.id().to_string()).collect();
        if pending != *seen {
            return;
        }
        // Whoever missed some looks again; the queue outlives every listener.
        let _news = news.recv().await;
    }
}

#[utoipa::path(
    post,
    path = "/v1/approvals/{id}",
    description = "Answers a question. Of many answers exactly one is taken.",
    params(("id" = String, Path, description = "The question")),
    request_body = AnswerRequest,
    responses(
        (status = 200, description = "The answer was taken", body = AnswerResponse),
        (status = 400, description = "That is no answer to this question", body = Problem),
        (status = 404, description = "No question has this id", body = Problem),
        (status = 409, description = "The question is over: answered, expired or withdrawn", body = Problem),
    )
)]
pub(super) async fn answer(
    State(api): State<Api>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    let request: AnswerRequest = parse(&headers, &body)?;
    let answer = match (request.answer.parse::<Answer>(), request.reason) {
        (Err(why), _) => return Err(Problem::bad_request(why.to_string())),
        (Ok(Answer::Refuse { .. }), Some(reason)) => Answer::refuse(&reason),
        (Ok(Answer::Approve { .. }), Some(_)) => {
            return Err(Problem::bad_request("a reason goes with deny alone; leave it out"));
        }
        (Ok(answer), None) => answer,
    };
    let word = answer.word();
    let id_asked = QuestionId::from_client(&id);
    api.host.approvals().answer_from(&id_asked, answer, DecidedBy::Api).map_err(|why| {
        let text = why.to_string();
        match why {
            AnswerError::Unknown => Problem::not_found(text),
            AnswerError::NotOffered { .. } => Problem::bad_request(text),
            AnswerError::Already | AnswerError::Expired | AnswerError::Withdrawn => {
                Problem::new(StatusCode::CONFLICT, "conflict", text)
            }
        }
    })?;
    Ok(json_text(StatusCode::OK, json(&AnswerResponse { id, answer: word })))
}

/// Whether somebody was here lately. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Attended(Arc<Mutex<Option<There>>>);

#[derive(Debug)]
struct There {
    until: Instant,
    _attendance: Attendance,
}

impl Attended {
    fn lock(&self) -> MutexGuard<'_, Option<There>> {
        // Nothing that can panic runs while it is held half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Somebody is here, and counts as that for a while. One task watches over it, however often it is renewed.
    fn renew(&self, queue: &Queue) {
        let until = Instant::now() + ATTENDED_FOR;
        let mut there = self.lock();
        if let Some(there) = there.as_mut() {
            there.until = until;
            return;
        }
        *there = Some(There { until, _attendance: queue.attend() });
        let watched = self.clone();
        tokio::spawn(async move {
            while let Some(until) = watched.left() {
                sleep_until(until).await;
            }
        });
    }

    /// Until when somebody counts as being here; nobody does any more where that is over.
    fn left(&self) -> Option<Instant> {
        let mut there = self.lock();
        let until = there.as_ref().map(|there| there.until).filter(|until| Instant::now() < *until);
        if until.is_none() {
            *there = None;
        }
        until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_was_here_counts_until_the_time_is_over() {
        let (queue, attended) = (Queue::default(), Attended::default());
        assert!(!queue.is_attended());
        attended.renew(&queue);
        attended.renew(&queue);
        assert!(queue.is_attended() && attended.left().is_some());
        attended.lock().as_mut().unwrap().until = Instant::now();
        assert!(attended.left().is_none() && !queue.is_attended());
        attended.renew(&queue);
        assert!(queue.is_attended());
    }

    #[tokio::test]
    async fn a_wait_ends_at_once_where_the_client_knows_a_question_that_is_gone() {
        let queue = Queue::default();
        let seen = BTreeSet::from(["gone".to_owned()]);
        timeout(Duration::from_secs(120), others_than(&queue, &seen)).await.unwrap();
        let nothing = timeout(Duration::from_millis(20), others_than(&queue, &BTreeSet::new())).await;
        assert!(nothing.is_err(), "nothing is new");
    }
}
