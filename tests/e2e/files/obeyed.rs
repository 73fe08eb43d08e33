//! Files that other programs obey without being asked: a person decides about each change, and without one nothing is changed.

use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use hermes_host::approval::{Answer, Approver, Question, Shown};

use super::*;

/// A person who always says the same, after having done something.
struct Person {
    says: Answer,
    first: Box<dyn Fn() + Send + Sync>,
    seen: Mutex<Vec<Shown>>,
}

impl Person {
    fn who_says(word: &str) -> Arc<Self> {
        Self::after(word, || ())
    }

    fn after(word: &str, first: impl Fn() + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { says: word.parse().unwrap(), first: Box::new(first), seen: Mutex::default() })
    }

    fn seen(&self) -> Vec<Shown> {
        self.seen.lock().unwrap().clone()
    }
}

impl Approver for Person {
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        self.seen.lock().unwrap().push(question.shown());
        (self.first)();
        Box::pin(std::future::ready(self.says.clone()))
    }
}

/// A host with the probe, the workspace granted to it for writing, and this person.
fn attended(desk: &Desk, person: &Arc<Person>) -> Asked {
    desk.grant(&desk.folder("work", "access = \"write\""));
    Asked::new(desk.builder().without_bundled().approver(person.clone()).build().unwrap())
}

/// One path for every row of the table that holds in any folder, with the program that obeys it.
fn rows() -> Vec<(String, String)> {
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/paths/obeyed.toml")).unwrap();
    let table: toml::Table = text.parse().unwrap();
    let mut rows = Vec::new();
    for row in table["obeyed"].as_array().unwrap() {
        let program = row["program"].as_str().unwrap();
        for path in row["paths"].as_array().unwrap() {
            if let Some(below) = path.as_str().unwrap().strip_prefix("**/") {
                rows.push((below.replace(['*', '?'], "x"), program.to_owned()));
            }
        }
    }
    assert!(rows.len() > 80, "{}", rows.len());
    rows
}

/// What no person is asked about: git's own files, and those that hold credentials too.
fn is_refused(path: &str) -> bool {
    [".git", ".git/", ".ssh/"].iter().any(|start| path == *start || start.ends_with('/') && path.starts_with(start))
        || [".envrc", ".npmrc", ".yarnrc.yml"].contains(&path)
}

fn writing(path: &str) -> Value {
    json!({ "op": "commit", "changes": [{ "kind": "write", "path": path, "content": "mine" }] })
}

#[test]
fn without_a_person_no_kind_of_obeyed_file_is_written() {
    let desk = Desk::new();
    let host = desk.host();
    let before = snapshot(&desk.path("work"));
    let paths: Vec<(String, String)> =
        rows().into_iter().flat_map(|(path, by)| [(format!("sub/{path}"), by.clone()), (path, by)]).collect();
    let steps: Vec<Value> = paths.iter().map(|(path, _)| writing(path)).collect();
    for ((path, program), answer) in paths.iter().zip(host.steps("fs", &steps, None)) {
        assert_eq!(error(&answer), "Denied", "{path}: {answer}");
        let refused = is_refused(path.strip_prefix("sub/").unwrap_or(path));
        assert!(refused || message(&answer).contains(program), "{path}: {answer}");
        assert!(refused || message(&answer).contains("nobody to ask"), "{path}: {answer}");
    }
    let opens: Vec<Value> =
        paths.iter().map(|(path, _)| json!({ "op": "open", "path": path, "how": 1, "flags": 2 })).collect();
    for ((path, _), answer) in paths.iter().zip(host.steps("wasi", &opens, None)) {
        assert!(matches!(error(&answer), "not-permitted" | "no-entry"), "{path}: {answer}");
    }
    assert_eq!(snapshot(&desk.path("work")), before);
}

