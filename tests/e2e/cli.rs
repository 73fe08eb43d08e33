//! The command line contract: what goes to stdout, what to stderr, and which code it exits with.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::mpsc,
    thread,
};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{compiled, guest, patience::PATIENCE, start};

/// A home and a tools folder of a test's own.
pub(crate) struct Place {
    pub(crate) root: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let place = Self::bare();
        compiled::fill(&place.home());
        place
    }

    /// One where nothing was compiled before.
    pub(crate) fn bare() -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("tools")).unwrap();
        Self { root }
    }

    pub(crate) fn tools(&self) -> PathBuf {
        self.root.path().join("tools")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    pub(crate) fn drop_in(&self, name: &str, bytes: &[u8]) {
        fs::write(self.tools().join(name), bytes).unwrap();
    }

    /// The default folder for hooks.
    pub(crate) fn hooks(&self) -> PathBuf {
        self.home().join("hooks")
    }

    pub(crate) fn drop_hook(&self, name: &str, bytes: &[u8]) {
        fs::create_dir_all(self.hooks()).unwrap();
        fs::write(self.hooks().join(name), bytes).unwrap();
    }

    /// Compiles what is there, so that a host starts with all of it. For tests that are not about the start; a configuration that can't
    /// be used is the host's to refuse.
    pub(crate) fn warm(&self) {
        drop(start::builder(self).build());
    }

    /// Writes the operator's configuration.
    pub(crate) fn configure(&self, text: &str) {
        fs::create_dir_all(self.home()).unwrap();
        fs::write(self.home().join("hermes.toml"), text).unwrap();
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hermes-host"));
        command.args(arguments).arg("--home").arg(self.home()).arg("--tools").arg(self.tools());
        command.env_remove("HERMES_HOME").env("NO_COLOR", "1");
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub(crate) fn parse(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|why| panic!("stdout is not JSON alone ({why}): {output:?}"))
}

/// The command was wrong: nothing on stdout, and these words on stderr.
pub(crate) fn assert_wrong(output: &Output, messages: &[&str]) {
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert_eq!(stdout(output), "");
    for message in messages {
        assert!(stderr(output).contains(message), "{message:?} is not in {}", stderr(output));
    }
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

#[test]
fn a_call_prints_the_json_alone_and_exits_0() {
    let output = Place::new().run(&["call", "calculate", r#"{"expression": "0.1 + 0.2"}"#]);
    assert_eq!(code(&output), 0, "{output:?}");
    assert_eq!(parse(&output)["result"], "0.3");
    assert_eq!(stdout(&output).lines().count(), 1);
    assert_eq!(stderr(&output), "");
}

#[test]
fn an_unknown_tool_exits_2_and_names_the_nearest() {
    let output = Place::new().run(&["call", "calculat", "{}"]);
    assert_eq!(code(&output), 2);
    let error = parse(&output);
    assert_eq!(error["kind"], "unknown-tool");
    assert!(error["error"].as_str().unwrap().contains("did you mean calculate"));
}

#[test]
fn a_tools_error_exits_1_with_its_kind() {
    let output = Place::new().run(&["call", "calculate", r#"{"expression": "1 / 0"}"#]);
    assert_eq!(code(&output), 1);
    assert_eq!(parse(&output)["kind"], "invalid-arguments");
}

#[test]
fn arguments_that_break_the_schema_exit_1_and_say_which() {
    let output = Place::new().run(&["call", "calculate", r#"{"expression": {"a": 1}}"#]);
    assert_eq!(code(&output), 1);
    let error = parse(&output);
    assert_eq!(error["kind"], "invalid-arguments");
    assert!(error["error"].as_str().unwrap().contains("argument expression"), "{error}");
}

#[test]
fn text_that_is_no_json_is_wrong_usage() {
    let output = Place::new().run(&["call", "calculate", "{expression: 1}"]);
    assert_eq!(code(&output), 2);
    assert!(parse(&output)["error"].as_str().unwrap().contains("not JSON"));
}

#[test]
fn arguments_come_from_a_file_or_stdin_too() {
    let place = Place::new();
    let file = place.root.path().join("arguments.json");
    fs::write(&file, r#"{"expression": "6*7"}"#).unwrap();
    let output = place.run(&["call", "calculate", &format!("@{}", file.display())]);
    assert_eq!(parse(&output)["result"], "42");

    let mut child =
        place.command(&["call", "calculate", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(br#"{"expression": "6*7"}"#).unwrap();
    assert_eq!(parse(&child.wait_with_output().unwrap())["result"], "42");

    let output = place.run(&["call", "calculate", "@/no/such/file"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("/no/such/file"));
}

#[test]
fn a_dropped_file_is_listed_and_called() {
    let place = Place::new();
    place.drop_in("hi.wasm", &guest::good("hi"));
    let list = parse(&place.run(&["list", "--json"]));
    let tool = list["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "hi").unwrap().clone();
    assert_eq!(tool["component"], "hi");
    assert_eq!(tool["available"], true);
    assert_eq!(tool["bundled"], false);
    assert!(tool["digest"].as_str().unwrap().starts_with("blake3:"));
    let output = place.run(&["call", "hi"]);
    assert_eq!((code(&output), stdout(&output).trim()), (0, "\"ok\""));
}

#[test]
fn the_bundled_tools_are_there_without_any_folder() {
    let output = Place::new().run(&["list"]);
    assert_eq!(code(&output), 0);
    for tool in ["calculate", "convert_units", "convert_time"] {
        assert!(stdout(&output).contains(tool));
    }
    assert!(stdout(&output).contains("calc (bundled)"));
}

#[test]
fn a_folder_with_a_bundled_components_bytes_adds_nothing() {
    let place = Place::new();
    let (_, bytes) = hermes_host::BUNDLED.iter().find(|(name, _)| *name == "calc").unwrap();
    place.drop_in("copy.wasm", bytes);
    let list = parse(&place.run(&["list", "--json"]));
    assert_eq!(list["refused"], json!([]));
    assert!(list["tools"].as_array().unwrap().iter().all(|tool| tool["bundled"] == true));
}

#[test]
fn of_two_tools_with_one_name_the_first_stays_and_the_other_has_its_reason() {
    let place = Place::new();
    place.drop_in("a.wasm", &guest::good("twin"));
    let mut other = guest::good("twin");
    // A custom section: other bytes, same tool.
    other.extend([0, 3, 1, b'x', 0]);
    place.drop_in("b.wasm", &other);
    let list = parse(&place.run(&["list", "--json"]));
    let twins: Vec<&Value> = list["tools"].as_array().unwrap().iter().filter(|tool| tool["name"] == "twin").collect();
    assert_eq!(twins.len(), 1);
    assert_eq!(twins[0]["component"], "a");
    assert!(list["refused"][0]["reason"].as_str().unwrap().contains("the name is taken by"));
}

#[test]
fn definitions_come_in_three_forms_and_by_toolset() {
    let place = Place::new();
    let names = |format: &str, pointer: &str| -> Vec<String> {
        let output = place.run(&["definitions", "--format", format, "--toolset", "calc"]);
        let list = parse(&output);
        list.as_array().unwrap().iter().map(|d| d.pointer(pointer).unwrap().as_str().unwrap().to_owned()).collect()
    };
    let expected = ["calculate", "convert_time", "convert_units"];
    assert_eq!(names("openai", "/function/name"), expected);
    assert_eq!(names("anthropic", "/name"), expected);
    assert_eq!(names("mcp", "/name"), expected);
    let output = place.run(&["definitions", "--toolset", "nope"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("no toolset is named \"nope\""), "{output:?}");
}

#[test]
fn inspect_reads_a_file_without_running_it() {
    let place = Place::bare();
    place.drop_in("hi.wasm", &guest::good("hi"));
    let output = place.run(&["inspect", place.tools().join("hi.wasm").to_str().unwrap(), "--json"]);
    assert_eq!(code(&output), 0, "{output:?}");
    let found = parse(&output);
    assert_eq!(found["wit_version"], "0.1.0");
    assert_eq!(found["loadable"], true);
    assert!(!place.home().exists(), "inspect made a home");
    place.drop_in("text.wasm", b"hello");
    let output = place.run(&["inspect", place.tools().join("text.wasm").to_str().unwrap()]);
    assert_eq!(code(&output), 1);
    assert!(stdout(&output).contains("is text"));
}

#[test]
fn wrong_usage_exits_2_and_says_what_to_do() {
    let place = Place::new();
    let empty = tempfile::tempdir().unwrap();
    let missing = empty.path().join("missing");
    for (arguments, message) in [
        (vec!["call"], "required"),
        (vec!["frobnicate"], "unrecognized subcommand"),
        (vec!["list", "--tools", missing.to_str().unwrap()], "create it, or name another"),
        (vec!["list", "--config", missing.to_str().unwrap()], "failed to read"),
        (vec!["list", "--workspace", missing.to_str().unwrap()], "--workspace DIR"),
    ] {
        let output = place.run(&arguments);
        assert_eq!(code(&output), 2, "{arguments:?}");
        assert!(stderr(&output).contains(message), "{arguments:?}: {}", stderr(&output));
        assert_eq!(stdout(&output), "", "{arguments:?}");
    }
}

#[test]
fn a_config_with_an_unknown_key_stops_the_host_and_names_the_place() {
    let place = Place::new();
    let config = place.root.path().join("hermes.toml");
    fs::write(&config, "[tools.x]\nlimit = 1\n").unwrap();
    let output = place.run(&["list", "--config", config.to_str().unwrap()]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("unknown field `limit`"), "{output:?}");
    assert!(stderr(&output).contains("line 2"), "{output:?}");
}

#[test]
fn a_config_that_is_a_pipe_or_that_others_can_write_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let config = place.root.path().join("hermes.toml");
    fs::write(&config, "").unwrap();
    fs::set_permissions(&config, fs::Permissions::from_mode(0o666)).unwrap();
    let output = place.run(&["list", "--config", config.to_str().unwrap()]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("other users can write to it"), "{output:?}");
    fs::remove_file(&config).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, &config, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).unwrap();
    assert!(stderr(&place.run(&["list", "--config", config.to_str().unwrap()])).contains("not a regular file"));
}

#[test]
fn what_a_file_says_of_itself_does_not_reach_the_terminal_raw() {
    let place = Place::new();
    place.drop_in("evil.wasm", &guest::attack("imports_an_escape"));
    let path = place.tools().join("evil.wasm");
    for arguments in
        [vec!["inspect", path.to_str().unwrap()], vec!["inspect", path.to_str().unwrap(), "--json"], vec!["list"]]
    {
        let output = place.run(&arguments);
        let both = [output.stdout, output.stderr].concat();
        assert!(!both.contains(&0x1b), "{arguments:?}");
    }
}

#[test]
fn colours_are_for_terminals_only() {
    let place = Place::new();
    let output = place.command(&["list"]).env_remove("NO_COLOR").output().unwrap();
    assert!(!output.stdout.contains(&0x1b));
}

#[test]
fn a_config_in_the_current_directory_is_not_read() {
    let place = Place::new();
    fs::write(place.root.path().join("hermes.toml"), "nonsense").unwrap();
    let output = place.command(&["list"]).current_dir(place.root.path()).output().unwrap();
    assert_eq!(code(&output), 0, "{output:?}");
}

#[test]
fn a_closed_pipe_is_no_error() {
    let place = Place::new();
    let mut child = place.command(&["list", "--json"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((code(&output), stderr(&output).as_str()), (0, ""));
}

#[test]
fn doctor_says_what_works_and_exits_1_when_something_is_refused() {
    let place = Place::new();
    let output = place.run(&["doctor", "--json"]);
    assert_eq!(code(&output), 0, "{output:?}");
    assert!(parse(&output).as_array().unwrap().iter().any(|f| f["what"] == "bundled tools" && f["status"] == "ok"));
    place.drop_in("bad.wasm", b"not wasm");
    let output = place.run(&["doctor"]);
    assert_eq!(code(&output), 1);
    let line = stdout(&output).lines().find(|line| line.contains("bad.wasm")).unwrap().to_owned();
    assert!(line.starts_with("problem  component") && line.contains("refused: "), "{line}");
}

/// What bash is told for a line that ends in this word.
fn completed(place: &Place, words: &[&str]) -> Vec<String> {
    let mut command = place.command(&["--", "hermes-host"]);
    command.args(words);
    // After the program and the four words for its home and its tools.
    let index = 5 + words.len() - 1;
    command.env("HERMES_HOST_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", index.to_string()).env("_CLAP_IFS", "\n");
    let output = command.env("_CLAP_COMPLETE_SPACE", "false").output().unwrap();
    assert_eq!(code(&output), 0, "{output:?}");
    stdout(&output).lines().map(|line| line.trim_end().to_owned()).collect()
}

#[test]
fn completions_name_subcommands_and_what_is_loaded() {
    let place = Place::new();
    place.drop_in("weather.wasm", &guest::good("forecast"));
    let script = stdout(&place.run(&["completions", "bash"]));
    assert!(script.contains("complete ") && script.contains("HERMES_HOST_COMPLETE"), "{script}");
    // Not compiled yet, so its tools are not known; its name is.
    assert_eq!(completed(&place, &["call", "forec"]), [""; 0]);
    assert_eq!(completed(&place, &["grant", "weath"]), ["weather"]);
    place.run(&["list"]);
    assert_eq!(completed(&place, &["call", "forec"]), ["forecast"]);
    assert_eq!(completed(&place, &["call", "calcul"]), ["calculate"]);
    assert_eq!(completed(&place, &["toolsets", "hermes-cl"]), ["hermes-cli"]);
    assert_eq!(completed(&place, &["definiti"]), ["definitions"]);
}

#[test]
fn completing_makes_no_home() {
    let place = Place::bare();
    assert_eq!(completed(&place, &["call", "calc"]), [""; 0]);
    assert!(!place.home().exists());
}

/// The lines of a command on a terminal of this width.
fn on_columns(place: &Place, columns: usize, arguments: &[&str]) -> Vec<String> {
    let output = place.command(arguments).env("COLUMNS", columns.to_string()).output().unwrap();
    stdout(&output).lines().map(str::to_owned).collect()
}

#[test]
fn lists_fit_narrow_terminals() {
    let place = Place::new();
    for columns in [40, 80] {
        for arguments in [&["list"][..], &["toolsets"], &["toolsets", "--all"], &["doctor"]] {
            for line in on_columns(&place, columns, arguments) {
                // A word that is longer than the terminal, such as a path, stays whole.
                let longest = line.split_whitespace().map(str::len).max().unwrap_or_default();
                assert!(line.chars().count() <= columns.max(longest + 20), "{columns}: {line}");
            }
        }
    }
    // The name and whether it works are what matters most.
    let lines = on_columns(&place, 40, &["list"]);
    assert!(lines.iter().any(|line| line.starts_with("calculate") && line.contains("available")), "{lines:#?}");
    assert!(lines.iter().any(|line| line.trim_start().starts_with("toolset: calc")), "{lines:#?}");
}

#[test]
fn help_tells_options_of_a_command_from_those_of_every_command() {
    let text = stdout(&Place::new().run(&["grant", "--help"]));
    let (own, common) = text.split_once("Options of every command:").unwrap_or_else(|| panic!("{text}"));
    assert!(own.contains("--read") && !own.contains("--workspace"), "{text}");
    let (common, _) = common.split_once("Examples:").unwrap();
    assert!(common.contains("--workspace") && common.contains("--quiet") && !common.contains("--read "), "{text}");
}

/// `run` in the background, and what it says on stderr.
pub(crate) struct Running {
    child: Child,
    lines: mpsc::Receiver<String>,
}

impl Running {
    pub(crate) fn start(place: &Place) -> Self {
        let mut child = place
            .command(&["run", "--http", "127.0.0.1:0"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Self { child, lines }
    }

    pub(crate) fn wait_for(&self, text: &str) {
        let deadline = std::time::Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(std::time::Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) if line.contains(text) => return,
                Ok(_) => {}
                Err(why) => panic!("no line with {text:?}: {why}"),
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn run_stays_up_follows_the_folder_and_ends_at_sigterm() {
    let place = Place::new();
    place.drop_in("one.wasm", &guest::good("one"));
    let mut running = Running::start(&place);
    running.wait_for("Ready");
    place.drop_in("two.wasm", &guest::good("two"));
    running.wait_for("added two");
    place.drop_in("bad.wasm", b"nonsense");
    running.wait_for("refused");
    fs::remove_file(place.tools().join("one.wasm")).unwrap();
    running.wait_for("removed one");
    assert!(running.child.try_wait().unwrap().is_none());
    let id = rustix::process::Pid::from_child(&running.child);
    rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
    assert_eq!(running.child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_library_path_is_shown_absolute() {
    let place = Place::new();
    place.drop_in("bad.wasm", b"nonsense");
    let output = place.run(&["list", "--json"]);
    assert!(Path::new(parse(&output)["refused"][0]["place"].as_str().unwrap()).is_absolute());
}
