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

/// Name the folder for the process that is killed, which is its test started again, and the number to begin with.
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
fn write_in(folder: &Path) {
    let first: u64 = std::env::var(FIRST).unwrap().parse().unwrap();
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

/// The name of the test, for the process that is killed.
const TEST: &str = "files::kill::a_host_that_is_killed_during_1_000_writes_leaves_every_file_whole";

#[test]
fn a_host_that_is_killed_during_1_000_writes_leaves_every_file_whole() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        return write_in(Path::new(&folder));
    }
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
            .args(["--exact", TEST, "--nocapture"])
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

/// Whether a draft lies in a folder at this moment.
fn has_draft(folder: &Path) -> bool {
    let is_draft = |name: std::ffi::OsString| name.to_string_lossy().starts_with(".hermes-draft-");
    fs::read_dir(folder).unwrap().any(|entry| is_draft(entry.unwrap().file_name()))
}

/// How often the program is killed while its draft lies there.
const KILLS: usize = 30;

/// The program itself, killed between the moment in which its draft appears and the one in which it would have ended.
#[test]
fn the_program_killed_in_the_midst_of_a_write_leaves_the_file_whole() {
    let desk = Desk::new();
    let arguments = |n: u64| json!({ "path": "file.txt", "content": content(n) }).to_string();
    let call = |n: u64| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hermes-host"));
        command.args(["call", "write_file", "-"]).env("HERMES_HOME", desk.path("home")).current_dir(desk.path("work"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(arguments(n).as_bytes()).unwrap();
        child
    };
    assert!(call(0).wait().unwrap().success(), "write_file does not work");
    let random = RandomState::new();
    let (mut sure, mut kills, mut n) = (0, 0, 0_u64);
    while kills < KILLS {
        n += 1;
        assert!(n < 20 * KILLS as u64, "only {kills} of {n} writes were met by a kill");
        let mut child = call(n);
        let ended = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break Some(status);
            }
            if has_draft(&desk.path("work")) {
                break None;
            }
        };
        if let Some(status) = ended {
            assert!(status.success());
            sure = n;
            continue;
        }
        thread::sleep(Duration::from_micros(random.hash_one(n) & 0x3ff));
        child.kill().unwrap();
        let killed = child.wait().unwrap().code().is_none();
        let found = number(&desk.get("work/file.txt")).unwrap_or_else(|| panic!("write {n} tore the file"));
        assert!(found == n || killed && found == sure, "write {n}: the file has {found}, {sure} was written");
        sure = found;
        // A draft that was left says that the kill fell into the write.
        let left = drafts(&desk.path("work"));
        kills += usize::from(!left.is_empty());
        left.iter().for_each(|draft| fs::remove_file(draft).unwrap());
    }
}
