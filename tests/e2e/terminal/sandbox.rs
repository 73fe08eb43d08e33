//! Confined commands: what they can't do, and what they still can.

use std::{
    fs,
    net::{TcpListener, UdpSocket},
    os::unix::net::{UnixDatagram, UnixListener},
    path::{Path, PathBuf},
    sync::{Arc, LazyLock},
};

use rustix::process::{Pid, Signal, kill_process};

use super::{Scene, TASK, launcher, until};
use hermes_host::capability::terminal::{
    Ended, Fault, Request, SandboxPolicy,
    backend::{Local, Sandbox, SandboxSite},
    process::Watch,
};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};
use tempfile::TempDir;

/// What holds the commands of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layers {
    /// Namespaces, Landlock and seccomp.
    All,
    /// Landlock and seccomp alone.
    WithoutNamespaces,
}

pub(super) const LAYERS: [Layers; 2] = [Layers::All, Layers::WithoutNamespaces];

pub(super) struct Confined {
    pub(super) scene: Scene,
    pub(super) outside: TempDir,
    pub(super) home: PathBuf,
}

/// A home with keys, a workspace in it, and a folder outside.
pub(super) fn confined(layers: Layers, network: bool) -> Confined {
    confined_with(layers, network, |_| SandboxPolicy::default())
}

/// The same, with what the operator adds for this home.
fn confined_with(layers: Layers, network: bool, policy: impl FnOnce(&Path) -> SandboxPolicy) -> Confined {
    let outside = tempfile::tempdir().unwrap();
    let home = outside.path().join("home");
    for folder in [".ssh", ".aws", ".gnupg", ".config/gh", ".config/git", ".cargo/bin", "project/.git/hooks"] {
        fs::create_dir_all(home.join(folder)).unwrap();
    }
    for file in [
        ".ssh/id_ed25519",
        ".aws/credentials",
        ".gnupg/ring",
        ".config/gh/hosts.yml",
        ".netrc",
        ".config/git/config",
        ".cargo/bin/tool",
        "notes",
    ] {
        fs::write(home.join(file), "content\n").unwrap();
    }
    fs::write(home.join("project/.git/config"), "[core]\n").unwrap();
    std::os::unix::fs::symlink(".ssh", home.join("link")).unwrap();
    let project = home.join("project");
    let sandbox = sandbox_with(layers, &project, &home, policy(&home)).unwrap();
    let backend = Local::new(launcher(), &project).unwrap().confined(Arc::new(sandbox), network);
    let scene = Scene::on(Arc::new(backend), tempfile::tempdir().unwrap());
    Confined { scene, outside, home }
}

pub(crate) fn sandbox(layers: Layers, workspace: &Path, home: &Path) -> Result<Sandbox, Fault> {
    sandbox_with(layers, workspace, home, SandboxPolicy::default())
}

fn sandbox_with(layers: Layers, workspace: &Path, home: &Path, policy: SandboxPolicy) -> Result<Sandbox, Fault> {
    let site = SandboxSite { workspace, home: Some(home), hidden: &[] };
    let policy = SandboxPolicy { read: [policy.read, vec![python().1]].concat(), ..policy };
    let sandbox = Sandbox::new(&launcher(), site, &policy)?;
    match layers {
        Layers::All => {
            assert!(sandbox.has_namespaces(), "this machine holds no namespaces, so the test can't run");
            Ok(sandbox)
        }
        Layers::WithoutNamespaces => sandbox.without_namespaces(),
    }
}

/// The interpreter of this machine and the folder that it needs: it may lie in a home that is not the test's.
pub(super) fn python() -> (String, PathBuf) {
    static PYTHON: LazyLock<(String, PathBuf)> = LazyLock::new(|| {
        let mut command = std::process::Command::new("python3");
        let print = "import sys; print(sys.executable); print(sys.base_prefix)";
        let text = String::from_utf8(command.args(["-c", print]).output().unwrap().stdout).unwrap();
        let (program, prefix) =
            text.trim().split_once('\n').expect("python3 is not installed: run guests.sh setup-tests");
        (program.to_owned(), prefix.into())
    });
    PYTHON.clone()
}

