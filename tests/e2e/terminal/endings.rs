//! Commands that do not want to end, and what is left of them: nothing.

use std::{
    fs,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use super::super::{cli::Place, patience::PATIENCE};
use super::{BINARY, Scene, TASK, processes_with, until};
use hermes_host::capability::terminal::{Ended, Request, limits, process::Watch};
use serde_json::json;

const SHORT: Duration = Duration::from_millis(500);

fn short(command: String) -> Request {
    Request { timeout: Some(SHORT), ..Request::shell(command) }
}

/// A program that leaves its session and its parent, as daemons do. It is there when this ends.
fn daemon(inner: &str) -> String {
    format!("(setsid bash -c '(setsid {inner} </dev/null >/dev/null 2>&1 &)' &); {}", await_program(inner))
}

fn await_program(words: &str) -> String {
    format!("until pgrep -fx '{words}' >/dev/null; do sleep 0.01; done")
}

#[tokio::test]
async fn a_command_is_ended_at_its_deadline() {
    let scene = Scene::local();
    // It says that it was asked to end: a command that is killed can't.
    let command = format!("trap 'echo asked; exit' TERM; echo begun; {} & wait", scene.sleep());
    let outcome = scene.run(short(command)).await;
    assert_eq!((outcome.ended, outcome.ended.code()), (Ended::Timeout, 124));
    assert_eq!(outcome.output.text, "begun\nasked\n");
    scene.nothing_is_left();
}

#[tokio::test]
async fn a_command_that_ignores_the_question_is_ended_all_the_same() {
    let scene = Scene::local();
    let start = Instant::now();
    let command = format!("trap '' TERM HUP INT; while :; do {}; done", scene.sleep());
    let outcome = scene.run(short(command)).await;
    assert_eq!(outcome.ended, Ended::Timeout);
    assert!(start.elapsed() < PATIENCE);
    scene.nothing_is_left();
}

#[tokio::test]
async fn a_daemon_does_not_outlive_the_deadline() {
    let scene = Scene::local();
    let outcome = scene.run(short(format!("{}; {}", daemon(&scene.sleep()), scene.sleep()))).await;
    assert_eq!(outcome.ended, Ended::Timeout);
    scene.nothing_is_left();
}

#[tokio::test]
async fn a_daemon_does_not_outlive_its_command_and_is_named() {
    let scene = Scene::local();
    let start = Instant::now();
    let outcome = scene.shell(&format!("{}; echo done", daemon(&scene.sleep()))).await;
    assert_eq!((outcome.ended, outcome.output.text.as_str()), (Ended::Exit(0), "done\n"));
    assert_eq!(outcome.left, ["sleep"]);
    assert!(start.elapsed() < PATIENCE);
    scene.nothing_is_left();
}

#[tokio::test]
async fn a_daemon_that_changed_name_variables_and_folder_is_found() {
    let scene = Scene::local();
    let hidden =
        format!("(cd / && exec env -i /usr/bin/setsid bash -c 'trap \"\" TERM; exec -a kworker {}')", scene.sleep());
    let wait = await_program(&format!("kworker {}", scene.mark));
    let outcome = scene.shell(&format!("({hidden} </dev/null >/dev/null 2>&1 &); {wait}; echo done")).await;
    assert_eq!((outcome.output.text.as_str(), outcome.left), ("done\n", vec!["sleep".to_owned()]));
    scene.nothing_is_left();
}

#[tokio::test]
async fn who_holds_the_pipe_after_the_end_holds_up_nobody() {
    let scene = Scene::local();
    let start = Instant::now();
    let outcome = scene.shell(&format!("{} & echo done", scene.sleep())).await;
    assert_eq!((outcome.ended, outcome.output.text.as_str()), (Ended::Exit(0), "done\n"));
    assert!(start.elapsed() < PATIENCE);
    scene.nothing_is_left();
}

#[tokio::test]
async fn endless_output_is_ended_with_and_without_a_terminal() {
    let scene = Scene::local();
    for pty in [false, true] {
        let outcome = scene.run(Request { pty, ..short(format!("yes {}", scene.mark)) }).await;
        assert_eq!(outcome.ended, Ended::Timeout);
        assert!(outcome.output.omitted > 0 && outcome.output.text.len() < limits::OUTPUT_BYTES + 200);
        scene.nothing_is_left();
    }
}

#[tokio::test]
async fn a_daemon_of_a_terminal_does_not_outlive_it() {
    let scene = Scene::local();
    let command = format!("trap '' HUP TERM; {}; {}", daemon(&scene.sleep()), scene.sleep());
    let outcome = scene.run(Request { pty: true, ..short(command) }).await;
    assert_eq!(outcome.ended, Ended::Timeout);
    scene.nothing_is_left();
}

#[tokio::test]
async fn a_fork_bomb_ends() {
    let scene = Scene::local();
    // Bounded, so that a failure does not take the machine with it.
    let command = format!(
        "ulimit -u 2000 2>/dev/null; f() {{ [ $1 -gt 6 ] || {{ f $(($1+1)) & f $(($1+1)) & }}; {}; }}; f 0",
        scene.sleep()
    );
    let outcome = scene.run(short(command)).await;
    assert_eq!(outcome.ended, Ended::Timeout);
    scene.nothing_is_left();
}

#[tokio::test]
async fn a_command_that_keeps_starting_daemons_is_ended() {
    let scene = Scene::local();
    let command = format!("trap '' TERM; while :; do (setsid {} </dev/null >/dev/null 2>&1 &); done", scene.sleep());
    let outcome = scene.run(short(command)).await;
    assert_eq!(outcome.ended, Ended::Timeout);
    scene.nothing_is_left();
}

#[tokio::test]
async fn a_command_that_stops_its_supervisor_is_ended_by_the_host() {
    let scene = Scene::local();
    let outcome = scene.run(short(format!("kill -STOP $PPID; {}", scene.sleep()))).await;
    assert_eq!(outcome.ended, Ended::Timeout);
    scene.nothing_is_left();
}

#[tokio::test]
async fn a_command_that_kills_its_supervisor_dies_with_it() {
    let scene = Scene::local();
    let start = Instant::now();
    let outcome = scene.run(Request::exec("bash", ["-c", &format!("kill -KILL $PPID; exec {}", scene.sleep())])).await;
    assert_eq!(outcome.ended, Ended::Lost);
    assert!(start.elapsed() < PATIENCE);
    scene.nothing_is_left();
}

#[tokio::test]
async fn a_call_that_is_given_up_leaves_nothing() {
    let scene = Scene::local();
    let command = format!("trap '' TERM; {}; {}", daemon(&scene.sleep()), scene.sleep());
    {
        let call = scene.terminal.run(TASK, Request::shell(command));
        tokio::pin!(call);
        let begun =
            until("the command began", || processes_with(&scene.mark).iter().any(|line| line.contains(": sleep")));
        tokio::select! { _ = &mut call => panic!("it sleeps"), () = begun => {} }
    }
    until("everything ended", || processes_with(&scene.mark).is_empty()).await;
}

#[tokio::test]
async fn a_task_that_ends_leaves_nothing() {
    let scene = Scene::local();
    let command = format!("trap '' TERM; {}; {}", daemon(&scene.sleep()), scene.sleep());
    for pty in [false, true] {
        scene.terminal.start(TASK, Request { pty, ..Request::shell(&command) }, Watch::default()).await.unwrap();
    }
    until("both run", || processes_with(&scene.mark).iter().filter(|line| line.contains(": sleep")).count() >= 4).await;
    scene.terminal.end_task(TASK).await;
    scene.nothing_is_left();
    assert_eq!(scene.terminal.list(TASK).len(), 0);
}

#[tokio::test]
async fn a_terminal_that_is_dropped_leaves_nothing() {
    let scene = Scene::local();
    scene.terminal.start(TASK, Request::shell(scene.sleep()), Watch::default()).await.unwrap();
    until("it runs", || processes_with(&scene.mark).iter().any(|line| line.contains(": sleep"))).await;
    let mark = scene.mark.clone();
    drop(scene);
    until("everything ended", || processes_with(&mark).is_empty()).await;
}

#[tokio::test]
async fn a_host_that_is_killed_leaves_nothing() {
    let scene = Scene::local();
    let place = Place::new();
    fs::write(place.home().join("hermes.toml"), "[approval]\nmode = \"off\"\n").unwrap();
    let script = format!("trap '' TERM HUP; {}; {}", daemon(&scene.sleep()), scene.sleep());
    fs::write(scene.workspace.path().join("script"), script).unwrap();
    let mut host = Command::new(BINARY);
    host.args(["call", "terminal", &json!({ "command": "bash script" }).to_string(), "--home"]).arg(place.home());
    host.arg("--workspace").arg(scene.workspace.path()).stdin(Stdio::null()).stdout(Stdio::null());
    let mut host = host.spawn().unwrap();
    // A daemon and one that is waited for.
    let both = || processes_with(&scene.mark).iter().filter(|line| line.contains(": sleep")).count() == 2;
    until("the command runs", both).await;
    host.kill().unwrap();
    host.wait().unwrap();
    until("everything ended", || processes_with(&scene.mark).is_empty()).await;
}

#[tokio::test]
async fn a_supervisor_that_was_stopped_ends_everything_when_its_call_is_given_up() {
    let scene = Scene::local();
    let command = format!("{}; kill -STOP $PPID; {}", daemon(&scene.sleep()), scene.sleep());
    {
        let call = scene.terminal.run(TASK, Request::shell(command));
        tokio::pin!(call);
        let sleeps = || processes_with(&scene.mark).iter().filter(|line| line.contains(": sleep")).count() == 2;
        tokio::select! { _ = &mut call => panic!("it sleeps"), () = until("both sleep", sleeps) => {} }
    }
    until("everything ended", || processes_with(&scene.mark).is_empty()).await;
}
