//! The same clients over HTTP, where each has a session: who may decide in one, what ends with it, and how many there are.

use std::{
    io::{BufRead, BufReader},
    net::TcpStream,
};

use serde_json::{Value, json};

use super::{command, place, runs};
use crate::{
    cli::Place,
    serve::{
        PATIENCE, Serving,
        client::{Client, Reply},
        kind,
        pipe::{LEGACY, current, error, result, text, with_meta},
        post::{answered, post_legacy},
        retries::in_work,
        stdio::sleeps,
        until,
    },
    terminal::mark,
};

/// HTTP sessions that may be open at the same time.
const SESSIONS: usize = 1_000;

/// A client before 2026-07-28, from its hello on.
struct Session {
    client: Client,
    id: String,
}

impl Session {
    fn open(client: Client, capabilities: Value) -> Self {
        let reply = hello(client, capabilities);
        let id = reply.header("mcp-session-id").unwrap_or_else(|| panic!("no session: {reply:?}")).to_owned();
        let session = Self { client, id };
        session.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        session
    }

    /// Says something that is no request.
    fn say(&self, message: &Value) {
        let reply = Reply::read(&mut post_legacy(&self.client, Some(&self.id), message)).unwrap();
        assert_eq!(reply.status, 202, "{reply:?}");
    }

    fn call(&self, params: Value) -> TcpStream {
        post_legacy(&self.client, Some(&self.id), &request("tools/call", params))
    }

    fn end(self) {
        let headers = format!("Mcp-Session-Id: {}\r\nMCP-Protocol-Version: {LEGACY}\r\n", self.id);
        let reply = self.client.raw(&self.client.head("DELETE", "/mcp", &headers));
        assert_eq!(reply.status, 202, "{reply:?}");
        let late = Reply::read(&mut self.call(json!({"name": "good"}))).unwrap();
        assert_eq!(late.status, 404, "{late:?}");
    }

    /// Runs a `sleep` in the background, and gives its number.
    fn background(&self, task: Option<&str>) -> String {
        let number = mark();
        let arguments = json!({"command": format!("sleep {number}"), "background": true});
        let call = json!({"name": "terminal", "arguments": arguments});
        let call = task.map_or(call.clone(), |task| with_meta(call, &[("hermes-host/task", json!(task))]));
        let started = result(answered(self.call(call)));
        assert!(text(&started).contains("\nstatus: running\n"), "{started}");
        until(PATIENCE, || sleeps(&number));
        number
    }
}

fn hello(client: Client, capabilities: Value) -> Reply {
    let own = json!({"name": "session", "version": "1"});
    let params = json!({"protocolVersion": LEGACY, "capabilities": capabilities, "clientInfo": own});
    Reply::read(&mut post_legacy(&client, None, &request("initialize", params))).unwrap()
}

fn request(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

/// What comes in a stream, while it comes.
fn messages(stream: TcpStream) -> impl Iterator<Item = Value> {
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    lines.filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok())
}

fn asking() -> Value {
    json!({"elicitation": {}})
}

#[test]
fn in_a_session_a_person_decides_while_the_call_is_open() {
    let place = place();
    let serving = Serving::with_token(&mut in_work(&place));
    let session = Session::open(serving.client, asking());
    for (answer, ran) in
        [(json!({"action": "decline"}), 0), (json!({"action": "accept", "content": {"decision": "once"}}), 1)]
    {
        let mut stream = messages(session.call(command()));
        let question = stream.find(|one| one["method"] == "elicitation/create").expect("a question");
        assert_eq!(runs(&place), 0, "nothing runs before the answer");
        session.say(&json!({"jsonrpc": "2.0", "id": question["id"], "result": answer}));
        let answered = result(stream.find(|one| one.get("method").is_none()).expect("an answer"));
        assert_eq!((&answered["isError"], runs(&place)), (&json!(ran == 0), ran), "{answered}");
    }
}

/// A command that the agent runs reaches this port as well.
#[test]
fn without_the_token_nobody_opens_a_session() {
    let place = place();
    let serving = Serving::spawn(&mut in_work(&place));
    assert_eq!(kind(&hello(serving.client, asking())), (401, "unauthorized".to_owned()));
}

/// A request may name an earlier revision and be of no session. What such a client is asked, it could not answer.
#[test]
fn without_a_session_a_client_of_an_earlier_revision_is_told_no_at_once() {
    let place = place();
    let serving = Serving::with_token(&mut in_work(&place));
    for call in [command(), json!({"name": "asks"})] {
        let version = [("io.modelcontextprotocol/protocolVersion", json!(LEGACY))];
        let params = with_meta(current(asking(), call), &version);
        let answered = result(answered(post_legacy(&serving.client, None, &request("tools/call", params))));
        // A question that waited would say that nobody answered in time.
        assert!(text(&answered).contains("nobody to ask"), "{answered}");
    }
    assert_eq!(runs(&place), 0);
}

/// A task is the session's that names it, also where another has the same name for its own.
#[test]
fn what_a_session_ran_ends_with_it_and_what_others_ran_does_not() {
    let place = Place::new();
    let serving = Serving::with_token(&mut in_work(&place));
    let [one, other] = [(); 2].map(|()| Session::open(serving.client, json!({})));
    let ended = [one.background(None), one.background(Some("t"))];
    let left = other.background(Some("t"));
    assert!(ended.iter().chain([&left]).all(|number| sleeps(number)));
    one.end();
    until(PATIENCE, || !ended.iter().any(|number| sleeps(number)));
    assert!(sleeps(&left));
    other.end();
    until(PATIENCE, || !sleeps(&left));
}

#[test]
fn one_session_too_many_is_told_so_and_one_that_ends_leaves_its_place() {
    let place = Place::new();
    let serving = Serving::start(&place);
    let mut sessions: Vec<Session> = (0..SESSIONS).map(|_| Session::open(serving.client, json!({}))).collect();
    // The last line of the stream is the answer.
    let refused = |reply: &Reply| {
        let line = reply.body.lines().filter_map(|line| line.strip_prefix("data: ")).next_back();
        let answer: Value = serde_json::from_str(line.unwrap_or_else(|| panic!("no answer: {reply:?}"))).unwrap();
        answer.get("error").map(|_| error(&answer))
    };
    let (code, why) = refused(&hello(serving.client, json!({}))).expect("there is no place");
    assert!(code == -32603 && why.contains("sessions are open already"), "{code} {why}");
    sessions.pop().unwrap().end();
    until(PATIENCE, || refused(&hello(serving.client, json!({}))).is_none());
    assert!(refused(&hello(serving.client, json!({}))).is_some(), "there was one place, and it was taken");
}
