//! What each task knows of the files: the same lines are told to be old, and a change by somebody else is told too.

use super::*;

fn one(host: &Asked, task: &str, step: Value) -> Value {
    ok(&host.steps("fs", &[step], Some(task)).remove(0)).clone()
}

fn write(path: &str, content: &str) -> Value {
    json!({ "op": "commit", "changes": [{ "kind": "write", "path": path, "content": content }] })
}

#[test]
fn lines_are_new_once_for_each_task() {
    let desk = Desk::new();
    let host = desk.host();
    let seen = |task: &str, first: u64| {
        one(&host, task, json!({ "op": "lines", "path": "plain.txt", "offset": first }))["seen"].as_u64().unwrap()
    };
    assert_eq!([seen("a", 1), seen("a", 1), seen("b", 1), seen("b", 1), seen("a", 2)], [0, 1, 0, 1, 0]);
    desk.put("work/plain.txt", "other\n");
    assert_eq!([seen("a", 1), seen("b", 1)], [0, 0], "what changed is new");
    host.0.forget_task("a");
    assert_eq!([seen("a", 1), seen("b", 1)], [0, 1]);
}

#[test]
fn a_task_hears_that_somebody_changed_what_it_read() {
    let desk = Desk::new();
    desk.put("work/long.txt", "line\n".repeat(500));
    let host = desk.host();
    let knew = |task: &str, path: &str| one(&host, task, write(path, "new\n"))[0]["knowledge"].clone();
    one(&host, "a", json!({ "op": "lines", "path": "plain.txt" }));
    one(&host, "b", json!({ "op": "lines", "path": "plain.txt" }));
    one(&host, "b", json!({ "op": "lines", "path": "long.txt" }));
    assert_eq!(knew("b", "plain.txt"), "Whole");
    assert_eq!(knew("a", "plain.txt"), "Outdated");
    assert_eq!(knew("b", "plain.txt"), "Outdated");
    assert_eq!(knew("b", "plain.txt"), "Whole", "it wrote it last");
    assert_eq!(knew("b", "long.txt"), "Partial");
    assert_eq!(knew("c", "plain.txt"), "Unread");
    // A program that knows nothing of tasks.
    desk.put("work/plain.txt", "theirs\n");
    assert_eq!(knew("c", "plain.txt"), "Outdated");
}

#[test]
fn the_file_tools_tell_it_to_the_model() {
    let desk = Desk::new();
    let host = Asked::new(desk.builder().build().unwrap());
    let call = |task: &str, tool: &str, arguments: Value| host.call(tool, &arguments, Some(task)).unwrap();
    let read = |task: &str| call(task, "read_file", json!({ "path": "plain.txt" }));
    assert!(read("a")["content"].as_str().unwrap().starts_with("1|inside"));
    assert_eq!(read("a")["status"], "unchanged");
    assert!(read("b")["content"].as_str().unwrap().starts_with("1|inside"));
    call("b", "write_file", json!({ "path": "plain.txt", "content": "b was here\n" }));
    let written = call("a", "write_file", json!({ "path": "plain.txt", "content": "a was here\n" }));
    assert!(written["_warning"].as_str().unwrap().contains("changed by somebody else"), "{written}");
    assert_eq!(desk.get("work/plain.txt"), "a was here\n");
}
