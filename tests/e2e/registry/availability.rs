//! Which tools can work here, and who is asked.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use hermes_host::{Host, ToolStatus, registry::Status};
use serde_json::{Value, json};

use crate::{
    cli::{Place, parse, stdout},
    definitions::tool::{Tool, component},
    guest,
    patience::PATIENCE,
    start,
};

const UNSET: &str = "HERMES_TEST_NOBODY_SETS_THIS";

/// What `check` imports to wait.
const WAIT: &str = r#"
    (import "wasi:clocks/monotonic-clock@0.2.0" "subscribe-duration" (func $after (param i64) (result i32)))
    (import "wasi:io/poll@0.2.0" "[method]pollable.block" (func $block (param i32)))"#;

/// A tool that says why it can't work.
fn failing(name: &str, why: &str) -> Vec<u8> {
    let functions = format!(
        r#"(data (i32.const 1024) "{why}")
        (func $check (result i32)
          (i32.store8 (global.get $fine) (i32.const 1))
          (i32.store offset=4 (global.get $fine) (i32.const 1024))
          (i32.store offset=8 (global.get $fine) (i32.const {}))
          (global.get $fine))"#,
        why.len()
    );
    component(&[Tool::named(name)], "", &functions)
}

/// Tools whose check takes this many nanoseconds.
fn slow(names: &[&str], nanoseconds: i64) -> Vec<u8> {
    let check =
        format!("(func $check (result i32) (call $block (call $after (i64.const {nanoseconds}))) (global.get $fine))");
    component(&names.iter().copied().map(Tool::named).collect::<Vec<_>>(), WAIT, &check)
}

fn status<'a>(list: &'a [ToolStatus], tool: &str) -> &'a Status {
    &list.iter().find(|one| one.entry.definition.name == tool).unwrap().status
}

fn found<'a>(list: &'a Value, tool: &str) -> &'a Value {
    list["tools"].as_array().unwrap().iter().find(|one| one["name"] == tool).unwrap()
}

/// A list, how many instances were made for it, and how long it took.
fn listed(host: &Host) -> (Vec<ToolStatus>, usize, Duration) {
    let (before, start) = (host.sandbox().instances_made(), Instant::now());
    let list = host.list_blocking();
    (list, host.sandbox().instances_made() - before, start.elapsed())
}

#[test]
fn a_tool_that_says_why_it_can_not_work_is_listed_with_that_reason() {
    let place = Place::new();
    place.drop_in("printer.wasm", &failing("printer", "the printer\\1b[31m is off"));
    place.drop_in("good.wasm", &guest::good("good"));
    let list = parse(&place.run(&["list", "--json"]));
    let [printer, good] = ["printer", "good"].map(|tool| found(&list, tool));
    assert_eq!((&printer["available"], &printer["reason"]), (&json!(false), &json!("the printer[31m is off")));
    assert_eq!((&good["available"], &good["reason"], &good["flapping"]), (&json!(true), &json!(null), &json!(false)));
    let text = stdout(&place.run(&["list"]));
    assert!(
        text.lines().any(|line| line.starts_with("printer") && line.ends_with("unavailable: the printer[31m is off"))
    );
    let names = parse(&place.run(&["definitions", "--toolset", "printer", "--toolset", "good"]));
    assert_eq!(names.as_array().unwrap().len(), 1, "a model is offered what can't work");
}

#[test]
fn variables_are_looked_for_before_a_tool_is_asked() {
    let place = Place::new();
    // Asked, this one would not answer.
    let check = "(func $check (result i32) unreachable)";
    let needs = Tool { required_env: &["PATH", UNSET], ..Tool::named("needs") };
    place.drop_in("needs.wasm", &component(&[needs], "", check));
    let host = start::builder(&place).build().unwrap();
    let (list, instances, _) = listed(&host);
    let expected = format!("the environment variable {UNSET} is not set");
    assert_eq!(status(&list, "needs"), &Status::Unavailable(expected));
    assert_eq!(instances, 0);
    let has = Tool { required_env: &["PATH", UNSET], ..Tool::named("has") };
    place.drop_in("has.wasm", &has.component());
    let output = place.command(&["list", "--json"]).env(UNSET, "x").output().unwrap();
    let list = parse(&output);
    assert_eq!(found(&list, "has")["available"], true);
    assert!(found(&list, "needs")["reason"].as_str().unwrap().contains("its check was ended (trap)"), "{list}");
    assert!(!stdout(&output).contains("\"x\""), "the value is nobody's business");
}

