//! A directory that another process swaps for a link to a place outside, thousands of times, while tools work in it.

use std::{
    io::{BufRead, BufReader, Read, Write},
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::{Duration, Instant},
};

use super::*;
use rustix::fs::{CWD, RenameFlags, renameat_with};

/// How often at least.
const SWAPS: u64 = 10_000;

/// Rounds of all operations at least.
const ROUNDS: usize = 40;

/// The race ends here, on however slow a machine.
const LONGEST: Duration = Duration::from_secs(30);

/// What `stat` gives for a file outside. None inside has this size.
const CANARY_SIZE: &str = "14";

/// Names the folder for the other process: this test, started again.
const FOLDER: &str = "HERMES_TEST_SWAPS";

/// The other process. Swaps until its standard input ends; says when it has swapped [`SWAPS`] times, and at last how often.
fn swap_in(folder: &Path) {
    let (sender, ended) = mpsc::channel();
    thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        sender.send(()).unwrap();
    });
    let swap = |one: &str, other: &str| {
        renameat_with(CWD, folder.join(one), CWD, folder.join(other), RenameFlags::EXCHANGE).unwrap();
    };
    let mut out = std::io::stdout();
    for swaps in 1_u64.. {
        swap("here", "there");
        swap("file.txt", "link.txt");
        if swaps == SWAPS {
            writeln!(out, "swapped").unwrap();
        }
        if ended.try_recv().is_ok() {
            writeln!(out, "swaps {swaps}").unwrap();
            return;
        }
    }
}

/// The running swapper.
struct Swapper {
    child: Child,
    lines: Receiver<String>,
}

