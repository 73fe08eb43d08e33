//! A tool that somebody else's toolchain made: `tests/python-tool`, CPython and all, built by componentize-py against `wit/`
//! and called through the real binary.
//!
//! Building takes python3 and, once, PyPI; a machine without them passes and says so. From there on every failure counts.
//! The toolchain, the component and the compiled code are kept in cargo's target folder, so only what changed is made again.

use std::{
    fs,
    io::{Write, stderr},
    path::{Path, PathBuf},
    process::{Command, Output},
    time::SystemTime,
};

use serde_json::{Value, json};

/// The toolchain.
const TOOLCHAIN: &str = "componentize-py==0.25.1";

/// The program under test.
const HOST: &str = env!("CARGO_BIN_EXE_hermes-host");

#[test]
fn a_tool_of_another_toolchain_loads_lists_and_answers() {
    let Some(component) = component() else { return };
    let tools = tempfile::tempdir().unwrap();
    let file = tools.path().join("words.wasm");
    fs::copy(component, &file).unwrap();
    let host = Host { home: home(), tools: tools.path().into() };

    let inspected = inspects(&host, &file);
    lists(&host, &file, &inspected);
    answers(&host);
    fails_as_a_tool_may(&host);
    starts_from_the_cache(&host);
}

/// What the file could ask for is read from its type.
fn inspects(host: &Host, file: &Path) -> Value {
    let (code, inspected) = host.json(&["inspect", "--json", &file.to_string_lossy()]);
    assert_eq!(code, 0, "{inspected}");
    assert_eq!(inspected["loadable"], true);
    assert_eq!(inspected["wit_version"], "0.1.0");
    let mut packages: Vec<&str> = names(&inspected).map(|name| name.split_once('/').unwrap().0).collect();
    packages.sort_unstable();
    packages.dedup();
    // All of WASI 0.2: CPython could use it. That it may not is the grant's business.
    let all = ["hermes:tool", "wasi:cli", "wasi:clocks", "wasi:filesystem", "wasi:io", "wasi:random", "wasi:sockets"];
    assert_eq!(packages, all);
    inspected
}

/// The names of the imports, with their versions.
fn names(inspected: &Value) -> impl Iterator<Item = &str> {
    inspected["imports"].as_array().unwrap().iter().map(|import| import["name"].as_str().unwrap())
}

/// Both tools are there, with the same imports, and their `check` agrees.
fn lists(host: &Host, file: &Path, inspected: &Value) {
    let (code, list) = host.json(&["list", "--json"]);
    assert_eq!((code, &list["refused"]), (0, &json!([])));
    let mut tools: Vec<&Value> = list["tools"].as_array().unwrap().iter().collect();
    tools.retain(|tool| tool["component"] == "words");
    assert_eq!(tools.iter().map(|tool| &tool["name"]).collect::<Vec<_>>(), ["slugify", "word_count"]);
    for tool in tools {
        assert_eq!((&tool["available"], &tool["reason"]), (&json!(true), &Value::Null));
        assert_eq!(tool["toolset"], "words");
        assert_eq!(tool["origin"], file.to_string_lossy().as_ref());
        assert_eq!(tool["digest"], inspected["digest"]);
        assert_eq!(tool["imports"], names(inspected).collect::<Value>());
    }
}

