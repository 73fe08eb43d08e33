//! Confined commands: what they can't do, and what they still can.

use std::{
    fs,
    net::{TcpListener, UdpSocket},
    os::unix::net::UnixListener,
    path::PathBuf,
    sync::Arc,
};

use super::{Scene, launcher};
use hermes_host::capability::terminal::{Ended, Fault, Request, backend::Sandbox};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};
use tempfile::TempDir;

struct Confined {
    scene: Scene,
    outside: TempDir,
    home: PathBuf,
}

/// A home with keys, a workspace in it, and a folder outside.
fn confined(network: bool) -> Confined {
    let outside = tempfile::tempdir().unwrap();
    let home = outside.path().join("home");
    for folder in [".ssh", ".aws", ".gnupg", ".config/gh", ".config/git", "project"] {
        fs::create_dir_all(home.join(folder)).unwrap();
    }
    for file in [
        ".ssh/id_ed25519",
        ".aws/credentials",
        ".gnupg/ring",
        ".config/gh/hosts.yml",
        ".netrc",
        ".config/git/config",
        "notes",
    ] {
        fs::write(home.join(file), "content\n").unwrap();
    }
    std::os::unix::fs::symlink(".ssh", home.join("link")).unwrap();
    let sandbox = Sandbox::new(launcher(), &home.join("project"), Some(&home), &[], network).unwrap();
    let scene = Scene::on(Arc::new(sandbox), tempfile::tempdir().unwrap());
    Confined { scene, outside, home }
}

impl Confined {
    async fn works(&self, command: &str) -> bool {
        let outcome = self.scene.shell(command).await;
        outcome.ended == Ended::Exit(0)
    }
}

#[tokio::test]
async fn a_confined_command_writes_in_the_workspace_and_its_own_tmp() {
    let c = confined(false);
    assert!(c.works("echo a > a && mkdir -p b/c && mv a b/c/ && ln -s b/c d && rm d && cat b/c/a").await);
    assert!(c.works("f=$(mktemp) && echo a > $f && case $f in $TMPDIR/*) ;; *) exit 1;; esac").await);
    assert!(c.works("echo a > /dev/null && export A=1 && cd b").await);
    assert_eq!(c.scene.text("echo $A; basename $PWD").await, "1\nb\n", "it is carried on as everywhere");
}

#[tokio::test]
async fn a_confined_command_writes_nowhere_else() {
    let c = confined(false);
    let outside = c.outside.path().join("file");
    fs::write(&outside, "content\n").unwrap();
    let file = outside.display();
    let home = c.home.display();
    for command in [
        format!("echo a > {file}"),
        format!("echo a >> {file}"),
        format!("truncate -s 0 {file}"),
        format!("rm {file}"),
        format!("mv {file} x"),
        format!("ln {file} x && echo a > x"),
        format!("ln -s {file} y && echo a > y"),
        format!("touch {home}/new"),
        format!("mkdir {home}/new"),
        format!("echo a > {home}/.ssh/authorized_keys"),
        format!("echo a > {home}/.bashrc"),
        "echo a > /tmp/terminal-test-outside".into(),
        "echo a > /dev/shm/terminal-test-outside".into(),
        "echo a > /etc/terminal-test-outside".into(),
        "mount -t tmpfs none b".into(),
    ] {
        assert!(!c.works(&command).await, "{command}");
    }
    assert_eq!(fs::read_to_string(&outside).unwrap(), "content\n");
    assert!(!c.home.join(".bashrc").exists());
}

#[tokio::test]
async fn a_confined_command_reads_all_but_keys() {
    let c = confined(false);
    let home = c.home.display();
    for file in ["notes", ".config/git/config"] {
        assert!(c.works(&format!("cat {home}/{file}")).await, "{file}");
    }
    assert!(c.works("cat /etc/passwd && ls /usr/bin > /dev/null").await);
    for file in
        [".ssh/id_ed25519", ".aws/credentials", ".gnupg/ring", ".config/gh/hosts.yml", ".netrc", "link/id_ed25519"]
    {
        for way in ["cat", "cp -t .", "ln -t .", "mv -t .", "tar cf x.tar", "dd of=x if="] {
            let space = if way.ends_with('=') { "" } else { " " };
            assert!(!c.works(&format!("{way}{space}{home}/{file}")).await, "{way} {file}");
        }
        assert!(c.home.join(file).exists());
    }
    for command in
        [format!("ls {home}/.ssh"), format!("ln -s {home}/.ssh k && cat k/id_ed25519"), "cat /etc/shadow".into()]
    {
        assert!(!c.works(&command).await, "{command}");
    }
}

#[tokio::test]
async fn a_confined_command_looks_into_no_other_process_and_signals_none() {
    let c = confined(false);
    let host = std::process::id();
    for command in [
        format!("cat /proc/{host}/environ"),
        format!("readlink /proc/{host}/fd/0"),
        format!("readlink /proc/{host}/cwd"),
        format!("head -c 1 /proc/{host}/mem"),
        format!("cat /proc/{host}/root/etc/passwd"),
        format!("kill -0 {host}"),
        "kill -0 $PPID".into(),
        "kill -KILL $PPID".into(),
    ] {
        assert!(!c.works(&command).await, "{command}");
    }
}

