//! `process` as a model meets it.

use hermes_tool::Hints;
use hermes_tool::terminal::{Ended, Excerpt, News};
use hermes_tool::testing::FakeHost;
use serde_json::{Value, json};

use super::*;

fn call(host: &FakeHost, arguments: Value) -> Result<Value> {
    host.call(process::TOOL, &arguments.to_string()).map(|reply| reply.json())
}

fn act(host: &FakeHost, action: &str) -> Value {
    call(host, json!({ "action": action, "session_id": "p1" })).unwrap()
}

fn server() -> FakeHost {
    FakeHost::new().process("p1", "npm start")
}

#[test]
fn all_processes_are_listed() {
    assert_eq!(call(&FakeHost::new(), json!({ "action": "list" })).unwrap(), json!({ "processes": [] }));
    let host = server().prints("p1", "\x1b[1mready\x1b[0m").process("p2", "make").ends("p2", Ended::Exit(2));
    let host = host.prints("p2", &"ü".repeat(300));
    let expected = json!({ "processes": [
        {
            "session_id": "p1", "command": "npm start", "pid": 4242, "status": "running", "uptime_seconds": 90,
            "output_preview": "ready",
        },
        {
            "session_id": "p2", "command": "make", "pid": 4242, "status": "exited", "exit_code": 2,
            "uptime_seconds": 90, "output_preview": "ü".repeat(200),
        },
    ] });
    assert_eq!(call(&host, json!({ "action": "list" })).unwrap(), expected);
}

#[test]
fn a_poll_tells_how_it_stands() {
    let host = server().prints("p1", &("a".repeat(2_000) + "\nready"));
    let running = act(&host, "poll");
    assert_eq!((&running["status"], running.get("exit_code")), (&json!("running"), None));
    assert_eq!((&running["command"], &running["pid"]), (&json!("npm start"), &json!(4242)));
    assert_eq!((&running["uptime_seconds"], &running["session_id"]), (&json!(90), &json!("p1")));
    let preview = running["output_preview"].as_str().unwrap();
    assert!(preview.ends_with("\nready") && preview.len() == 1_000);
    let host = host.ends("p1", Ended::Signal(9));
    let ended = act(&host, "poll");
    assert_eq!((&ended["status"], &ended["exit_code"]), (&json!("exited"), &json!(137)));
}

#[test]
fn a_log_gives_the_last_lines_or_those_asked_for() {
    let lines: String = (1..=500).map(|line| format!("line {line}\n")).collect();
    let host = server().prints("p1", &lines);
    let last = act(&host, "log");
    assert!(last["output"].as_str().unwrap().starts_with("line 301\n"));
    assert_eq!((&last["total_lines"], &last["showing"]), (&json!(500), &json!("lines 301-500 of 500")));
    assert_eq!(last["status"], "running");
    let some = |offset: u64| json!({ "action": "log", "session_id": "p1", "offset": offset, "limit": 2 });
    let first = call(&host, some(0)).unwrap();
    assert_eq!((&first["output"], &first["showing"]), (&json!("line 1\nline 2\n"), &json!("lines 1-2 of 500")));
    assert_eq!(call(&host, some(7)).unwrap()["output"], "line 8\nline 9\n");
    assert_eq!(call(&host, some(900)).unwrap()["showing"], "no lines of 500");
}

#[test]
fn a_log_says_what_is_no_longer_kept() {
    FakeHost::new().process("p1", "yes");
    let status = terminal::poll("p1").unwrap();
    let excerpt = Excerpt { text: "\x1b[32my\n".into(), first: 70, lines: 1, oldest: 70, total: 90 };
    let answer = serde_json::to_value(Answer::log(status, excerpt)).unwrap();
    assert_eq!(answer["output"], "y\n");
    assert_eq!(answer["showing"], "lines 71-71 of 90; the first 70 are no longer kept");
}

