//! Attacks on the files: what was not granted is neither read nor changed, whichever interface, spelling, link or moment is tried.
//!
//! The guest is `tests/probe`, which does what a test asks it to through `hermes:tool/filesystem` and through WASI; the bundled file
//! tools stand beside it. Every test has a canary outside the granted folder.

mod commit;
mod hoard;
mod kill;
mod links;
mod long;
mod obeyed;
mod own;
mod quota;
mod race;
mod readonly;
mod secrets;
mod sensitive;
mod special;
mod tasks;
mod traversal;

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use hermes_host::{
    CallContext, Host, HostBuilder,
    component::{CompileLimits, Compiler, Digest},
    dispatch::CallError,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::compiled;

/// What no answer may ever hold.
const CANARY: &str = "canary-5d0e91";

/// The probe as `make tools` built it.
fn probe() -> Vec<u8> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/probes/probe.wasm");
    fs::read(path).unwrap_or_else(|why| panic!("{path}: {why}; run make tools"))
}

/// A workspace, a folder outside it with a canary, a home, and a folder with the probe.
struct Desk {
    root: TempDir,
}

impl Desk {
    fn new() -> Self {
        let desk = Self { root: tempfile::tempdir().unwrap() };
        for folder in ["work/sub", "outside", "tools"] {
            fs::create_dir_all(desk.path(folder)).unwrap();
        }
        compiled::fill(&desk.path("home"));
        desk.put("work/plain.txt", "inside\n");
        desk.put("work/sub/deep.txt", "deep inside\n");
        desk.put("outside/canary.txt", CANARY);
        fs::write(desk.path("tools/probe.wasm"), probe()).unwrap();
        desk
    }

    /// A path below the test's own folder.
    fn path(&self, path: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(path)
    }

    /// The same as text.
    fn text(&self, path: &str) -> String {
        self.path(path).to_str().unwrap().to_owned()
    }

    fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn get(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    fn link(&self, target: impl AsRef<Path>, path: &str) {
        std::os::unix::fs::symlink(target, self.path(path)).unwrap();
    }

    /// Of these steps those that reach what a path leads to: not the removal of a link in the workspace itself.
    fn following(&self, mut steps: Vec<Value>) -> Vec<Value> {
        steps.retain(|step| {
            let change = if step["op"] == "commit" { &step["changes"][0] } else { step };
            let removes = change["kind"] == "remove" || change["op"] == "unlink";
            let path = self.path("work").join(change["path"].as_str().unwrap());
            !(removes && fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink()))
        });
        steps
    }

    /// What the operator says: `fs` for the probe, as TOML.
    fn grant(&self, folders: &str) -> &Self {
        let digest = Digest::of(&probe());
        let limits = "limits = { timeout = \"60s\", fuel = 100_000_000_000 }";
        fs::write(
            self.path("home/hermes.toml"),
            format!("[tools.probe]\ndigest = \"{digest}\"\n{limits}\nfs = [{folders}]\n"),
        )
        .unwrap();
        self
    }

    /// One folder of a grant.
    fn folder(&self, path: &str, rest: &str) -> String {
        format!("{{ path = {:?}, {rest} }}", self.text(path))
    }

    fn builder(&self) -> HostBuilder {
        let worker = Compiler::Worker(env!("CARGO_BIN_EXE_hermes-host").into(), CompileLimits::STANDARD);
        Host::builder().home(self.path("home")).tools(self.path("tools")).workspace(self.path("work")).compiler(worker)
    }

    /// A host with the probe alone, and the workspace granted to it for writing.
    fn host(&self) -> Asked {
        self.grant(&self.folder("work", "access = \"write\"")).granted()
    }

    /// A host with the bundled tools, and this granted to the file tools besides the workspace.
    fn with_tools(&self, folders: &str) -> Asked {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/tools/file.wasm");
        let digest = Digest::of(&fs::read(path).unwrap());
        let grant = format!("[tools.file]\ndigest = \"{digest}\"\nfs = [{folders}]\n");
        fs::write(self.path("home/hermes.toml"), grant).unwrap();
        Asked::new(self.builder().build().unwrap())
    }

    /// A host with the probe alone, under the grant that was written.
    fn granted(&self) -> Asked {
        Asked::new(self.builder().without_bundled().build().unwrap())
    }
}

/// A host, and how it is asked.
struct Asked(Host);

impl Asked {
    fn new(host: Host) -> Self {
        assert_eq!(host.catalogue().refusals(), []);
        Self(host)
    }

    fn call(&self, tool: &str, arguments: &Value, task: Option<&str>) -> Result<Value, CallError> {
        let context = CallContext { task_id: task.map(str::to_owned), ..CallContext::default() };
        let reply = self.0.call_blocking(tool, &arguments.to_string(), context).result?;
        Ok(serde_json::from_str(&reply.json()).unwrap())
    }

