//! `hermes-host approvals`, and what `grant` and `revoke` say about commands.

use std::{
    fs,
    io::{Read, Write},
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use super::cli::{Place, stderr, stdout};

/// Runs the binary with this on its stdin.
fn explain(lines: &str) -> (Option<i32>, Vec<Value>) {
    let place = Place::bare();
    let mut command = Command::new(env!("CARGO_BIN_EXE_hermes-host"));
    command.args(["approvals", "explain", "--unconfined", "-", "--home"]).arg(place.home());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    (output.status.code(), stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

#[test]
fn explain_prints_the_verdict_its_reasons_and_the_commands() {
    let place = Place::bare();
    let output = place.run(&["approvals", "explain", "timeout 5 sudo rm -rf /"]);
    assert_eq!(output.status.code(), Some(0));
    let text = stdout(&output);
    assert!(text.starts_with("never:") && text.contains("system-delete") && text.contains("rm -rf /"), "{text}");
    assert!(text.contains("through"), "{text}");
    let json = place.run(&["approvals", "explain", "--json", "--confined", "man mkfs"]);
    let judgement: Value = serde_json::from_str(&stdout(&json)).unwrap();
    assert_eq!((&judgement["verdict"], &judgement["reasons"]), (&json!("allow"), &json!([])));
    assert_eq!(judgement["commands"][0]["program"], "man");
    assert_eq!((&judgement["confined"], &judgement["effects"][0]["kind"]), (&json!(true), &json!("runs")));
    assert!(!place.home().join("tools").exists(), "nothing is loaded for it");
    let unquoted = place.run(&["approvals", "explain", "rm", "-rf", "build"]);
    assert_eq!(unquoted.status.code(), Some(2));
    assert!(stderr(&unquoted).contains("put it in quotes"), "{unquoted:?}");
}

#[test]
fn explain_judges_for_the_place_that_is_asked_for_or_configured() {
    let place = Place::bare();
    let verdict = |arguments: &[&str]| {
        let output = place.run(&[&["approvals", "explain", "--json"], arguments].concat());
        let judgement: Value = serde_json::from_str(&stdout(&output)).unwrap();
        (judgement["confined"].as_bool().unwrap(), judgement["verdict"].as_str().unwrap().to_owned())
    };
    assert_eq!(verdict(&["--confined", "make"]), (true, "allow".into()));
    assert_eq!(verdict(&["--unconfined", "make"]), (false, "ask".into()));
    place.configure("[terminal]\nbackend = \"sandbox\"\n");
    assert_eq!(verdict(&["make"]), (true, "allow".into()));
    place.configure("[terminal]\nbackend = \"local\"\n");
    assert_eq!(verdict(&["make"]), (false, "ask".into()));
}

/// Every file that the host hides from commands is one that `explain` asks about, by its given and its canonical name.
#[test]
fn explain_knows_the_hosts_own_files_as_the_host_does() {
    let place = Place::bare();
    let root = place.root.path();
    for folder in ["work/hooks", "work/etc", "real", "home"] {
        fs::create_dir_all(root.join(folder)).unwrap();
    }
    fs::write(root.join("work/etc/hermes.toml"), "").unwrap();
    std::os::unix::fs::symlink(root.join("real"), root.join("work/tools")).unwrap();
    let verdict = |command: &str| {
        let mut explain = Command::new(env!("CARGO_BIN_EXE_hermes-host"));
        explain.args(["approvals", "explain", "--json", "--unconfined", "--token-file", "token", command]);
        explain.args(["--config", "etc/hermes.toml", "--hooks", "hooks", "--tools", "tools", "--home"]);
        let output = explain.arg(place.home()).current_dir(root.join("work")).output().unwrap();
        let judgement: Value = serde_json::from_str(&stdout(&output)).unwrap_or_else(|_| panic!("{output:?}"));
        let reasons = judgement["reasons"].as_array().unwrap().clone();
        reasons.iter().any(|reason| reason["category"] == "host")
    };
    for command in [
        "rm hooks/x.wasm",
        "rm etc/hermes.toml",
        "rm tools/x.wasm",
        "rm token",
        "rm ../real/x.wasm",
        "rm ../home/cache/x",
    ] {
        assert!(verdict(command), "{command}");
    }
    assert!(!verdict("rm other"));
}

#[test]
fn explain_answers_every_line_with_one_verdict() {
    let (code, answers) = explain("\"ls -la\"\n\"git push --force\"\n\"echo a\\nrm -rf /\"\n");
    let verdicts: Vec<_> = answers.iter().map(|answer| answer["verdict"].as_str().unwrap()).collect();
    assert_eq!((code, verdicts), (Some(0), vec!["allow", "ask", "never"]));
    for answer in &answers {
        let keys: Vec<_> = answer.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["verdict", "reasons"]);
    }
    assert_eq!(answers[1]["reasons"][0]["category"], "git");
    assert!(answers[1]["reasons"][0]["detail"].is_string());
}

#[test]
fn a_line_that_is_no_json_string_is_told_and_the_others_are_answered() {
    let (code, answers) = explain("ls\n\"ls\"\n7\n");
    assert_eq!(code, Some(2));
    assert!(answers[0]["error"].as_str().unwrap().contains("line 1 is not a JSON string"), "{answers:?}");
    assert_eq!(answers[1]["verdict"], "allow");
    assert!(answers[2]["error"].is_string());
}

#[test]
fn what_was_allowed_for_good_is_shown() {
    let place = Place::new();
    assert!(stdout(&place.run(&["approvals"])).contains("nothing is allowed for good"));
    let config = "[[approval.allow]]\ncategory = \"git\"\n";
    fs::write(place.home().join("hermes.toml"), config).unwrap();
    let shown: Value = serde_json::from_str(&stdout(&place.run(&["approvals", "--json"]))).unwrap();
    assert_eq!(shown["mode"], "ask");
    assert_eq!(shown["allow"][0]["category"], "git");
    fs::write(place.home().join("hermes.toml"), "[approval]\nmod = \"off\"\n").unwrap();
    let output = place.run(&["approvals"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("unknown field `mod`"), "{}", stderr(&output));
}

#[test]
fn commands_are_granted_and_revoked() {
    let place = Place::new();
    let probe = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/probes/probe.wasm");
    place.drop_in("probe.wasm", &fs::read(probe).expect("run make tools"));
    let grant = |arguments: &[&str]| place.run(&[&["grant", "probe"], arguments].concat());
    let output = grant(&["--shell", "--exec", "git status", "--exec", "sort *", "--network", "--json"]);
    let granted: Value = serde_json::from_str(&stdout(&output)).unwrap_or_else(|why| panic!("{why}: {output:?}"));
    let expected = json!({
        "shell": true,
        "exec": [{ "program": "git", "args": ["status"] }, { "program": "sort", "args": ["*"] }],
        "network": true,
    });
    assert_eq!(granted["terminal"], expected);
    let listed: Value = serde_json::from_str(&stdout(&place.run(&["list", "--json"]))).unwrap();
    let tool = listed["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "commands").unwrap();
    assert!(tool.to_string().contains("\"program\":\"git\""), "{tool}");
    let revoke = |arguments: &[&str]| place.run(&[&["revoke", "probe"], arguments].concat());
    let output = revoke(&["--exec", "git log"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("`git log`") && stderr(&output).contains("nothing was changed"), "{output:?}");
    assert_eq!(revoke(&["--shell", "--exec", "sort *"]).status.code(), Some(0));
    let config = fs::read_to_string(place.home().join("hermes.toml")).unwrap();
    assert!(config.contains("git") && !config.contains("shell") && !config.contains("sort"), "{config}");
    assert!(config.contains("network"), "{config}");
    assert_eq!(revoke(&["--network"]).status.code(), Some(0));
    assert!(!fs::read_to_string(place.home().join("hermes.toml")).unwrap().contains("network"));
    assert_eq!(revoke(&[]).status.code(), Some(0));
    assert!(!fs::read_to_string(place.home().join("hermes.toml")).unwrap().contains("probe"));
    for (arguments, says) in [
        (["--exec", "./run"], "neither a name nor an absolute path"),
        (["--exec", "* x"], "must be named exactly"),
        (["--exec", "git commit -m 'fix it'"], "quotes are not understood"),
        (["--network", "--quiet"], "--shell or --exec"),
    ] {
        let output = grant(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(says), "{arguments:?}: {}", stderr(&output));
    }
}

/// `list`, `run` and `doctor` print the same line.
#[test]
fn the_backend_in_force_is_named_with_the_reason() {
    let place = Place::bare();
    for (config, words) in [
        ("", ["confined (backend \"sandbox\", the default)", "Landlock and seccomp"]),
        ("[terminal]\nbackend = \"local\"\n", ["not confined", "backend = \"local\" in hermes.toml"]),
        ("[terminal]\nbackend = \"ssh\"\nssh = { host = \"box\" }\n", ["on box", "backend = \"ssh\" in hermes.toml"]),
    ] {
        place.configure(config);
        let findings: Value = serde_json::from_str(&stdout(&place.run(&["doctor", "--json"]))).unwrap();
        let found = findings.as_array().unwrap().iter().find(|finding| finding["what"] == "commands").unwrap();
        let listed = stderr(&place.run(&["list"]));
        for word in words {
            assert!(found["detail"].as_str().unwrap().contains(word), "{word}: {found}");
            assert!(listed.contains(word), "{word}: {listed}");
        }
    }
}

#[test]
fn doctor_names_every_backend() {
    let place = Place::new();
    let findings: Value = serde_json::from_str(&stdout(&place.run(&["doctor", "--json"]))).unwrap();
    for backend in ["terminal local", "terminal sandbox", "terminal ssh"] {
        let found = findings.as_array().unwrap().iter().find(|finding| finding["what"] == backend);
        assert!(found.is_some_and(|found| !found["detail"].as_str().unwrap().is_empty()), "{backend}: {findings}");
    }
}

/// The program on a terminal of its own, which `script` makes.
struct AtTerminal {
    child: std::process::Child,
    shown: String,
}

impl AtTerminal {
    fn call(place: &Place, arguments: &str) -> Self {
        let binary = env!("CARGO_BIN_EXE_hermes-host");
        let (home, workspace) = (place.home().display().to_string(), place.root.path().display().to_string());
        let line = format!("{binary} call terminal '{arguments}' --home {home} --workspace {workspace}");
        let mut script = Command::new("script");
        script.args(["-qec", &line, "/dev/null"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        Self { child: script.spawn().expect("script is part of every Debian"), shown: String::new() }
    }

    /// Reads until this is shown.
    fn wait_for(&mut self, text: &str) {
        while !self.shown.contains(text) {
            let mut bytes = [0; 512];
            let length = self.child.stdout.as_mut().unwrap().read(&mut bytes).unwrap();
            assert!(length > 0, "it ended without {text:?}: {}", self.shown);
            self.shown.push_str(&String::from_utf8_lossy(&bytes[..length]));
        }
        self.shown = self.shown.split_off(self.shown.find(text).unwrap() + text.len());
    }

    fn type_line(&mut self, line: &str) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}").unwrap();
    }
}

#[test]
fn the_person_at_the_terminal_answers_with_a_letter_or_a_word() {
    let place = Place::new();
    let kept = place.root.path().join("src");
    fs::create_dir(&kept).unwrap();
    let command = r#"{"command": "rm -rf src"}"#;
    let mut denied = AtTerminal::call(&place, command);
    denied.wait_for("| rm -rf src");
    denied.wait_for("why | recursive-delete");
    denied.wait_for("within 60 s it counts as refused");
    denied.wait_for("y  Yes, this once (once)");
    denied.wait_for("n  No (deny)");
    denied.wait_for("/n? ");
    for no_answer in ["", "yes", "Y", "always-category"] {
        denied.type_line(no_answer);
        denied.wait_for("please type one of these letters or words");
        denied.wait_for("/n? ");
    }
    denied.type_line("n");
    denied.wait_for("\"status\":\"blocked\"");
    assert_eq!(denied.child.wait().unwrap().code(), Some(1), "what it wanted to do was not done");
    assert!(kept.exists());
    let mut approved = AtTerminal::call(&place, command);
    approved.wait_for("/n? ");
    approved.type_line("once");
    approved.wait_for("approved once by the operator");
    assert!(approved.child.wait().unwrap().success());
    assert!(!kept.exists());
}

/// A client that can't ask is told what the operator may run, and that very command allows it.
#[test]
fn a_refusal_names_the_command_that_allows_it_and_it_can_be_taken_back() {
    let place = Place::new();
    let work = place.root.path().join("work");
    fs::create_dir_all(work.join("it's")).unwrap();
    place.configure("# mine\n[approval]\ntimeout = \"20s\"\n");
    let call = || {
        let arguments = json!({"command": "rm -rf \"it's\""}).to_string();
        let output = place.command(&["call", "terminal", &arguments]).arg("--workspace").arg(&work).output().unwrap();
        serde_json::from_str::<Value>(&stdout(&output)).unwrap()
    };
    let refused = call();
    let text = refused["error"].as_str().unwrap_or_else(|| panic!("{refused}")).to_owned();
    let line = text.split("by running: ").nth(1).unwrap_or_else(|| panic!("{text}")).to_owned();
    assert!(line.starts_with("hermes-host approvals allow --command 'rm -rf "), "{line}");
    let binary = env!("CARGO_BIN_EXE_hermes-host");
    let line = line.replacen("hermes-host", binary, 1);
    let ran = Command::new("sh").args(["-c", &line]).output().unwrap();
    assert!(ran.status.success(), "{line}: {ran:?}");
    assert!(call()["error"].is_null());
    let listed = stdout(&place.run(&["approvals", "list"]));
    assert!(listed.contains("1. allowed for good: "), "{listed}");
    assert_eq!(place.run(&["approvals", "remove", "2"]).status.code(), Some(1));
    assert!(place.run(&["approvals", "remove", "1"]).status.success());
    let config = fs::read_to_string(place.home().join("hermes.toml")).unwrap();
    assert_eq!(config.trim_end(), "# mine\n[approval]\ntimeout = \"20s\"");
    assert!(call()["error"].is_string());
    let wrong = place.run(&["approvals", "allow", "--category", "disk"]);
    assert!(!wrong.status.success() && stderr(&wrong).contains("can't be allowed as a whole"), "{wrong:?}");
}
