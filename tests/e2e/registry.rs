//! The registry: who gets a name, what comes and goes while calls run, and which tools can work.

mod availability;
mod live;

use std::{fs, path::Path};

use hermes_host::{
    CallContext,
    component::Digest,
    dispatch::{BatchCall, ErrorKind},
    registry::Selection,
};
use serde_json::{Value, json};

use super::{
    cli::{Place, parse, stderr, stdout},
    definitions::tool::{Tool, component},
    start,
};

/// A component with these tools whose answers are its own.
fn answering(tools: &[&str], answer: &str) -> Vec<u8> {
    let tools: Vec<Tool<'_>> = tools.iter().copied().map(Tool::named).collect();
    let length = answer.len();
    let functions = format!(
        r#"(data (i32.const 1024) "{answer}")
        (func $handle (result i32) (call $answer (i32.const 1) (i32.const 1024) (i32.const {length})))"#
    );
    component(&tools, "", &functions)
}

/// The component that answers for a tool, by `list --json`.
fn owner(list: &Value, tool: &str) -> String {
    let found: Vec<&Value> = list["tools"].as_array().unwrap().iter().filter(|one| one["name"] == tool).collect();
    assert_eq!(found.len(), 1, "{tool}: {list}");
    found[0]["component"].as_str().unwrap().to_owned()
}

/// Places and reasons of what was refused; paths by their last part.
fn refused(list: &Value) -> Vec<String> {
    let short = |text: &Value| {
        let words = text.as_str().unwrap().split(' ').map(|word| word.rsplit('/').next().unwrap());
        words.collect::<Vec<_>>().join(" ")
    };
    let one = |refusal: &Value| format!("{}: {}", short(&refusal["place"]), short(&refusal["reason"]));
    list["refused"].as_array().unwrap().iter().map(one).collect()
}

fn list(place: &Place, arguments: &[&str]) -> Value {
    parse(&place.run(&[&["list", "--json"], arguments].concat()))
}

#[test]
fn bundled_components_come_before_folders() {
    let place = Place::new();
    place.drop_in("aaa.wasm", &answering(&["calculate", "own"], "mine"));
    let list = list(&place, &[]);
    assert_eq!((owner(&list, "calculate"), owner(&list, "own")), ("calc".into(), "aaa".into()));
    assert_eq!(refused(&list), ["calculate in aaa.wasm: the name is taken by bundled calc"]);
    assert_eq!(stdout(&place.run(&["call", "own"])).trim(), "\"mine\"");
}

#[test]
fn folders_come_in_the_order_given_and_files_by_name() {
    let place = Place::new();
    let other = place.root.path().join("other");
    fs::create_dir(&other).unwrap();
    // Dropped against the order of their names.
    place.drop_in("c.wasm", &answering(&["twin", "late"], "c"));
    place.drop_in("b.wasm", &answering(&["twin", "late"], "b"));
    fs::write(other.join("z.wasm"), answering(&["twin"], "z")).unwrap();
    let (first, second) = (other.to_str().unwrap().to_owned(), place.tools().to_str().unwrap().to_owned());
    // What the test names comes before the folder of the place.
    let list = list(&place, &["--tools", &first]);
    assert_eq!((owner(&list, "twin"), owner(&list, "late")), ("z".into(), "b".into()));
    let taken = |loser: &str, winner: &str| format!("{loser}.wasm: the name is taken by {winner}.wasm");
    assert_eq!(
        refused(&list),
        [
            format!("twin in {}", taken("b", "z")),
            format!("twin in {}", taken("c", "z")),
            format!("late in {}", taken("c", "b"))
        ]
    );
    let home = place.home();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_hermes-host"));
    command.args(["list", "--json", "--home", home.to_str().unwrap(), "--tools", &second, "--tools", &first]);
    assert_eq!(owner(&parse(&command.output().unwrap()), "twin"), "b");
}

#[test]
fn the_list_for_people_says_which_tool_was_refused_and_who_has_the_name() {
    let place = Place::new();
    place.drop_in("a.wasm", &answering(&["twin"], "a"));
    place.drop_in("b.wasm", &answering(&["twin"], "b"));
    let output = place.run(&["list"]);
    assert_eq!(output.status.code(), Some(0));
    let (shown, folder) = (stderr(&output), place.tools());
    let expected = format!("refused: twin in {0}/b.wasm: the name is taken by {0}/a.wasm", folder.display());
    assert_eq!(shown.lines().filter(|line| line.contains("twin")).collect::<Vec<_>>(), [expected]);
    assert!(!stdout(&output).contains("refused"));
}