impl Confined {
    pub(super) async fn works(&self, command: &str) -> bool {
        let outcome = self.scene.shell(command).await;
        outcome.ended == Ended::Exit(0)
    }
}

#[tokio::test]
async fn a_confined_command_writes_in_the_workspace_and_its_own_tmp() {
    for layers in LAYERS {
        let c = confined(layers, false);
        assert!(c.works("echo a > a && mkdir -p b/c && mv a b/c/ && ln -s b/c d && rm d && cat b/c/a").await);
        assert!(c.works("f=$(mktemp) && echo a > $f && case $f in $TMPDIR/*) ;; *) exit 1;; esac").await);
        assert!(c.works("echo a > /dev/null && export A=1 && cd b").await);
        assert_eq!(c.scene.text("echo $A; basename $PWD").await, "1\nb\n", "it is carried on as everywhere");
    }
}

#[tokio::test]
async fn a_confined_command_writes_nowhere_else() {
    for layers in LAYERS {
        let c = confined(layers, false);
        let outside = c.outside.path().join("file");
        fs::write(&outside, "content\n").unwrap();
        let (file, home) = (outside.display(), c.home.display());
        for command in [
            format!("echo a > {file}"),
            format!("echo a >> {file}"),
            format!("truncate -s 0 {file}"),
            format!("rm -f {file}"),
            format!("mv {file} x"),
            format!("ln {file} x && echo a > x"),
            format!("ln -s {file} y && echo a > y"),
            format!("touch {home}/new"),
            format!("mkdir {home}/new"),
            format!("mkdir -p {home}/.ssh && echo a > {home}/.ssh/authorized_keys"),
            format!("echo a > {home}/.bashrc"),
            format!("echo a > {home}/.cargo/bin/tool"),
            "echo a > /tmp/terminal-test-outside".into(),
            "echo a > /dev/shm/terminal-test-outside".into(),
            "echo a > /etc/terminal-test-outside".into(),
            "echo a > /usr/bin/terminal-test-outside".into(),
            "mkdir -p b; mount -t tmpfs none b".into(),
        ] {
            c.scene.shell(&command).await;
        }
        assert_eq!(fs::read_to_string(&outside).unwrap(), "content\n");
        assert_eq!(fs::read_to_string(c.home.join(".cargo/bin/tool")).unwrap(), "content\n");
        for path in [c.home.join(".bashrc"), c.home.join("new"), c.home.join(".ssh/authorized_keys")] {
            assert!(!path.exists(), "{layers:?}: {}", path.display());
        }
        for folder in ["/tmp", "/dev/shm", "/etc", "/usr/bin"] {
            assert!(!Path::new(folder).join("terminal-test-outside").exists(), "{layers:?}: {folder}");
        }
    }
}

#[tokio::test]
async fn a_confined_command_reads_an_allow_list() {
    for layers in LAYERS {
        let c = confined(layers, false);
        let home = c.home.display();
        for file in [".config/git/config", ".cargo/bin/tool"] {
            assert!(c.works(&format!("cat {home}/{file}")).await, "{layers:?}: {file}");
        }
        assert!(c.works("cat /etc/passwd && ls /usr/bin > /dev/null").await);
        for file in [
            "notes",
            ".ssh/id_ed25519",
            ".aws/credentials",
            ".gnupg/ring",
            ".config/gh/hosts.yml",
            ".netrc",
            "link/id_ed25519",
        ] {
            for way in ["cat", "cp -t .", "ln -t .", "mv -t .", "tar cf x.tar", "dd of=x if="] {
                let space = if way.ends_with('=') { "" } else { " " };
                assert!(!c.works(&format!("{way}{space}{home}/{file}")).await, "{layers:?}: {way} {file}");
            }
            assert!(c.home.join(file).exists());
        }
        for command in [format!("ln -s {home}/.ssh k && cat k/id_ed25519"), "cat /etc/shadow".into()] {
            assert!(!c.works(&command).await, "{layers:?}: {command}");
        }
    }
}