/// The result alone is on stdout; what Python logs through the host's own interface goes to stderr, where it is asked for.
fn answers(host: &Host) {
    let call = ["call", "word_count", r#"{"text": "To be, or not to be.", "top": 2}"#];
    let answer = r#"{"words":6,"characters":20,"lines":1,"frequent":{"to":2,"be":2}}"#;
    let quiet = host.run(&call);
    assert_eq!(said(&quiet), (0, format!("{answer}\n"), String::new()));

    let (code, stdout, log) = said(&host.run(&[&["--log", "debug"], &call[..]].concat()));
    assert_eq!((code, stdout), (0, format!("{answer}\n")));
    assert!(log.contains("word_count answered call-"), "{log}");

    let unicode = host.run(&["call", "slugify", r#"{"text": "  Crème brûlée: the Basics! "}"#]);
    assert_eq!(said(&unicode), (0, "\"creme-brulee-the-basics\"\n".into(), String::new()));
}

/// Python's `Err` arrives as the failure that it is. Arguments against the schema never reach Python.
fn fails_as_a_tool_may(host: &Host) {
    let (code, refused) = host.json(&["call", "slugify", r#"{"text": "!!!"}"#]);
    assert_eq!(code, 1);
    let error = "nothing in the text can be part of a slug; pass another text";
    assert_eq!(refused, json!({"error": error, "kind": "invalid-arguments"}));

    let (code, refused) = host.json(&["call", "word_count", r#"{"text": "a", "top": -1}"#]);
    assert_eq!((code, &refused["kind"]), (1, &json!("invalid-arguments")));
    assert!(refused["error"].as_str().unwrap().contains("argument top"), "{refused}");
}

/// Nothing is compiled a second time.
fn starts_from_the_cache(host: &Host) {
    let before = host.artifacts();
    let (code, _) = host.json(&["list", "--json"]);
    assert_eq!(code, 0);
    assert_eq!(host.artifacts(), before);
}

/// The real binary with a home and a tools folder.
struct Host {
    home: PathBuf,
    tools: PathBuf,
}

impl Host {
    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(HOST);
        command.arg("--home").arg(&self.home).arg("--tools").arg(&self.tools).args(arguments);
        command.output().unwrap()
    }

    /// The exit code and the JSON that is all of stdout.
    fn json(&self, arguments: &[&str]) -> (i32, Value) {
        let (code, stdout, stderr) = said(&self.run(arguments));
        let value = serde_json::from_str(&stdout);
        (code, value.unwrap_or_else(|why| panic!("{arguments:?}: {why}\n{stdout}\n{stderr}")))
    }

    /// The compiled code in the cache, and when each file was written.
    fn artifacts(&self) -> Vec<(PathBuf, SystemTime)> {
        let mut found = files(&self.home.join("cache"), "bin");
        found.sort();
        assert!(!found.is_empty());
        found.into_iter().map(|path| (path.clone(), fs::metadata(path).unwrap().modified().unwrap())).collect()
    }
}

/// The exit code, stdout and stderr.
fn said(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.into()).unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

/// A home for this very binary, kept between runs: compiling CPython takes longest of all.
fn home() -> PathBuf {
    place("home", &[HOST.into()], "")
}

/// The built component, or nothing where the toolchain can't be had.
fn component() -> Option<PathBuf> {
    let toolchain = toolchain()?;
    let source = top().join("tests/python-tool");
    let mut inputs = [files(&source, "py"), files(&top().join("wit"), "wit")].concat();
    inputs.sort();
    let built = place("words", &inputs, ".wasm");
    if built.exists() {
        return Some(built);
    }
    // In a copy: CPython leaves its __pycache__ where it finds its modules.
    let work = tempfile::tempdir_in(kept()).unwrap();
    for path in files(&source, "py") {
        fs::copy(&path, work.path().join(path.file_name().unwrap())).unwrap();
    }
    let mut command = Command::new("python3");
    command.arg(toolchain.join("bin/componentize-py")).env("PYTHONPATH", &toolchain).current_dir(&work);
    command.arg("-d").arg(top().join("wit")).args(["-w", "tool", "componentize", "app", "-o", "words.wasm"]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{TOOLCHAIN} can't build the tool: {:?}", said(&output));
    fs::rename(work.path().join("words.wasm"), &built).unwrap();
    Some(built)
}

/// The folder that the toolchain is installed in, or nothing, said aloud, on a machine that has no Python or no network.
fn toolchain() -> Option<PathBuf> {
    let installed = kept().join(TOOLCHAIN);
    if installed.exists() {
        return Some(installed);
    }
    let work = tempfile::tempdir_in(kept()).unwrap();
    let target = work.path().join("target");
    let mut command = Command::new("python3");
    // Ready-made only: where PyPI has no wheel for this machine, pip would start to build CPython.
    command.args(["-m", "pip", "install", "--disable-pip-version-check", "--only-binary", ":all:", "--retries", "1"]);
    let why = match command.arg("--target").arg(&target).arg(TOOLCHAIN).output() {
        Ok(output) if output.status.success() => {
            fs::rename(&target, &installed).unwrap();
            return Some(installed);
        }
        Ok(output) => format!("pip can't install {TOOLCHAIN}: {}", String::from_utf8_lossy(&output.stderr).trim()),
        Err(why) => format!("there is no python3: {why}"),
    };
    // Not by `eprintln!`, which the test harness swallows where a test passes.
    let notice = format!("SKIPPED python: no Python tool was built or called. {why}\n");
    stderr().write_all(notice.as_bytes()).unwrap();
    None
}

/// What is kept between runs.
fn kept() -> PathBuf {
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python");
    fs::create_dir_all(&kept).unwrap();
    kept
}

/// The files of a folder with this extension.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.extension().is_some_and(|found| found == extension));
    found
}

/// Where that which is made of these files is kept. What was made of other contents goes.
fn place(name: &str, inputs: &[PathBuf], suffix: &str) -> PathBuf {
    let mut hasher = blake3::Hasher::new();
    hasher.update(TOOLCHAIN.as_bytes());
    for input in inputs {
        hasher.update(&fs::read(input).unwrap());
    }
    let place = kept().join(format!("{name}-{}{suffix}", &hasher.finalize().to_hex()[..16]));
    for entry in fs::read_dir(kept()).unwrap() {
        let path = entry.unwrap().path();
        let ours = path.file_name().unwrap().to_string_lossy().starts_with(&format!("{name}-"));
        match ours && path != place {
            true if path.is_dir() => fs::remove_dir_all(path).unwrap(),
            true => fs::remove_file(path).unwrap(),
            false => {}
        }
    }
    place
}

/// The workspace.
fn top() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}
