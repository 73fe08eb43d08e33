//! MCP over HTTP: calls of 2026-07-28, each a request of its own, and messages of clients before it.

use std::{io::Write, net::TcpStream};

use serde_json::{Value, json};

use super::{
    client::{Client, Reply},
    pipe::{CURRENT, LEGACY, current},
};

/// Sends a call to `/mcp`, by a client with these capabilities.
pub(super) fn post(client: &Client, capabilities: Value, params: Value) -> TcpStream {
    let name = format!("Mcp-Name: {}", params["name"].as_str().unwrap());
    let headers = [format!("MCP-Protocol-Version: {CURRENT}"), "Mcp-Method: tools/call".to_owned(), name];
    let params = current(capabilities, params);
    send(client, &headers, &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}))
}

/// Sends a message of a client before 2026-07-28, in a session once it has one.
pub(super) fn post_legacy(client: &Client, session: Option<&str>, message: &Value) -> TcpStream {
    let session = session.map(|id| format!("Mcp-Session-Id: {id}"));
    let headers: Vec<String> = [format!("MCP-Protocol-Version: {LEGACY}")].into_iter().chain(session).collect();
    send(client, &headers, message)
}

fn send(client: &Client, headers: &[String], message: &Value) -> TcpStream {
    let body = message.to_string();
    let common = [
        "Content-Type: application/json".to_owned(),
        "Accept: application/json, text/event-stream".to_owned(),
        format!("Content-Length: {}", body.len()),
    ];
    let headers: String = common.iter().chain(headers).map(|line| format!("{line}\r\n")).collect();
    let mut stream = client.connect();
    stream.write_all(format!("{}{body}", client.head("POST", "/mcp", &headers)).as_bytes()).unwrap();
    stream
}

/// Waits for the answer: a body of JSON, or the last event of a stream.
pub(super) fn answered(mut stream: TcpStream) -> Value {
    let reply = Reply::read(&mut stream).expect("a reply");
    assert_eq!(reply.status, 200, "{reply:?}");
    let lines = reply.body.lines().map(|line| line.trim_start_matches("data: "));
    let line = lines.rev().find(|line| line.starts_with('{')).unwrap_or_else(|| panic!("no answer: {reply:?}"));
    serde_json::from_str(line).unwrap()
}
