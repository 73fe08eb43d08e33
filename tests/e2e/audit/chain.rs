//! The chain of lines: what `--verify` finds, who may write at the same time, and what is asked of the log.

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    process::Stdio,
};

use hermes_host::CallContext;
use serde_json::json;

use super::{log_of, outcomes, place, records};
use crate::{
    cli::{Place, assert_wrong, parse, stderr, stdout},
    start,
};

/// A place with five calls, and its log.
fn five() -> (Place, Vec<String>) {
    let place = place(&[]);
    let host = start::builder(&place).build().unwrap();
    for n in 0..5 {
        let call_id = Some(format!("call-{n}"));
        host.call_blocking("good", "{}", CallContext { call_id, ..CallContext::default() });
    }
    // Read behind the lock's back, so not while lines may wait.
    drop(host);
    let text = fs::read_to_string(log_of(&place)).unwrap();
    let lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    assert_eq!(lines.len(), 5);
    (place, lines)
}

/// What `--verify` says of a log of five lines that was changed in this way: its exit code, the lines it names, its text.
fn verified(change: impl FnOnce(&mut Vec<String>)) -> (i32, Vec<u64>, String) {
    let (place, mut lines) = five();
    change(&mut lines);
    fs::write(log_of(&place), lines.concat()).unwrap();
    let output = place.run(&["audit", "--verify", "--json"]);
    let report = parse(&output);
    let faults: Vec<u64> =
        report["faults"].as_array().unwrap().iter().map(|fault| fault["line"].as_u64().unwrap()).collect();
    assert_eq!(report["ok"], faults.is_empty());
    assert_eq!(report["lines"], lines.len());
    let text = place.run(&["audit", "--verify"]);
    assert_eq!((output.status, stderr(&output)), (text.status, stderr(&text)));
    (output.status.code().unwrap(), faults, stdout(&text))
}

#[test]
fn a_log_that_nobody_touched_is_whole() {
    assert_eq!(verified(|_| ()), (0, vec![], "whole: 5 lines, none removed or changed\n".into()));
    let place = Place::bare();
    let output = place.run(&["audit", "--verify"]);
    assert_eq!(
        (output.status.code(), stdout(&output).as_str()),
        (Some(0), "whole: 0 lines, none removed or changed\n")
    );
    assert!(!place.home().exists(), "to look is not to write");
}

#[test]
fn a_deleted_line_is_found() {
    let (code, lines, text) = verified(|lines| drop(lines.remove(2)));
    assert_eq!((code, lines), (1, vec![3]));
    assert_eq!(text, "fault line 3: 1 line is missing before number 4\n");
    assert_eq!(verified(|lines| drop(lines.remove(0))).1, [1]);
}

#[test]
fn a_changed_byte_is_found() {
    let (code, lines, text) = verified(|lines| lines[1] = lines[1].replace("\"outcome\":\"ok\"", "\"outcome\":\"OK\""));
    assert_eq!((code, lines), (1, vec![2]));
    assert_eq!(text, "fault line 2: was changed: its hash is not that of its text\n");
    // The last one, too: nothing after it depends on it.
    assert_eq!(verified(|lines| lines[4] = lines[4].replace("call-4", "call-5")).1, [5]);
}

#[test]
fn a_swapped_pair_is_found() {
    let (code, lines, text) = verified(|lines| lines.swap(1, 2));
    assert_eq!((code, lines), (1, vec![2, 3]));
    assert!(text.contains("line 3: number 2 stands after number 3"), "{text}");
    assert_eq!(verified(|lines| lines.swap(3, 4)).0, 1);
}

#[test]
fn removed_last_lines_are_found() {
    let (code, lines, text) = verified(|lines| drop(lines.pop()));
    assert_eq!((code, lines, text.as_str()), (1, vec![5], "fault line 5: the last line is missing\n"));
    let (code, lines, text) = verified(Vec::clear);
    assert_eq!((code, lines, text.as_str()), (1, vec![1], "fault line 1: the last 5 lines are missing\n"));
}

