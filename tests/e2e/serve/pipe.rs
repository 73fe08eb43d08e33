//! A client on the server's pipes, as bare as the protocol lets it be. Whatever a test is about, every line of stdout is read here: it
//! is JSON, and what answers was asked for, and is the only answer to it.

use std::{
    collections::{HashMap, HashSet},
    io::{BufRead, BufReader, Read, Write},
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{self, RecvTimeoutError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::PATIENCE;
use crate::cli::Place;

/// The last revision whose clients begin with `initialize`.
pub(super) const LEGACY: &str = "2025-11-25";

/// The revision whose requests say all about themselves.
pub(super) const CURRENT: &str = "2026-07-28";

/// `run --stdio` or the like, and the client's ends of its pipes.
pub(super) struct Pipe {
    /// None where the server is in this process.
    child: Option<Child>,
    input: Option<Box<dyn Write + Send>>,
    lines: mpsc::Receiver<String>,
    stderr: Option<JoinHandle<String>>,
    last_id: u64,
    open: HashSet<String>,
    /// Answers that came before somebody waited for them.
    pub(super) answers: HashMap<String, Value>,
    /// What else came: notifications, the server's own requests, and errors that name no request.
    pub(super) heard: Vec<Value>,
}

impl Pipe {
    pub(super) fn open(place: &Place) -> Self {
        Self::with(place, &[])
    }

    /// With further options.
    pub(super) fn with(place: &Place, options: &[&str]) -> Self {
        place.warm();
        Self::cold(place, options)
    }

    /// Without compiling beforehand what is there.
    pub(super) fn cold(place: &Place, options: &[&str]) -> Self {
        let mut command = place.command(&["run", "--stdio"]);
        Self::start(command.arg("--workspace").arg(work(place)).args(options))
    }

    /// By a command line of the test's own.
    pub(super) fn start(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stderr = child.stderr.take().unwrap();
        // Always read: a server that can't write its log would stand still.
        let stderr = thread::spawn(move || {
            let mut bytes = Vec::new();
            stderr.read_to_end(&mut bytes).unwrap();
            String::from_utf8_lossy(&bytes).into_owned()
        });
        let mut pipe = Self::over(child.stdout.take().unwrap(), child.stdin.take().unwrap());
        (pipe.child, pipe.stderr) = (Some(child), Some(stderr));
        pipe
    }

    /// With a server at the other ends of these.
    pub(super) fn over(output: impl Read + Send + 'static, input: impl Write + Send + 'static) -> Self {
        let (sender, lines) = mpsc::channel();
        let output = BufReader::new(output);
        thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self {
            child: None,
            input: Some(Box::new(input)),
            lines,
            stderr: None,
            last_id: 0,
            open: HashSet::new(),
            answers: HashMap::new(),
            heard: Vec::new(),
        }
    }

    /// With a client before 2026-07-28 that has these capabilities.
    pub(super) fn legacy(place: &Place, capabilities: Value) -> Self {
        let mut pipe = Self::open(place);
        pipe.initialize(LEGACY, capabilities);
        pipe
    }

    /// Says hello as clients before 2026-07-28 do.
    pub(super) fn initialize(&mut self, version: &str, capabilities: Value) -> Value {
        let client = json!({"name": "pipe", "version": "1"});
        let params = json!({"protocolVersion": version, "capabilities": capabilities, "clientInfo": client});
        let answer = self.request("initialize", params);
        self.notify("notifications/initialized", json!({}));
        answer
    }

    /// The process, for what is to be read of it.
    pub(super) fn process(&self) -> rustix::process::Pid {
        rustix::process::Pid::from_child(self.child.as_ref().expect("a process of its own"))
    }

    /// Bytes as they are.
    pub(super) fn raw(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).and_then(|()| input.flush()).unwrap();
    }

    pub(super) fn send(&mut self, message: &Value) {
        self.raw(format!("{message}\n").as_bytes());
    }

    pub(super) fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Answers a request of the server.
    pub(super) fn reply(&mut self, asked: &Value, result: Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}));
    }

    /// Sends a request; its id.
    pub(super) fn ask(&mut self, method: &str, params: Value) -> Value {
        let request = self.prepare(method, params);
        self.send(&request);
        request["id"].clone()
    }

    /// A request that is about to be sent.
    pub(super) fn prepare(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let id = json!(self.last_id);
        self.open.insert(id.to_string());
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    }

    /// Takes a request back. From now on nothing may answer it.
    pub(super) fn cancel(&mut self, id: &Value) {
        assert!(self.open.remove(&id.to_string()), "{id} was answered before it was cancelled");
        self.notify("notifications/cancelled", json!({"requestId": id, "reason": "the test goes on"}));
    }

    /// The next message, if one comes before the end of stdout.
    pub(super) fn message(&mut self) -> Option<Value> {
        let line = match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => line,
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => panic!("nothing came"),
        };
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|why| panic!("{why} on stdout: {line}"));
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        let answers = message.get("method").is_none();
        // What could not be read has no id that the server could name.
        let is_unnamed = message["id"].is_null() && message.get("error").is_some();
        if answers && !is_unnamed {
            assert!(self.open.remove(&message["id"].to_string()), "nobody asked for this: {line}");
        }
        Some(message)
    }

    /// The next message.
    pub(super) fn next(&mut self) -> Value {
        self.message().expect("the server is there")
    }

    /// Waits for the answer to a request.
    pub(super) fn answer(&mut self, id: &Value) -> Value {
        loop {
            if let Some(answer) = self.answers.remove(&id.to_string()) {
                return answer;
            }
            let message = self.next();
            match message.get("method") {
                None if !message["id"].is_null() => drop(self.answers.insert(message["id"].to_string(), message)),
                _ => self.heard.push(message),
            }
        }
    }

    /// Waits for a request or a notification of the server.
    pub(super) fn wait_for(&mut self, method: &str) -> Value {
        loop {
            let message = self.next();
            if message["method"] == method {
                return message;
            }
            self.heard.push(message);
        }
    }

    pub(super) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.answer(&id)
    }

    /// Calls a tool as a client before 2026-07-28: the result.
    pub(super) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        result(self.request("tools/call", json!({"name": tool, "arguments": arguments})))
    }

    /// The good tool answers, and soon.
    pub(super) fn assert_good(&mut self, params: Value) {
        let start = Instant::now();
        let answer = self.request("tools/call", params);
        assert_eq!(text(&answer["result"]), "ok", "{answer}");
        assert!(start.elapsed() < super::PATIENCE, "the good tool took {:?}", start.elapsed());
    }

    /// Closes the pipe and waits for the end: what still came, how it ended, and what it logged.
    pub(super) fn end(mut self) -> Ended {
        drop(self.input.take());
        let start = Instant::now();
        self.ended(start)
    }

    /// The same by a signal.
    pub(super) fn terminate(mut self) -> Ended {
        let start = Instant::now();
        rustix::process::kill_process(self.process(), rustix::process::Signal::TERM).unwrap();
        self.ended(start)
    }

    fn ended(&mut self, start: Instant) -> Ended {
        let rest: Vec<Value> = std::iter::from_fn(|| self.message()).collect();
        let (status, took) = (self.child.as_mut().expect("a process of its own").wait().unwrap(), start.elapsed());
        Ended { rest, status, took, stderr: self.stderr.take().unwrap().join().unwrap() }
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A server that is gone.
pub(super) struct Ended {
    pub(super) rest: Vec<Value>,
    pub(super) status: ExitStatus,
    pub(super) took: Duration,
    pub(super) stderr: String,
}

/// The folder that commands work in.
pub(super) fn work(place: &Place) -> PathBuf {
    let folder = place.root.path().join("work");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Parameters of a request of 2026-07-28, by a client with these capabilities.
pub(super) fn current(capabilities: Value, params: Value) -> Value {
    with_meta(
        params,
        &[
            ("io.modelcontextprotocol/protocolVersion", json!(CURRENT)),
            ("io.modelcontextprotocol/clientInfo", json!({"name": "pipe", "version": "1"})),
            ("io.modelcontextprotocol/clientCapabilities", capabilities),
        ],
    )
}

/// Parameters with more in their metadata.
pub(super) fn with_meta(mut params: Value, more: &[(&str, Value)]) -> Value {
    for (key, value) in more {
        params["_meta"][*key] = value.clone();
    }
    params
}

/// The result of an answer that is no error.
pub(super) fn result(answer: Value) -> Value {
    assert!(answer.get("error").is_none(), "{answer}");
    answer["result"].clone()
}

/// The code and message of an answer that is one.
pub(super) fn error(answer: &Value) -> (i64, String) {
    let error = &answer["error"];
    let code = error["code"].as_i64().unwrap_or_else(|| panic!("no error: {answer}"));
    (code, error["message"].as_str().unwrap().to_owned())
}

/// All texts of a call's result.
pub(super) fn text(result: &Value) -> String {
    let pieces = result["content"].as_array().unwrap_or_else(|| panic!("no content: {result}"));
    pieces.iter().map(|piece| piece["text"].as_str().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}
