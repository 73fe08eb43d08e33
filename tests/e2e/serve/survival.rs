//! What commands of a tool could do to the host that runs them: it lives on, or at least the audit knows which call ended it.

use std::thread;

use rustix::process::{Pid, Resource, Rlimit, prlimit};
use serde_json::{Value, json};

use super::{Serving, kind};
use crate::{cli::Place, guest};

/// Attack 57: before the signal was caught, the next line of the audit ended the host.
#[test]
fn a_lowered_limit_on_files_fails_the_call_and_not_the_host() {
    let place = Place::new();
    place.drop_in("good.wasm", &guest::good("good"));
    let mut serving = Serving::start(&place);
    assert_eq!(serving.call("good").status, 200);
    // Refused calls are on record at once, so the log is longer than the limit from here on.
    assert_eq!(kind(&serving.call("none")).1, "unknown-tool");
    let process = Pid::from_raw(serving.child.id().cast_signed());
    let lowered = Rlimit { current: Some(1), maximum: None };
    let before = prlimit(process, Resource::Fsize, lowered).unwrap();
    let reply = serving.call("none");
    assert_eq!(kind(&reply).1, "failed");
    assert!(reply.body.contains("withheld") && reply.body.contains("audit"), "{reply:?}");
    assert_eq!(serving.child.try_wait().unwrap(), None, "the host lives");
    prlimit(process, Resource::Fsize, before).unwrap();
    assert_eq!(kind(&serving.call("none")).1, "unknown-tool");
    assert_eq!(serving.call("good").status, 200);
    assert!(place.run(&["audit", "--verify"]).status.success());
}

/// Lines of the audit, by tool and outcome.
fn lines(place: &Place) -> Vec<(String, String)> {
    let text = |line: &Value, member: &str| line[member].as_str().unwrap_or_default().to_owned();
    let output = place.run(&["audit", "--json"]);
    let text_of = String::from_utf8(output.stdout).unwrap();
    let lines = text_of.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.map(|line| (text(&line, "tool"), text(&line, "outcome"))).collect()
}

/// Runs a command and approves it, if that is asked.
fn run(serving: &Serving, command: &str) {
    let client = serving.client;
    let call = json!({"name": "terminal", "arguments": {"command": command}});
    client.get("/v1/approvals");
    let mut stream = client.connect();
    let call = thread::spawn(move || {
        std::io::Write::write_all(&mut stream, client.post_text("/v1/call", &call.to_string()).as_bytes()).unwrap();
        // None where the host ended.
        super::client::Reply::read(&mut stream)
    });
    while !call.is_finished() {
        let Some(questions) = asked(serving) else { break };
        for question in questions.as_array().unwrap() {
            let path = format!("/v1/approvals/{}", question["id"].as_str().unwrap());
            let answer = client.post_text(&path, r#"{"answer": "once"}"#);
            let Ok(mut stream) = std::net::TcpStream::connect(("127.0.0.1", client.port)) else { continue };
            let _ = std::io::Write::write_all(&mut stream, answer.as_bytes());
            let _ = super::client::Reply::read(&mut stream);
        }
    }
    call.join().unwrap();
}

/// The questions that wait; none where the host ended.
fn asked(serving: &Serving) -> Option<Value> {
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", serving.client.port)).ok()?;
    let request = serving.client.head("GET", "/v1/approvals?wait=1", "");
    std::io::Write::write_all(&mut stream, request.as_bytes()).ok()?;
    Some(super::client::Reply::read(&mut stream)?.json()["questions"].clone())
}

#[test]
fn a_call_whose_command_ends_the_host_has_its_line() {
    let place = Place::new();
    place.configure("[terminal]\nbackend = \"local\"\n");
    let mut serving = Serving::start(&place);
    run(&serving, "true");
    let (begun, ok) = (("terminal".to_owned(), "begun".to_owned()), ("terminal".to_owned(), "ok".to_owned()));
    assert_eq!(lines(&place), [begun.clone(), ok.clone()]);
    let command = format!("kill -KILL {}", serving.child.id());
    run(&serving, &command);
    assert_eq!(serving.ended(), None, "by a signal");
    assert_eq!(lines(&place), [begun.clone(), ok, begun]);
    assert!(place.run(&["audit", "--verify"]).status.success());
}