    /// Steps of the probe in one call.
    fn steps(&self, tool: &str, steps: &[Value], task: Option<&str>) -> Vec<Value> {
        let answer = self.call(tool, &json!({ "steps": steps }), task).unwrap_or_else(|why| panic!("{tool}: {why}"));
        let answers = answer.as_array().unwrap_or_else(|| panic!("no list of answers: {answer}")).clone();
        assert_eq!(answers.len(), steps.len());
        answers
    }

    /// One step through our own interface.
    fn fs(&self, step: Value) -> Value {
        self.steps("fs", &[step], None).remove(0)
    }

    /// One step through WASI.
    fn wasi(&self, step: Value) -> Value {
        self.steps("wasi", &[step], None).remove(0)
    }

    /// One commit.
    fn commit(&self, changes: Value) -> Value {
        self.fs(json!({ "op": "commit", "changes": changes }))
    }
}

/// Every way to touch a path through our interface.
fn every_step(path: &str) -> Vec<Value> {
    let mut steps = every_read(path);
    steps.extend(every_change(path));
    steps
}

fn every_read(path: &str) -> Vec<Value> {
    let step = |op: &str| json!({ "op": op, "path": path });
    let mut steps: Vec<Value> = ["stat", "read", "lines", "list", "find"].into_iter().map(step).collect();
    steps.push(json!({ "op": "search", "path": path, "pattern": ".", "all": true }));
    steps
}

fn every_change(path: &str) -> Vec<Value> {
    let commit = |change: Value| json!({ "op": "commit", "changes": [change] });
    vec![
        commit(json!({ "kind": "write", "path": path, "content": "mine" })),
        commit(json!({ "kind": "write", "path": path, "content": "mine", "fresh": true })),
        commit(json!({ "kind": "edit", "path": path, "content": "mine", "version": 1 })),
        commit(json!({ "kind": "remove", "path": path })),
        commit(json!({ "kind": "rename", "path": path, "target": "taken.txt" })),
        commit(json!({ "kind": "rename", "path": "plain.txt", "target": path })),
    ]
}

/// Every way to touch a path through WASI.
fn every_wasi_step(path: &str) -> Vec<Value> {
    let mut steps = vec![
        json!({ "op": "stat", "path": path }),
        json!({ "op": "readlink", "path": path }),
        json!({ "op": "set-times", "path": path }),
        json!({ "op": "link", "path": path, "target": "taken.txt" }),
        json!({ "op": "link", "path": "plain.txt", "target": path }),
        json!({ "op": "symlink", "path": "plain.txt", "target": path }),
        json!({ "op": "symlink", "path": path, "target": "taken.txt" }),
        json!({ "op": "rename", "path": path, "target": "taken.txt" }),
        json!({ "op": "rename", "path": "plain.txt", "target": path }),
        json!({ "op": "unlink", "path": path }),
        json!({ "op": "create-directory", "path": path }),
        json!({ "op": "remove-directory", "path": path }),
    ];
    for (how, flags, then) in [
        (0, 1, "read"),
        (0, 1, "read-stream"),
        (2, 1, "read-directory"),
        (0, 2, "write"),
        (1, 2, "write-stream"),
        (1 | 4, 3, "write"),
        (8, 2, "append-stream"),
        (1 | 8, 3, "set-size"),
        (2, 32, "set-times"),
    ] {
        let step = json!({ "op": "open", "path": path, "how": how, "flags": flags, "then": then, "content": "mine" });
        steps.push(step);
    }
    steps
}

/// What an answer says went wrong.
fn error(answer: &Value) -> &str {
    answer["error"].as_str().unwrap_or_else(|| panic!("this worked: {answer}"))
}

fn message(answer: &Value) -> &str {
    answer["message"].as_str().unwrap()
}

/// What worked.
fn ok(answer: &Value) -> &Value {
    answer.get("ok").unwrap_or_else(|| panic!("this failed: {answer}"))
}

/// Everything below a folder: content or target of a link, mode, number of names, and when it was changed.
fn snapshot(folder: &Path) -> BTreeMap<PathBuf, (Vec<u8>, u32, u64, i64, i64)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let metadata = fs::symlink_metadata(&path).unwrap();
            let content = match metadata.file_type() {
                kind if kind.is_symlink() => fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes(),
                kind if kind.is_file() => fs::read(&path).unwrap(),
                _ => Vec::new(),
            };
            if metadata.is_dir() {
                folders.push(path.clone());
            }
            found.insert(path, (content, metadata.mode(), metadata.nlink(), metadata.mtime(), metadata.mtime_nsec()));
        }
    }
    found
}

/// Names of drafts that were left below a folder.
fn drafts(folder: &Path) -> Vec<PathBuf> {
    let is_draft = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with(".hermes-draft-");
    snapshot(folder).into_keys().filter(is_draft).collect()
}
