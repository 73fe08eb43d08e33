//! The record of calls: what it says, what it never says, and that nobody changes it unseen.

mod chain;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use futures_util::future::{BoxFuture, Either, pending, select};
use hermes_host::{
    CallContext, Host,
    approval::{Answer, Approver, Question},
    component::Digest,
    sandbox::Control,
};
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::{
    cli::{Place, stderr, stdout},
    guest, start,
};

const SECRET: &str = "hunter2-correct-horse-battery-staple";

fn log_of(place: &Place) -> PathBuf {
    place.home().join("audit.jsonl")
}

/// What `audit --json` prints, a line each.
fn records(place: &Place, arguments: &[&str]) -> Vec<Value> {
    let output = place.run(&[&["audit", "--json"], arguments].concat());
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
    stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn outcomes(records: &[Value]) -> Vec<(&str, &str)> {
    records.iter().map(|one| (one["tool"].as_str().unwrap(), one["outcome"].as_str().unwrap())).collect()
}

fn digest(text: &[u8]) -> Value {
    json!(Digest::of(text).to_string())
}

/// A place with a good tool and several others, by the names of the guests.
fn place(guests: &[&str]) -> Place {
    let place = Place::new();
    place.drop_in("good.wasm", &guest::good("good"));
    for name in guests {
        place.drop_in(&format!("{name}.wasm"), &guest::attack(name));
    }
    place
}

#[test]
fn every_call_leaves_one_line_however_it_ends() {
    let place = place(&["loops_in_handle", "traps"]);
    place.configure("[tools.loops_in_handle]\nlimits = { fuel = 2_000_000_000 }\n");
    place.run(&["call", "good", r#"{ "a": 1 }"#]);
    place.run(&["call", "goood", r#"{"a":1}"#]);
    place.run(&["call", "good", "[1]"]);
    place.run(&["call", "loops_in_handle"]);
    place.run(&["call", "traps"]);
    place.run(&["call", "calculate", r#"{"expression":"1/0"}"#]);
    place.run(&["call", "tool_search", r#"{"query":"x"}"#]);
    place.drop_hook("guard.wasm", &guest::attack("hook_blocks"));
    place.run(&["call", "good"]);
    let records = records(&place, &[]);
    assert_eq!(
        outcomes(&records),
        [
            ("good", "ok"),
            ("goood", "unknown-tool"),
            ("good", "invalid-arguments"),
            ("loops_in_handle", "out-of-fuel"),
            ("traps", "trap"),
            ("calculate", "invalid-arguments"),
            ("tool_search", "ok"),
            ("good", "denied"),
        ]
    );
    assert_eq!(fs::read_to_string(log_of(&place)).unwrap().lines().count(), records.len());
    let bytes = [guest::good("good"), guest::attack("loops_in_handle")].map(|bytes| digest(&bytes));
    assert_eq!((&records[0]["component"], &records[3]["component"]), (&bytes[0], &bytes[1]));
    assert_eq!(records[1]["component"], json!(null));
    // The arguments as the tool gets them; where it gets none, as they came.
    assert_eq!((&records[0]["arguments"], &records[1]["arguments"]), (&digest(br#"{"a":1}"#), &digest(br#"{"a":1}"#)));
    assert_eq!((&records[2]["arguments"], &records[3]["arguments"]), (&digest(b"[1]"), &digest(b"{}")));
    assert!(records[3]["fuel"].as_u64().unwrap() > 1_000_000_000, "{}", records[3]);
    assert_eq!((&records[1]["fuel"], &records[7]["fuel"]), (&json!(0), &json!(0)), "nothing ran");
    let table = stdout(&place.run(&["audit"]));
    assert!(table.starts_with("TIME") && table.lines().count() == records.len() + 1, "{table}");
}

#[test]
fn a_line_says_who_what_when_with_what_and_how_it_ended() {
    let place = place(&[]);
    let host = start::builder(&place).build().unwrap();
    let [call_id, task_id, session_id] = ["c", "t", "s"].map(|text| Some(text.to_owned()));
    let before = Timestamp::now();
    host.call_blocking("good", "{}", CallContext { call_id, task_id, session_id, ..CallContext::default() });
    let records = records(&place, &[]);
    let record = records[0].as_object().unwrap();
    let keys: BTreeSet<&str> = record.keys().map(String::as_str).collect();
    let expected = [
        "approval",
        "arguments",
        "call",
        "capabilities",
        "client",
        "component",
        "decided_by",
        "duration_us",
        "fuel",
        "hash",
        "memory",
        "outcome",
        "prev",
        "seq",
        "session",
        "summary",
        "task",
        "time",
        "tool",
    ];
    assert_eq!(keys, BTreeSet::from(expected));
    assert_eq!((&record["call"], &record["task"], &record["session"]), (&json!("c"), &json!("t"), &json!("s")));
    assert_eq!((&record["approval"], &record["memory"]), (&json!(null), &json!(65536)), "one page");
    assert!(record["fuel"].as_u64().unwrap() > 0 && record["duration_us"].as_u64().unwrap() > 0);
    let time: Timestamp = record["time"].as_str().unwrap().parse().unwrap();
    assert!((before.as_second()..=Timestamp::now().as_second()).contains(&time.as_second()), "{time}");
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn arguments_beside_the_summary_are_nowhere_in_the_home() {
    let place = place(&["traps"]);
    let secret = json!({"password": SECRET, SECRET: {"deep": [SECRET]}}).to_string();
    for (tool, arguments) in [
        ("good", secret.as_str()),
        ("traps", &secret),
        ("nobody", &secret),
        ("calculate", &secret),
        ("good", &json!(SECRET).to_string()),
        ("tool_call", &json!({"name": "good", "arguments": {"password": SECRET}}).to_string()),
        ("tool_search", &json!({"query": SECRET}).to_string()),
    ] {
        place.run(&["call", tool, arguments]);
    }
    assert_eq!(records(&place, &[]).len(), 7);
    for file in files(&place.home()) {
        let bytes = fs::read(&file).unwrap();
        assert!(!bytes.windows(SECRET.len()).any(|part| part == SECRET.as_bytes()), "{}", file.display());
    }
}

#[test]
fn capabilities_that_were_used_are_recorded_and_no_others() {
    let place = place(&["logs_and_stops", "prints_to_stdout"]);
    let log = r#"(import "hermes:tool/log@0.1.0" "log" (func $log (param i32 i32 i32)))"#;
    let said = "(call $log (i32.const 2) (i32.const 1024) (i32.const 4))";
    let both = format!(
        r#"(module {log} (import "wasi:clocks/monotonic-clock@0.2.0" "now" (func $now (result i64)))
        (func $handle (result i32) {said} (drop (call $now)) (global.get $ok)))"#
    );
    place.drop_in("both.wasm", &guest::assemble("both", &both));
    let ended = format!("(module {log} (func $handle (result i32) {said} unreachable))");
    place.drop_in("ended.wasm", &guest::assemble("ended", &ended));
    // It could log, and does not.
    place.drop_in("silent.wasm", &guest::assemble("silent", &format!("(module {log})")));
    let tools = ["good", "silent", "logs_and_stops", "prints_to_stdout", "both", "ended"];
    for tool in tools {
        place.run(&["call", tool]);
    }
    let found: Vec<Value> = records(&place, &[]).iter().map(|one| one["capabilities"].clone()).collect();
    assert_eq!(json!(found), json!([[], [], ["log"], ["wasi"], ["log", "wasi"], ["log"]]));
}

/// Runs a call until it says that it has come far enough, and drops it.
fn drop_on_the_way(host: &Host, tool: &str, control: Control, mut came: mpsc::UnboundedReceiver<()>) {
    pollster::block_on(async {
        let call = Box::pin(host.call(tool, "{}", CallContext { control, ..CallContext::default() }));
        match select(call, Box::pin(came.recv())).await {
            Either::Left((outcome, _)) => panic!("{}", outcome.json()),
            Either::Right((came, call)) => {
                assert_eq!(came, Some(()));
                drop(call);
            }
        }
    });
}

/// Somebody who is asked and never answers.
struct Hesitates(mpsc::UnboundedSender<()>);

impl Approver for Hesitates {
    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Answer> {
        self.0.send(()).unwrap();
        Box::pin(pending())
    }
}

#[test]
fn a_call_that_is_dropped_on_its_way_leaves_its_line() {
    let place = place(&[]);
    let begun_then_sleeps = r#"(module
        (import "hermes:tool/log@0.1.0" "progress" (func $progress (param i64 i32 i64 i32 i32 i32)))
        (import "wasi:clocks/monotonic-clock@0.2.0" "subscribe-duration" (func $after (param i64) (result i32)))
        (import "wasi:io/poll@0.2.0" "[method]pollable.block" (func $block (param i32)))
        (func $handle (result i32)
          (call $progress (i64.const 1) (i32.const 0) (i64.const 0) (i32.const 0) (i32.const 0) (i32.const 0))
          (call $block (call $after (i64.const -1)))
          (global.get $ok)))"#;
    place.drop_in("sleeper.wasm", &guest::assemble("sleeper", begun_then_sleeps));
    let host = start::builder(&place).build().unwrap();
    let (begun, came) = mpsc::unbounded_channel();
    let progress = Arc::new(move |_| begun.send(()).unwrap());
    drop_on_the_way(&host, "sleeper", Control { progress: Some(progress), ..Control::default() }, came);
    place.drop_hook("asks.wasm", &guest::attack("hook_asks"));
    let (asked, came) = mpsc::unbounded_channel();
    let host = start::builder(&place).approver(Arc::new(Hesitates(asked))).build().unwrap();
    drop_on_the_way(&host, "good", Control::default(), came);
    let records = records(&place, &[]);
    assert_eq!(outcomes(&records), [("sleeper", "dropped"), ("good", "dropped")]);
    assert_eq!((&records[0]["approval"], &records[1]["approval"]), (&json!(null), &json!("asked")));
    assert!(records[0]["duration_us"].as_u64().unwrap() > 0);
    assert_eq!(records[0]["component"], digest(&fs::read(place.tools().join("sleeper.wasm")).unwrap()));
}

#[test]
fn a_search_that_is_dropped_on_its_way_leaves_its_line_too() {
    let place = place(&["sleeps_in_every_check"]);
    let host = start::builder(&place).build().unwrap();
    pollster::block_on(async {
        let call = Box::pin(host.call("tool_search", r#"{"query":"x"}"#, CallContext::default()));
        // Polled once: it waits for a check that sleeps.
        assert!(matches!(select(call, std::future::ready(())).await, Either::Right(_)));
    });
    assert_eq!(outcomes(&records(&place, &[])), [("tool_search", "dropped")]);
}

#[test]
fn a_refused_command_is_told_with_the_command_the_client_and_who_decided() {
    let place = place(&[]);
    place.run(&["call", "terminal", r#"{"command": "rm -rf src --token hunter2-correct"}"#]);
    let all = records(&place, &[]);
    let last = all.last().unwrap();
    assert_eq!((&last["outcome"], &last["approval"]), (&json!("refused"), &json!("refused")), "{last}");
    assert_eq!((&last["client"], &last["decided_by"]), (&json!("cli"), &json!("nobody: no answer")));
    assert_eq!(last["summary"], "rm -rf src --token ***");
    let table = stdout(&place.run(&["audit"]));
    assert!(table.contains("refused by nobody: no answer") && table.contains("rm -rf src"), "{table}");
    let shown = stdout(&place.run(&["audit", "show", last["call"].as_str().unwrap()]));
    for word in ["what:         rm -rf src", "outcome:      refused", "client:       cli", "arguments:    blake3:"] {
        assert!(shown.contains(word), "{word}: {shown}");
    }
    assert_eq!(place.run(&["audit", "show", "none"]).status.code(), Some(1));
}

#[test]
fn the_operator_can_keep_the_digest_alone() {
    let place = place(&[]);
    place.configure("[audit]\narguments = \"hash\"\n");
    place.run(&["call", "good", r#"{"path": "src/main.rs"}"#]);
    place.configure("");
    place.run(&["call", "good", r#"{"path": "src/main.rs"}"#]);
    let all = records(&place, &[]);
    assert_eq!((&all[0]["summary"], &all[1]["summary"]), (&json!(null), &json!("src/main.rs")));
}

#[test]
fn lines_are_followed_as_they_come() {
    use std::io::{BufRead, BufReader};
    let place = place(&[]);
    place.run(&["call", "good"]);
    let mut command = place.command(&["audit", "--follow", "--json"]);
    let mut child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || serde_json::from_str::<Value>(&lines.next().unwrap().unwrap()).unwrap()["tool"].clone();
    assert_eq!(next(), "good");
    place.run(&["call", "calculate", r#"{"expression": "1"}"#]);
    assert_eq!(next(), "calculate");
    child.kill().unwrap();
    child.wait().unwrap();
}