impl Swapper {
    fn start(folder: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", TEST, "--nocapture"])
            .env(FOLDER, folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = mpsc::channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { child, lines }
    }

    fn has_swapped_enough(&self) -> bool {
        self.lines.try_iter().any(|line| line.ends_with("swapped"))
    }

    /// Ends it, and says how often it swapped.
    fn end(mut self) -> u64 {
        drop(self.child.stdin.take());
        let told = |line: String| line.rsplit_once("swaps ").and_then(|(_, count)| count.parse().ok());
        let swaps = self.lines.iter().find_map(told).expect("the swapper did not say how often it swapped");
        assert!(self.child.wait().unwrap().success());
        swaps
    }
}

/// A folder with a directory and a link to one outside, and with a file and a link to one outside. Names are the same in both.
fn furnished() -> Desk {
    let desk = Desk::new();
    for (place, text) in [("work/here", "inside"), ("outside", CANARY)] {
        for file in ["file.txt", "sub/file.txt", "target.txt"] {
            desk.put(&format!("{place}/{file}"), format!("{text}\n"));
        }
    }
    desk.put("outside/only-canary-5d0e91.txt", CANARY);
    desk.put("work/file.txt", "inside\n");
    desk.link("../outside", "work/there");
    desk.link("../outside/file.txt", "work/link.txt");
    desk
}

fn ours() -> Vec<Value> {
    let mut steps = Vec::new();
    for place in ["here", "there"] {
        for (op, path) in [
            ("read", "file.txt"),
            ("lines", "sub/file.txt"),
            ("stat", "only-canary-5d0e91.txt"),
            ("list", ""),
            ("list", "sub"),
            ("find", ""),
            ("search", ""),
            ("search", "sub/file.txt"),
        ] {
            steps.push(json!({ "op": op, "path": format!("{place}/{path}"), "pattern": ".", "all": true }));
        }
        let commit = |change: Value| json!({ "op": "commit", "changes": [change] });
        let at = |path: &str| format!("{place}/{path}");
        steps.push(commit(json!({ "kind": "write", "path": at("file.txt"), "content": "inside again\n" })));
        steps.push(commit(json!({ "kind": "write", "path": at("new/file.txt"), "content": "inside, new\n" })));
        steps.push(commit(json!({ "kind": "rename", "path": at("target.txt"), "target": at("sub/target.txt") })));
        steps.push(commit(json!({ "kind": "rename", "path": at("sub/target.txt"), "target": at("target.txt") })));
        steps.push(commit(json!({ "kind": "remove", "path": at("new/file.txt") })));
    }
    for path in ["file.txt", "link.txt"] {
        steps.push(json!({ "op": "read", "path": path }));
        steps.push(json!({ "op": "lines", "path": path }));
        steps.push(json!({ "op": "commit", "changes": [{ "kind": "write", "path": path, "content": "inside\n" }] }));
    }
    steps.push(json!({ "op": "find", "path": ".", "all": true }));
    steps.push(json!({ "op": "search", "path": ".", "pattern": ".", "all": true }));
    steps
}

fn wasi() -> Vec<Value> {
    let mut steps = Vec::new();
    for place in ["here", "there"] {
        let at = |path: &str| format!("{place}/{path}");
        steps.extend([
            json!({ "op": "open", "path": at("file.txt"), "then": "read" }),
            json!({ "op": "open", "path": at("sub/file.txt"), "then": "read-stream" }),
            json!({ "op": "open", "path": place, "how": 2, "then": "read-directory" }),
            json!({ "op": "open", "path": "file.txt", "below": place, "then": "read" }),
            json!({ "op": "stat", "path": at("file.txt") }),
            json!({ "op": "open", "path": at("file.txt"), "flags": 2, "then": "write", "content": "inside" }),
            json!({ "op": "open", "path": at("made.txt"), "how": 1 | 8, "flags": 2, "then": "write", "content": "x" }),
            json!({ "op": "set-times", "path": at("file.txt") }),
            json!({ "op": "rename", "path": at("made.txt"), "target": at("moved.txt") }),
            json!({ "op": "unlink", "path": at("moved.txt") }),
            json!({ "op": "create-directory", "path": at("folder") }),
            json!({ "op": "remove-directory", "path": at("folder") }),
        ]);
    }
    for path in ["file.txt", "link.txt"] {
        steps.push(json!({ "op": "open", "path": path, "then": "read" }));
        steps.push(json!({ "op": "open", "path": path, "flags": 2, "then": "write", "content": "inside" }));
    }
    steps
}

fn tools() -> [(&'static str, Value); 4] {
    [
        ("read_file", json!({ "path": "here/file.txt" })),
        ("write_file", json!({ "path": "here/file.txt", "content": "inside\n" })),
        ("search_files", json!({ "path": ".", "pattern": ".", "hidden": true })),
        ("search_files", json!({ "path": "there", "pattern": "*", "target": "files" })),
    ]
}

/// How often each of some operations worked and failed.
#[derive(Default)]
struct Tally {
    worked: BTreeMap<String, u64>,
    failed: BTreeMap<String, u64>,
}

impl Tally {
    fn count(&mut self, what: String, worked: bool) {
        *if worked { &mut self.worked } else { &mut self.failed }.entry(what).or_default() += 1;
    }
}

/// The name of the test, for the other process.
const TEST: &str =
    "files::race::nothing_outside_is_read_or_changed_while_a_directory_is_swapped_for_a_link_10_000_times";

#[test]
fn nothing_outside_is_read_or_changed_while_a_directory_is_swapped_for_a_link_10_000_times() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        return swap_in(Path::new(&folder));
    }
    let desk = furnished();
    desk.grant(&desk.folder("work", "access = \"write\""));
    let host = Asked::new(desk.builder().build().unwrap());
    let before = snapshot(&desk.path("outside"));
    let swapper = Swapper::start(&desk.path("work"));
    let start = Instant::now();
    let mut tally = Tally::default();
    let (mut rounds, mut enough) = (0, false);
    while start.elapsed() < LONGEST && !(enough && rounds >= ROUNDS) {
        for (tool, steps) in [("fs", ours()), ("wasi", wasi())] {
            for (step, answer) in steps.iter().zip(host.steps(tool, &steps, None)) {
                // A message names the path that was asked for.
                let given = answer.get("ok").map(Value::to_string).unwrap_or_default();
                assert!(!given.contains(CANARY), "{step}: {answer}");
                assert!(given.is_empty() || !step.to_string().contains(CANARY), "this is only outside: {step}");
                assert_ne!(given, CANARY_SIZE, "the size of the file outside: {step}");
                let what =
                    step["then"].as_str().or(step["changes"][0]["kind"].as_str()).or(step["op"].as_str()).unwrap();
                tally.count(format!("{tool} {what}"), answer.get("ok").is_some());
            }
        }
        for (tool, arguments) in tools() {
            let answer = host.call(tool, &arguments, None);
            let given = answer.as_ref().map(Value::to_string).unwrap_or_default();
            assert!(!given.contains(CANARY), "{tool}: {given}");
            tally.count(tool.to_owned(), answer.is_ok());
        }
        rounds += 1;
        enough = enough || swapper.has_swapped_enough();
    }
    let swaps = swapper.end();
    assert!(swaps >= SWAPS, "{swaps} swaps in {rounds} rounds");
    assert_eq!(snapshot(&desk.path("outside")), before);
    for what in [
        "fs read",
        "fs lines",
        "fs list",
        "fs find",
        "fs search",
        "fs write",
        "fs rename",
        "wasi read",
        "wasi read-directory",
        "wasi write",
        "read_file",
        "write_file",
        "search_files",
    ] {
        assert!(tally.worked.contains_key(what), "{what} never worked: {:?}", tally.failed);
    }
    // Who never failed never met the link.
    for what in ["fs read", "fs list", "wasi read"] {
        assert!(tally.failed.contains_key(what), "{what} never failed: {:?}", tally.worked);
    }
}