#[tokio::test]
async fn what_the_operator_adds_is_read_and_written_and_no_more() {
    for layers in LAYERS {
        let c = confined_with(layers, false, |home| {
            for folder in ["datasets", "scratch", ".cargo/registry/cache", ".cargo/registry/src"] {
                fs::create_dir_all(home.join(folder)).unwrap();
                fs::write(home.join(folder).join("file"), "content\n").unwrap();
            }
            SandboxPolicy {
                // A key stays hidden below a folder that may be read.
                read: vec![home.join("datasets"), home.join(".aws")],
                write: vec![home.join("scratch")],
                caches: vec!["cargo".into()],
            }
        });
        let home = c.home.display();
        for file in ["datasets/file", "scratch/file", ".cargo/registry/cache/file", ".cargo/registry/src/file"] {
            assert!(c.works(&format!("cat {home}/{file}")).await, "{layers:?}: {file} is read");
        }
        for folder in ["scratch", ".cargo/registry/cache"] {
            assert!(c.works(&format!("echo a > {home}/{folder}/new")).await, "{layers:?}: {folder} is written");
            assert!(c.home.join(folder).join("new").exists(), "{layers:?}: {folder} is the real one");
        }
        for folder in ["datasets", ".cargo/registry/src", ".cargo/bin"] {
            let command =
                format!("echo a > {home}/{folder}/new; echo a > {home}/{folder}/file; rm {home}/{folder}/file");
            assert!(!c.works(&command).await, "{layers:?}: {folder}");
            assert!(!c.home.join(folder).join("new").exists(), "{layers:?}: {folder} is not written");
        }
        assert_eq!(fs::read_to_string(c.home.join("datasets/file")).unwrap(), "content\n", "{layers:?}");
        assert!(!c.works(&format!("cat {home}/.aws/credentials")).await, "{layers:?}: a key in a folder to read");
        assert!(!c.works(&format!("cat {home}/notes")).await, "{layers:?}");
    }
}

#[tokio::test]
async fn no_package_cache_is_written_unless_it_is_listed() {
    for layers in LAYERS {
        let c = confined_with(layers, false, |home| {
            fs::create_dir_all(home.join(".cargo/registry/cache")).unwrap();
            SandboxPolicy::default()
        });
        c.scene.shell(&format!("echo a > {}/.cargo/registry/cache/new", c.home.display())).await;
        assert!(!c.home.join(".cargo/registry/cache/new").exists(), "{layers:?}");
    }
}

#[tokio::test]
async fn a_confined_process_in_the_background_names_the_sandbox_as_cause() {
    let c = confined(Layers::All, false);
    let look_up = format!("{} -c \"import socket; socket.gethostbyname('a.example')\"", python().0);
    for (command, words) in
        [("echo x > /etc/made", "escalate=\"unconfined\""), (look_up.as_str(), "escalate=\"network\"")]
    {
        let started = c.scene.terminal.start(TASK, Request::shell(command), Watch::default()).await.unwrap();
        let status = c.scene.terminal.wait(TASK, &started.id, None).await.unwrap();
        assert!(status.note.as_ref().is_some_and(|note| note.contains(words)), "{command}: {status:?}");
    }
    let started = c.scene.terminal.start(TASK, Request::shell("true"), Watch::default()).await.unwrap();
    assert_eq!(c.scene.terminal.wait(TASK, &started.id, None).await.unwrap().note, None);
}

/// The supervisors that this process has started.
fn supervisors() -> Vec<u32> {
    let is_ours = |pid: &u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let parent = format!(" S {} ", std::process::id());
        stat.contains("(terminal-guard)") && stat.contains(&parent)
    };
    let names = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    names.filter(is_ours).collect()
}

