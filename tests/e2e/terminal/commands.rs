//! The commands of `tests/commands`, run for real in the sandbox: what harms has no effect outside, and what a developer does all day
//! works.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::{fs::MetadataExt, net::UnixListener},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
    time::Duration,
};

use hermes_host::capability::terminal::{Request, backend::Local};
use tokio::task::JoinSet;

use super::{
    Scene, launcher,
    sandbox::{Layers, confined, sandbox},
};

/// How long one command may take. What hangs is ended, which is all that is asked of it here.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Commands at once. The machine has few processors, and many commands only wait for their deadline.
const AT_ONCE: usize = 12;

/// What keys and files of the host hold. No output may.
const SECRET: &str = "canary-7d20e4";

/// The part of the daily commands that the sandbox may be in the way of, in percent.
const HELD_PERCENT: usize = 3;

fn rows(file: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/commands").join(file);
    fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What came of a command.
#[derive(Debug)]
struct Ran {
    command: String,
    text: String,
    note: Option<String>,
}

/// Each command in a task of its own and in a scene that `scene` gives, several at once. The home of the file becomes this one.
async fn run_all(scene: impl Fn() -> Arc<Scene>, home: &Path, commands: Vec<String>) -> Vec<Ran> {
    let (mut running, mut done) = (JoinSet::new(), Vec::new());
    let home = home.display().to_string();
    for (number, command) in commands.into_iter().enumerate() {
        if running.len() >= AT_ONCE {
            done.push(running.join_next().await.unwrap().unwrap());
        }
        let (scene, home) = (scene(), home.clone());
        running.spawn(async move {
            let text = command.replace("/home/ada", &home);
            let request = Request { timeout: Some(TIMEOUT), ..Request::shell(text) };
            let outcome = scene.terminal.run(&format!("task-{number}"), request).await.unwrap();
            scene.terminal.end_task(&format!("task-{number}")).await;
            Ran { command, text: outcome.output.text, note: outcome.note }
        });
    }
    while let Some(one) = running.join_next().await {
        done.push(one.unwrap());
    }
    done
}

/// Names, sizes, owners and times of what lies in folders of the machine that no command may change.
fn machine() -> BTreeMap<PathBuf, (u64, u32, u32, i64)> {
    let mut seen = BTreeMap::new();
    let folders = [
        "/",
        "/etc",
        "/etc/cron.d",
        "/etc/profile.d",
        "/usr",
        "/usr/bin",
        "/usr/local/bin",
        "/var/spool/cron",
        "/root",
    ];
    for folder in folders {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if let Ok(found) = entry.metadata() {
                // Folders of the kernel, and those in which other programs work all the time.
                let is_busy =
                    ["/proc", "/sys", "/dev", "/tmp", "/run"].iter().any(|busy| entry.path() == Path::new(busy));
                let time = if is_busy || found.is_dir() { 0 } else { found.mtime() };
                let size = if found.is_dir() { 0 } else { found.size() };
                seen.insert(entry.path(), (size, found.mode(), found.uid(), time));
            }
        }
    }
    seen
}

/// Every file below a folder with its content.
fn content(folder: &Path, without: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let kind = fs::symlink_metadata(&path).unwrap().file_type();
            if path == without {
                continue;
            }
            if kind.is_dir() {
                folders.push(path.clone());
            }
            found.insert(path.clone(), kind.is_file().then(|| fs::read(&path).unwrap()));
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn no_harmful_command_has_an_effect_outside_the_sandbox() {
    let harmful = rows("harmful.jsonl");
    assert!(harmful.len() >= 400, "only {} harmful commands", harmful.len());
    // Anything less than all layers is no place for these.
    let c = confined(Layers::All, false);
    fs::write(c.home.join(".bashrc"), "# canary\n").unwrap();
    for key in [".ssh/id_ed25519", ".ssh/id_rsa", ".aws/credentials", ".netrc", ".hermes/token", ".hermes/hermes.toml"]
    {
        fs::create_dir_all(c.home.join(key).parent().unwrap()).unwrap();
        fs::write(c.home.join(key), format!("{SECRET}\n")).unwrap();
    }
    let listener = UnixListener::bind(c.outside.path().join("socket")).unwrap();
    listener.set_nonblocking(true).unwrap();
    let mut victim = Command::new("sleep").arg("10000").stdin(Stdio::null()).spawn().unwrap();
    let workspace = c.home.join("project");
    let (before, machine_before) = (content(c.outside.path(), &workspace), machine());
    let scene = Arc::new(c.scene);
    let ran = run_all(|| Arc::clone(&scene), &c.home, harmful).await;
    let readers: Vec<&str> =
        ran.iter().filter(|one| one.text.contains(SECRET)).map(|one| one.command.as_str()).collect();
    assert!(readers.is_empty(), "keys and files of the host were read: {readers:#?}");
    assert_eq!(content(c.outside.path(), &workspace), before, "files of the home changed");
    assert_eq!(machine(), machine_before, "files of the machine changed");
    assert!(victim.try_wait().unwrap().is_none(), "a process outside was ended");
    assert!(listener.accept().is_err(), "a socket outside was reached");
    victim.kill().unwrap();
    victim.wait().unwrap();
}

/// A small project, so that the commands find something.
fn project(folder: &Path) {
    for (file, text) in [
        ("Cargo.toml", "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2024\"\n"),
        ("src/main.rs", "fn main() {}\n"),
        ("package.json", "{\"name\": \"demo\", \"scripts\": {\"test\": \"true\", \"build\": \"true\"}}\n"),
        ("Makefile", "all:\n\ttrue\n"),
        ("a.txt", "one\ntwo\n"),
        ("README.md", "# Demo\n"),
    ] {
        fs::create_dir_all(folder.join(file).parent().unwrap()).unwrap();
        fs::write(folder.join(file), text).unwrap();
    }
    for words in
        [&["init", "-q"][..], &["add", "."], &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first"]]
    {
        assert!(Command::new("git").args(words).current_dir(folder).status().unwrap().success());
    }
}

#[tokio::test(flavor = "multi_thread")]
#[allow(clippy::print_stderr)]
async fn the_sandbox_is_in_the_way_of_few_daily_commands() {
    let daily = rows("daily.jsonl");
    assert!(daily.len() >= 300, "only {} daily commands", daily.len());
    // The toolchains of this machine lie in the real home. Commands see them and write to a home of their task's own.
    let home = PathBuf::from(std::env::var_os("HOME").unwrap());
    let template = tempfile::tempdir().unwrap();
    project(template.path());
    // A workspace for each: what one command does is not to be in the way of another.
    let scene = || {
        let workspace = tempfile::tempdir().unwrap();
        let source = template.path().join(".");
        assert!(Command::new("cp").arg("-a").arg(source).arg(workspace.path()).status().unwrap().success());
        let sandbox = sandbox(Layers::All, workspace.path(), &home).unwrap();
        let backend = Local::new(launcher(), workspace.path()).unwrap().confined(Arc::new(sandbox), false);
        Arc::new(Scene::on(Arc::new(backend), workspace))
    };
    let count = daily.len();
    let done = run_all(scene, &home, daily).await;
    // The hint names the sandbox as the likely cause. A missing program or file is not its doing.
    let is_held = |one: &&Ran| one.note.as_ref().is_some_and(|note| note.contains("sandbox"));
    let held: Vec<(&str, &str)> = done.iter().filter(is_held).map(|one| (&*one.command, &*one.text)).collect();
    eprintln!("{} of {count} held: {held:#?}", held.len());
    assert!(held.len() * 100 <= count * HELD_PERCENT, "{} of {count} were held: {held:#?}", held.len());
}
