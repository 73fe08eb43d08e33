//! What is dropped into a folder of a running host, from the outside: the real binary, real files, calls over HTTP.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::TOKEN;
use crate::{
    cli::Place,
    definitions::tool::{Tool, component},
    guest,
    patience::{PATIENCE, some_round},
};

/// From a whole file to a tool that answers.
const PROMISE: Duration = Duration::from_secs(1);

/// How long a test waits before it asks again.
const AGAIN: Duration = Duration::from_millis(5);

/// A component whose tool answers this text.
fn answering(tool: &str, answer: &str) -> Vec<u8> {
    let length = answer.len();
    let functions = format!(
        r#"(data (i32.const 1024) "{answer}")
        (func $handle (result i32) (call $answer (i32.const 1) (i32.const 1024) (i32.const {length})))"#
    );
    component(&[Tool::named(tool)], "", &functions)
}

/// The same, after counting for several times as long as a dropped file needs to be taken up.
fn answering_late(tool: &str, answer: &str) -> Vec<u8> {
    let length = answer.len();
    let functions = format!(
        r#"(data (i32.const 1024) "{answer}")
        (func $handle (result i32)
          (local $left i64)
          (local.set $left (i64.const 12_000_000_000))
          (loop $count
            (local.set $left (i64.sub (local.get $left) (i64.const 1)))
            (br_if $count (i64.ne (local.get $left) (i64.const 0))))
          (call $answer (i32.const 1) (i32.const 1024) (i32.const {length})))"#
    );
    component(&[Tool::named(tool)], "", &functions)
}

/// A place where a tool may be asked the same thing as often as a test likes.
fn place() -> Place {
    let place = Place::new();
    place.configure("[guardrails]\nstop = false\n");
    place
}

/// `hermes-host run --http`, and all that it said on stderr.
struct Server {
    child: Child,
    address: String,
    said: Arc<Mutex<String>>,
}

