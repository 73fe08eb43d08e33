//! Commands on another machine, which is this one behind a real sshd on loopback.

use std::{
    fs,
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::Duration,
};

use super::tools::{ASKS, Office, Says, shell};
use super::{Scene, TASK, launcher, processes_with, until};
use hermes_host::capability::terminal::{
    Ended, Fault, Input, Request,
    backend::{Ssh, Target},
    process::Watch,
};
use tempfile::TempDir;

const SSHD: &str = "/usr/sbin/sshd";

/// A server with keys and settings of its own.
struct Server {
    daemon: Child,
    folder: TempDir,
    port: u16,
}

impl Server {
    async fn start() -> Self {
        assert!(Path::new(SSHD).exists(), "these tests need {SSHD}: apt-get install openssh-server");
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).display().to_string();
        for key in ["host", "user"] {
            let mut make = Command::new("ssh-keygen");
            make.args(["-q", "-t", "ed25519", "-N", "", "-f", &at(key)]);
            assert!(make.status().unwrap().success());
        }
        fs::rename(at("user.pub"), at("authorized")).unwrap();
        // It refuses to start without this folder, where it is root's.
        let _ = fs::create_dir_all("/run/sshd");
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let settings = format!(
            "ListenAddress 127.0.0.1\nPort {port}\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nUsePAM no\nStrictModes no\n\
             PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin yes\nMaxSessions 64\nMaxStartups 64\n",
            at("host"),
            at("authorized"),
        );
        fs::write(at("sshd_config"), settings).unwrap();
        fs::write(at("ssh_config"), format!("UserKnownHostsFile {}\nIdentitiesOnly yes\n", at("known"))).unwrap();
        let mut daemon = Command::new(SSHD);
        daemon
            .args(["-D", "-e", "-f", &at("sshd_config")])
            .stdin(Stdio::null())
            .stderr(fs::File::create(at("log")).unwrap());
        let daemon = daemon.spawn().unwrap();
        until("sshd listens", || TcpStream::connect(("127.0.0.1", port)).is_ok()).await;
        Self { daemon, folder, port }
    }

    fn target(&self) -> Target {
        let at = |name: &str| self.folder.path().join(name);
        Target {
            host: "127.0.0.1".into(),
            port: Some(self.port),
            identity: Some(at("user")),
            config: Some(at("ssh_config")),
            ..Target::default()
        }
    }

    async fn scene(&self) -> Scene {
        let workspace = tempfile::tempdir().unwrap();
        let target = Target { workdir: Some(workspace.path().to_owned()), ..self.target() };
        Scene::on(Arc::new(Ssh::connect(launcher(), target).await.unwrap()), workspace)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}

#[tokio::test]
async fn commands_run_there_with_output_code_and_input() {
    let server = Server::start().await;
    let scene = server.scene().await;
    let outcome = scene.shell("echo \"it's\" out; echo err >&2; exit 3").await;
    assert_eq!((outcome.output.text.as_str(), outcome.ended), ("it's out\nerr\n", Ended::Exit(3)));
    let outcome = scene.run(Request::exec("printf", ["%s|", "$HOME", "a'b", "; exit 9", "two\nlines"])).await;
    assert_eq!(outcome.output.text, "$HOME|a'b|; exit 9|two\nlines|");
    let outcome =
        scene.run(Request { input: Input::Bytes(b"given".to_vec()), ..Request::shell("cat; echo; cat") }).await;
    assert_eq!(outcome.output.text, "given\n");
    assert_eq!(scene.text("cat; echo over").await, "over\n");
}

#[tokio::test]
async fn directory_and_exports_are_carried_on_there_too() {
    let server = Server::start().await;
    let scene = server.scene().await;
    scene.shell("mkdir sub; cd sub; export A='two\nlines'").await;
    assert!(scene.terminal.cwd(TASK).ends_with("sub"));
    assert_eq!(scene.text("basename $PWD; echo \"$A\"").await, "sub\ntwo\nlines\n");
    scene.run(Request { workdir: Some("/usr".into()), ..Request::shell("cd share; export B=1") }).await;
    assert_eq!(scene.text("basename $PWD; echo $B").await, "sub\n1\n");
}

#[tokio::test]
async fn a_command_there_sees_these_variables_and_no_others() {
    let server = Server::start().await;
    let scene = server.scene().await;
    let text = scene.run(Request::exec("env", [""; 0])).await.output.text;
    let mut names: Vec<&str> = text.lines().map(|line| line.split_once('=').unwrap().0).collect();
    names.sort_unstable();
    assert_eq!(names, ["HOME", "PATH", "SHELL", "TERM", "TERMINAL_MARK", "USER"]);
}

#[tokio::test]
async fn a_deadline_holds_there_and_daemons_end_with_their_command() {
    let server = Server::start().await;
    let scene = server.scene().await;
    let daemon = format!(
        "(setsid bash -c '(setsid {0} </dev/null >/dev/null 2>&1 &)' &); until pgrep -fx '{0}' >/dev/null; do sleep 0.01; done",
        scene.sleep()
    );
    let timeout = Some(Duration::from_secs(4));
    let command = format!("trap '' TERM HUP; {daemon}; echo begun; {}", scene.sleep());
    let outcome = scene.run(Request { timeout, ..Request::shell(command) }).await;
    assert_eq!((outcome.ended, outcome.output.text.as_str()), (Ended::Timeout, "begun\n"));
    // The watch over there ends a moment after it answered.
    until("everything there ended", || processes_with(&scene.mark).is_empty()).await;
    let outcome = scene.shell(&format!("{daemon}; {} & echo done", scene.sleep())).await;
    assert_eq!((outcome.ended, outcome.output.text.as_str()), (Ended::Exit(0), "done\n"));
    // The watch over there ends a moment after it answered.
    until("everything there ended", || processes_with(&scene.mark).is_empty()).await;
}

