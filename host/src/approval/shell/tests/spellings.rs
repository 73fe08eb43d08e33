//! The host's own files by every name that leads to them.

use std::{fs, os::unix::fs::symlink, path::Path};

use super::{Category, Surroundings, Verdict, judge};
use crate::approval::shell::HostPaths;

/// A home behind a symlink, with a workspace in it that holds the host's configuration, hooks and tools.
struct Machine {
    root: tempfile::TempDir,
}

impl Machine {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let real = root.path().join("disk/ada");
        for folder in ["project/hooks", "project/tools", "project/src", ".hermes/cache", "etc"] {
            fs::create_dir_all(real.join(folder)).unwrap();
        }
        fs::write(real.join("etc/hermes.toml"), "").unwrap();
        fs::write(real.join(".hermes/token"), "").unwrap();
        symlink(&real, root.path().join("ada")).unwrap();
        symlink(real.join("etc"), real.join("project/conf")).unwrap();
        Self { root }
    }

    fn at(&self, path: &str) -> String {
        self.root.path().join(path).to_str().unwrap().to_owned()
    }

    /// The surroundings, with every place named below `home`.
    fn surroundings(&self, home: &str, is_confined: bool) -> Surroundings {
        let home = self.root.path().join(home);
        let own = [".hermes", "project/conf/hermes.toml", "project/hooks", "project/tools", ".hermes/token"];
        let own: Vec<_> = own.iter().map(|path| home.join(path)).collect();
        let workspace = home.join("project");
        let paths = HostPaths { workspace: &workspace, home: Some(&home), own: &own };
        Surroundings { is_confined, ..paths.surroundings() }
    }
}

fn is_the_hosts(command: &str, around: &Surroundings) {
    let judgement = judge(command, around);
    let asked = judgement.reasons.iter().any(|reason| reason.category == Category::Host);
    assert!(judgement.verdict >= Verdict::Ask && asked, "{command}: {judgement:?}");
}

#[test]
fn every_operand_that_is_the_hosts_asks_confined_and_unconfined() {
    let machine = Machine::new();
    for is_confined in [false, true] {
        let around = machine.surroundings("ada", is_confined);
        for command in [
            "rm hooks/guard.wasm",
            "rm -f ./hooks/guard.wasm",
            "rm hooks/*.wasm",
            "rm hook?/guard.wasm",
            "rm */guard.wasm",
            "cd hooks && rm guard.wasm",
            "sed -i s/ask/off/ conf/hermes.toml",
            "sed --in-place s/ask/off/ conf/hermes.toml",
            "git checkout x -- conf/hermes.toml",
            "git restore conf/hermes.toml",
            "git -C conf checkout x -- hermes.toml",
            "less -O conf/hermes.toml README.md",
            "less -Oconf/hermes.toml README.md",
            "less --LOG-FILE=conf/hermes.toml README.md",
            "/usr/bin/time -o conf/hermes.toml ls",
            "/usr/bin/time --output=conf/hermes.toml ls",
            "sort --output=conf/hermes.toml a",
            "sort -o conf/hermes.toml a",
            "dd if=a of=conf/hermes.toml",
            "echo x > conf/hermes.toml",
            "echo x >> hooks/guard.wasm",
            "cat a &> tools/x.wasm",
            "cp x.wasm tools/",
            "cp x.wasm tools/x.wasm",
            "mv hooks hooks.old",
            "mv conf old",
            "ln -sf x conf/hermes.toml",
            "truncate -s 0 conf/hermes.toml",
            "chmod 777 hooks",
            "tar xf a.tar -C hooks",
            "unheard-of hooks/guard.wasm",
            "unheard-of --into=tools/x.wasm",
            "find hooks -delete",
            "patch conf/hermes.toml x.diff",
            "perl -pi -e s/ask/off/ conf/hermes.toml",
            "tee conf/hermes.toml",
            "rsync -a x/ hooks/",
            "install x tools/x.wasm",
            "rm -rf *",
        ] {
            is_the_hosts(command, &around);
        }
        let reads =
            ["cat conf/hermes.toml", "ls hooks", "ls -l hooks/guard.wasm", "wc -l hooks/*", "touch src/x", "cp a b"];
        for command in reads {
            let judgement = judge(command, &around);
            assert_eq!(judgement.verdict, Verdict::Allow, "{command}: {judgement:?}");
        }
    }
}

#[test]
fn a_symlinked_home_hides_the_hosts_files_in_neither_spelling() {
    let machine = Machine::new();
    for is_confined in [false, true] {
        let around = machine.surroundings("ada", is_confined);
        for home in ["ada", "disk/ada"] {
            for path in ["project/hooks/x.wasm", "project/conf/hermes.toml", "project/tools/x.wasm"] {
                let path = machine.at(&format!("{home}/{path}"));
                is_the_hosts(&format!("echo x > {path}"), &around);
                is_the_hosts(&format!("rm {path}"), &around);
            }
            // What lies outside the workspace the sandbox holds.
            for path in [".hermes/token", ".hermes/cache/x", "etc/hermes.toml"].iter().filter(|_| !is_confined) {
                let path = if *path == "etc/hermes.toml" {
                    machine.at("disk/ada/etc/hermes.toml")
                } else {
                    machine.at(&format!("{home}/{path}"))
                };
                is_the_hosts(&format!("rm {path}"), &around);
            }
        }
    }
}

#[test]
fn a_symlinked_home_hides_no_credentials_and_no_workspace() {
    let machine = Machine::new();
    let around = machine.surroundings("ada", false);
    for home in ["ada", "disk/ada"] {
        let key = format!("cat {}/.ssh/id_rsa", machine.at(home));
        let judgement = judge(&key, &around);
        assert!(judgement.reasons.iter().any(|reason| reason.category == Category::CredentialRead), "{judgement:?}");
        assert_eq!(judge(&format!("rm -rf {}", machine.at(home)), &around).verdict, Verdict::Never);
        let inside = format!("touch {}/project/src/x", machine.at(home));
        assert_eq!(judge(&inside, &around).verdict, Verdict::Allow, "{inside}");
    }
}

#[test]
fn relative_names_of_the_operator_are_made_whole() {
    let around = HostPaths { workspace: Path::new("."), home: None, own: &["conf/hermes.toml".into()] }.surroundings();
    is_the_hosts("sed -i s/a/b/ conf/hermes.toml", &around);
    assert!(around.own.iter().all(|path| path.starts_with('/')), "{around:?}");
}
