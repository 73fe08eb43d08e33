//! The folder that a client works on: asked for where the operator lists folders, and taken where the list has it.

use std::{fs, path::Path};

use serde_json::{Value, json};

use super::{
    PATIENCE,
    pipe::{LEGACY, Pipe, result, text},
    until,
};
use crate::cli::Place;

/// Folders in a place: where the host is started, two that the operator lists, and one that is not listed.
fn place(allow: &[&str]) -> Place {
    let place = Place::new();
    for folder in ["started", "src/one", "src/two", "private"] {
        fs::create_dir_all(place.root.path().join(folder)).unwrap();
        fs::write(place.root.path().join(folder).join("name"), folder).unwrap();
    }
    let allow: Vec<String> = allow.iter().map(|folder| format!("{:?}", place.root.path().join(folder))).collect();
    place.configure(&format!("[workspaces]\nallow = [{}]\n", allow.join(", ")));
    place
}

fn start(place: &Place, options: &[&str]) -> Pipe {
    let mut command = place.command(&["run", "--stdio"]);
    Pipe::start(command.args(options).current_dir(place.root.path().join("started")))
}

fn with_roots(place: &Place) -> Pipe {
    let mut pipe = start(place, &[]);
    pipe.initialize(LEGACY, json!({"roots": {}}));
    pipe
}

fn uri(folder: &Path) -> Value {
    json!({"uri": format!("file://{}", folder.display())})
}

/// Calls before the answer, answers with these roots, and says which folder the call and a command worked in.
fn worked_in(place: &Place, pipe: &mut Pipe, roots: &[Value]) -> (String, String) {
    let read = pipe.ask("tools/call", json!({"name": "read_file", "arguments": {"path": "name"}}));
    let asked = pipe.wait_for("roots/list");
    assert!(!pipe.answers.contains_key(&read.to_string()), "a call does not run before the folder is known");
    pipe.reply(&asked, json!({ "roots": roots }));
    let read = text(&result(pipe.answer(&read)));
    let ran = text(&pipe.call("terminal", json!({"command": "pwd"})));
    let root = fs::canonicalize(place.root.path()).unwrap();
    let pwd = ran.lines().last().unwrap().replace(&format!("{}/", root.display()), "");
    (read.split_once("1|").unwrap().1.trim().to_owned(), pwd)
}

#[test]
fn the_first_root_that_the_operator_lists_is_the_workspace() {
    let place = place(&["src"]);
    let root = place.root.path().to_owned();
    let mut pipe = with_roots(&place);
    let roots = [uri(&root.join("private")), uri(&root.join("src/two")), uri(&root.join("src/one"))];
    assert_eq!(worked_in(&place, &mut pipe, &roots), ("src/two".to_owned(), "src/two".to_owned()));
    let written = pipe.call("write_file", json!({"path": root.join("started/new"), "content": "x"}));
    assert_eq!(written["isError"], true, "where it was started is not the workspace any more: {written}");
}

#[test]
fn a_root_that_is_not_listed_is_not_obeyed() {
    let place = place(&["src"]);
    let root = place.root.path();
    std::os::unix::fs::symlink(root.join("private"), root.join("src/link")).unwrap();
    for roots in [
        vec![uri(&root.join("private"))],
        vec![uri(root)],
        vec![uri(&root.join("src/../private"))],
        vec![uri(&root.join("src/link"))],
        vec![json!({"uri": "https://example.com/src"}), json!({"uri": "src/one"})],
        vec![],
    ] {
        let mut pipe = with_roots(&place);
        assert_eq!(worked_in(&place, &mut pipe, &roots), ("started".to_owned(), "started".to_owned()), "{roots:?}");
        let said = pipe.end().stderr;
        assert!(said.contains("tools stay in"), "{said}");
    }
}

#[test]
fn a_client_that_refuses_to_say_is_served_where_the_host_was_started() {
    let place = place(&["src"]);
    let mut pipe = with_roots(&place);
    let asked = pipe.wait_for("roots/list");
    pipe.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32601, "message": "no"}}));
    assert!(text(&pipe.call("read_file", json!({"path": "name"}))).contains("1|started"));
}

/// Without a list, with a named workspace, or without the capability, there is no question.
#[test]
fn nobody_is_asked_who_may_not_choose() {
    let (none, some) = (place(&[]), place(&["src"]));
    let workspace = some.root.path().join("src/one").display().to_string();
    for (place, options, capabilities, name) in [
        (&none, &[][..], json!({"roots": {}}), "started"),
        (&some, &[], json!({}), "started"),
        (&some, &["--workspace", &workspace], json!({"roots": {}}), "src/one"),
    ] {
        let mut pipe = start(place, options);
        pipe.initialize(LEGACY, capabilities);
        let read = text(&pipe.call("read_file", json!({"path": "name"})));
        assert!(read.contains(&format!("1|{name}")), "{read}");
        assert_eq!(pipe.heard, [] as [Value; 0]);
    }
}

/// The list of tools does not wait, and a client that lists first is asked all the same.
#[test]
fn a_list_is_answered_before_the_folder_is_known() {
    let place = place(&["src"]);
    let mut pipe = with_roots(&place);
    assert!(!result(pipe.request("tools/list", json!({})))["tools"].as_array().unwrap().is_empty());
    until(PATIENCE, || {
        pipe.heard.iter().any(|message| message["method"] == "roots/list") || {
            let message = pipe.next();
            pipe.heard.push(message);
            false
        }
    });
}
