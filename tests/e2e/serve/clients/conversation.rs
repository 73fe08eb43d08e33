//! One client that talks with one host: steps go in, a line each, and what came of them comes out. What the lines are is said at the
//! top of `tests/clients/python/client.py`.

use std::{
    collections::VecDeque,
    fmt, fs,
    io::{BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::cli::Place;

/// How long a test waits for a line that must come: a Python that starts on a busy machine takes seconds.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// A client, and how it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Client {
    Python,
    /// Python's, as it was before the current revision.
    OldPython,
    TypeScript,
}

impl Client {
    const ALL: [Self; 3] = [Self::Python, Self::OldPython, Self::TypeScript];

    /// The revision that it and the host agree on.
    pub(super) fn protocol(self) -> &'static str {
        match self {
            Self::Python => "2026-07-28",
            Self::OldPython | Self::TypeScript => "2025-11-25",
        }
    }

    /// Its program.
    fn program(self) -> Command {
        let clients = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/clients");
        let (installed, program, arguments): (_, _, Vec<PathBuf>) = match self {
            Self::Python | Self::OldPython => {
                let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/clients/python/client.py");
                ("python/installed.txt", clients.join("python/bin/python"), vec![script])
            }
            // The script is a link, and Node is to look for packages where the link lies.
            Self::TypeScript => {
                let script = clients.join("typescript/client.mjs");
                ("typescript/installed.json", "node".into(), vec!["--preserve-symlinks-main".into(), script])
            }
        };
        assert!(clients.join(installed).exists(), "{self:?} is not installed; run tools-wasm/guests.sh setup-tests");
        let mut command = Command::new(program);
        command.args(arguments);
        if self == Self::OldPython {
            command.arg("--legacy");
        }
        command
    }
}

/// How a client comes in.
#[derive(Clone, Copy, Debug)]
pub(super) enum Door {
    Stdio,
    Http,
}

/// A door that is open: what a client is told on its command line.
pub(super) struct Open {
    door: Door,
    words: Vec<String>,
    _host: Option<Served>,
}

/// The bundled tool whose every call needs a person's approval here.
pub(super) const APPROVED: &str = "convert_units";

/// A place with the suite's tools, which may ask, and a host for it where one must run before clients come.
pub(super) fn meet(door: Door) -> (Place, Open) {
    let place = Place::new();
    let tools = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/probes/conformance.wasm");
    place.drop_in("conformance.wasm", &fs::read(tools).expect("run make tools"));
    let granted = place.run(&["grant", "conformance", "--ask"]);
    assert!(granted.status.success(), "{granted:?}");
    let config = fs::read_to_string(place.home().join("hermes.toml")).unwrap();
    place.configure(&format!("{config}\n[policy]\n{APPROVED} = \"ask\"\n"));
    let open = match door {
        Door::Stdio => {
            let command = place.command(&["run", "--stdio"]);
            let words = [command.get_program()].into_iter().chain(command.get_args());
            let words = words.map(|word| word.to_str().unwrap().to_owned());
            Open { door, words: ["stdio".into()].into_iter().chain(words).collect(), _host: None }
        }
        Door::Http => {
            let host = Served::start(&place);
            let token = fs::read_to_string(place.home().join("token")).unwrap().trim().to_owned();
            Open { door, words: vec!["http".into(), format!("{}/mcp", host.address), token], _host: Some(host) }
        }
    };
    (place, open)
}

/// Every client through every door, each with a place and a host of its own.
pub(super) fn each(flags: &[&str], test: impl Fn(&mut Conversation<'_>)) {
    for client in Client::ALL {
        for door in [Door::Stdio, Door::Http] {
            let (place, open) = meet(door);
            test(&mut Conversation::open(client, &place, &open, flags));
        }
    }
}

/// A client that runs.
pub(super) struct Conversation<'a> {
    pub(super) client: Client,
    pub(super) place: &'a Place,
    door: Door,
    child: Child,
    steps: ChildStdin,
    events: mpsc::Receiver<Value>,
    /// What came while something else was waited for.
    kept: VecDeque<Value>,
}

impl fmt::Display for Conversation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} over {:?}", self.client, self.door)
    }
}

impl<'a> Conversation<'a> {
    /// Starts a client.
    pub(super) fn open(client: Client, place: &'a Place, open: &Open, flags: &[&str]) -> Self {
        let mut command = client.program();
        command.args(flags).args(&open.words).env("NO_COLOR", "1").env_remove("HERMES_HOME");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let events = lines(child.stdout.take().unwrap(), |line| {
            serde_json::from_str(&line).unwrap_or_else(|why| json!({"failed": format!("no JSON ({why}): {line}")}))
        });
        let steps = child.stdin.take().unwrap();
        Self { client, place, door: open.door, child, steps, events, kept: VecDeque::new() }
    }

    /// Says what to do next.
    pub(super) fn step(&mut self, step: &Value) {
        writeln!(self.steps, "{step}").unwrap();
    }

    /// Waits for what comes under this name. What comes before it is kept for later.
    pub(super) fn expect(&mut self, name: &str) -> Value {
        let known = self.kept.iter().position(|event| event.get(name).is_some());
        if let Some(event) = known.and_then(|at| self.kept.remove(at)) {
            return event[name].clone();
        }
        loop {
            let event = self.events.recv_timeout(PATIENCE);
            let event = event.unwrap_or_else(|why| panic!("{self}: no {name} ({why}); there was {:?}", self.kept));
            match event.get(name) {
                Some(value) => return value.clone(),
                None if event.get("failed").is_some() => panic!("{self}: {event} instead of {name}"),
                None => self.kept.push_back(event),
            }
        }
    }

    /// All tools, page by page.
    pub(super) fn list(&mut self) -> Value {
        self.step(&json!({"do": "list"}));
        json!({"tools": self.expect("tools")})
    }

    /// Calls a tool that asks nothing.
    pub(super) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.step(&json!({"do": "call", "tool": tool, "arguments": arguments}));
        let result = self.expect("result");
        assert!(!self.kept.iter().any(|event| event.get("asked").is_some()), "{self}: it was asked {:?}", self.kept);
        result
    }

    /// Begins to call a tool that asks.
    pub(super) fn ask(&mut self, tool: &str, arguments: Value, answers: Value) {
        self.step(&json!({"do": "call", "tool": tool, "arguments": arguments, "answers": answers}));
    }
}

impl Drop for Conversation<'_> {
    fn drop(&mut self) {
        // A host that serves over stdio is its child, and ends when its stdin does.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A host that serves over HTTP.
struct Served {
    child: Child,
    address: String,
}

impl Served {
    fn start(place: &Place) -> Self {
        let mut command = place.command(&["run", "--http", "127.0.0.1:0"]);
        command.env_remove("HERMES_HOST_TOKEN");
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let said = lines(child.stderr.take().unwrap(), |line| line);
        let mut before = Vec::new();
        let address = loop {
            match said.recv_timeout(PATIENCE) {
                Ok(line) => match line.split_whitespace().find(|word| word.starts_with("http://127.0.0.1:")) {
                    Some(word) => break word.trim_end_matches(|end: char| !end.is_ascii_digit()).to_owned(),
                    None => before.push(line),
                },
                Err(why) => panic!("no address ({why}): {before:?}"),
            }
        };
        Self { child, address }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The lines of a stream, read by a thread of its own until it ends, whether anybody still listens or not.
fn lines<T: Send + 'static>(
    stream: impl Read + Send + 'static,
    read: impl Fn(String) -> T + Send + 'static,
) -> mpsc::Receiver<T> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let _ = sender.send(read(line));
        }
    });
    receiver
}
