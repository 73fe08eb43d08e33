//! Commands: real processes, a real sshd, the promises of the sandbox. Every test has a terminal in a folder of its own, and looks at every
//! process of the machine.

mod background;
mod commands;
mod endings;
mod escalation;
mod escapes;
mod foreground;
mod resources;
pub(crate) mod sandbox;
mod ssh;
mod swaps;
mod tools;
mod users;

use std::{
    fs,
    path::Path,
    process::id,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use hermes_host::capability::terminal::{Backend, Launcher, Outcome, Request, Terminal, backend::Local};
use tempfile::TempDir;

/// The binary launches for every test: no test is a launcher itself.
pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_hermes-host");

pub(crate) const TASK: &str = "task";

/// A terminal, its workspace, and a word that is in every command line of this test alone.
pub(crate) struct Scene {
    pub(crate) terminal: Terminal,
    pub(crate) workspace: TempDir,
    pub(crate) mark: String,
}

pub(crate) fn launcher() -> Launcher {
    Launcher::embedded_or(BINARY)
}

impl Scene {
    pub(crate) fn local() -> Self {
        let workspace = tempfile::tempdir().unwrap();
        let backend = Local::new(launcher(), workspace.path()).unwrap();
        Self::on(Arc::new(backend), workspace)
    }

    pub(crate) fn on(backend: Arc<dyn Backend>, workspace: TempDir) -> Self {
        Self { terminal: Terminal::new(backend, None), workspace, mark: mark() }
    }

    pub(crate) async fn run(&self, request: Request) -> Outcome {
        self.terminal.run(TASK, request).await.unwrap()
    }

    pub(crate) async fn shell(&self, command: &str) -> Outcome {
        self.run(Request::shell(command)).await
    }

    /// What a command printed.
    pub(crate) async fn text(&self, command: &str) -> String {
        self.shell(command).await.output.text
    }

    /// A `sleep` that only this test starts, and that outlasts it.
    pub(crate) fn sleep(&self) -> String {
        format!("sleep {}", self.mark)
    }

    pub(crate) fn nothing_is_left(&self) {
        assert_eq!(processes_with(&self.mark), Vec::<String>::new());
    }
}

/// A number of seconds (nearly a day) that no other test sleeps.
pub(crate) fn mark() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("8{:04}.{:07}", NEXT.fetch_add(1, Ordering::Relaxed), id())
}

/// The command line of every living process that has this word in it.
pub(crate) fn processes_with(mark: &str) -> Vec<String> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter(|entry| entry.file_name().to_str().is_some_and(|name| name.parse::<u32>().is_ok()));
    lines.filter_map(|entry| command_line(&entry.path())).filter(|line| line.contains(mark)).collect()
}

/// The same of every living thread: a process whose main thread exited has no command line of its own.
pub(crate) fn threads_with(mark: &str) -> Vec<String> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let threads =
        processes.flat_map(|process| fs::read_dir(process.path().join("task")).into_iter().flatten().flatten());
    threads.filter_map(|thread| command_line(&thread.path())).filter(|line| line.contains(mark)).collect()
}

fn command_line(process: &Path) -> Option<String> {
    let words = fs::read(process.join("cmdline")).ok()?;
    Some(format!("{}: {}", process.display(), String::from_utf8_lossy(&words).replace('\0', " ")))
}

/// Looks again and again until something holds.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(120);
    while !holds() {
        assert!(Instant::now() < end, "waited in vain: {what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}