#[tokio::test]
async fn a_spare_supervisor_that_is_killed_is_replaced_and_none_is_left() {
    let c = confined(Layers::All, false);
    assert!(c.works("true").await);
    assert!(c.works("cd /tmp && true").await);
    until("a spare waits", || supervisors().len() == 1).await;
    let spare = supervisors()[0];
    let cwd = fs::read_link(format!("/proc/{spare}/cwd")).unwrap();
    assert_eq!(cwd, Path::new("/"), "it keeps no folder busy");
    let variables = fs::read(format!("/proc/{spare}/environ")).unwrap();
    assert!(variables.is_empty(), "it has variables of the host");
    kill_process(Pid::from_raw(spare as i32).unwrap(), Signal::KILL).unwrap();
    until("it is gone", || !supervisors().contains(&spare)).await;
    assert_eq!(c.scene.text("echo ran").await, "ran\n");
    drop(c);
    until("no supervisor is left", || supervisors().is_empty()).await;
}

#[tokio::test]
async fn a_confined_command_looks_into_no_other_process_and_signals_none() {
    for layers in LAYERS {
        let c = confined(layers, false);
        let host = std::process::id();
        for command in [
            format!("cat /proc/{host}/environ"),
            format!("readlink /proc/{host}/fd/0"),
            format!("readlink /proc/{host}/cwd"),
            format!("head -c 1 /proc/{host}/mem"),
            format!("cat /proc/{host}/root/etc/passwd"),
            format!("kill -0 {host}"),
            format!("prlimit --pid {host} --fsize=1000000"),
            format!("taskset -p 1 {host}"),
            format!("renice 19 {host}"),
            format!("ionice -c 3 -p {host}"),
        ] {
            assert!(!c.works(&command).await, "{layers:?}: {command}");
        }
        // In a pid namespace the parent is process 1, which no signal of its own namespace ends.
        c.scene.shell("kill -KILL $PPID").await;
        assert!(c.works("true").await);
    }
}

#[tokio::test]
async fn a_pid_namespace_shows_the_command_alone() {
    let c = confined(Layers::All, false);
    let pids = c.scene.text("ls /proc | grep -c '^[0-9]'").await;
    assert!(pids.trim().parse::<u32>().unwrap() <= 5, "{pids}");
    assert_eq!(c.scene.text("readlink /proc/1/exe; ls /dev/tty0 /dev/console /dev/ttyS0 2>/dev/null").await, "");
}

#[tokio::test]
async fn a_confined_command_gains_no_privileges() {
    for layers in LAYERS {
        let c = confined(layers, false);
        let status = c.scene.text("cat /proc/self/status").await;
        let has = |name: &str, value: &str| {
            status.lines().any(|line| line.split_whitespace().collect::<Vec<_>>() == [name, value])
        };
        assert!(has("NoNewPrivs:", "1") && has("Seccomp:", "2"), "{status}");
        for set in ["CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:"] {
            assert!(has(set, "0000000000000000"), "{layers:?} {set}: {status}");
        }
    }
}

#[tokio::test]
async fn the_loopback_of_the_machine_is_reached_by_no_namespaced_command() {
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    udp.set_nonblocking(true).unwrap();
    tcp.set_nonblocking(true).unwrap();
    let port = tcp.local_addr().unwrap().port();
    let connect = format!("exec 3<>/dev/tcp/127.0.0.1/{port}");
    let send = format!("echo a > /dev/udp/127.0.0.1/{}", udp.local_addr().unwrap().port());
    let proxy = format!(
        "exec 3<>/dev/tcp/127.0.0.1/3128 && printf 'CONNECT 127.0.0.1:{port} HTTP/1.1\\r\\n\\r\\n' >&3 && head -1 <&3"
    );
    for network in [false, true] {
        let c = confined(Layers::All, network);
        assert!(!c.works(&connect).await);
        // A datagram to a closed port is sent and lost.
        c.scene.shell(&send).await;
        let answer = c.scene.text(&proxy).await;
        assert_eq!(answer.contains("403"), network, "{answer}");
    }
    assert!(tcp.accept().is_err() && udp.recv(&mut [0; 8]).is_err());
}

#[tokio::test]
async fn without_namespaces_the_network_is_a_switch() {
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let connect = format!("exec 3<>/dev/tcp/127.0.0.1/{}", tcp.local_addr().unwrap().port());
    assert!(!confined(Layers::WithoutNamespaces, false).works(&connect).await);
    assert!(confined(Layers::WithoutNamespaces, true).works(&connect).await);
}