#[test]
fn a_person_decides_about_each_kind_of_obeyed_file() {
    let (desk, person) = (Desk::new(), Person::who_says("once"));
    let host = attended(&desk, &person);
    // Each in a folder of its own: some rows name a folder, and others a file in it.
    let rows: Vec<(String, String, bool)> = (0..)
        .zip(rows())
        .map(|(number, (path, program))| (format!("p{number}/{path}"), program, is_refused(&path)))
        .collect();
    let steps: Vec<Value> = rows.iter().map(|(path, ..)| writing(path)).collect();
    let mut asked = 0;
    for ((path, program, refused), answer) in rows.iter().zip(host.steps("fs", &steps, None)) {
        if *refused {
            assert_eq!(error(&answer), "Denied", "{path}: {answer}");
            continue;
        }
        ok(&answer);
        assert_eq!(desk.get(&format!("work/{path}")), "mine", "{path}");
        let question = &person.seen()[asked];
        assert!(question.text.contains(&desk.text(&format!("work/{path}"))), "{question:?}");
        assert!(question.reasons[0].contains(program), "{question:?}");
        assert!(question.reasons[1].contains("it would write: mine"), "{question:?}");
        asked += 1;
    }
    assert_eq!(person.seen().len(), asked);
}

#[test]
fn the_file_tools_ask_and_tell_what_was_refused() {
    let desk = Desk::new();
    for (word, written) in [("once", true), ("deny", false)] {
        let person = Person::who_says(word);
        let host = Asked::new(desk.builder().approver(person.clone()).build().unwrap());
        let arguments = json!({ "path": format!(".vscode/{word}.json"), "content": "{}\n" });
        let result = host.call("write_file", &arguments, None);
        assert_eq!(result.is_ok(), written, "{result:?}");
        assert_eq!(desk.path(&format!("work/.vscode/{word}.json")).exists(), written);
        assert_eq!(person.seen().len(), 1);
        if let Err(why) = result {
            assert!(why.to_string().contains("the operator refused"), "{why}");
        }
        let plain = json!({ "path": "plain.txt", "content": "free\n" });
        host.call("write_file", &plain, None).unwrap();
        assert_eq!(person.seen().len(), 1, "nobody is asked about other files");
    }
}

#[test]
fn moving_removing_and_editing_an_obeyed_file_ask_too() {
    let desk = Desk::new();
    desk.put("work/.mcp.json", "theirs");
    let person = Person::who_says("deny");
    let host = attended(&desk, &person);
    let before = snapshot(&desk.path("work"));
    let version = ok(&host.fs(json!({ "op": "stat", "path": ".mcp.json" })))["version"].clone();
    let changes = [
        json!({ "kind": "write", "path": ".mcp.json", "content": "mine" }),
        json!({ "kind": "edit", "path": ".mcp.json", "content": "mine", "version": version }),
        json!({ "kind": "remove", "path": ".mcp.json" }),
        json!({ "kind": "rename", "path": ".mcp.json", "target": "taken.txt" }),
        json!({ "kind": "rename", "path": "plain.txt", "target": ".husky/pre-commit" }),
    ];
    for (asked, change) in changes.iter().enumerate() {
        let answer = host.commit(json!([change, { "kind": "write", "path": "other.txt", "content": "x" }]));
        assert_eq!(error(&answer), "Denied", "{change}: {answer}");
        assert_eq!(person.seen().len(), asked + 1, "{change}");
    }
    // What fails anyway is not asked about.
    let doomed = json!([{ "kind": "write", "path": ".mcp.json", "content": "mine", "fresh": true }]);
    assert_eq!(error(&host.commit(doomed)), "Exists");
    assert_eq!(person.seen().len(), changes.len());
    assert_eq!(ok(&host.fs(json!({ "op": "read", "path": ".mcp.json" })))["text"], "theirs");
    assert_eq!(snapshot(&desk.path("work")), before);
}