#[tokio::test]
async fn a_confined_command_gains_no_privileges() {
    let c = confined(false);
    let status = c.scene.text("grep -E 'NoNewPrivs|CapEff|CapBnd|Seccomp:' /proc/self/status").await;
    let lines: Vec<Vec<&str>> = status.lines().map(|line| line.split_whitespace().collect()).collect();
    assert!(lines.contains(&vec!["NoNewPrivs:", "1"]) && lines.contains(&vec!["Seccomp:", "2"]), "{status}");
    assert!(lines.contains(&vec!["CapEff:", "0000000000000000"]), "{status}");
}

#[tokio::test]
async fn the_network_is_a_switch() {
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let (tcp_port, udp_port) = (tcp.local_addr().unwrap().port(), udp.local_addr().unwrap().port());
    let connect = format!("exec 3<>/dev/tcp/127.0.0.1/{tcp_port}");
    let send = format!("echo a > /dev/udp/127.0.0.1/{udp_port}");
    let closed = confined(false);
    assert!(!closed.works(&connect).await);
    assert!(!closed.works(&send).await);
    let open = confined(true);
    assert!(open.works(&connect).await);
    assert!(open.works(&send).await);
}

#[tokio::test]
async fn nobody_who_listens_on_a_unix_socket_is_reached() {
    for network in [false, true] {
        let c = confined(network);
        let path = c.outside.path().join("socket");
        let _listener = UnixListener::bind(&path).unwrap();
        let perl = format!(
            "use Socket; socket(S, AF_UNIX, SOCK_STREAM, 0) or exit 3; connect(S, sockaddr_un('{}')) or exit 4;",
            path.display()
        );
        let outcome = c.scene.run(Request::exec("perl", ["-e", &perl])).await;
        assert_eq!(outcome.ended, Ended::Exit(3), "{}", outcome.output.text);
    }
}

#[tokio::test]
async fn a_confined_command_is_ended_like_any_other() {
    let c = confined(false);
    let request = Request::shell(format!("trap '' TERM; (setsid {0} &); {0}", c.scene.sleep()));
    let timeout = Some(std::time::Duration::from_millis(500));
    let outcome = c.scene.run(Request { timeout, ..request }).await;
    assert_eq!(outcome.ended, Ended::Timeout);
    c.scene.nothing_is_left();
}

#[tokio::test]
async fn a_confined_command_can_have_a_terminal() {
    let c = confined(false);
    let outcome =
        c.scene.run(Request { pty: true, ..Request::shell("test -t 0 && echo a > /dev/tty && stty size") }).await;
    assert_eq!(outcome.output.text, "a\r\n30 120\r\n");
}

#[tokio::test]
async fn a_task_does_not_look_into_anothers_folder() {
    let c = confined(false);
    let folder = c.scene.text("echo secret > $TMPDIR/a; echo $TMPDIR").await;
    let look =
        |command: String| async { c.scene.terminal.run("another", Request::shell(command)).await.unwrap().ended };
    assert_eq!(look(format!("cat {}/a", folder.trim())).await, Ended::Exit(1));
    assert_eq!(look("touch $TMPDIR/a".into()).await, Ended::Exit(0));
    assert!(c.works("cat $TMPDIR/a").await);
}

#[tokio::test]
async fn what_a_command_left_is_not_read_through_a_link() {
    let c = confined(false);
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

#[tokio::test]
async fn a_workspace_that_holds_the_keys_is_refused() {
    let c = confined(false);
    for workspace in [c.home.clone(), c.home.join(".ssh"), c.outside.path().to_owned(), "/".into()] {
        let fault = Sandbox::new(launcher(), &workspace, Some(&c.home), &[], false).unwrap_err();
        assert!(matches!(&fault, Fault::NoSandbox(why) if why.contains("lie in each other")), "{fault}");
    }
}

/// Makes this thread and its children see a kernel without Landlock.
fn forget_landlock() {
    let rules = [(libc::SYS_landlock_create_ruleset, Vec::new())].into_iter().collect();
    let answer = SeccompAction::Errno(libc::ENOSYS as u32);
    let here = std::env::consts::ARCH.try_into().unwrap();
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, answer, here).unwrap();
    rustix::thread::set_no_new_privs(true).unwrap();
    apply_filter(&BpfProgram::try_from(filter).unwrap()).unwrap();
}

#[tokio::test]
async fn without_landlock_nothing_is_run() {
    let c = confined(false);
    forget_landlock();
    let fault = Sandbox::new(launcher(), &c.home.join("project"), Some(&c.home), &[], false).unwrap_err();
    assert!(
        matches!(&fault, Fault::NoSandbox(why) if why.contains("no Landlock") && why.contains("'local'")),
        "{fault}"
    );
    // One that was made before the kernel forgot it.
    let outcome = c.scene.shell("echo ran").await;
    assert_eq!(outcome.ended, Ended::Exit(126));
    assert!(outcome.output.text.contains("failed to confine the command, so it is not run"), "{}", outcome.output.text);
    assert!(!outcome.output.text.contains("ran\n"));
}

#[tokio::test]
async fn the_terminals_of_others_are_closed() {
    let confined = confined(false);
    for pty in [false, true] {
        let request = Request { pty, ..Request::shell("ls /dev/pts; echo x > /dev/pts/0; echo end") };
        let text = confined.scene.run(request).await.output.text;
        assert_eq!(text.matches("ermission denied").count(), 2, "{text}");
        assert!(text.contains("end"), "{text}");
    }
    let own = Request { pty: true, ..Request::shell("echo to my own terminal > /dev/tty") };
    assert!(confined.scene.run(own).await.output.text.contains("to my own terminal"));
}
