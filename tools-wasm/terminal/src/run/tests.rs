//! `terminal` as a model meets it.

use hermes_tool::Hints;
use hermes_tool::terminal::{Ended, Ending, Match, News, Outcome};
use hermes_tool::testing::{FakeHost, ran};
use serde_json::{Value, json};

use super::*;

fn call(host: &FakeHost, arguments: Value) -> Result<Value> {
    host.call(terminal::TOOL, &arguments.to_string()).map(|reply| reply.json())
}

fn fault(reason: Reason, message: &str) -> Fault {
    Fault { reason, message: message.into() }
}

#[test]
fn a_command_is_run_and_its_output_given() {
    let host = FakeHost::new().command("ls", Ok(ran(0, "a\nb\n")));
    let expected = json!({ "output": "a\nb\n", "exit_code": 0, "error": null, "cwd": "/workspace" });
    assert_eq!(call(&host, json!({ "command": "ls" })).unwrap(), expected);
    let asked = &host.asked()[0];
    assert_eq!((asked.timeout, &asked.options, &asked.input), (Some(180), &Options::default(), &None));
}

#[test]
fn what_was_asked_for_is_passed_on() {
    let host = FakeHost::new().command("ls", Ok(ran(0, "")));
    let answer = call(&host, json!({ "command": "ls", "timeout": 600, "workdir": "sub", "pty": true })).unwrap();
    assert!(answer["pty_note"].as_str().unwrap().contains("background=true"));
    let asked = &host.asked()[0];
    assert_eq!((asked.timeout, &asked.options), (Some(600), &Options { workdir: Some("sub".into()), pty: true }));
    call(&host, json!({ "command": "ls", "workdir": "" })).unwrap();
    assert_eq!(host.asked()[1].options, Options::default());
}

#[test]
fn a_command_that_fails_is_no_error() {
    let outcome = Outcome { note: Some("no match".into()), approval: Some("by anna, once".into()), ..ran(1, "") };
    let host = FakeHost::new().command("grep x y", Ok(outcome));
    let answer = call(&host, json!({ "command": "grep x y" })).unwrap();
    assert_eq!((&answer["exit_code"], &answer["error"]), (&json!(1), &Value::Null));
    assert_eq!((&answer["exit_code_meaning"], &answer["approval"]), (&json!("no match"), &json!("by anna, once")));
}

#[test]
fn a_timeout_is_told_at_the_end_of_the_output() {
    let left = vec!["sleep".to_owned(), "cat".to_owned()];
    let outcome = Outcome { ended: Ended::Timeout, left, ..ran(124, "so far") };
    let host = FakeHost::new().command("make", Ok(outcome));
    let answer = call(&host, json!({ "command": "make", "timeout": 7 })).unwrap();
    assert_eq!((&answer["exit_code"], &answer["error"]), (&json!(124), &Value::Null));
    let output = answer["output"].as_str().unwrap();
    assert!(output.starts_with("so far\n[Left running, and ended with the command: sleep, cat;"), "{output}");
    assert!(output.ends_with("]\n[Command timed out after 7s]"), "{output}");
}

#[test]
fn escapes_are_taken_out_and_the_hosts_mark_stays_the_only_one() {
    let marked = "\x1b[1mhead\x1b[0m\n... [6 of 16 left out] ...\ntail";
    let host = FakeHost::new().command("yes", Ok(Outcome { omitted: 6, ..ran(0, marked) }));
    let answer = call(&host, json!({ "command": "yes" })).unwrap();
    assert_eq!(answer["output"], "head\n... [6 of 16 left out] ...\ntail");
}

#[test]
fn a_refused_command_is_blocked_with_the_hosts_words() {
    let host = FakeHost::new().command("rm -rf /", Err(fault(Reason::Denied, "never: deletes the root")));
    let expected = json!({ "output": "", "exit_code": -1, "error": "never: deletes the root", "status": "blocked" });
    assert_eq!(call(&host, json!({ "command": "rm -rf /" })).unwrap(), expected);
    assert_eq!(call(&host, json!({ "command": "rm -rf /", "background": true })).unwrap(), expected);
}

#[test]
fn a_missing_workdir_is_what_a_shell_calls_126() {
    let host = FakeHost::new().command("ls", Err(fault(Reason::NotFound, "no directory 'x'")));
    let answer = call(&host, json!({ "command": "ls", "workdir": "x" })).unwrap();
    assert_eq!(answer, json!({ "output": "", "exit_code": 126, "error": "no directory 'x'" }));
}

