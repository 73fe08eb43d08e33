//! Escapes from the sandbox, each tried for real with namespaces and without. What counts is the machine afterwards, not what the
//! command says.

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use super::sandbox::{Confined, LAYERS, Layers, confined, python};

/// What every escape aims at, and how it looked before.
struct Canaries {
    key: PathBuf,
    note: PathBuf,
    program: PathBuf,
    /// A process of the same user outside.
    victim: Child,
    made: Vec<PathBuf>,
}

/// What must be in no output: the content of the canary key.
const SECRET: &str = "canary-4f1d9c";

impl Canaries {
    fn lay(c: &Confined) -> Self {
        let key = c.home.join(".ssh/id_canary");
        let note = c.outside.path().join("note");
        let program = c.home.join(".cargo/bin/tool");
        fs::write(&key, format!("{SECRET}\n")).unwrap();
        fs::write(&note, format!("{SECRET}\n")).unwrap();
        let victim = Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().unwrap();
        let made = ["/tmp", "/var/tmp", "/dev/shm", "/etc", "/usr/local/bin", "/run"]
            .map(|folder| Path::new(folder).join(format!("escape-{}", std::process::id())));
        Self { key, note, program, victim, made: made.into() }
    }

    fn check(&mut self, attempt: &str, output: &str) {
        assert!(!output.contains(SECRET), "{attempt}: read the secret");
        for path in [&self.key, &self.note] {
            assert_eq!(fs::read_to_string(path).unwrap(), format!("{SECRET}\n"), "{attempt}: {}", path.display());
        }
        assert_eq!(fs::read_to_string(&self.program).unwrap(), "content\n", "{attempt}: the toolchain changed");
        assert_eq!(fs::metadata(&self.program).unwrap().permissions().mode() & 0o7000, 0, "{attempt}: set-user-id");
        assert!(self.victim.try_wait().unwrap().is_none(), "{attempt}: a process outside was ended");
        for path in &self.made {
            assert!(!path.exists(), "{attempt}: made {}", path.display());
        }
    }
}

impl Drop for Canaries {
    fn drop(&mut self) {
        self.victim.kill().unwrap();
        self.victim.wait().unwrap();
    }
}

/// Runs attempts. In their text: `KEY`, `NOTE`, `PROGRAM`, `VICTIM` (its process id), `HOST` (this process), `MADE` (a file's name).
async fn none_escapes(attempts: &[&str]) {
    for layers in LAYERS {
        let c = confined(layers, false);
        let mut canaries = Canaries::lay(&c);
        for attempt in attempts {
            let command = attempt
                .replace("KEY", &canaries.key.display().to_string())
                .replace("NOTE", &canaries.note.display().to_string())
                .replace("PROGRAM", &canaries.program.display().to_string())
                .replace("VICTIM", &canaries.victim.id().to_string())
                .replace("HOST", &std::process::id().to_string())
                .replace("PYTHON", &python().0)
                .replace("MADE", &format!("escape-{}", std::process::id()));
            let outcome = c.scene.shell(&command).await;
            // Without its program an attempt would prove nothing.
            let text = &outcome.output.text;
            assert!(!text.contains("command not found"), "{layers:?}: {attempt}: {text}");
            canaries.check(&format!("{layers:?}: {attempt}"), &outcome.output.text);
        }
    }
}

#[tokio::test]
async fn no_path_leads_out() {
    none_escapes(&[
        "cat KEY; cat NOTE",
        "cat /proc/self/root/KEY",
        "cat /proc/self/cwd/../../../.ssh/id_canary ../.ssh/id_canary",
        "cat /proc/1/root/KEY /proc/HOST/root/KEY /proc/HOST/cwd/../KEY",
        "ln -s KEY k; cat k; cp -L k copied; cat copied",
        "ln KEY hard && cat hard",
        "ln -sf NOTE n; echo overwritten > n",
        "mkdir -p d && ln -sfn $(dirname KEY) d/s && cat d/s/id_canary",
        "exec 3< . && cat /proc/self/fd/3/../../.ssh/id_canary",
        "tar cf - -C / ${PWD#/}/../.ssh | tar xf - -O",
        "find / -name id_canary -exec cat {} + 2>/dev/null",
        "grep -r canary- $(dirname KEY) $(dirname NOTE)/note",
        "dd if=KEY; head -c 100 NOTE; od -c KEY",
        "PYTHON -c \"print(open('KEY').read())\"",
        "bash -c 'exec 9<>NOTE; echo gone >&9'",
        "truncate -s 0 NOTE; : > NOTE; rm -f NOTE; mv NOTE n2",
        "chmod 777 NOTE; chmod u+s PROGRAM; echo x > PROGRAM; rm PROGRAM",
        "PYTHON -c \"import os; os.setxattr('NOTE', 'user.x', b'y')\"; touch -d 2001-01-01 NOTE",
        "rename() { mv \"$1\" \"$2\"; }; rename . ../renamed",
        "for f in /tmp /var/tmp /dev/shm /etc /usr/local/bin /run; do :; done; touch /etc/MADE /usr/local/bin/MADE /run/MADE",
    ])
    .await;
}

