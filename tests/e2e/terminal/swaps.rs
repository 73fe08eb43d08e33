//! What a command leaves behind for the next one: symlinks and other folders in place of those that the launcher mounts. The launcher has
//! the rights of the host, so what it follows is out of the sandbox.

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt},
};

use super::sandbox::{Confined, LAYERS, Layers, confined, python};

/// Runs commands one after the other, and gives what the last one printed.
async fn after(c: &Confined, commands: &[&str]) -> String {
    let mut text = String::new();
    for command in commands {
        let command = command.replace("HOME", &c.home.display().to_string()).replace("PYTHON", &python().0);
        text = c.scene.shell(&command).await.output.text;
    }
    text
}

#[tokio::test]
async fn a_symlink_in_place_of_a_mounted_folder_leads_nowhere() {
    for layers in LAYERS {
        for commands in [
            // The name of a folder that is mounted for being obeyed, as a link to keys that the home of the task has a place for.
            &[
                "mkdir -p HOME/.ssh; ln -s ../.ssh .vscode; ln -s ../.ssh .husky",
                "cat HOME/.ssh/id_ed25519 .vscode/id_ed25519",
            ][..],
            &[
                "mkdir -p sub/.vscode HOME/.ssh",
                "rm -rf sub; mkdir sub; ln -s ../../.ssh sub/.vscode",
                "cat HOME/.ssh/* sub/.vscode/*",
            ],
            &[
                "mkdir -p sub/.vscode HOME/.ssh",
                "mv sub s2; mkdir sub; ln -s ../../.ssh sub/.vscode",
                "cat HOME/.ssh/* sub/.vscode/*",
            ],
            &[
                "mkdir -p HOME/.gnupg; ln -s HOME/.gnupg nested; mkdir n; ln -s ../../.gnupg n/.git",
                "cat HOME/.gnupg/ring n/.git/ring nested/ring",
            ],
            // The folders of toolchains in the home of the task.
            &["mv HOME/.cargo HOME/c; ln -s HOME/.ssh HOME/.cargo", "cat HOME/.cargo/id_ed25519 HOME/.ssh/id_ed25519"],
            &["rm -rf /tmp/x; ln -s HOME /tmp/x", "cat /tmp/x/.ssh/id_ed25519 /tmp/x/notes"],
        ] {
            let c = confined(layers, false);
            let text = after(&c, commands).await;
            assert!(!text.contains("content"), "{layers:?} {commands:?}: {text}");
        }
    }
}

#[tokio::test]
async fn no_mount_point_is_made_outside() {
    for target in ["outside-folder", "outside-folder/deep"] {
        let c = confined(Layers::All, false);
        let outside = c.outside.path().join("outside-folder/deep");
        fs::create_dir_all(&outside).unwrap();
        let link = format!("mv HOME/.cargo HOME/c; ln -s {} HOME/.cargo", c.outside.path().join(target).display());
        after(&c, &[&link, "true", "ln -sfn / HOME/.rustup; ln -sfn / HOME/.config", "true"]).await;
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
        assert_eq!(fs::read_dir(c.outside.path().join("outside-folder")).unwrap().count(), 1);
    }
}

#[tokio::test]
async fn a_file_in_place_of_a_toolchain_stops_no_later_command() {
    let c = confined(Layers::All, false);
    assert_eq!(after(&c, &["mv HOME/.cargo HOME/c; touch HOME/.cargo", "echo still"]).await, "still\n");
}

/// A hidden or obeyed path is covered by its name: the folders above it keep theirs.
#[tokio::test]
async fn a_folder_above_a_covered_path_is_not_renamed() {
    let c = confined(Layers::All, false);
    let project = c.home.join("project");
    fs::create_dir_all(project.join("pkg/app/.vscode")).unwrap();
    fs::write(project.join("pkg/app/.vscode/settings.json"), "content").unwrap();
    for folder in ["pkg", "pkg/app", ".git"] {
        let command = format!("mv {folder} {folder}2 2>&1 && echo moved");
        assert!(!after(&c, &[&command]).await.contains("moved"), "{folder}");
    }
    after(&c, &["mv pkg p2; cp -a p2 pkg; echo planted > pkg/app/.vscode/settings.json"]).await;
    assert_eq!(fs::read_to_string(project.join("pkg/app/.vscode/settings.json")).unwrap(), "content");
}

#[tokio::test]
async fn a_host_whose_home_lies_in_the_workspace_keeps_its_files() {
    use super::super::cli::{Place, stdout};
    let place = Place::new();
    let work = place.root.path().join("work");
    fs::create_dir_all(work.join("conf")).unwrap();
    fs::rename(place.home(), work.join("conf/hermes")).unwrap();
    fs::write(work.join("conf/hermes/hermes.toml"), "[approval]\nmode = \"off\"\n").unwrap();
    let mut call = std::process::Command::new(super::BINARY);
    let plant = "mv conf c2; mkdir -p conf/hermes && echo '[terminal]' > conf/hermes/hermes.toml; cat c2/hermes/* conf/hermes/*; true";
    call.args(["call", "terminal", &serde_json::json!({ "command": plant }).to_string()]);
    let output = call.arg("--home").arg(work.join("conf/hermes")).arg("--workspace").arg(&work).output().unwrap();
    assert!(!stdout(&output).contains("mode = "), "{output:?}");
    let config = fs::read_to_string(work.join("conf/hermes/hermes.toml")).unwrap();
    assert_eq!(config, "[approval]\nmode = \"off\"\n");
}

