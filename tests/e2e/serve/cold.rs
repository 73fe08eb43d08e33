//! A start with components that must be compiled first: clients are answered meanwhile.
//!
//! A test decides how long a compilation takes: it holds the lock that keeps two processes from compiling the same component.

use std::{fs, process::Stdio};

use serde_json::{Value, json};

use super::{
    PATIENCE,
    pipe::{LEGACY, Pipe, result, text},
    reload::compiling,
    until,
};
use crate::{
    attack::load::bomb,
    cli::Place,
    guest,
    start::{CompileHold, cached_files},
};

const LIST_CHANGED: &str = "notifications/tools/list_changed";

/// A place with one tool, and the hold on its compilation.
fn held() -> (Place, CompileHold) {
    let place = Place::new();
    let bytes = guest::good("good");
    place.drop_in("good.wasm", &bytes);
    let hold = CompileHold::of(&place, &bytes);
    (place, hold)
}

fn open(place: &Place) -> Pipe {
    let mut pipe = Pipe::cold(place, &[]);
    pipe.initialize(LEGACY, json!({}));
    pipe
}

fn names(pipe: &mut Pipe) -> Vec<String> {
    let listed = result(pipe.request("tools/list", json!({})));
    let tools = listed["tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

fn has(pipe: &mut Pipe, tool: &str) -> bool {
    names(pipe).iter().any(|name| name == tool)
}

/// A call with a progress token.
fn ask_with_progress(pipe: &mut Pipe, tool: &str) -> Value {
    pipe.ask("tools/call", json!({"name": tool, "arguments": {}, "_meta": {"progressToken": "p"}}))
}

fn progress(pipe: &mut Pipe) -> String {
    pipe.wait_for("notifications/progress")["params"]["message"].as_str().unwrap().to_owned()
}

#[test]
fn a_client_is_served_while_components_compile() {
    let (place, hold) = held();
    let mut pipe = open(&place);
    assert!(has(&mut pipe, "calculate") && !has(&mut pipe, "good"));
    assert!(text(&pipe.call("calculate", json!({"expression": "6*7"}))).contains("42"));
    drop(hold);
    pipe.wait_for(LIST_CHANGED);
    assert!(has(&mut pipe, "good"));
    pipe.assert_good(json!({"name": "good"}));
}

#[test]
fn each_component_is_told_when_it_is_there() {
    let place = Place::new();
    let holds = ["one", "two"].map(|name| {
        place.drop_in(&format!("{name}.wasm"), &guest::good(name));
        CompileHold::of(&place, &guest::good(name))
    });
    let mut pipe = open(&place);
    let [one, two] = holds;
    drop(two);
    pipe.wait_for(LIST_CHANGED);
    assert_eq!((has(&mut pipe, "one"), has(&mut pipe, "two")), (false, true));
    drop(one);
    pipe.wait_for(LIST_CHANGED);
    assert!(has(&mut pipe, "one") && has(&mut pipe, "two"));
}

#[test]
fn a_call_of_a_tool_that_is_being_compiled_waits_and_says_so() {
    let (place, hold) = held();
    let mut pipe = open(&place);
    let call = ask_with_progress(&mut pipe, "good");
    let message = progress(&mut pipe);
    assert!(message.starts_with("waiting for good.wasm, 0.0 MB to be compiled"), "{message}");
    drop(hold);
    assert_eq!(text(&result(pipe.answer(&call))), "ok");
}

/// What it registered before is known, as after an update of the host, and its code is not.
#[test]
fn a_tool_that_registered_before_is_listed_while_its_code_compiles() {
    let place = Place::new();
    let bytes = guest::good("good");
    place.drop_in("good.wasm", &bytes);
    assert!(place.run(&["list"]).status.success());
    for extension in ["bin", "json"] {
        cached_files(&place, &bytes, extension).iter().for_each(|file| fs::remove_file(file).unwrap());
    }
    let hold = CompileHold::of(&place, &bytes);
    let mut pipe = open(&place);
    assert!(has(&mut pipe, "good"));
    let call = ask_with_progress(&mut pipe, "good");
    let message = progress(&mut pipe);
    assert!(message.starts_with("compiling good, "), "{message}");
    drop(hold);
    assert_eq!(text(&result(pipe.answer(&call))), "ok");
}

/// Guards that are on their way hold up a call; they do not let it pass.
#[test]
fn a_call_waits_for_a_hook_that_is_being_compiled() {
    let place = Place::new();
    place.drop_in("good.wasm", &guest::good("good"));
    assert!(place.run(&["list"]).status.success());
    let hook = guest::attack("hook_blocks");
    place.drop_hook("hook_blocks.wasm", &hook);
    let hold = CompileHold::of(&place, &hook);
    let mut pipe = open(&place);
    let call = ask_with_progress(&mut pipe, "good");
    let message = progress(&mut pipe);
    assert!(message.starts_with("waiting for hook_blocks.wasm"), "{message}");
    drop(hold);
    let refused = text(&result(pipe.answer(&call)));
    assert!(refused.contains("blocked by the hook hook_blocks"), "{refused}");
}

#[test]
fn a_host_whose_client_is_gone_ends_while_it_compiles() {
    let place = Place::new();
    place.drop_in("bomb.wasm", &bomb());
    for says_hello in [true, false] {
        let mut pipe = Pipe::cold(&place, &[]);
        if says_hello {
            pipe.initialize(LEGACY, json!({}));
        }
        let host = pipe.process().as_raw_nonzero().get() as u32;
        until(PATIENCE, || compiling(host).is_some());
        let worker = compiling(host).unwrap();
        let ended = pipe.end();
        assert!(ended.status.success(), "{:?}: {}", ended.status, ended.stderr);
        until(PATIENCE, || !fs::exists(format!("/proc/{worker}")).unwrap());
    }
}

#[test]
fn an_http_server_answers_while_components_compile() {
    let (place, hold) = held();
    let serving = super::Serving::cold(&place);
    let call = |tool: &str, arguments: Value| {
        serving.client.post("/v1/call", &json!({"name": tool, "arguments": arguments})).json().to_string()
    };
    assert!(call("calculate", json!({"expression": "6*7"})).contains("42"));
    drop(hold);
    assert!(call("good", json!({})).contains("ok"));
}

/// Nothing but the protocol is on stdout, and progress is for terminals.
#[test]
fn a_pipe_gets_no_progress_of_compilations() {
    let place = Place::new();
    place.drop_in("good.wasm", &guest::good("good"));
    let mut command = place.command(&["list"]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success() && !String::from_utf8_lossy(&output.stderr).contains("compiling"), "{output:?}");
}
