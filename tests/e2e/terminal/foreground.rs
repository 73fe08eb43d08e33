//! Commands that are waited for: what they print, see, read and leave for the next.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::{Scene, TASK};
use crate::heap;
use hermes_host::capability::terminal::{Ended, Fault, Input, Request, Sink, limits};

#[tokio::test]
async fn a_command_line_gives_its_output_and_its_code() {
    let scene = Scene::local();
    let outcome = scene.shell("echo out; echo err >&2; exit 3").await;
    assert_eq!(outcome.output.text, "out\nerr\n");
    assert_eq!(outcome.ended, Ended::Exit(3));
    assert_eq!(outcome.left, Vec::<String>::new());
}

#[tokio::test]
async fn no_shell_reads_the_arguments_of_a_program() {
    let scene = Scene::local();
    let outcome = scene.run(Request::exec("printf", ["%s|", "$HOME", "`id`", "; exit 9", "a b"])).await;
    assert_eq!(outcome.output.text, "$HOME|`id`|; exit 9|a b|");
}

#[tokio::test]
async fn a_program_that_is_not_there_is_called_so() {
    let scene = Scene::local();
    let outcome = scene.run(Request::exec("no-such-program", ["x"])).await;
    assert_eq!(outcome.ended, Ended::Exit(127));
    assert!(outcome.output.text.contains("failed to start 'no-such-program'"), "{}", outcome.output.text);
    assert_eq!(outcome.note.as_deref(), Some("no such program"));
}

#[tokio::test]
async fn an_exit_code_that_is_no_error_is_explained() {
    let scene = Scene::local();
    let outcome = scene.shell("echo a | grep b").await;
    assert_eq!((outcome.ended, outcome.note.as_deref()), (Ended::Exit(1), Some("no match: not an error")));
    let outcome = scene.shell("kill -SEGV $$").await;
    assert_eq!(
        (outcome.ended, outcome.note.as_deref()),
        (Ended::Signal(11), Some("ended by signal 11 (segmentation fault)"))
    );
}

#[tokio::test]
async fn a_program_sees_these_variables_and_no_others() {
    let scene = Scene::local();
    let outcome = scene.run(Request::exec("env", [""; 0])).await;
    let mut names: Vec<&str> = outcome.output.text.lines().map(|line| line.split_once('=').unwrap().0).collect();
    names.sort_unstable();
    let allowed = ["HOME", "LANG", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"];
    let expected: Vec<&str> = allowed
        .into_iter()
        .filter(|name| ["PATH", "TERM"].contains(name) || std::env::var_os(name).is_some())
        .collect();
    assert_eq!(names, expected);
    assert!(std::env::vars_os().count() > expected.len(), "the host has something to hide");
}

#[tokio::test]
async fn a_program_sees_three_descriptors_and_no_others() {
    // One that a careless library left open for children.
    let leaked = std::fs::File::open("/dev/zero").unwrap();
    rustix::io::fcntl_setfd(&leaked, rustix::io::FdFlags::empty()).unwrap();
    let scene = Scene::local();
    for pty in [false, true] {
        let request = Request { pty, ..Request::exec("ls", ["-1", "/proc/self/fd"]) };
        let outcome = scene.run(request).await;
        // The fourth is the directory that `ls` reads.
        assert_eq!(outcome.output.text.split_whitespace().collect::<Vec<_>>(), ["0", "1", "2", "3"]);
    }
}

#[tokio::test]
async fn a_command_has_the_limit_of_open_files_from_before_the_raise() {
    let hard = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: Some(300), maximum: hard }).unwrap();
    hermes_host::raise_open_file_limit();
    assert_eq!(getrlimit(Resource::Nofile).current, hard);
    let scene = Scene::local();
    assert_eq!(scene.shell("ulimit -Sn").await.output.text, "300\n");
}

#[tokio::test]
async fn a_command_reads_nothing_unless_it_is_given_something() {
    let scene = Scene::local();
    assert_eq!(scene.shell("cat; echo over").await.output.text, "over\n");
    let input = Input::Bytes(b"given\n".repeat(100_000));
    let outcome = scene.run(Request { input, ..Request::shell("wc -l") }).await;
    assert_eq!(outcome.output.text.trim(), "100000");
    let input = Input::Bytes(b"unread\n".repeat(100_000));
    let outcome = scene.run(Request { input, ..Request::shell("exit 4") }).await;
    assert_eq!(outcome.ended, Ended::Exit(4));
}

#[tokio::test]
async fn directory_and_exports_are_carried_on_and_other_variables_are_not() {
    let scene = Scene::local();
    scene.shell("mkdir sub; cd sub; export A='two\nlines' LD_PRELOAD=/x.so; b=local").await;
    assert!(scene.terminal.cwd(TASK).ends_with("sub"));
    assert_eq!(scene.text("basename $PWD; echo \"$A|$b|$LD_PRELOAD\"").await, "sub\ntwo\nlines||\n");
    let seen = scene.run(Request::exec("sh", ["-c", "basename $PWD; echo \"$A\""])).await;
    assert_eq!(seen.output.text, "sub\ntwo\nlines\n");
    scene.shell("unset A").await;
    assert_eq!(scene.text("echo ${A-gone}").await, "gone\n");
    let other = scene.terminal.run("another", Request::shell("pwd")).await.unwrap();
    assert_eq!(other.output.text.trim(), scene.workspace.path().canonicalize().unwrap().to_str().unwrap());
}

