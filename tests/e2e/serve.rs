//! The server as clients meet it: the real binary on a port of its own, and a client that sends exactly what a test says.

mod abuse;
mod client;
mod clients;
mod cold;
mod endurance;
mod guests;
mod http;
mod inside;
mod meanwhile;
mod openapi;
mod options;
mod pipe;
mod plain;
mod policy;
mod post;
mod questions;
mod reload;
mod retries;
mod roots;
mod selection;
mod stdio;
mod survival;
mod token;
mod tools;

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use self::client::{Client, Reply};
use super::{cli::Place, patience::PATIENCE};

/// What clients must know, where a test says so and not the host.
const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// Limits under which a guest runs for as long as a test takes.
const ENDLESS: &str = "limits = { timeout = \"300s\", fuel = 9_000_000_000_000_000_000 }";

/// A host that serves HTTP, ended with the test.
struct Serving {
    child: Child,
    client: Client,
}

impl Serving {
    fn start(place: &Place) -> Self {
        place.warm();
        Self::cold(place)
    }

    /// Without compiling beforehand what is there.
    fn cold(place: &Place) -> Self {
        Self::with_token(&mut place.command(&["run", "--http", "127.0.0.1:0"]))
    }

    /// One whose operator says that [`TOKEN`] is the token.
    fn with_token(command: &mut Command) -> Self {
        let mut serving = Self::spawn(command.env("HERMES_HOST_TOKEN", TOKEN));
        serving.client.token = Some(TOKEN);
        serving
    }

    /// One whose client sends no token.
    fn spawn(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let (sender, ports) = mpsc::channel();
        // Reads on to the end: a full pipe would stop the host.
        thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                let port = line.split("http://127.0.0.1:").nth(1).map(|rest| {
                    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
                    digits.parse::<u16>().unwrap()
                });
                if let Some(port) = port {
                    let _ = sender.send(port);
                }
            }
        });
        let port = ports.recv_timeout(PATIENCE).expect("the host says where it listens");
        Self { child, client: Client { port, token: None } }
    }

    /// One figure of `/metrics`.
    fn figure(&self, name: &str) -> f64 {
        let text = self.client.get("/metrics").body;
        let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("no {name}: {text}"));
        line.trim().parse().unwrap()
    }

    /// Waits until a figure is what it must become.
    fn until(&self, name: &str, done: impl Fn(f64) -> bool) {
        until(PATIENCE, || done(self.figure(name)));
    }

    fn call(&self, name: &str) -> Reply {
        self.client.post("/v1/call", &serde_json::json!({ "name": name }))
    }

    /// Asks the host to end, as a terminal or a service manager does.
    fn terminate(&self) {
        let id = Pid::from_raw(self.child.id().cast_signed()).unwrap();
        kill_process(id, Signal::TERM).unwrap();
    }

    /// Waits for its end, and says with which code.
    fn ended(&mut self) -> Option<i32> {
        let mut code = None;
        until(PATIENCE, || {
            code = self.child.try_wait().unwrap();
            code.is_some()
        });
        code.unwrap().code()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a program said on stderr, up to and with the line that has these words.
fn until_said(child: &mut Child, words: &str) -> String {
    let mut said = String::new();
    for line in BufReader::new(child.stderr.take().unwrap()).lines() {
        said += &(line.unwrap() + "\n");
        if said.contains(words) {
            return said;
        }
    }
    panic!("{words} was never said: {said}");
}

/// Waits for what must happen.
fn until(patience: Duration, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < patience, "it never happened");
        thread::sleep(Duration::from_millis(10));
    }
}

/// A reply that is an error: its status and kind.
fn kind(reply: &Reply) -> (u16, String) {
    let json: Value = reply.json();
    assert!(json["error"].as_str().is_some_and(|text| !text.is_empty()), "{reply:?}");
    (reply.status, json["kind"].as_str().unwrap().to_owned())
}
