//! Processes that go on while their caller does other things.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use super::{Scene, TASK, launcher, until};
use hermes_host::capability::terminal::{
    Ended, Fault, Request, Terminal,
    backend::Local,
    limits,
    process::{self, News, Notice, Watch},
};

impl Scene {
    async fn start(&self, command: &str) -> String {
        self.start_as(Request::shell(command)).await
    }

    async fn start_as(&self, request: Request) -> String {
        self.terminal.start(TASK, request, Watch::default()).await.unwrap().id
    }

    async fn end_of(&self, id: &str) -> process::Status {
        self.terminal.wait(TASK, id, Some(Duration::from_secs(30))).await.unwrap()
    }
}

#[tokio::test]
async fn a_process_is_seen_from_its_start_to_its_end() {
    let scene = Scene::local();
    let id = scene.start("echo begun; until [ -e go ]; do sleep 0.01; done; echo over; exit 3").await;
    until("it prints", || scene.terminal.poll(TASK, &id).unwrap().tail == "begun\n").await;
    let status = scene.terminal.poll(TASK, &id).unwrap();
    assert!(
        status.ended.is_none() && status.pid.is_some_and(|pid| std::path::Path::new(&format!("/proc/{pid}")).exists())
    );
    let status = scene.terminal.wait(TASK, &id, Some(Duration::ZERO)).await.unwrap();
    assert_eq!(status.ended, None, "waiting has an end too");
    scene.shell("touch go").await;
    let status = scene.end_of(&id).await;
    assert_eq!((status.ended, status.tail.as_str(), status.printed), (Some(Ended::Exit(3)), "begun\nover\n", 11));
    assert_eq!(scene.terminal.list(TASK).len(), 1, "it can still be read");
}

#[tokio::test]
async fn lines_are_written_to_a_process_and_its_input_is_closed() {
    let scene = Scene::local();
    let id = scene.start("while read line; do echo got $line; done; echo over").await;
    scene.terminal.submit(TASK, &id, "one").await.unwrap();
    scene.terminal.write(TASK, &id, b"two\nthr").await.unwrap();
    scene.terminal.write(TASK, &id, b"ee\n").await.unwrap();
    until("it reads", || scene.terminal.poll(TASK, &id).unwrap().tail == "got one\ngot two\ngot three\n").await;
    scene.terminal.close(TASK, &id).await.unwrap();
    assert_eq!(scene.end_of(&id).await.tail, "got one\ngot two\ngot three\nover\n");
    assert!(matches!(scene.terminal.submit(TASK, &id, "late").await, Err(Fault::Over(_))));
}

#[tokio::test]
async fn a_process_on_a_terminal_is_typed_to() {
    let scene = Scene::local();
    let id = scene.start_as(Request { pty: true, ..Request::shell("read -p 'name? ' n; echo hello $n; cat") }).await;
    until("it asks", || scene.terminal.poll(TASK, &id).unwrap().tail.contains("name? ")).await;
    scene.terminal.submit(TASK, &id, "ada").await.unwrap();
    until("it answers", || scene.terminal.poll(TASK, &id).unwrap().tail.contains("hello ada\r\n")).await;
    scene.terminal.close(TASK, &id).await.unwrap();
    assert_eq!(scene.end_of(&id).await.ended, Some(Ended::Exit(0)));
}

#[tokio::test]
async fn a_process_that_does_not_read_holds_up_nobody_for_ever() {
    let scene = Scene::local();
    let id = scene.start("exec sleep 1000").await;
    let fault = scene.terminal.write(TASK, &id, &vec![b'a'; 1 << 20]).await.unwrap_err();
    assert!(matches!(fault, Fault::InputFull(_)));
    scene.terminal.kill(TASK, &id).await.unwrap();
}

#[tokio::test]
async fn the_log_is_read_by_line() {
    let scene = Scene::local();
    let id = scene.start("seq 0 999").await;
    scene.end_of(&id).await;
    let lines = scene.terminal.log(TASK, &id, Some(10), Some(3)).unwrap();
    assert_eq!((lines.text.as_str(), lines.first, lines.total), ("10\n11\n12\n", 10, 1000));
    let last = scene.terminal.log(TASK, &id, None, None).unwrap();
    assert_eq!((last.lines, last.first), (limits::LOG_LINES, 800));
}