#[tokio::test]
async fn no_process_outside_is_touched() {
    none_escapes(&[
        "kill -9 VICTIM; kill -9 -- -1; for p in /proc/[0-9]*; do [ ${p#/proc/} = $$ ] || kill -9 ${p#/proc/}; done",
        "kill -STOP HOST; kill -XFSZ HOST; kill -XCPU HOST",
        "prlimit --pid VICTIM --cpu=0; prlimit --pid HOST --fsize=0:0; prlimit --pid HOST --nofile=3:3",
        "renice 19 -p HOST; taskset -p 1 HOST; chrt -f -p 1 HOST; ionice -c3 -p HOST",
        "PYTHON -c \"import os; os.kill(HOST, 0); print('seen')\"",
        "cat /proc/HOST/environ /proc/HOST/mem /proc/HOST/maps; ls -l /proc/HOST/fd",
        "PYTHON -c \"import ctypes; l=ctypes.CDLL(None, use_errno=True); print(l.ptrace(16, HOST, 0, 0))\"",
        "PYTHON -c \"import ctypes; l=ctypes.CDLL(None); print(l.syscall(310, HOST, 0, 1, 0, 1, 0))\"",
        "PYTHON -c \"import ctypes; l=ctypes.CDLL(None); fd=l.syscall(434, HOST, 0); print(l.syscall(438, fd, 1, 0))\"",
        "echo 1000 > /proc/HOST/oom_score_adj; echo x > /proc/HOST/comm",
        "nsenter -t HOST -m -p true; nsenter -t 1 -a true",
    ])
    .await;
}

#[tokio::test]
async fn no_privilege_and_no_namespace_is_gained() {
    none_escapes(&[
        "unshare -Ur cat KEY; unshare -Urm sh -c 'mount --bind /etc /usr && touch /usr/MADE'",
        "mount -t tmpfs none /etc; mount --bind / mnt; umount -l /usr; mount -o remount,rw /usr",
        "/usr/sbin/chroot . true; /usr/sbin/pivot_root . .; mknod d b 254 0; mknod c c 1 1; cat c",
        "su -c 'cat KEY' < /dev/null; setpriv --reuid 0 cat KEY; setpriv --ambient-caps +all --inh-caps +all cat KEY",
        "PYTHON -c \"import os; os.setuid(0); print(open('KEY').read())\"",
        "PYTHON -c \"import ctypes; l=ctypes.CDLL(None); print(l.syscall(304, -100, b'x', 0))\"",
        "PYTHON -c \"import ctypes; l=ctypes.CDLL(None); print(l.syscall(250, 0, 0), l.syscall(248, b'user', b'x', b'y', 1, -3))\"",
        "PYTHON -c \"import ctypes; l=ctypes.CDLL(None); print(l.syscall(425, 8, 0), l.syscall(321, 0, 0, 0), l.syscall(298, 0, 0, -1, -1, 0))\"",
        "echo 1 > /proc/sys/kernel/sysrq; echo c > /proc/sysrq-trigger; echo '|/tmp/MADE' > /proc/sys/kernel/core_pattern",
        "echo x > /sys/fs/cgroup/MADE; mkdir /sys/fs/cgroup/pids/MADE; echo 0 > /sys/fs/cgroup/pids/cgroup.procs",
        "PYTHON -c \"import ctypes; l=ctypes.CDLL(None); print(l.syscall(175, b'x', 1, b''), l.syscall(313, 0, b'', 0))\"",
        "cp /bin/bash b && chmod u+s b && ./b -p -c 'cat KEY'",
        "LD_PRELOAD=./x.so cat KEY; PATH=.:$PATH; ulimit -c unlimited; kill -SEGV $$",
    ])
    .await;
}

