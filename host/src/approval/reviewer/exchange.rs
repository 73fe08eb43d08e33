//! One request and its answer. Blocking, bounded in time and size.

use std::time::Duration;

use serde_json::{Value, json};
use ureq::{Agent, config::Config};

use super::config::Endpoint;

/// The largest answer that is read. A word and its wrapping are below 2 KiB; some endpoints add lists of filters.
pub(super) const ANSWER_BYTES: u64 = 64 * 1024;

/// Tokens the model may say. One word is wanted.
const ANSWER_TOKENS: u32 = 16;

/// What the model said, or nothing, whatever went wrong.
pub(super) fn ask(endpoint: &Endpoint, messages: &Value, timeout: Duration) -> Option<String> {
    let body = json!({
        "model": endpoint.model,
        "messages": messages,
        "temperature": 0,
        "max_tokens": ANSWER_TOKENS,
    });
    let mut request = agent(timeout)
        .post(&endpoint.url)
        .header("content-type", "application/json")
        .header("accept", "application/json");
    if let Some(key) = &endpoint.key {
        request = request.header("authorization", format!("Bearer {key}"));
    }
    let mut response = request.send(body.to_string()).ok()?;
    if response.status() != 200 {
        return None;
    }
    let answer = response.body_mut().with_config().limit(ANSWER_BYTES).read_to_vec().ok()?;
    let answer: Value = serde_json::from_slice(&answer).ok()?;
    Some(answer.pointer("/choices/0/message/content")?.as_str()?.to_owned())
}

/// A client that goes where the operator's file says and nowhere else: no redirect is followed, since it could carry the command
/// and the key to another machine, and no proxy is taken from the environment.
fn agent(timeout: Duration) -> Agent {
    let config: Config = Agent::config_builder()
        .timeout_global(Some(timeout))
        .max_redirects(0)
        .proxy(None)
        .user_agent("hermes-host")
        .build();
    config.into()
}