#[test]
fn waiting_ends_with_the_process_or_with_the_time() {
    let host = server().prints("p1", "built\n");
    let waited = act(&host, "wait");
    assert_eq!((&waited["status"], &waited["output"]), (&json!("timeout"), &json!("built\n")));
    assert!(waited["timeout_note"].as_str().unwrap().contains("after 180 s"), "{waited}");
    let long = call(&host, json!({ "action": "wait", "session_id": "p1", "timeout": 5000 })).unwrap();
    assert!(long["timeout_note"].as_str().unwrap().starts_with("waited 600 s, which is the most"), "{long}");
    let host = host.ends("p1", Ended::Exit(0));
    let expected = json!({ "session_id": "p1", "status": "exited", "exit_code": 0, "output": "built\n" });
    assert_eq!(act(&host, "wait"), expected);
}

#[test]
fn a_process_is_killed_once() {
    let host = server();
    assert_eq!(act(&host, "kill"), json!({ "session_id": "p1", "status": "killed", "exit_code": 143 }));
    assert_eq!(act(&host, "kill"), json!({ "session_id": "p1", "status": "already_exited", "exit_code": 143 }));
}

#[test]
fn a_process_that_does_not_die_is_not_called_dead() {
    FakeHost::new().process("p1", "yes");
    let answer = Answer::killed(terminal::poll("p1").unwrap(), State::Killed);
    assert_eq!(serde_json::to_value(answer).unwrap()["status"], "running");
}

#[test]
fn a_process_is_written_to_until_its_input_is_closed() {
    let host = server();
    let send = |action: &str, data: &str| call(&host, json!({ "action": action, "session_id": "p1", "data": data }));
    assert_eq!(send("write", "grün").unwrap()["bytes_written"], 5);
    assert_eq!(send("submit", "yes").unwrap(), json!({ "session_id": "p1", "status": "ok", "bytes_written": 4 }));
    assert_eq!(act(&host, "submit")["bytes_written"], 1);
    assert_eq!(host.typed("p1").unwrap(), "grünyes\n\n");
    assert_eq!(act(&host, "close")["status"], "ok");
    assert_eq!(send("write", "x").unwrap_err(), Error::failed("the input of process 'p1' is closed"));
}

#[test]
fn what_is_missing_is_named() {
    let host = server();
    for action in ["poll", "log", "wait", "kill", "write", "submit", "close"] {
        let why = call(&host, json!({ "action": action, "session_id": "" })).unwrap_err();
        let said = format!("{action} needs session_id: action list shows the processes with theirs");
        assert_eq!(why, Error::invalid(said));
    }
    let why = call(&host, json!({ "action": "write", "session_id": "p1" })).unwrap_err();
    assert_eq!(why, Error::invalid("write needs data"));
    let why = call(&host, json!({ "action": "poll", "session_id": "p9" })).unwrap_err();
    assert_eq!(why, Error::failed("no process 'p9': list the processes of this task"));
    assert!(matches!(call(&host, json!({ "action": "restart" })), Err(Error::Invalid(_))));
    assert_eq!(host.typed("p1").unwrap(), "");
}

#[test]
fn news_come_with_every_kind_of_answer_once() {
    let mut host = server();
    for action in ["list", "poll", "log", "wait", "submit", "close", "kill"] {
        host = host.notice("p2", News::Unwatched(4));
        assert_eq!(act(&host, action)["notices"][0]["type"], "watch_disabled", "{action}");
    }
    assert_eq!(act(&host, "list").get("notices"), None);
}

#[test]
fn the_schema_names_the_actions_and_needs_nothing_else() {
    let schema = FakeHost::new().parameters(process::TOOL);
    assert_eq!(schema["required"], json!(["action"]));
    let actions = ["list", "poll", "log", "wait", "kill", "write", "submit", "close"];
    assert_eq!(schema["properties"]["action"]["enum"], json!(actions));
    let names: std::collections::BTreeSet<_> = schema["properties"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(Vec::from_iter(names), ["action", "data", "limit", "offset", "session_id", "timeout"]);
    let expected = Hints { destructive: true, ..Hints::default() };
    assert_eq!(process::TOOL.hints, expected);
}