#[test]
fn other_faults_are_errors_with_a_next_step() {
    for (reason, expected) in [
        (Reason::Busy, Error::failed("no; process with action list shows them")),
        (Reason::Invalid, Error::invalid("no")),
        (Reason::Failed, Error::failed("no")),
    ] {
        let host = FakeHost::new().command("ls", Err(fault(reason, "no")));
        assert_eq!(call(&host, json!({ "command": "ls" })).unwrap_err(), expected);
    }
}

#[test]
fn a_background_process_is_answered_at_once_and_watched_for_both() {
    let host = FakeHost::new();
    let answer = call(
        &host,
        json!({
            "command": "npm start", "background": true, "notify_on_complete": true, "watch_patterns": ["ready"],
            "pty": true, "timeout": 5000,
        }),
    );
    let expected = json!({
        "output": "Background process started", "exit_code": 0, "error": null, "status": "running",
        "session_id": "proc_1", "pid": 4242,
    });
    assert_eq!(answer.unwrap(), expected);
    let asked = &host.asked()[0];
    assert_eq!(asked.watch, Some(Watch { end: true, patterns: vec!["ready".into()] }));
    assert!(asked.options.pty);
}

#[test]
fn a_background_process_is_watched_for_nothing_unless_asked() {
    let host = FakeHost::new();
    call(&host, json!({ "command": "make", "background": true })).unwrap();
    assert_eq!(host.asked()[0].watch, Some(Watch { end: false, patterns: Vec::new() }));
}

#[test]
fn what_has_no_place_in_the_foreground_is_not_run_there() {
    let host = FakeHost::new();
    for (arguments, word) in [
        (json!({ "command": "npm start" }), "background=true"),
        (json!({ "command": "nohup make &" }), "background=true"),
        (json!({ "command": "make", "timeout": 601 }), "background=true"),
        (json!({ "command": " \n" }), "empty"),
    ] {
        let why = call(&host, arguments).unwrap_err();
        assert!(matches!(&why, Error::Invalid(message) if message.contains(word)), "{why:?}");
    }
    assert!(host.asked().is_empty());
}

#[test]
fn news_come_with_the_next_answer_once() {
    let news = || News::Ended(Ending { ended: Ended::Exit(0), code: 0, tail: "done".into() });
    let found = News::Matched(Match { pattern: "e".into(), line: "error".into(), untold: 0 });
    let host = FakeHost::new().command("ls", Ok(ran(0, ""))).notice("proc_1", news()).notice("proc_2", found);
    assert!(call(&host, json!({ "command": "npm start" })).is_err(), "an error can't carry them");
    let answer = call(&host, json!({ "command": "ls" })).unwrap();
    assert_eq!(answer["notices"][0]["type"], "completed");
    assert_eq!(answer["notices"][1]["type"], "watch_match");
    assert_eq!(call(&host, json!({ "command": "ls" })).unwrap().get("notices"), None);
    let host = host.notice("proc_1", news()).command("rm", Err(fault(Reason::Denied, "no")));
    assert_eq!(call(&host, json!({ "command": "rm" })).unwrap()["notices"][0]["session_id"], "proc_1");
}

#[test]
fn the_schema_says_what_is_needed_and_what_is_too_small() {
    let schema = FakeHost::new().parameters(terminal::TOOL);
    assert_eq!(schema["required"], json!(["command"]));
    assert_eq!(schema["properties"]["timeout"]["minimum"], 1);
    assert_eq!(schema["properties"]["timeout"]["default"], TIMEOUT);
    let names: std::collections::BTreeSet<_> = schema["properties"].as_object().unwrap().keys().cloned().collect();
    let expected = [
        "background",
        "command",
        "escalate",
        "notify_on_complete",
        "pty",
        "reason",
        "timeout",
        "watch_patterns",
        "workdir",
    ];
    assert_eq!(Vec::from_iter(names), expected);
    let expected = Hints { destructive: true, ..Hints::default() };
    assert_eq!(terminal::TOOL.hints, expected);
    let output: Value = serde_json::from_str(&(terminal::TOOL.output)().unwrap()).unwrap();
    assert_eq!(output["required"], json!(["output", "exit_code", "error"]));
}
