//! What files cost through the host: reading beside `std::fs::read`, searching beside ripgrep, and patching a large file within the
//! guest's memory. All sides are measured in one run, in turns; ratios are what counts. Exits with 1 when a bound is missed.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

use std::{
    fmt::Write,
    fs,
    path::Path,
    process::{Command, ExitCode},
    time::{Duration, Instant},
};

use hermes_host::{
    CallContext, Host,
    component::{CompileLimits, Compiler},
    sandbox::Limits,
};
use serde_json::{Value, json};

/// The most that reading 40 lines may cost, as a multiple of reading the file's bytes.
const MOST_FOR_READING: f64 = 15.0;

/// The most that a search may cost, as a multiple of ripgrep's.
const MOST_FOR_SEARCHING: f64 = 1.3;

const FOLDERS: usize = 1_000;
const FILES_IN_A_FOLDER: usize = 22;
const READS: usize = 200;
const ROUNDS: usize = 40;
const SEARCHES: usize = 15;

const BINARY: &str = env!("CARGO_BIN_EXE_hermes-host");

/// The allocator of the binary, for all sides that are measured.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let place = tempfile::tempdir().unwrap();
    let workspace = place.path().join("workspace");
    fs::create_dir(&workspace).unwrap();
    let worker = Compiler::Worker(BINARY.into(), CompileLimits::STANDARD);
    let host = Host::builder().home(place.path().join("home")).workspace(&workspace).compiler(worker).build().unwrap();
    let results = [
        ("read_file / fs::read", read(&host, &workspace), MOST_FOR_READING),
        ("search_files / rg", search(&host, &workspace), MOST_FOR_SEARCHING),
        ("patch: memory used / limit", patch(&host, &workspace), 1.0),
    ];
    let mut good = true;
    for (what, ratio, most) in results {
        println!("{what:<28}{ratio:>9.2}    (at most {most})");
        if ratio > most {
            println!("MISSED: {what}");
            good = false;
        }
    }
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn call(host: &Host, tool: &str, arguments: &Value) -> Value {
    let text = host.call_blocking(tool, &arguments.to_string(), CallContext::default()).json().to_owned();
    let value: Value = serde_json::from_str(&text).unwrap();
    assert!(value.get("error").is_none(), "{tool}: {text}");
    value
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e6
}

fn time(count: usize, mut work: impl FnMut()) -> Duration {
    let start = Instant::now();
    (0..count).for_each(|_| work());
    start.elapsed() / count as u32
}

/// 40 lines of code, as an agent reads them.
fn read(host: &Host, workspace: &Path) -> f64 {
    let path = workspace.join("forty.rs");
    let mut text = String::new();
    for n in 0..40 {
        writeln!(text, "    let value_{n} = compute(previous, {n}).await?; // step {n}").unwrap();
    }
    fs::write(&path, &text).unwrap();
    let arguments = json!({ "path": "forty.rs" });
    assert_eq!(call(host, "read_file", &arguments)["total_lines"], 40);
    let arguments = arguments.to_string();
    let (mut ours, mut plain) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        plain.push(time(READS, || assert_eq!(fs::read(&path).unwrap().len(), text.len())));
        ours.push(time(READS, || {
            let outcome = host.call_blocking("read_file", &arguments, CallContext::default());
            assert!(outcome.result.is_ok());
        }));
    }
    let (ours, plain) = (median(ours), median(plain));
    println!("read_file, 40 lines         {ours:>9.1} µs");
    println!("std::fs::read of it         {plain:>9.1} µs");
    ours / plain
}

/// A rare word in a tree of source files.
fn search(host: &Host, workspace: &Path) -> f64 {
    let tree = workspace.join("tree");
    for folder in 0..FOLDERS {
        let folder_path = tree.join(format!("part{}/module{folder}", folder % 40));
        fs::create_dir_all(&folder_path).unwrap();
        for file in 0..FILES_IN_A_FOLDER {
            let mut text = String::new();
            for line in 0..40 {
                writeln!(text, "fn function_{folder}_{file}_{line}(input: &str) -> usize {{ input.len() + {line} }}")
                    .unwrap();
            }
            if (folder * FILES_IN_A_FOLDER + file) % 500 == 7 {
                text.push_str("// the needle in this haystack\n");
            }
            fs::write(folder_path.join(format!("file{file}.rs")), text).unwrap();
        }
    }
    let files = FOLDERS * FILES_IN_A_FOLDER;
    let arguments = json!({ "pattern": "the needle", "path": "tree" });
    let with_rg = || {
        let output = Command::new("rg").args(["--no-config", "-n", "the needle"]).arg(&tree).output();
        let output = output.expect("ripgrep is missing: make bench installs it");
        String::from_utf8_lossy(&output.stdout).lines().count() as u64
    };
    let found = call(host, "search_files", &arguments)["total_count"].as_u64().unwrap();
    assert_eq!((found, with_rg()), (44, 44));
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..SEARCHES {
        theirs.push(time(1, || assert_eq!(with_rg(), 44)));
        ours.push(time(1, || drop(call(host, "search_files", &arguments))));
    }
    let (ours, theirs) = (median(ours), median(theirs));
    println!("search_files, {files} files  {:>8.1} ms", ours / 1e3);
    println!("rg doing the same           {:>9.1} ms", theirs / 1e3);
    ours / theirs
}

/// One line in the middle of 10 MB.
fn patch(host: &Host, workspace: &Path) -> f64 {
    let mut text = String::new();
    while text.len() < 10_000_000 {
        let line = text.len();
        writeln!(text, "let line_{line} = \"some text that makes the file as long as it is\";").unwrap();
    }
    let middle = text[5_000_000..].lines().nth(1).unwrap().to_owned();
    fs::write(workspace.join("large.rs"), &text).unwrap();
    let arguments =
        json!({ "mode": "replace", "path": "large.rs", "old_string": middle, "new_string": "let changed = true;" });
    let outcome = host.call_blocking("patch", &arguments.to_string(), CallContext::default());
    assert!(outcome.result.is_ok(), "{}", outcome.json());
    let expected = text.replace(&middle, "let changed = true;");
    assert!(fs::read_to_string(workspace.join("large.rs")).unwrap() == expected);
    let used = outcome.usage.memory;
    println!("patch, 10 MB: guest memory  {:>9.1} MiB", used as f64 / (1 << 20) as f64);
    used as f64 / Limits::HANDLE.memory as f64
}