#[test]
fn always_holds_for_these_files_alone() {
    let desk = Desk::new();
    let person = Person::who_says("always");
    let host = attended(&desk, &person);
    for content in ["one", "two"] {
        ok(&host.commit(json!([{ "kind": "write", "path": ".mcp.json", "content": content }])));
    }
    assert_eq!((person.seen().len(), desk.get("work/.mcp.json")), (1, "two".into()));
    ok(&host.fs(writing(".vscode/tasks.json")));
    assert_eq!(person.seen().len(), 2, "another file is another question");
    assert!(desk.get("home/hermes.toml").contains("[[approval.allow]]"));
}

#[test]
fn a_folder_that_is_swapped_while_a_person_decides_is_refused() {
    let desk = Desk::new();
    desk.put("work/other/keep.txt", "");
    let (sub, away) = (desk.path("work/sub"), desk.path("work/away"));
    let person = Person::after("once", move || {
        fs::rename(&sub, &away).unwrap();
        std::os::unix::fs::symlink("other", &sub).unwrap();
    });
    let answer = attended(&desk, &person).fs(writing("sub/.mcp.json"));
    assert_eq!(error(&answer), "Denied", "{answer}");
    assert!(!desk.path("work/other/.mcp.json").exists() && !desk.path("work/away/.mcp.json").exists());
}

#[test]
fn a_person_may_take_longer_than_the_guest() {
    let desk = Desk::new();
    let person = Person::after("once", || std::thread::sleep(std::time::Duration::from_millis(1_500)));
    desk.grant(&desk.folder("work", "access = \"write\""));
    let config = desk.get("home/hermes.toml").replace("timeout = \"60s\"", "timeout = \"1s\"");
    desk.put("home/hermes.toml", config);
    let host = Asked::new(desk.builder().without_bundled().approver(person).build().unwrap());
    ok(&host.fs(writing(".mcp.json")));
}

#[test]
fn where_approval_is_off_nobody_is_asked() {
    let desk = Desk::new();
    desk.grant(&desk.folder("work", "access = \"write\""));
    desk.put("home/hermes.toml", desk.get("home/hermes.toml") + "[approval]\nmode = \"off\"\n");
    let host = desk.granted();
    ok(&host.fs(writing(".mcp.json")));
    assert_eq!(error(&host.fs(writing(".git/hooks/pre-commit"))), "Denied");
}

#[test]
fn an_obeyed_file_that_is_granted_by_its_name_is_written() {
    let desk = Desk::new();
    desk.put("work/.mcp.json", "theirs");
    desk.put("work/.vscode/tasks.json", "theirs");
    let folders = ["work/.mcp.json", "work/.vscode"].map(|path| desk.folder(path, "access = \"write\""));
    let host = desk.grant(&folders.join(", ")).granted();
    for path in [".mcp.json", ".vscode/tasks.json"] {
        ok(&host.fs(writing(path)));
        assert_eq!(desk.get(&format!("work/{path}")), "mine");
    }
}

/// The rows of a home hold where the home is granted: here it is the workspace.
#[test]
fn obeyed_files_and_keys_of_the_home_are_not_changed_unasked() {
    let desk = Desk::new();
    desk.put("work/.docker/daemon.json", CANARY);
    let before = snapshot(&desk.path("work"));
    let call = |tool: &str, arguments: Value| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_hermes-host"));
        command.args(["call", tool, &arguments.to_string()]).current_dir(desk.path("work"));
        command.env("HERMES_HOME", desk.path("home")).env("HOME", desk.path("work")).output().unwrap()
    };
    for path in [".local/bin/ls", ".config/environment.d/x.conf", ".tmux.conf", ".config/nvim/init.lua", "bin/ls"] {
        let output = call("write_file", json!({ "path": path, "content": "mine" }));
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(text.contains("nobody to ask"), "{path}: {text}");
    }
    let output = call("read_file", json!({ "path": ".docker/daemon.json" }));
    assert!(!String::from_utf8_lossy(&output.stdout).contains(CANARY));
    let output = call("search_files", json!({ "pattern": "canary", "path": "." }));
    assert!(!String::from_utf8_lossy(&output.stdout).contains(CANARY));
    assert_eq!(snapshot(&desk.path("work")), before);
}