#[tokio::test]
async fn the_directory_of_one_call_is_forgotten_after_it() {
    let scene = Scene::local();
    scene.shell("mkdir a b").await;
    let outcome =
        scene.run(Request { workdir: Some("a".into()), ..Request::shell("basename $PWD; cd ../b; export C=1") }).await;
    assert_eq!(outcome.output.text, "a\n");
    assert_eq!(outcome.cwd, scene.workspace.path().canonicalize().unwrap());
    assert_eq!(scene.text("pwd; echo $C").await, format!("{}\n1\n", outcome.cwd.display()));
}

#[tokio::test]
async fn a_directory_that_is_gone_is_named_and_the_next_call_works() {
    let scene = Scene::local();
    scene.shell("mkdir gone; cd gone").await;
    scene.terminal.run("another", Request::shell("rmdir gone")).await.unwrap();
    let Err(Fault::NoDirectory(path)) = scene.terminal.run(TASK, Request::shell("pwd")).await else { panic!() };
    assert!(path.ends_with("gone"));
    assert_eq!(scene.shell("true").await.ended, Ended::Exit(0));
    let workdir = Some("/no/such".into());
    let fault = scene.terminal.run(TASK, Request { workdir, ..Request::shell("pwd") }).await.unwrap_err();
    assert_eq!(fault.to_string(), "no directory '/no/such' to run the command in: pass a workdir that exists");
}

#[tokio::test]
async fn what_is_too_long_is_refused_before_it_is_run() {
    let scene = Scene::local();
    let refuse = async |request| scene.terminal.run(TASK, request).await.unwrap_err();
    let timeout = Some(limits::TIMEOUT_MAX + Duration::from_secs(1));
    assert!(matches!(refuse(Request { timeout, ..Request::shell("true") }).await, Fault::Timeout(_)));
    assert!(matches!(refuse(Request::shell("a".repeat(limits::COMMAND_BYTES + 1))).await, Fault::Command(_)));
    assert!(matches!(refuse(Request::shell("a\0b")).await, Fault::Nul));
    let long = format!("echo {}", "a".repeat(limits::COMMAND_BYTES - 5));
    assert_eq!(scene.shell(&long).await.ended, Ended::Exit(0), "the longest that is allowed works");
}

#[tokio::test]
async fn output_is_heard_while_the_command_runs() {
    let scene = Scene::local();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let ear = Arc::clone(&heard);
    let flag = scene.workspace.path().join("flag");
    let sink_flag = flag.clone();
    let sink: Sink = Arc::new(move |bytes| {
        ear.lock().unwrap().extend_from_slice(bytes);
        std::fs::write(&sink_flag, "").unwrap();
    });
    // It goes on only once its first line was heard.
    let command = "echo first; until [ -e flag ]; do sleep 0.01; done; echo second";
    let outcome = scene
        .run(Request { sink: Some(sink), timeout: Some(Duration::from_secs(20)), ..Request::shell(command) })
        .await;
    assert_eq!(outcome.ended, Ended::Exit(0));
    assert_eq!(*heard.lock().unwrap(), b"first\nsecond\n");
}

#[tokio::test]
async fn ten_gigabytes_of_output_take_constant_memory() {
    let scene = Scene::local();
    scene.shell("true").await;
    // While it runs: what is freed at the end was held until then.
    let (before, most) = (heap::live_bytes(), AtomicUsize::new(0));
    let watched = async {
        loop {
            most.fetch_max(heap::live_bytes(), Ordering::Relaxed);
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let outcome = tokio::select! {
        outcome = scene.shell("echo begin; yes | head -c 10G; echo end") => outcome,
        () = watched => unreachable!("it watches for ever"),
    };
    let grown = most.into_inner().saturating_sub(before);
    assert_eq!(outcome.ended, Ended::Exit(0));
    assert_eq!(outcome.output.total, (10 << 30) + 10);
    assert!(outcome.output.text.starts_with("begin\ny\n") && outcome.output.text.ends_with("y\nend\n"));
    assert!(outcome.output.text.len() < limits::OUTPUT_BYTES + 200, "{}", outcome.output.text.len());
    assert!(grown < 8 << 20, "grew by {grown} bytes");
}

#[tokio::test]
async fn a_terminal_is_there_for_who_asks_and_nothing_is_typed_on_it() {
    let scene = Scene::local();
    let command = "test -t 0 && test -t 1 && test -t 2 && stty size && ps -o tty= -p $$ | grep -c pts; cat; echo over";
    let outcome = scene.run(Request { pty: true, ..Request::shell(command) }).await;
    assert_eq!(outcome.output.text, "30 120\r\n1\r\nover\r\n");
    assert_eq!(scene.text("test -t 0 || test -t 1 || echo none").await, "none\n");
    let input = Input::Bytes(b"typed\n".to_vec());
    let outcome = scene.run(Request { pty: true, input, ..Request::shell("cat") }).await;
    assert_eq!(outcome.output.text, "typed\r\n");
}

#[tokio::test]
async fn two_calls_at_once_do_not_undo_each_other() {
    let scene = Scene::local();
    scene.shell("mkdir sub").await;
    // The first ends last, with the old directory and without the second's variable.
    let first = scene.shell("export A=1; until [ -e flag ]; do sleep 0.01; done");
    let second = scene.shell("export B=1; cd sub; touch ../flag");
    tokio::join!(first, second);
    assert_eq!(scene.text("echo $A$B; basename $PWD").await, "11\nsub\n");
}