#[tokio::test]
async fn background_processes_and_terminals_work_there() {
    let server = Server::start().await;
    let scene = server.scene().await;
    let start = |request| scene.terminal.start(TASK, request, Watch::default());
    let id = start(Request::shell("while read line; do echo got $line; done; echo over")).await.unwrap().id;
    scene.terminal.submit(TASK, &id, "one").await.unwrap();
    until("it reads", || scene.terminal.poll(TASK, &id).unwrap().tail == "got one\n").await;
    scene.terminal.close(TASK, &id).await.unwrap();
    let status = scene.terminal.wait(TASK, &id, None).await.unwrap();
    assert_eq!((status.ended, status.tail.as_str()), (Some(Ended::Exit(0)), "got one\nover\n"));
    let id = start(Request { pty: true, ..Request::shell(format!("test -t 0 && echo tty; {}", scene.sleep())) })
        .await
        .unwrap()
        .id;
    until("it has a terminal", || scene.terminal.poll(TASK, &id).unwrap().tail.contains("tty")).await;
    scene.terminal.kill(TASK, &id).await.unwrap();
    until("it ended there", || processes_with(&scene.mark).is_empty()).await;
}

#[tokio::test]
async fn a_host_that_goes_away_leaves_nothing_there() {
    let server = Server::start().await;
    let scene = server.scene().await;
    let command = format!("trap '' TERM HUP; (setsid {0} </dev/null >/dev/null 2>&1 &); {0}", scene.sleep());
    scene.terminal.start(TASK, Request::shell(command), Watch::default()).await.unwrap();
    until("both sleep", || processes_with(&scene.mark).iter().filter(|line| line.contains(": sleep")).count() == 2)
        .await;
    let mark = scene.mark.clone();
    drop(scene);
    until("everything ended there", || processes_with(&mark).is_empty()).await;
}

#[tokio::test]
async fn a_connection_that_is_lost_is_made_again() {
    let server = Server::start().await;
    let scene = server.scene().await;
    let outcome = scene.terminal.run(TASK, Request::shell("kill -KILL $(ps -o ppid= -p $PPID)")).await;
    assert!(outcome.is_err() || outcome.is_ok_and(|outcome| outcome.ended != Ended::Exit(0)));
    for attempt in 0.. {
        match scene.terminal.run(TASK, Request::shell("echo back")).await {
            Ok(outcome) if outcome.output.text == "back\n" => break,
            other => assert!(attempt < 5, "{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_machine_that_refuses_is_named_with_its_reason() {
    let server = Server::start().await;
    let stranger = Target { identity: Some("/dev/null".into()), ..server.target() };
    let fault = Ssh::connect(launcher(), stranger).await.unwrap_err();
    assert!(matches!(&fault, Fault::Remote { why, .. } if why.contains("Permission denied")), "{fault}");
    let nobody = Target { port: Some(1), ..server.target() };
    let fault = Ssh::connect(launcher(), nobody).await.unwrap_err();
    assert!(fault.to_string().contains("Connection refused"), "{fault}");
}

#[tokio::test]
async fn the_tools_run_there_where_the_operator_says_so_and_are_judged_all_the_same() {
    let server = Server::start().await;
    let at = |name: &str| server.folder.path().join(name).display().to_string();
    let there = tempfile::tempdir().unwrap();
    let config = format!(
        "[terminal]\nbackend = \"ssh\"\n\n[terminal.ssh]\nhost = \"127.0.0.1\"\nport = {}\nidentity = {:?}\nconfig = {:?}\nworkdir = {:?}\n",
        server.port,
        at("user"),
        at("ssh_config"),
        there.path(),
    );
    let office = Office::new(&config);
    let person = Says::new("session");
    let host = office.builder().approver(person.clone()).build().unwrap();
    let answer = shell(&host, "pwd; echo ${SSH_CONNECTION:-unset}; export A=1").await;
    assert!(answer["output"].as_str().unwrap().contains(there.path().to_str().unwrap()), "{answer}");
    assert_eq!(shell(&host, "echo $A").await["output"], "1\n");
    assert_eq!(shell(&host, "rm -rf /").await["status"], "blocked");
    let before = person.asked();
    for _ in 0..2 {
        assert_eq!(shell(&host, ASKS).await["exit_code"], 0);
    }
    assert_eq!(person.asked(), before + 1, "what the other machine has of itself is nothing that the task exported");
    assert_eq!(fs::read_to_string(there.path().join("trace")).unwrap().lines().count(), 2);
}

#[tokio::test]
async fn the_end_of_one_command_is_not_the_end_of_others_whose_number_begins_alike() {
    let server = Server::start().await;
    let scene = server.scene().await;
    let first = scene.terminal.start(TASK, Request::shell("sleep 1000"), Watch::default()).await.unwrap().id;
    let mut last = String::new();
    for _ in 0..12 {
        last = scene.terminal.start(TASK, Request::shell("sleep 1000"), Watch::default()).await.unwrap().id;
    }
    scene.terminal.kill(TASK, &first).await.unwrap();
    // The sweep there is over when another command was answered.
    scene.shell("true").await;
    assert_eq!(scene.terminal.poll(TASK, &last).unwrap().ended, None);
    scene.terminal.end_task(TASK).await;
}
