//! Calls of 2026-07-28 over HTTP, each a request of its own.

use std::{io::Write, net::TcpStream};

use serde_json::{Value, json};

use super::{
    client::{Client, Reply},
    pipe::{CURRENT, current},
};

/// Sends a call to `/mcp`, by a client with these capabilities.
pub(super) fn post(client: &Client, capabilities: Value, params: Value) -> TcpStream {
    let name = params["name"].as_str().unwrap().to_owned();
    let params = current(capabilities, params);
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    let headers = [
        "Content-Type: application/json".to_owned(),
        "Accept: application/json, text/event-stream".to_owned(),
        format!("MCP-Protocol-Version: {CURRENT}"),
        "Mcp-Method: tools/call".to_owned(),
        format!("Mcp-Name: {name}"),
        format!("Content-Length: {}", body.len()),
    ];
    let mut stream = client.connect();
    let head = client.head("POST", "/mcp", &headers.map(|line| line + "\r\n").concat());
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
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