#[tokio::test]
async fn a_namespaced_command_has_a_loopback_of_its_own() {
    let c = confined(Layers::All, false);
    let server = "import socket\ns = socket.create_server(('127.0.0.1', 0))\nc = socket.create_connection(s.getsockname())\n\
                  print('connected')";
    assert_eq!(c.scene.text(&format!("{} -c \"{server}\"", python().0)).await, "connected\n");
}

#[tokio::test]
async fn no_unix_socket_of_the_machine_is_reached() {
    for layers in LAYERS {
        for network in [false, true] {
            let c = confined(layers, network);
            let path = c.outside.path().join("socket");
            let _listener = UnixListener::bind(&path).unwrap();
            let datagrams = c.outside.path().join("datagrams");
            let receiver = UnixDatagram::bind(&datagrams).unwrap();
            receiver.set_nonblocking(true).unwrap();
            let perl = format!(
                "use Socket; socket(S, AF_UNIX, SOCK_STREAM, 0) or exit 3; connect(S, sockaddr_un('{}')) or exit 4;",
                path.display()
            );
            let outcome = c.scene.run(Request::exec("perl", ["-e", &perl])).await;
            assert!(matches!(outcome.ended, Ended::Exit(3 | 4)), "{layers:?}: {}", outcome.output.text);
            let pair = format!(
                "use Socket; socketpair(A, B, AF_UNIX, SOCK_DGRAM, 0) or exit 3; send(A, 'x', 0, sockaddr_un('{}')) or exit 4;",
                datagrams.display()
            );
            let outcome = c.scene.run(Request::exec("perl", ["-e", &pair])).await;
            assert!(matches!(outcome.ended, Ended::Exit(3 | 4)), "{layers:?}: {}", outcome.output.text);
            // The kernel makes a datagram socket of a raw one.
            let raw = pair.replace("SOCK_DGRAM", "SOCK_RAW");
            let outcome = c.scene.run(Request::exec("perl", ["-e", &raw])).await;
            assert!(matches!(outcome.ended, Ended::Exit(3 | 4)), "{layers:?}: {}", outcome.output.text);
            assert!(receiver.recv(&mut [0; 8]).is_err());
        }
    }
}

#[tokio::test]
async fn a_confined_command_is_ended_like_any_other() {
    for layers in LAYERS {
        let c = confined(layers, false);
        let request = Request::shell(format!("trap '' TERM; (setsid {0} &); {0}", c.scene.sleep()));
        let timeout = Some(std::time::Duration::from_millis(500));
        let outcome = c.scene.run(Request { timeout, ..request }).await;
        assert_eq!(outcome.ended, Ended::Timeout);
        c.scene.nothing_is_left();
    }
}

#[tokio::test]
async fn what_a_confined_command_leaves_is_named_and_ended() {
    for layers in LAYERS {
        let c = confined(layers, false);
        // Until it has become `sleep` it has another name.
        let becomes = "until [ \"$(cat /proc/$!/comm)\" = sleep ]; do :; done";
        let outcome = c.scene.shell(&format!("setsid {} & {becomes}; exit 3", c.scene.sleep())).await;
        assert_eq!((outcome.ended, outcome.left), (Ended::Exit(3), vec!["sleep".to_owned()]), "{layers:?}");
        c.scene.nothing_is_left();
    }
}

#[tokio::test]
async fn a_signal_is_told_from_an_exit_code() {
    for layers in LAYERS {
        let c = confined(layers, false);
        assert_eq!(c.scene.shell("kill -KILL $$").await.ended, Ended::Signal(9), "{layers:?}");
        assert_eq!(c.scene.shell("exit 137").await.ended, Ended::Exit(137), "{layers:?}");
        assert_eq!(c.scene.run(Request::exec("no-such-program", [""; 0])).await.ended, Ended::Exit(127), "{layers:?}");
    }
}

