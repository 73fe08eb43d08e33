//! Attack 58: host memory, descriptors and calls through WASI's files. Each is charged to the call, and given back.

use std::process::Command;

use super::*;

const MIB: usize = 1 << 20;

/// Bytes one call may hold, copies of the host included.
const MEMORY: usize = 64 * MIB;

/// Descriptors one call may hold.
const FILES: usize = 128;

/// The probe's answer to one round of hoarding.
struct Round {
    held: usize,
    error: String,
}

/// Hoards in two rounds: what the first one let go is there for the second. Gives both, and the most memory that was used.
fn hoard(host: &Asked, kind: &str, path: &str, times: usize) -> ([Round; 2], usize) {
    let arguments = json!({ "kind": kind, "path": path, "times": times, "rounds": 2 }).to_string();
    let outcome = host.0.call_blocking("hoard", &arguments, CallContext::default());
    let reply = outcome.result.as_ref().unwrap_or_else(|why| panic!("{kind}: {why}")).json();
    let rounds: Vec<Value> = serde_json::from_str(&reply).unwrap();
    let round = |n: usize| Round {
        held: rounds[n]["held"].as_u64().unwrap() as usize,
        error: rounds[n]["error"].as_str().unwrap_or_default().to_owned(),
    };
    ([round(0), round(1)], outcome.usage.memory)
}

fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Copies with masked secrets that this process has now.
fn masked_copies() -> usize {
    let entries = fs::read_dir("/proc/self/fd").unwrap().flatten();
    let targets = entries.filter_map(|entry| fs::read_link(entry.path()).ok());
    targets.filter(|target| target.to_string_lossy().contains("hermes-masked")).count()
}

/// Another tool of the host still answers.
fn assert_answers(host: &Asked) {
    ok(&host.wasi(json!({ "op": "open", "path": "plain.txt", "then": "read" })));
    ok(&host.fs(json!({ "op": "read", "path": "plain.txt" })));
}

#[test]
fn masked_copies_are_charged_to_the_call_and_released() {
    let desk = Desk::new();
    let secret = "token = ghp_0123456789abcdefghijABCDEFGHIJ012345\n";
    desk.put("work/secret.txt", format!("{secret}{}", "text ".repeat(4 * MIB / 5)));
    let host = desk.host();
    for kind in ["files", "streams"] {
        let (rounds, memory) = hoard(&host, kind, "secret.txt", 40);
        for round in rounds {
            assert!((10..16).contains(&round.held), "{kind}: {} copies of 4 MiB", round.held);
            assert_eq!(round.error, "insufficient-memory", "{kind}");
        }
        assert!((40 * MIB..=MEMORY).contains(&memory), "{kind}: {memory}");
        assert_eq!(masked_copies(), 0, "{kind}");
    }
    assert_answers(&host);
}

#[test]
fn listings_are_charged_to_the_call_and_released() {
    let desk = Desk::new();
    let long = "n".repeat(200);
    fs::create_dir(desk.path("work/many")).unwrap();
    for n in 0..4_000 {
        fs::write(desk.path(&format!("work/many/{long}{n}")), "").unwrap();
    }
    let host = desk.host();
    let (rounds, memory) = hoard(&host, "listings", "many", 100);
    for round in rounds {
        assert!((30..80).contains(&round.held), "{} listings of 800 kB", round.held);
        assert_eq!(round.error, "insufficient-memory");
    }
    assert!((40 * MIB..=MEMORY).contains(&memory), "{memory}");
    assert_answers(&host);
}

#[test]
fn a_directory_is_listed_whole_or_refused() {
    let desk = Desk::new();
    fs::create_dir(desk.path("work/many")).unwrap();
    // One more than may be listed. Links are cheaper than files.
    fs::write(desk.path("work/many/0"), "").unwrap();
    for n in 1..=100_000 {
        std::os::unix::fs::symlink("0", desk.path(&format!("work/many/{n}"))).unwrap();
    }
    let host = desk.host();
    let list = || host.wasi(json!({ "op": "open", "path": "many", "how": 2, "then": "read-directory" }));
    assert_eq!(error(&list()), "overflow");
    fs::remove_file(desk.path("work/many/0")).unwrap();
    let (rounds, _) = hoard(&host, "listings", "many", 1);
    assert!(rounds.iter().all(|round| (round.held, round.error.as_str()) == (1, "")));
    ok(&host.wasi(json!({ "op": "here", "then": "read-directory" })));
}

