//! A host that is killed while it writes: every file is whole, old or new.

use std::{
    hash::{BuildHasher, RandomState},
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use super::*;

/// Writes in all rounds together, at least.
const WRITES: u64 = 1_000;

/// Kills at least.
const ROUNDS: u64 = 20;

/// Files that are written, two at a time.
const FILES: u64 = 4;

/// Lines of a content: more than the kernel writes in one page.
const LINES: usize = 8 << 10;

/// Names the folder for [`writer`], and the number to begin with.
const FOLDER: &str = "HERMES_TEST_WRITES";
const FIRST: &str = "HERMES_TEST_FIRST";

/// The content of the n-th write: all of its lines are the number.
fn content(n: u64) -> String {
    format!("{n:08}\n").repeat(LINES)
}

/// The number of a content, if it is whole.
fn number(content: &str) -> Option<u64> {
    let first = content.lines().next()?;
    let whole = content.len() == 9 * LINES && content.lines().all(|line| line == first);
    whole.then(|| first.parse().ok())?
}

/// The files of the n-th write.
fn files(n: u64) -> [usize; 2] {
    [n, n + 1].map(|n| (n % FILES) as usize)
}

/// The host that is killed. Writes without end, and says each number when it is written.
#[test]
#[ignore = "a process that the test of kills starts"]
fn writer() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let first: u64 = std::env::var(FIRST).unwrap().parse().unwrap();
    let folder = Path::new(&folder);
    let worker = Compiler::Worker(env!("CARGO_BIN_EXE_hermes-host").into(), CompileLimits::STANDARD);
    let builder = Host::builder().home(folder.join("home")).tools(folder.join("tools")).without_bundled();
    let host = Asked::new(builder.workspace(folder.join("work")).compiler(worker).build().unwrap());
    let mut out = std::io::stdout();
    for n in first.. {
        let write = |file| json!({ "kind": "write", "path": format!("{file}.txt"), "content": content(n) });
        ok(&host.commit(json!(files(n).map(write))));
        writeln!(out, "wrote {n}").unwrap();
    }
}

#[test]
fn a_host_that_is_killed_during_1_000_writes_leaves_every_file_whole() {
    let desk = Desk::new();
    for file in 0..FILES {
        desk.put(&format!("work/{file}.txt"), content(0));
    }
    // Compiles the probe once.
    drop(desk.host());
    let random = RandomState::new();
    let (mut last, mut rounds, mut told) = (0, 0, 0);
    // The number that each file has for sure.
    let mut surely = [0; FILES as usize];
    while told * 2 < WRITES || rounds < ROUNDS {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "files::kill::writer", "--ignored", "--nocapture"])
            .env(FOLDER, desk.path(""))
            .env(FIRST, (last + 1).to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let mut wrote = || {
            last = lines.find_map(|line| line.rsplit_once("wrote ")?.1.parse().ok())?;
            for file in files(last) {
                surely[file] = last;
            }
            told += 1;
            Some(())
        };
        let chance = random.hash_one(rounds);
        for _ in 0..1 + chance % 50 {
            wrote().expect("the writer ended by itself");
        }
        // Any moment of the next write.
        thread::sleep(Duration::from_micros(chance >> 8 & 0x1fff));
        child.kill().unwrap();
        child.wait().unwrap();
        while wrote().is_some() {}
        for (file, surely) in surely.iter_mut().enumerate() {
            let text = desk.get(&format!("work/{file}.txt"));
            let found =
                number(&text).unwrap_or_else(|| panic!("round {rounds}: {file}.txt is torn: {} bytes", text.len()));
            let next = files(last + 1).contains(&file).then_some(last + 1);
            assert!(
                found == *surely || Some(found) == next,
                "round {rounds}: {file}.txt has {found}, {surely} was written"
            );
            *surely = found;
        }
        // What was not told may have been written: the next number is a new one.
        last += 1;
        rounds += 1;
    }
    // What the killed hosts left behind is nobody's file, and in nobody's way.
    let host = desk.host();
    let listed = host.fs(json!({ "op": "list", "path": "." }));
    assert_eq!(ok(&listed)["total"], FILES + 2, "{listed}");
    let found = host.fs(json!({ "op": "find", "path": ".", "all": true }));
    assert_eq!(ok(&found)["total"], FILES + 2, "{found}");
    ok(&host.commit(json!([{ "kind": "write", "path": "0.txt", "content": "the last" }])));
    assert_eq!(desk.get("work/0.txt"), "the last");
}