#[tokio::test]
async fn a_confined_command_can_have_a_terminal() {
    for layers in LAYERS {
        let c = confined(layers, false);
        let request = Request::shell("test -t 0 && echo a > /dev/tty && stty size");
        let outcome = c.scene.run(Request { pty: true, ..request }).await;
        assert_eq!(outcome.output.text, "a\r\n30 120\r\n", "{layers:?}");
    }
}

#[tokio::test]
async fn a_task_does_not_look_into_anothers_folder() {
    for layers in LAYERS {
        let c = confined(layers, false);
        let folder = c.scene.text("echo secret > $TMPDIR/a; echo $TMPDIR").await;
        let look =
            |command: String| async { c.scene.terminal.run("another", Request::shell(command)).await.unwrap().ended };
        assert_eq!(look(format!("cat {}/a", folder.trim())).await, Ended::Exit(1));
        assert_eq!(look("touch $TMPDIR/a".into()).await, Ended::Exit(0));
        assert!(c.works("cat $TMPDIR/a").await);
    }
}

#[tokio::test]
async fn what_a_command_left_is_not_read_through_a_link() {
    for layers in LAYERS {
        let c = confined(layers, false);
        // The file that its shell writes to at its end becomes a link to a key, with the ending that is looked for.
        fs::write(c.home.join(".ssh/id_ed25519"), "/\n\0LEAK=key\0\0end").unwrap();
        let key = c.home.join(".ssh/id_ed25519");
        let command = format!(
            "f=$(trap -p EXIT | grep -o '/[^ ]*/left-[0-9]*'); trap - EXIT; rm -f \"$f\"; ln -s {} \"$f\" && echo linked",
            key.display()
        );
        assert_eq!(c.scene.text(&command).await, "linked\n");
        assert_eq!(c.scene.text("echo ${LEAK-none}").await, "none\n");
    }
}

#[tokio::test]
async fn files_that_git_obeys_stay_as_they_are() {
    let c = confined(Layers::All, false);
    let project = c.home.join("project");
    for command in [
        "echo x > .git/hooks/pre-commit",
        "echo x >> .git/config",
        "rm -rf .git/hooks",
        "mv .git/config .git/c2; echo x > .git/config",
        "ln -s x .git/hooks/post-commit",
        "mv .git g2",
        "mv .git g2; mkdir -p .git/hooks && echo x > .git/hooks/pre-commit",
    ] {
        assert!(!c.works(command).await, "{command}");
    }
    assert_eq!(fs::read_dir(project.join(".git/hooks")).unwrap().count(), 0);
    assert_eq!(fs::read_to_string(project.join(".git/config")).unwrap(), "[core]\n");
}

#[tokio::test]
async fn a_home_as_workspace_keeps_its_keys_hidden() {
    let c = confined(Layers::All, false);
    let sandbox = sandbox(Layers::All, &c.home, &c.home).unwrap();
    let backend = Local::new(launcher(), &c.home).unwrap().confined(Arc::new(sandbox), false);
    let scene = Scene::on(Arc::new(backend), tempfile::tempdir().unwrap());
    assert_eq!(scene.shell("cat notes && echo a > new").await.ended, Ended::Exit(0));
    for command in
        ["cat .ssh/id_ed25519", "ls .ssh", "cat .netrc", "echo x > .netrc", "rm -rf .ssh", "mv .ssh s; cat s/*"]
    {
        assert_ne!(scene.shell(command).await.ended, Ended::Exit(0), "{command}");
    }
    assert_eq!(fs::read_to_string(c.home.join(".ssh/id_ed25519")).unwrap(), "content\n");
}

#[tokio::test]
async fn without_namespaces_a_workspace_that_holds_the_keys_is_refused() {
    let c = confined(Layers::All, false);
    for workspace in [c.home.clone(), c.home.join(".ssh"), c.outside.path().to_owned()] {
        let fault = sandbox(Layers::WithoutNamespaces, &workspace, &c.home).unwrap_err();
        assert!(matches!(&fault, Fault::NoSandbox(why) if why.contains("lie in each other")), "{fault}");
    }
    let fault = sandbox(Layers::All, Path::new("/"), &c.home).unwrap_err();
    assert!(matches!(&fault, Fault::NoSandbox(why) if why.contains("whole machine")), "{fault}");
}