#[test]
fn calls_after_a_fault_do_not_hide_it() {
    let (place, mut lines) = five();
    lines.pop();
    fs::write(log_of(&place), lines.concat()).unwrap();
    assert_eq!(place.run(&["call", "good"]).status.code(), Some(0));
    let output = place.run(&["audit", "--verify"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(stdout(&output), "fault line 5: 1 line is missing before number 6\n");
}

#[test]
fn processes_that_call_at_the_same_time_make_one_chain() {
    let place = place(&["traps"]);
    // Compiled once, so that the processes really meet.
    start::builder(&place).build().unwrap();
    let spawn = |tool: &str| {
        let mut command = place.command(&["call", tool]);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let mut children: Vec<_> = (0..12).map(|n| spawn(if n % 3 == 0 { "traps" } else { "good" })).collect();
    let host = start::builder(&place).build().unwrap();
    for _ in 0..100 {
        assert_eq!(host.call_blocking("good", "{}", CallContext::default()).json(), "\"ok\"");
    }
    for child in &mut children {
        child.wait().unwrap();
    }
    let report = parse(&place.run(&["audit", "--verify", "--json"]));
    assert_eq!(report, json!({"ok": true, "lines": 112, "faults": [], "more_faults": 0}));
    let records = records(&place, &[]);
    assert_eq!(records.iter().filter(|one| one["tool"] == "traps").count(), 4);
    let ids: BTreeSet<&str> = records.iter().map(|one| one["call"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 112, "two calls have one name");
}

#[test]
fn calls_are_found_by_tool_and_by_time() {
    let place = place(&["traps"]);
    for tool in ["good", "traps", "good"] {
        place.run(&["call", tool]);
    }
    assert_eq!(outcomes(&records(&place, &["--tool", "traps"])), [("traps", "trap")]);
    assert_eq!(records(&place, &["--tool", "goo"]), [json!(null); 0], "a name is a whole name");
    assert_eq!(records(&place, &["--since", "1h", "--tool", "good"]).len(), 2);
    let all = records(&place, &[]);
    let second = all[1]["time"].as_str().unwrap();
    assert_eq!(outcomes(&records(&place, &["--since", second])), [("traps", "trap"), ("good", "ok")]);
    assert_eq!(records(&place, &["--since", "2999-01-01"]), [json!(null); 0]);
    let none = place.run(&["audit", "--since", "2999-01-01"]);
    assert_eq!((none.status.code(), stdout(&none).as_str(), stderr(&none).trim()), (Some(0), "", "No calls."));
}

#[test]
fn a_time_that_is_none_is_wrong_usage() {
    let place = place(&[]);
    for bad in ["yesterday", "5", "-5m", "2026-13-01", ""] {
        assert_wrong(&place.run(&["audit", &format!("--since={bad}")]), &["--since", "write 30m, 2h"]);
    }
    assert_wrong(&place.run(&["audit", "--verify", "--since=yesterday"]), &["--since"]);
}

#[test]
fn a_home_or_a_log_that_can_not_be_used_is_told_and_nothing_is_called() {
    let place = place(&["prints_to_stdout"]);
    let file = place.root.path().join("file");
    fs::write(&file, "").unwrap();
    let below = file.join("home");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_hermes-host"));
    command.args(["call", "good", "--home"]).arg(&below).arg("--tools").arg(place.tools());
    assert_wrong(&command.output().unwrap(), &[below.to_str().unwrap()]);
    let log = log_of(&place);
    fs::create_dir_all(&log).unwrap();
    assert_wrong(&place.run(&["call", "good"]), &["audit log", log.to_str().unwrap()]);
    fs::remove_dir(&log).unwrap();
    symlink(&file, &log).unwrap();
    assert_wrong(&place.run(&["call", "good"]), &["it is a symbolic link", "move it away"]);
    assert_eq!(fs::read(&file).unwrap(), b"");
    fs::remove_file(&log).unwrap();
    fs::write(&log, "").unwrap();
    fs::set_permissions(&log, fs::Permissions::from_mode(0o666)).unwrap();
    for arguments in [&["call", "good"][..], &["audit"], &["audit", "--verify"]] {
        assert_wrong(&place.run(arguments), &["other users can write to it", log.to_str().unwrap()]);
    }
}

#[test]
fn the_log_is_for_its_owner_alone() {
    let (place, _) = five();
    for name in ["audit.jsonl", "audit.head"] {
        let mode = fs::metadata(place.home().join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[test]
fn a_result_that_can_not_be_recorded_is_withheld() {
    let place = place(&[]);
    let host = start::builder(&place).build().unwrap();
    let call = || host.call_blocking("good", "{}", CallContext::default());
    assert_eq!(call().json(), "\"ok\"");
    assert_eq!(records(&place, &[]).len(), 1, "and no line waits any more");
    let log = log_of(&place);
    fs::rename(&log, log.with_extension("away")).unwrap();
    fs::create_dir(&log).unwrap();
    let error = call().result.unwrap_err();
    assert_eq!(error.kind.name(), "failed");
    assert!(error.message.contains("its result is withheld") && error.message.contains("audit log"), "{error}");
    fs::remove_dir(&log).unwrap();
    fs::rename(log.with_extension("away"), &log).unwrap();
    assert_eq!(call().json(), "\"ok\"", "it works again when the log does");
    assert_eq!(records(&place, &[]).len(), 2);
}

#[test]
fn one_bad_line_does_not_hide_the_others() {
    let (place, mut lines) = five();
    lines[1] = "garbage\n".into();
    fs::write(log_of(&place), lines.concat()).unwrap();
    for arguments in [&["audit"][..], &["audit", "--json"]] {
        let output = place.run(arguments);
        assert!(stderr(&output).contains("line 2 of the audit log is not an audit line"), "{output:?}");
        for call in ["call-0", "call-2", "call-3", "call-4"] {
            assert!(stdout(&output).contains(call), "{arguments:?}: {call} is not in {}", stdout(&output));
        }
        assert_ne!(output.status.code(), Some(0));
    }
}

#[test]
fn what_a_model_calls_a_tool_does_not_reach_the_terminal_raw() {
    let place = place(&[]);
    let host = start::builder(&place).build().unwrap();
    let task_id = Some("\u{1b}[2J\u{202e}task\n".to_owned());
    host.call_blocking("\u{1b}[31mevil\n", "{}", CallContext { task_id, ..CallContext::default() });
    for arguments in [&["audit"][..], &["audit", "--json"]] {
        let output = place.run(arguments);
        assert!(stdout(&output).contains("evil"));
        assert!(!stdout(&output).contains(['\u{1b}', '\u{202e}']), "{output:?}");
    }
    assert_eq!(records(&place, &[])[0]["outcome"], "unknown-tool");
}