#[test]
fn lists_at_the_same_time_share_one_check_and_the_next_one_uses_its_answer() {
    let place = Place::new();
    // Long enough for all lists to begin before the first check ends.
    place.drop_in("a.wasm", &slow(&["a"], 300_000_000));
    place.drop_in("b.wasm", &slow(&["b", "c"], 100_000_000));
    let host = start::builder(&place).build().unwrap();
    let before = host.sandbox().instances_made();
    let lists = pollster::block_on(join_all((0..4).map(|_| host.list())));
    assert!(lists.iter().flatten().all(|tool| tool.status == Status::Available));
    assert_eq!(lists.iter().flatten().count(), 4 * 3);
    assert_eq!(host.sandbox().instances_made() - before, 3, "one for each tool");
    let (list, instances, _) = listed(&host);
    assert_eq!((list.len(), instances), (3, 0));
    // A component that comes is asked, the others are not.
    host.register("mine", guest::good("mine")).unwrap();
    let before = host.sandbox().instances_made();
    assert_eq!(host.list_blocking().len(), 4);
    assert_eq!(host.sandbox().instances_made() - before, 1);
}

#[test]
fn a_check_that_never_ends_holds_up_neither_the_list_nor_the_others() {
    let place = Place::new();
    place.drop_in("sleeper.wasm", &slow(&["sleeper", "sleeper2"], -1));
    place.drop_in("looper.wasm", &guest::attack("loops_in_check"));
    place.drop_in("off.wasm", &failing("off", "no paper"));
    for n in 0..5 {
        place.drop_in(&format!("good{n}.wasm"), &guest::good(&format!("good{n}")));
    }
    let host = start::builder(&place).build().unwrap();
    let (list, _, took) = listed(&host);
    assert!(took < PATIENCE, "{took:?}");
    assert!((0..5).all(|n| *status(&list, &format!("good{n}")) == Status::Available));
    assert_eq!(status(&list, "off"), &Status::Unavailable("no paper".into()));
    let reason = |tool: &str| status(&list, tool).reason().unwrap().to_owned();
    assert!(reason("sleeper").starts_with("its check was ended (deadline)"), "{}", reason("sleeper"));
    assert_eq!(reason("sleeper2"), "not asked, since the check of sleeper was ended");
    assert!(reason("loops_in_check").starts_with("its check was ended (out-of-fuel)"));
    // A list for a model waits no longer, and has the others.
    let start = Instant::now();
    let definitions = pollster::block_on(host.definitions(&Default::default())).unwrap();
    assert_eq!(definitions.names, ["good0", "good1", "good2", "good3", "good4"]);
    assert!(start.elapsed() < PATIENCE);
}

#[test]
fn more_slow_checks_than_there_are_places_end_in_the_time_of_a_list_too() {
    let place = Place::new();
    for n in 0..70 {
        let name = format!("sleeper{n}");
        place.drop_in(&format!("{name}.wasm"), &slow(&[&name], -1));
    }
    let host = start::builder(&place).build().unwrap();
    let (list, _, took) = listed(&host);
    assert!(took < PATIENCE, "{took:?}");
    assert_eq!(list.len(), 70);
    let all: Vec<&str> = list.iter().map(|tool| tool.status.reason().unwrap()).collect();
    assert!(all.iter().any(|why| why.contains("was ended (deadline)")));
    assert!(all.contains(&"its check has not answered yet; ask again"), "{all:?}");
}

#[test]
fn an_answer_is_kept_until_it_is_forgotten() {
    let place = Place::new();
    place.drop_in("good.wasm", &guest::good("good"));
    let host = start::builder(&place).build().unwrap();
    let made = [listed(&host).1, listed(&host).1];
    host.forget_checks();
    assert_eq!((made, listed(&host).1), ([1, 0], 1));
}