/// Makes this thread and its children see a kernel without this system call.
pub(super) fn forget(call: i64) {
    let rules = [(call, Vec::new())].into_iter().collect();
    let answer = SeccompAction::Errno(libc::ENOSYS as u32);
    let here = std::env::consts::ARCH.try_into().unwrap();
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, answer, here).unwrap();
    rustix::thread::set_no_new_privs(true).unwrap();
    apply_filter(&BpfProgram::try_from(filter).unwrap()).unwrap();
}

#[tokio::test]
async fn without_landlock_there_is_no_sandbox() {
    forget(libc::SYS_landlock_create_ruleset);
    let dir = tempfile::tempdir().unwrap();
    let fault = sandbox(Layers::All, dir.path(), dir.path()).unwrap_err();
    assert!(
        matches!(&fault, Fault::NoSandbox(why) if why.contains("no Landlock") && why.contains("\"local\"")),
        "{fault}"
    );
}

#[tokio::test]
async fn a_command_that_can_not_be_confined_is_not_run() {
    for layers in LAYERS {
        let c = confined(layers, false);
        std::thread::scope(|scope| {
            let lost = scope.spawn(|| {
                forget(libc::SYS_landlock_create_ruleset);
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                let outcome = runtime.block_on(c.scene.shell("echo ran"));
                assert_eq!(outcome.ended, Ended::Exit(126));
                let text = outcome.output.text;
                assert!(text.contains("failed to confine the command, so it is not run"), "{text}");
                assert!(!text.contains("ran\n"));
            });
            lost.join().unwrap();
        });
    }
}

#[tokio::test]
async fn without_unshare_landlock_and_seccomp_hold_alone() {
    forget(libc::SYS_unshare);
    let dir = tempfile::tempdir().unwrap();
    let site = SandboxSite { workspace: dir.path(), home: None, hidden: &[] };
    let sandbox = Sandbox::new(&launcher(), site, &SandboxPolicy::default()).unwrap();
    assert!(!sandbox.has_namespaces());
    let backend = Local::new(launcher(), dir.path()).unwrap().confined(Arc::new(sandbox), false);
    let scene = Scene::on(Arc::new(backend), tempfile::tempdir().unwrap());
    assert_eq!(scene.shell("echo a > a").await.ended, Ended::Exit(0));
    assert_ne!(scene.shell("echo a > /etc/terminal-test-outside").await.ended, Ended::Exit(0));
}

#[tokio::test]
async fn the_terminals_of_others_are_closed() {
    for layers in LAYERS {
        let c = confined(layers, false);
        for pty in [false, true] {
            let request = Request { pty, ..Request::shell("echo x > /dev/pts/0; echo end") };
            let text = c.scene.run(request).await.output.text;
            assert!(text.contains("ermission denied") || text.contains("No such file"), "{layers:?}: {text}");
            assert!(text.contains("end"), "{text}");
        }
        let own = Request { pty: true, ..Request::shell("echo to my own terminal > /dev/tty") };
        assert!(c.scene.run(own).await.output.text.contains("to my own terminal"));
    }
}

#[tokio::test]
async fn a_process_whose_main_thread_exited_ends_with_its_command() {
    for layers in LAYERS {
        let c = confined(layers, false);
        let mark = &c.scene.mark;
        let program = format!(
            "import ctypes, os, threading, time\n\
             if os.fork(): os._exit(0)\n\
             os.setsid()\n\
             threading.Thread(target=lambda: time.sleep(float('{mark}'))).start()\n\
             ctypes.CDLL(None).syscall(60, 0)"
        );
        let outcome = c.scene.run(Request::exec(python().0, ["-c", &program])).await;
        assert_eq!(outcome.ended, Ended::Exit(0), "{}", outcome.output.text);
        assert_eq!(super::threads_with(mark), [""; 0], "{layers:?}");
    }
}
