//! The sandbox for root, for an ordinary user, and where the kernel refuses namespaces.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Output},
};

use rustix::process::geteuid;
use serde_json::{Value, json};

use super::{
    super::cli::{Place, stdout},
    BINARY,
    sandbox::forget,
};

/// An ordinary user of every Linux, who owns nothing.
const NOBODY: u32 = 65_534;

/// The program as an ordinary user, with a home and a workspace of that user's own.
fn as_ordinary_user(root: &Path, arguments: &[&str]) -> Output {
    let binary = root.join("hermes-host");
    if !binary.exists() {
        // That user may not come to where it was built.
        fs::copy(BINARY, &binary).unwrap();
        fs::set_permissions(root, fs::Permissions::from_mode(0o755)).unwrap();
        for folder in ["home", "home/.ssh", "home/work", "hermes"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        fs::write(root.join("home/.ssh/id_ed25519"), "canary-key\n").unwrap();
        if geteuid().is_root() {
            let owner = format!("{NOBODY}:{NOBODY}");
            let folders = [root.join("home"), root.join("hermes")];
            assert!(Command::new("chown").arg("-R").arg(owner).args(folders).status().unwrap().success());
        }
    }
    let mut command = if geteuid().is_root() {
        let mut command = Command::new("setpriv");
        let user = NOBODY.to_string();
        command.args(["--reuid", &user, "--regid", &user, "--clear-groups"]).arg(&binary);
        command
    } else {
        Command::new(&binary)
    };
    command.args(arguments).arg("--home").arg(root.join("hermes")).arg("--workspace").arg(root.join("home/work"));
    command.env("HOME", root.join("home")).env_remove("HERMES_HOME").current_dir(root.join("home/work"));
    command.output().unwrap()
}

#[test]
fn an_ordinary_user_has_the_sandbox_too() {
    let root = tempfile::tempdir().unwrap();
    let key = root.path().join("home/.ssh/id_ed25519");
    let command = format!(
        "echo made > made; cat {0}; echo x >> {0}; echo x > /etc/made; cat /proc/self/status; echo end",
        key.display()
    );
    let arguments = json!({ "command": command }).to_string();
    let output = as_ordinary_user(root.path(), &["call", "terminal", &arguments]);
    let answer: Value = serde_json::from_str(&stdout(&output)).unwrap_or_else(|why| panic!("{why}: {output:?}"));
    let text = answer["output"].as_str().unwrap();
    assert!(text.ends_with("end\n") && !text.contains("canary-key"), "{answer}");
    assert!(text.contains("Seccomp:\t2") && text.contains("CapEff:\t0000000000000000"), "{answer}");
    assert_eq!(fs::read_to_string(root.path().join("home/work/made")).unwrap(), "made\n");
    assert_eq!(fs::read_to_string(key).unwrap(), "canary-key\n");
    let findings: Value = serde_json::from_str(&stdout(&as_ordinary_user(root.path(), &["doctor", "--json"]))).unwrap();
    let commands = findings.as_array().unwrap().iter().find(|finding| finding["what"] == "commands").unwrap();
    let detail = commands["detail"].as_str().unwrap();
    assert!(detail.contains("user namespaces, Landlock") || detail.contains("without namespaces ("), "{detail}");
}

/// A user who may make no cgroup has limits on each process instead.
#[test]
fn commands_of_an_ordinary_user_are_limited_too() {
    let root = tempfile::tempdir().unwrap();
    let command = "cat /proc/self/cgroup; echo data $(ulimit -Hd) files $(ulimit -Hf) processes $(ulimit -Hu)";
    let output = as_ordinary_user(root.path(), &["call", "terminal", &json!({ "command": command }).to_string()]);
    let answer: Value = serde_json::from_str(&stdout(&output)).unwrap_or_else(|why| panic!("{why}: {output:?}"));
    let text = answer["output"].as_str().unwrap();
    let (groups, limits) = text.split_once("data ").unwrap();
    let words: Vec<&str> = limits.split_whitespace().collect();
    let [data, "files", files, "processes", processes] = words[..] else { panic!("{answer}") };
    assert!(groups.contains("hermes-host-") || data.parse::<u64>().is_ok(), "memory is not limited: {answer}");
    assert_eq!(files, (16_u64 << 20).to_string(), "{answer}");
    assert!(processes.parse::<u64>().unwrap() <= 4_096, "{answer}");
}

/// Files of the host in the workspace are covered, and a covered folder is not looked into.
#[test]
fn an_ordinary_user_may_have_the_hosts_home_in_the_workspace() {
    let root = tempfile::tempdir().unwrap();
    as_ordinary_user(root.path(), &["list"]);
    fs::rename(root.path().join("hermes"), root.path().join("home/work/hermes")).unwrap();
    std::os::unix::fs::symlink(root.path().join("home/work/hermes"), root.path().join("hermes")).unwrap();
    let arguments = json!({ "command": "cat hermes/* ; echo end" }).to_string();
    let output = as_ordinary_user(root.path(), &["call", "terminal", &arguments]);
    let answer: Value = serde_json::from_str(&stdout(&output)).unwrap_or_else(|why| panic!("{why}: {output:?}"));
    let text = answer["output"].as_str().unwrap();
    assert!(text.contains("Permission denied") && text.ends_with("end\n"), "{answer}");
}

/// As in a container without user namespaces.
#[test]
fn doctor_says_what_is_not_held_without_namespaces() {
    let place = Place::bare();
    let found = std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            forget(libc::SYS_unshare);
            place.run(&["doctor", "--json"])
        });
        thread.join().unwrap()
    });
    let findings: Value = serde_json::from_str(&stdout(&found)).unwrap();
    let commands = findings.as_array().unwrap().iter().find(|finding| finding["what"] == "commands").unwrap();
    let detail = commands["detail"].as_str().unwrap();
    for words in ["Landlock and seccomp alone", "processes outside can be seen", "/tmp is not private", "loopback"] {
        assert!(detail.contains(words), "{words}: {detail}");
    }
}