impl Server {
    fn start(place: &Place) -> Self {
        place.warm();
        let mut command = place.command(&["run", "--http", "127.0.0.1:0"]);
        command.env("HERMES_HOST_TOKEN", TOKEN);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let said = Arc::new(Mutex::new(String::new()));
        let heard = Arc::clone(&said);
        thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                heard.lock().unwrap().push_str(&(line + "\n"));
            }
        });
        let mut server = Self { child, address: String::new(), said };
        let address = server.until("its address", |server| {
            let said = server.said();
            let (_, rest) = said.split_once("http://")?;
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ':')?;
            Some(rest[..end].to_owned())
        });
        server.address = address;
        server
    }

    fn said(&self) -> String {
        self.said.lock().unwrap().clone()
    }

    /// Asks again and again until there is an answer.
    fn until<T>(&self, what: &str, mut ask: impl FnMut(&Self) -> Option<T>) -> T {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(answer) = ask(self) {
                return answer;
            }
            assert!(Instant::now() < deadline, "{what} never came; it said:\n{}", self.said());
            thread::sleep(AGAIN);
        }
    }

    /// Sends a request and does not wait for its answer.
    fn send(&self, method: &str, path: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let (host, length) = (&self.address, body.len());
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\nauthorization: Bearer {TOKEN}\r\n"
        );
        let head = format!("{head}content-type: application/json\r\ncontent-length: {length}\r\n\r\n");
        stream.write_all((head + body).as_bytes()).unwrap();
        stream
    }

    fn send_call(&self, tool: &str, arguments: &Value) -> TcpStream {
        self.send("POST", "/v1/call", &json!({ "name": tool, "arguments": arguments }).to_string())
    }

    /// The body of the answer.
    fn call_with(&self, tool: &str, arguments: &Value) -> String {
        body(self.send_call(tool, arguments))
    }

    /// Every call is another, so that none is taken for a repetition.
    fn call(&self, tool: &str) -> String {
        static CALLS: AtomicUsize = AtomicUsize::new(0);
        self.call_with(tool, &json!({ "call": CALLS.fetch_add(1, Ordering::Relaxed) }))
    }

    fn lists(&self, tool: &str) -> bool {
        body(self.send("GET", "/v1/tools?format=mcp", "")).contains(&format!("\"name\":\"{tool}\""))
    }

    /// How long it takes from now until the tool answers this.
    fn answers(&self, tool: &str, answer: &str) -> Duration {
        let start = Instant::now();
        self.until(&format!("{answer} of {tool}"), |server| server.call(tool).contains(answer).then(|| start.elapsed()))
    }

    fn is_gone(&self, tool: &str) {
        self.until(&format!("the end of {tool}"), |server| server.call(tool).contains("unknown-tool").then_some(()));
        assert!(!self.lists(tool));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn body(mut stream: TcpStream) -> String {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {answer:?}")).1.to_owned()
}

/// Other bytes of the same component: a custom section is added.
fn other(mut bytes: Vec<u8>, mark: u8) -> Vec<u8> {
    bytes.extend([0, 3, 1, b'x', mark]);
    bytes
}

/// What a round measures can be as short as promised.
fn assert_promised(mut round: impl FnMut(u8) -> Duration) {
    some_round("a tool answers within a second of its drop", |n| round(u8::try_from(n).unwrap()) < PROMISE);
}

#[test]
fn a_known_component_is_callable_within_a_second_of_its_drop() {
    let place = place();
    place.drop_in("known.wasm", &guest::good("known"));
    let (here, away) = (place.tools().join("known.wasm"), place.root.path().join("known.wasm"));
    let server = Server::start(&place);
    assert_promised(|_| {
        fs::rename(&here, &away).unwrap();
        server.is_gone("known");
        fs::rename(&away, &here).unwrap();
        server.answers("known", "ok")
    });
    assert!(server.lists("known"));
}

#[test]
fn a_small_new_component_is_callable_within_a_second_of_its_drop() {
    let place = place();
    let server = Server::start(&place);
    let hello =
        fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../target/examples/hello.wasm")).expect("run make tools");
    assert_promised(|round| {
        let name = format!("new{round}");
        place.drop_in(&format!("{name}.wasm"), &guest::good(&name));
        server.answers(&name, "ok")
    });
    assert_promised(|round| {
        place.drop_in("hello.wasm", &other(hello.clone(), round));
        let start = Instant::now();
        let arguments = json!({ "name": format!("Ada {round}") });
        server.until("hello", |server| server.call_with("hello", &arguments).contains("Hello, Ada").then_some(()));
        let time = start.elapsed();
        fs::remove_file(place.tools().join("hello.wasm")).unwrap();
        server.is_gone("hello");
        time
    });
}

#[test]
fn a_half_written_file_is_waited_out_and_never_refused() {
    let place = place();
    place.drop_in("old.wasm", &answering("both", "old"));
    let server = Server::start(&place);
    server.answers("both", "old");
    let (first, second) = (guest::good("first"), answering("both", "new"));
    let mut files: Vec<(File, &[u8])> = [("first.wasm", &first[..]), ("old.wasm", &second[..])]
        .map(|(name, bytes)| (File::create(place.tools().join(name)).unwrap(), bytes))
        .into();
    for (file, bytes) in &mut files {
        file.write_all(&bytes[..bytes.len() / 2]).unwrap();
    }
    // What was there keeps working, and nothing is said, for longer than any quiet time would be.
    let pause = Instant::now() + Duration::from_millis(600);
    while Instant::now() < pause {
        assert!(server.call("both").contains("old"));
        assert!(server.call("first").contains("unknown-tool"));
    }
    for (file, bytes) in &mut files {
        file.write_all(&bytes[bytes.len() / 2..]).unwrap();
    }
    drop(files);
    server.answers("first", "ok");
    server.answers("both", "new");
    let said = server.said();
    assert!(!said.contains("refused"), "{said}");
}

#[test]
fn a_running_call_ends_on_the_code_it_started_with_while_the_file_is_replaced() {
    let place = place();
    place.configure("[guardrails]\nstop = false\n[tools.slow]\nlimits = { timeout = \"60s\", fuel = 200_000_000_000 }");
    place.drop_in("slow.wasm", &answering_late("slow", "old"));
    place.drop_in("quick.wasm", &guest::good("quick"));
    let server = Server::start(&place);
    let running = server.send_call("slow", &json!({}));
    // Sent after it and answered: the other has begun.
    server.answers("quick", "ok");
    place.drop_in("slow.wasm", &answering("slow", "new"));
    // A call before that would end on the old code, too, and late.
    server.until("the new code", |server| server.said().contains("updated slow").then_some(()));
    server.answers("slow", "new");
    running.set_nonblocking(true).unwrap();
    assert!(running.peek(&mut [0]).is_err(), "it had ended before the file was replaced");
    running.set_nonblocking(false).unwrap();
    let answer = body(running);
    assert!(answer.contains("old"), "{answer}");
}

#[test]
fn a_file_that_is_removed_or_renamed_takes_its_tool_along() {
    let place = place();
    place.drop_in("one.wasm", &guest::good("one"));
    place.drop_in("two.wasm", &guest::good("two"));
    let server = Server::start(&place);
    assert!(server.lists("one") && server.lists("two"));
    fs::remove_file(place.tools().join("one.wasm")).unwrap();
    server.is_gone("one");
    fs::rename(place.tools().join("two.wasm"), place.tools().join("two.wasm.off")).unwrap();
    server.is_gone("two");
    fs::rename(place.tools().join("two.wasm.off"), place.tools().join("two.wasm")).unwrap();
    server.answers("two", "ok");
}

#[test]
fn many_files_at_once_all_come() {
    let place = place();
    let server = Server::start(&place);
    let files: Vec<(String, Vec<u8>)> =
        (0..20).map(|n| (format!("tool{n}"), guest::good(&format!("tool{n}")))).collect();
    for (name, bytes) in &files {
        place.drop_in(&format!("{name}.wasm"), bytes);
    }
    for (name, _) in &files {
        server.answers(name, "ok");
    }
    assert!(!server.said().contains("refused"), "{}", server.said());
}

#[test]
fn a_folder_that_is_removed_and_made_again_is_used_again() {
    let place = place();
    place.drop_in("one.wasm", &guest::good("one"));
    let server = Server::start(&place);
    server.answers("one", "ok");
    fs::remove_dir_all(place.tools()).unwrap();
    fs::create_dir(place.tools()).unwrap();
    place.drop_in("two.wasm", &guest::good("two"));
    server.answers("two", "ok");
    server.is_gone("one");
    place.drop_in("three.wasm", &guest::good("three"));
    server.answers("three", "ok");
}

#[test]
fn a_tools_folder_that_goes_takes_its_tools_along_and_holds_up_nothing_else() {
    let place = place();
    place.drop_in("one.wasm", &guest::good("one"));
    let server = Server::start(&place);
    server.answers("one", "ok");
    fs::remove_dir_all(place.tools()).unwrap();
    server.is_gone("one");
    server.until("a line about it", |server| server.said().contains("can't be read").then_some(()));
    // The configuration is taken up all the same.
    place.configure("[guardrails]\nstop = false\n[toolsets.fresh]\ndescription = \"fresh\"\ntools = [\"calculate\"]\n");
    server.until("the configuration", |server| {
        let tools = body(server.send("GET", "/v1/tools?toolset=fresh", ""));
        tools.contains("calculate").then_some(())
    });
}

/// Nobody knows which guards were in it.
#[test]
fn a_hooks_folder_that_goes_blocks_every_call_until_it_is_back() {
    let place = place();
    place.drop_in("one.wasm", &guest::good("one"));
    let server = Server::start(&place);
    server.answers("one", "ok");
    fs::remove_dir_all(place.hooks()).unwrap();
    let refused = |server: &Server| {
        let answer = server.call("one");
        (answer.contains("denied") && answer.contains("hooks")).then_some(())
    };
    server.until("the refusal", refused);
    fs::create_dir(place.hooks()).unwrap();
    server.answers("one", "ok");
}

#[test]
fn a_slow_compile_holds_up_neither_other_files_nor_what_is_revoked() {
    let (place, can_read) = probed();
    let server = Server::start(&place);
    assert!(can_read(&server));
    place.drop_in("bomb.wasm", &crate::attack::load::bomb());
    let worker = server.until("the worker", |server| compiling(server.child.id()));
    assert_promised(|round| {
        let name = format!("small{round}");
        place.drop_in(&format!("{name}.wasm"), &guest::good(&name));
        server.answers(&name, "ok")
    });
    fs::remove_file(place.tools().join("small0.wasm")).unwrap();
    server.is_gone("small0");
    assert!(place.run(&["revoke", "probe"]).status.success());
    server.until("the end of the grant", |server| (!can_read(server)).then_some(()));
    assert_eq!(compiling(server.child.id()), Some(worker), "it was over before the rest was tried");
}

/// The compile worker of a host, by its number.
pub(super) fn compiling(host: u32) -> Option<u32> {
    let children = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    children.into_iter().find(|child: &u32| {
        let of = |name: &str| fs::read_to_string(format!("/proc/{child}/{name}")).unwrap_or_default();
        of("cmdline").contains("__compile") && of("status").contains(&format!("\nPPid:\t{host}\n"))
    })
}

#[test]
fn a_file_that_takes_long_to_arrive_is_not_read_before_and_holds_up_no_other() {
    let place = place();
    place.drop_in("old.wasm", &answering("both", "old"));
    let server = Server::start(&place);
    server.answers("both", "old");
    let arriving = answering("both", "new");
    let mut file = File::create(place.tools().join("old.wasm")).unwrap();
    let (last, first) = arriving.split_last().unwrap();
    let mut bytes = first.iter();
    // It never stops for long, and others come meanwhile.
    for round in 0..3 {
        let name = format!("other{round}");
        place.drop_in(&format!("{name}.wasm"), &guest::good(&name));
        server.until(&name, |server| {
            file.write_all(&[*bytes.next()?]).unwrap();
            (server.call("both").contains("old") && server.call(&name).contains("ok")).then_some(())
        });
    }
    file.write_all(bytes.as_slice()).unwrap();
    file.write_all(&[*last]).unwrap();
    drop(file);
    server.answers("both", "new");
    assert!(!server.said().contains("refused"), "{}", server.said());
}

/// A place with a component that may read a note, and whether it can.
fn probed() -> (Place, impl Fn(&Server) -> bool) {
    let place = place();
    let probe = fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../target/probes/probe.wasm")).expect("run make tools");
    let notes = place.root.path().canonicalize().unwrap().join("notes");
    fs::create_dir(&notes).unwrap();
    fs::write(notes.join("note.txt"), "remember").unwrap();
    place.drop_in("probe.wasm", &probe);
    let granted = place.run(&["grant", "probe", "--read", notes.to_str().unwrap()]);
    assert!(granted.status.success(), "{granted:?}");
    let read = json!({ "steps": [{ "op": "read", "path": notes.join("note.txt") }] });
    (place, move |server| server.call_with("fs", &read).contains("remember"))
}

#[test]
fn other_bytes_have_no_grant_until_it_is_given_again() {
    let (place, can_read) = probed();
    let probe = fs::read(place.tools().join("probe.wasm")).unwrap();
    let server = Server::start(&place);
    assert!(can_read(&server));

    place.drop_in("probe.wasm", &other(probe.clone(), 1));
    server.until("the other bytes", |server| server.said().contains("updated fs").then_some(()));
    assert!(!can_read(&server), "other bytes were taken for those that were granted");
    assert!(place.run(&["grant", "probe"]).status.success());
    server.until("the grant", |server| can_read(server).then_some(()));
    place.drop_in("probe.wasm", &probe);
    server.until("the end of the grant", |server| (!can_read(server)).then_some(()));
}
