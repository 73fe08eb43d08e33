//! What confining a command costs: `true` in the sandbox beside `bash -c true` without it, in turns. Exits with 1 when the bound is
//! missed.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

use std::{
    process::{Command, ExitCode, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use hermes_host::capability::terminal::{
    Backend, Ended, Launcher, Request, SandboxPolicy,
    backend::{Local, Sandbox, SandboxSite},
};

/// The most that a confined command may take of what a plain one takes.
const MOST: f64 = 3.0;

const ROUNDS: usize = 300;

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let home = std::env::var_os("HOME").map(std::path::PathBuf::from);
    let launcher = || Launcher::embedded_or(env!("CARGO_BIN_EXE_hermes-host"));
    let site = SandboxSite { workspace: folder.path(), home: home.as_deref(), hidden: &[] };
    let sandbox = Sandbox::new(&launcher(), site, &SandboxPolicy::default()).unwrap();
    println!("namespaces              {:>8}", if sandbox.has_namespaces() { "yes" } else { "no" });
    let confined = Local::new(launcher(), folder.path()).unwrap().confined(Arc::new(sandbox), false);
    let local = Local::new(launcher(), folder.path()).unwrap();
    let run = |backend: &Local| {
        let start = Instant::now();
        let outcome = runtime.block_on(backend.execute("bench", Request::exec("true", [""; 0]))).unwrap();
        assert_eq!(outcome.ended, Ended::Exit(0), "{}", outcome.output.text);
        start.elapsed()
    };
    let plain = || {
        let start = Instant::now();
        let mut command = Command::new("/bin/bash");
        assert!(command.args(["-c", "true"]).stdin(Stdio::null()).status().unwrap().success());
        start.elapsed()
    };
    let (mut confined_times, mut local_times, mut plain_times) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        plain_times.push(plain());
        confined_times.push(run(&confined));
        local_times.push(run(&local));
    }
    let (plain, confined, local) = (median(plain_times), median(confined_times), median(local_times));
    println!("bash -c true, plain     {plain:>8.2} ms");
    println!("true, unconfined        {local:>8.2} ms ({:.2} times plain)", local / plain);
    println!("true, confined          {confined:>8.2} ms ({:.2} times plain, at most {MOST})", confined / plain);
    if confined / plain > MOST {
        println!("MISSED: confined / plain");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e3
}