#[tokio::test]
async fn no_device_ipc_or_socket_leads_out() {
    none_escapes(&[
        "cat /dev/mem /dev/kmem /dev/port | head -c 10; ls /dev/vda && head -c 10 /dev/vda",
        "echo x > /dev/tty1; echo x > /dev/console; echo x > /dev/ttyS0; cat /dev/vcs | head -c 10; echo x > /dev/pts/0",
        "echo x > /dev/kmsg; dmesg; cat /dev/input/event0",
        "ipcmk -M 100; ipcs -m; ipcmk -Q",
        "cat /proc/keys; PYTHON -c \"import ctypes; print(ctypes.CDLL(None).syscall(248, b'user', b'a', b'b', 1, -4))\"",
        "PYTHON -c \"import socket; socket.socket(socket.AF_UNIX).connect('/var/run/docker.sock')\"",
        "PYTHON -c \"import socket; socket.socket(socket.AF_UNIX).connect('/run/dbus/system_bus_socket')\"",
        "PYTHON -c \"import socket; socket.socket(socket.AF_UNIX).connect(chr(0) + '/org/freedesktop/systemd1')\"",
        "exec 3<>/dev/tcp/127.0.0.1/22; exec 3<>/dev/udp/127.0.0.1/53",
        "echo '* * * * * root touch /tmp/MADE' | tee /etc/MADE /etc/cron.d/MADE /var/spool/cron/crontabs/root /run/MADE",
    ])
    .await;
    assert!(fs::metadata("/dev/null").unwrap().rdev() != 0);
}

#[tokio::test]
async fn shared_memory_and_queues_end_with_a_namespaced_command() {
    let c = confined(Layers::All, false);
    let before = fs::read_to_string("/proc/sysvipc/shm").unwrap();
    assert!(c.works("ipcmk -M 4096 && echo x > /dev/shm/left").await);
    assert_eq!(fs::read_to_string("/proc/sysvipc/shm").unwrap(), before);
    assert_eq!(c.scene.text("ls /dev/shm").await, "");
}

#[tokio::test]
async fn without_namespaces_system_v_ipc_is_refused() {
    let c = confined(Layers::WithoutNamespaces, false);
    let before = fs::read_to_string("/proc/sysvipc/shm").unwrap();
    for command in ["ipcmk -M 4096", "ipcmk -Q", "ipcmk -S 1", "ipcrm -m 0"] {
        assert!(!c.works(command).await, "{command}");
    }
    assert_eq!(fs::read_to_string("/proc/sysvipc/shm").unwrap(), before);
}

/// Each line is a system call by its number on x86-64, and how it is refused: EPERM or ENOSYS.
#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn refused_system_calls_say_so() {
    let calls = [
        ("add_key", "248, b'user', b'x', b'y', 1, -3"),
        ("keyctl", "250, 0, -3, 1"),
        ("request_key", "249, b'user', b'x', 0, 0"),
        ("bpf", "321, 0, 0, 0"),
        ("perf_event_open", "298, 0, 0, -1, -1, 0"),
        ("userfaultfd", "323, 0"),
        ("io_uring_setup", "425, 8, 0"),
        ("setns", "308, 0, 0"),
        ("unshare of a user namespace", "272, 0x10000000"),
        ("open_by_handle_at", "304, -100, b'x', 0"),
        ("kcmp", "312, 1, 1, 0, 0, 0"),
        ("kexec_load", "246, 0, 0, 0, 0"),
        ("mount", "165, b'none', b'/tmp', b'tmpfs', 0, 0"),
        ("chroot", "161, b'/'"),
        ("clone3", "435, 0, 0"),
        ("openat2", "437, -100, b'x', 0, 0"),
    ];
    for layers in LAYERS {
        let c = confined(layers, false);
        for (name, arguments) in calls {
            let program = format!(
                "import ctypes; l = ctypes.CDLL(None, use_errno=True); print(l.syscall({arguments}), ctypes.get_errno())"
            );
            let text = c.scene.text(&format!("{} -c \"{program}\"", python().0)).await;
            assert!(["-1 1\n", "-1 38\n"].contains(&text.as_str()), "{layers:?} {name}: {text}");
        }
    }
}

#[tokio::test]
async fn what_a_command_puts_into_tmp_is_seen_by_its_task_alone() {
    let c = confined(Layers::All, false);
    let name = format!("/tmp/private-{}", std::process::id());
    assert!(c.works(&format!("echo a > {name}")).await);
    assert!(!Path::new(&name).exists());
    assert!(c.works(&format!("cat {name}")).await, "the next command of the task sees it");
}
