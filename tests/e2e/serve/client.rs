//! A client that can also be rude: no library sends two hosts or stops in the middle of a header.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use serde_json::Value;

/// How long a reply may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Sends requests to one port of this machine, each over a connection of its own.
#[derive(Clone, Copy)]
pub(super) struct Client {
    pub(super) port: u16,
    pub(super) token: Option<&'static str>,
}

/// What came back.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    head: String,
    pub(super) body: String,
}

impl Reply {
    /// Reads the whole of what a server sent before it closed.
    pub(super) fn read(stream: &mut TcpStream) -> Option<Self> {
        let mut bytes = Vec::new();
        // A reset after the reply leaves what came before it.
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n")?;
        let status = head.split(' ').nth(1)?.parse().ok()?;
        Some(Self { status, head: head.to_ascii_lowercase(), body: body.to_owned() })
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|why| panic!("{why}: {self:?}"))
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

impl Client {
    pub(super) fn connect(&self) -> TcpStream {
        let address = SocketAddr::from(([127, 0, 0, 1], self.port));
        let stream = TcpStream::connect_timeout(&address, PATIENCE).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// A request's head as every client sends it, with these headers besides.
    pub(super) fn head(&self, method: &str, path: &str, more: &str) -> String {
        let token = self.token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
        format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n{token}{more}\r\n", self.port)
    }

    /// Sends this very text and reads the reply.
    pub(super) fn raw(&self, request: &str) -> Reply {
        let mut stream = self.connect();
        // A server that refuses may close before all of it was sent.
        let _ = stream.write_all(request.as_bytes());
        Reply::read(&mut stream).unwrap_or_else(|| panic!("no reply to {:.200}", request))
    }

    pub(super) fn get(&self, path: &str) -> Reply {
        self.raw(&self.head("GET", path, ""))
    }

    pub(super) fn post(&self, path: &str, body: &Value) -> Reply {
        self.raw(&self.post_text(path, &body.to_string()))
    }

    /// The text of a request with a body of JSON.
    pub(super) fn post_text(&self, path: &str, body: &str) -> String {
        let more = format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
        format!("{}{body}", self.head("POST", path, &more))
    }
}