#[tokio::test]
async fn devices_keep_their_modes() {
    let c = confined(Layers::All, false);
    let changed = || fs::metadata("/dev/null").unwrap().ctime_nsec();
    let before = changed();
    for command in ["chmod 0666 /dev/null", "chmod 0666 /dev/urandom", "touch -d 2001-01-01 /dev/null"] {
        assert!(!c.works(command).await, "{command}");
    }
    assert_eq!(changed(), before);
    assert!(c.works("echo x > /dev/null && head -c 1 /dev/urandom > a").await);
}

#[tokio::test]
async fn no_set_user_id_file_is_made() {
    for layers in LAYERS {
        let c = confined(layers, false);
        let unnamed = "PYTHON -c \"import os; f = os.open('.', os.O_TMPFILE | os.O_RDWR, 0o6755); \
                       os.link(f'/proc/self/fd/{f}', 'tool', follow_symlinks=True)\"";
        for command in [unnamed, "cp /bin/true tool; chmod 4755 tool; chmod u+s tool", "install -m 4755 /bin/true tool"]
        {
            after(&c, &[command]).await;
        }
        let tool = c.home.join("project/tool");
        let mode = fs::metadata(tool).map_or(0, |found| found.permissions().mode());
        assert_eq!(mode & 0o6000, 0, "{layers:?}");
    }
}

#[tokio::test]
async fn files_that_programs_obey_are_named_when_a_command_makes_them() {
    let c = confined(Layers::All, false);
    let outcome =
        c.scene.shell("mkdir -p web && echo {} > .mcp.json && echo x > web/.envrc && echo x > plain.txt").await;
    let note = outcome.note.unwrap_or_default();
    assert!(note.contains(".mcp.json") && note.contains("web/.envrc") && !note.contains("plain.txt"), "{note}");
    assert_eq!(c.scene.shell("true").await.note, None);
    // Now that they are known they are read-only.
    assert!(!c.works("echo y > .mcp.json").await);
}

/// A background command of the task exchanges two folders of the home while the next command's files are mounted.
#[tokio::test]
async fn folders_of_the_home_that_change_places_lead_past_no_cover() {
    use hermes_host::capability::terminal::{Request, backend::Local};
    use std::sync::Arc;
    let c = confined(Layers::All, false);
    let project = c.home.join("projects/deep/foo");
    fs::create_dir_all(project.join(".git/hooks")).unwrap();
    fs::create_dir_all(project.join(".ssh")).unwrap();
    fs::write(project.join(".git/config"), "content\n").unwrap();
    fs::write(project.join(".ssh/id_ed25519"), "content\n").unwrap();
    let hidden = [project.join(".ssh")];
    let site = hermes_host::capability::terminal::backend::SandboxSite {
        workspace: &project,
        home: Some(&c.home),
        hidden: &hidden,
    };
    let policy = hermes_host::capability::terminal::SandboxPolicy { read: vec![python().1], ..Default::default() };
    let sandbox = hermes_host::capability::terminal::backend::Sandbox::new(&super::launcher(), site, &policy).unwrap();
    let backend = Local::new(super::launcher(), &project).unwrap().confined(Arc::new(sandbox), false);
    let scene = super::Scene::on(Arc::new(backend), tempfile::tempdir().unwrap());
    let flip = format!(
        "{0} -c \"import ctypes, os\nos.makedirs('{1}/x/deep', exist_ok=True)\nl = ctypes.CDLL(None)\nopen('ready', 'w')\n\
         while True: l.syscall(316, -100, b'{1}/projects', -100, b'{1}/x', 2)\"",
        python().0,
        c.home.display()
    );
    let start = scene.terminal.start(super::TASK, Request::shell(flip), Default::default()).await.unwrap();
    super::until("it exchanges them", || project.join("ready").exists()).await;
    for _ in 0..60 {
        let request = Request::shell(
            "for f in ~/*/deep/foo ~/*/foo .; do cat $f/.ssh/id_ed25519; echo planted > $f/.git/config; done",
        );
        // A command whose directory changed its name meanwhile does not run.
        if let Ok(outcome) = scene.terminal.run(super::TASK, request).await {
            assert!(!outcome.output.text.contains("content"), "{}", outcome.output.text);
        }
        assert_eq!(fs::read_to_string(project.join(".git/config")).unwrap(), "content\n");
    }
    scene.terminal.kill(super::TASK, &start.id).await.unwrap();
}

#[tokio::test]
async fn many_folders_do_not_hide_an_obeyed_file_that_was_found() {
    let c = confined(Layers::All, false);
    let project = c.home.join("project");
    fs::create_dir_all(project.join("zz/app/.vscode")).unwrap();
    fs::write(project.join("zz/app/.vscode/tasks.json"), "content\n").unwrap();
    after(&c, &["mkdir a{1..2100}", "echo planted > zz/app/.vscode/tasks.json"]).await;
    assert_eq!(fs::read_to_string(project.join("zz/app/.vscode/tasks.json")).unwrap(), "content\n");
}