#[test]
fn one_call_holds_128_descriptors_and_no_more() {
    let desk = Desk::new();
    let host = desk.host();
    let before = descriptors();
    for (kind, path) in [("files", "plain.txt"), ("streams", "plain.txt"), ("files", "sub")] {
        let (rounds, _) = hoard(&host, kind, path, 400);
        for round in rounds {
            assert_eq!((round.held, round.error.as_str()), (FILES, "insufficient-memory"), "{kind} of {path}");
        }
    }
    // However often they are asked for, preopened directories are the same descriptors.
    let (rounds, _) = hoard(&host, "preopens", "", 200);
    assert_eq!(rounds.map(|round| round.held), [200, 200]);
    assert!(descriptors() <= before + 16, "{before} before, {} after", descriptors());
    assert_answers(&host);
}

/// A process that may open 256 files gives guests 128, and one call half of these.
#[test]
fn guests_get_half_of_the_descriptors_of_a_small_process() {
    let desk = Desk::new();
    desk.grant(&desk.folder("work", "access = \"read\""));
    let arguments = r#"{"kind": "files", "path": "plain.txt", "times": 400, "rounds": 2}"#;
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -n 256 && exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_hermes-host"), "--home"]);
    shell.arg(desk.path("home")).arg("--tools").arg(desk.path("tools")).arg("--workspace").arg(desk.path("work"));
    let output = shell.args(["call", "hoard", arguments]).output().unwrap();
    let rounds: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|why| panic!("{why}: {output:?}"));
    let round = json!({ "held": 64, "error": "busy" });
    assert_eq!(rounds, json!([round, round]));
}

/// The functions of `wasi:filesystem` as the host implements them, by the names that guests know.
fn functions() -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/capability/fs/wasi");
    let mut functions = Vec::new();
    for (file, from) in
        [("descriptor.rs", "impl types::"), ("directory.rs", "impl types::"), ("mod.rs", "impl preopens::")]
    {
        let text = fs::read_to_string(format!("{folder}/{file}")).unwrap();
        let implementations = &text[text.find(from).unwrap()..];
        let names = implementations.lines().filter_map(|line| {
            let line = line.strip_prefix("    ")?;
            let rest = line.strip_prefix("async fn ").or_else(|| line.strip_prefix("fn "))?;
            Some(rest.split('(').next()?.replace('_', "-"))
        });
        functions.extend(names.filter(|name| !["drop", "convert-error-code"].contains(&name.as_str())));
    }
    functions
}

#[test]
fn every_function_of_the_wasi_files_is_counted() {
    const TIMES: u32 = 50;
    let desk = Desk::new();
    let host = desk.host();
    let counted = |function: &str, times: u32| {
        let arguments = json!({ "function": function, "times": times }).to_string();
        let outcome = host.0.call_blocking("repeat", &arguments, CallContext::default());
        assert_eq!(outcome.json(), times.to_string(), "{function}");
        outcome.usage.wasi_calls
    };
    let functions = functions();
    assert_eq!(functions.len(), 30, "{functions:?}");
    for function in functions {
        let (none, some) = (counted(&function, 0), counted(&function, TIMES));
        assert!(some >= none + TIMES, "{function}: {none} calls and {TIMES} more are {some}");
    }
}

#[test]
fn a_flood_of_stat_at_ends_the_call() {
    let desk = Desk::new();
    let host = desk.host();
    let why = host.call("repeat", &json!({ "function": "stat-at", "times": 1_000_000 }), None).unwrap_err();
    assert_eq!(why.kind.name(), "host-call-budget", "{why}");
    assert_answers(&host);
}