#[tokio::test]
async fn a_killed_process_takes_all_that_came_of_it_along() {
    let scene = Scene::local();
    let id = scene.start(&format!("trap '' TERM; (setsid {0} &) ; {0}", scene.sleep())).await;
    until("both sleep", || {
        super::processes_with(&scene.mark).iter().filter(|line| line.contains(": sleep")).count() == 2
    })
    .await;
    let status = scene.terminal.kill(TASK, &id).await.unwrap();
    assert!(matches!(status.ended, Some(Ended::Signal(9 | 15) | Ended::Exit(_))), "{status:?}");
    scene.nothing_is_left();
    assert_eq!(scene.terminal.kill(TASK, &id).await.unwrap().ended, status.ended, "twice does no harm");
}

#[tokio::test]
async fn a_process_begins_where_its_task_is_and_changes_nothing_of_it() {
    let scene = Scene::local();
    scene.shell("mkdir sub; cd sub; export A=1").await;
    let id = scene.start("basename $PWD; echo $A; cd /; export A=2").await;
    assert_eq!(scene.end_of(&id).await.tail, "sub\n1\n");
    assert_eq!(scene.text("basename $PWD; echo $A").await, "sub\n1\n");
}

#[tokio::test]
async fn a_task_sees_no_process_of_another() {
    let scene = Scene::local();
    let id = scene.start("cat").await;
    assert_eq!(scene.terminal.list("another").len(), 0);
    assert!(matches!(scene.terminal.poll("another", &id), Err(Fault::Unknown(_))));
    assert!(matches!(scene.terminal.kill("another", &id).await, Err(Fault::Unknown(_))));
    assert!(scene.terminal.poll(TASK, &id).unwrap().ended.is_none());
}

#[tokio::test]
async fn only_so_many_run_at_once_and_one_that_ends_makes_room() {
    let scene = Scene::local();
    let mut ids = Vec::new();
    for _ in 0..limits::RUNNING_OF_A_TASK {
        ids.push(scene.start("cat").await);
    }
    let fault = scene.terminal.run(TASK, Request::shell("true")).await.unwrap_err();
    assert!(matches!(fault, Fault::Busy(limits::RUNNING_OF_A_TASK)));
    scene.terminal.close(TASK, &ids[0]).await.unwrap();
    scene.end_of(&ids[0]).await;
    assert_eq!(scene.shell("true").await.ended, Ended::Exit(0));
    scene.terminal.end_task(TASK).await;
}

#[tokio::test]
async fn a_listener_hears_of_lines_and_of_the_end() {
    let workspace = tempfile::tempdir().unwrap();
    let heard: Arc<Mutex<Vec<Notice>>> = Arc::default();
    let ear = Arc::clone(&heard);
    let backend = Local::new(launcher(), workspace.path()).unwrap();
    let terminal = Terminal::new(Arc::new(backend), Some(Arc::new(move |notice| ear.lock().unwrap().push(notice))));
    let watch = Watch { end: true, patterns: vec!["listening on".into()] };
    let command = "echo start; echo listening on 1; echo listening on 2; printf 'no end'";
    let id = terminal.start(TASK, Request::shell(command), watch).await.unwrap().id;
    until("its end is heard", || matches!(heard.lock().unwrap().last(), Some(Notice { news: News::Ended { .. }, .. })))
        .await;
    let notice = |news| Notice { task: TASK.into(), process: id.clone(), news };
    let matched = News::Matched { pattern: "listening on".into(), line: "listening on 1".into(), untold: 0 };
    let tail = "start\nlistening on 1\nlistening on 2\nno end".into();
    assert_eq!(*heard.lock().unwrap(), [notice(matched), notice(News::Ended { ended: Ended::Exit(0), tail })]);
}

#[tokio::test]
async fn a_process_that_prints_for_ever_takes_bounded_memory() {
    let scene = Scene::local();
    let id = scene.start("yes").await;
    until("it printed much", || scene.terminal.poll(TASK, &id).unwrap().printed > 100 * limits::LOG_BYTES as u64).await;
    assert!(scene.terminal.log(TASK, &id, Some(0), Some(usize::MAX)).unwrap().text.len() <= limits::LOG_BYTES);
    scene.terminal.kill(TASK, &id).await.unwrap();
}