#[test]
fn an_override_wins_for_the_tools_it_names_and_for_no_other() {
    let place = Place::new();
    place.drop_in("a.wasm", &answering(&["twin", "extra"], "a"));
    place.drop_in("b.wasm", &answering(&["twin", "extra"], "b"));
    place.configure("[tools.b]\noverride = [\"twin\", \"calculate\"]");
    let list = list(&place, &[]);
    assert_eq!(
        (owner(&list, "twin"), owner(&list, "extra"), owner(&list, "calculate")),
        ("b".into(), "a".into(), "calc".into())
    );
    assert_eq!(
        refused(&list),
        [
            "twin in a.wasm: replaced, as the configuration says, by b.wasm",
            "extra in b.wasm: the name is taken by a.wasm"
        ]
    );
    assert_eq!(stdout(&place.run(&["call", "twin"])).trim(), "\"b\"");
    assert_eq!(stdout(&place.run(&["call", "extra"])).trim(), "\"a\"");
}

#[test]
fn an_override_may_replace_a_bundled_tool() {
    let place = Place::new();
    place.drop_in("mine.wasm", &answering(&["calculate"], "mine"));
    place.configure("[tools.mine]\noverride = [\"calculate\"]");
    let list = list(&place, &[]);
    assert_eq!((owner(&list, "calculate"), owner(&list, "convert_units")), ("mine".into(), "calc".into()));
    assert_eq!(refused(&list), ["calculate in bundled calc: replaced, as the configuration says, by mine.wasm"]);
    assert_eq!(stdout(&place.run(&["call", "calculate", r#"{"expression":"1+1"}"#])).trim(), "\"mine\"");
}

#[test]
fn an_override_that_is_pinned_is_for_those_bytes_only() {
    let place = Place::new();
    let mine = answering(&["twin"], "b");
    place.drop_in("a.wasm", &answering(&["twin"], "a"));
    place.drop_in("b.wasm", &mine);
    let pinned = |digest: Digest| place.configure(&format!("[tools.b]\ndigest = \"{digest}\"\noverride = [\"twin\"]"));
    pinned(Digest::of(&mine));
    assert_eq!(owner(&list(&place, &[]), "twin"), "b");
    // Somebody puts other bytes under the name that has the grant.
    place.drop_in("b.wasm", &answering(&["twin", "new"], "evil"));
    let list = list(&place, &[]);
    assert_eq!(owner(&list, "twin"), "a");
    assert_eq!(refused(&list), ["twin in b.wasm: the name is taken by a.wasm"]);
    let stale = |tool: &str| {
        let found = list["tools"].as_array().unwrap().iter().find(|one| one["name"] == tool).unwrap();
        found["grants"]["stale"].clone()
    };
    assert_eq!((stale("new"), stale("twin")), (json!(true), json!(false)));
}

#[test]
fn a_grant_that_holds_is_not_called_stale_for_a_namesake_with_other_bytes() {
    let place = Place::new();
    let (mine, other) = (answering(&["mine"], "mine"), place.root.path().join("other"));
    fs::create_dir(&other).unwrap();
    place.drop_in("a.wasm", &mine);
    fs::write(other.join("a.wasm"), answering(&["theirs"], "theirs")).unwrap();
    place.configure(&format!("[tools.a]\ndigest = \"{}\"", Digest::of(&mine)));
    let list = list(&place, &["--tools", other.to_str().unwrap()]);
    let stale = |tool: &str| {
        let found = list["tools"].as_array().unwrap().iter().find(|one| one["name"] == tool).unwrap();
        found["grants"]["stale"].clone()
    };
    assert_eq!((stale("theirs"), stale("mine")), (json!(true), json!(false)));
}

#[test]
fn of_two_that_may_override_a_name_the_first_has_it() {
    let place = Place::new();
    for name in ["a", "b", "c"] {
        place.drop_in(&format!("{name}.wasm"), &answering(&["twin"], name));
    }
    place.configure("[tools.b]\noverride = [\"twin\"]\n[tools.c]\noverride = [\"twin\"]");
    let list = list(&place, &[]);
    assert_eq!(owner(&list, "twin"), "b");
    assert_eq!(
        refused(&list),
        [
            "twin in a.wasm: replaced, as the configuration says, by b.wasm",
            "twin in c.wasm: both are to override the name, and the first stays: b.wasm"
        ]
    );
}

#[test]
fn names_that_mean_something_to_the_host_are_refused_with_a_reason() {
    let place = Place::new();
    for name in ["tool_search", "tool_describe", "tool_call"] {
        place.drop_in(&format!("{name}.wasm"), &Tool { toolset: "mine", ..Tool::named(name) }.component());
    }
    let toolsets = [
        ("all", "stands for every tool"),
        ("mcp-x", "those of MCP servers"),
        ("safe", "made of other toolsets"),
        ("coding", "made of other toolsets"),
        ("hermes-x", "those of platforms"),
        ("hermes-cli", "those of platforms"),
        ("web_tools", "old name"),
    ];
    for (toolset, _) in toolsets {
        place.drop_in(&format!("in-{toolset}.wasm"), &Tool { toolset, ..Tool::named("stray") }.component());
    }
    place.drop_in("leaf.wasm", &Tool { toolset: "web", ..Tool::named("web_more") }.component());
    let list = list(&place, &[]);
    let reason = |file: String| {
        let at_place = |one: &&Value| Path::new(one["place"].as_str().unwrap()).file_name().unwrap() == &*file;
        let found: Vec<&Value> = list["refused"].as_array().unwrap().iter().filter(at_place).collect();
        assert_eq!(found.len(), 1, "{file}: {list}");
        found[0]["reason"].as_str().unwrap().to_owned()
    };
    for name in ["tool_search", "tool_describe", "tool_call"] {
        let reason = reason(format!("{name}.wasm"));
        assert!(reason.contains(&format!("registers {name}, which is one of the host's own tools")), "{reason}");
    }
    for (toolset, why) in toolsets {
        let reason = reason(format!("in-{toolset}.wasm"));
        assert!(reason.contains(&format!("under the toolset {toolset}: ")) && reason.contains(why), "{reason}");
    }
    assert_eq!(owner(&list, "web_more"), "leaf", "the names of leaves are open to all");
    assert!(list["tools"].as_array().unwrap().iter().all(|tool| tool["name"] != "stray"));
}

/// A caller that was given these toolsets.
fn scoped(enabled: Option<&[&str]>, disabled: &[&str]) -> CallContext {
    let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect();
    let toolsets = Some(Selection { enabled: enabled.map(owned), disabled: owned(disabled), tools: Vec::new() });
    CallContext { toolsets, ..CallContext::default() }
}

#[test]
fn a_tool_outside_the_callers_toolsets_is_not_there_for_it() {
    let place = Place::new();
    place.drop_in("in.wasm", &Tool { toolset: "inside", ..Tool::named("alpha_one") }.component());
    place.drop_in("out.wasm", &Tool { toolset: "outside", ..Tool::named("alpha_two") }.component());
    let host = start::builder(&place).build().unwrap();
    let call = |tool: &str, context: &CallContext| host.call_blocking(tool, "{}", context.clone());
    for context in [scoped(Some(&["inside"]), &[]), scoped(None, &["outside"])] {
        let before = host.sandbox().instances_made();
        let error = call("alpha_two", &context).result.unwrap_err();
        assert_eq!(error.kind, ErrorKind::UnknownTool, "{error}");
        // Word for word what is said of a tool that nobody has, but for its name.
        let nobodys = call("alpha_six", &context).result.unwrap_err();
        assert_eq!(error.message.replace("alpha_two", "alpha_six"), nobodys.message);
        assert!(nobodys.message.contains("did you mean alpha_one?"), "{nobodys}");
        assert_eq!(host.sandbox().instances_made(), before);
        assert_eq!(call("alpha_one", &context).json(), "\"ok\"");
    }
    assert_eq!(call("alpha_two", &CallContext::default()).json(), "\"ok\"");
    let unknown = call("alpha_one", &scoped(Some(&["insid"]), &[])).result.unwrap_err();
    assert_eq!(unknown.kind, ErrorKind::Denied, "a misspelt scope must not be a wide one");
    let batch =
        ["alpha_one", "alpha_two"].map(|name| BatchCall { name: name.into(), arguments: "{}".into(), call_id: None });
    let outcomes = pollster::block_on(host.call_batch(&batch, scoped(Some(&["inside"]), &[]), None)).unwrap();
    let kinds: Vec<_> = outcomes.iter().map(|one| one.result.as_ref().err().map(|error| error.kind)).collect();
    assert_eq!(kinds, [None, Some(ErrorKind::UnknownTool)]);
}
