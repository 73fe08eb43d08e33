//! The terminal toolset in the real host: what persists, who is asked, who may run what.

use std::{
    fs,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use futures_util::future::BoxFuture;
use hermes_host::{
    CallContext, Host, HostBuilder,
    approval::{Answer, AnswerError, Approver, News, Question, QuestionId},
    component::{CompileLimits, Compiler, Digest},
    sandbox::{Control, Progress},
};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{super::compiled, BINARY, mark, processes_with, until};

/// Asks, and leaves a trace when it runs.
pub(super) const ASKS: &str = "rm -rf src; echo ran >> trace";

/// A home, a workspace, and a folder outside both.
pub(super) struct Office {
    root: TempDir,
}

impl Office {
    pub(super) fn new(config: &str) -> Self {
        let root = tempfile::tempdir().unwrap();
        for folder in ["work/sub", "tools", "outside"] {
            fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        let office = Self { root };
        compiled::fill(&office.path("home"));
        fs::write(office.path("home/hermes.toml"), config).unwrap();
        office
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(path)
    }

    pub(super) fn builder(&self) -> HostBuilder {
        let worker = Compiler::Worker(BINARY.into(), CompileLimits::STANDARD);
        Host::builder().home(self.path("home")).tools(self.path("tools")).workspace(self.path("work")).compiler(worker)
    }

    pub(super) fn host(&self) -> Host {
        self.builder().build().unwrap()
    }

    /// How often [`ASKS`] ran.
    fn runs(&self) -> usize {
        fs::read_to_string(self.path("work/trace")).unwrap_or_default().lines().count()
    }
}

fn in_task(task: &str) -> CallContext {
    CallContext { task_id: Some(task.into()), session_id: Some("session".into()), ..CallContext::default() }
}

pub(super) async fn call(host: &Host, tool: &str, arguments: Value) -> Value {
    let outcome = host.call(tool, &arguments.to_string(), in_task("t")).await;
    serde_json::from_str(&outcome.json()).unwrap()
}

pub(super) async fn shell(host: &Host, command: &str) -> Value {
    call(host, "terminal", json!({ "command": command })).await
}

/// Somebody who always says the same.
pub(super) struct Says(Answer, AtomicUsize);

impl Says {
    pub(super) fn new(word: &str) -> Arc<Self> {
        Arc::new(Self(word.parse().unwrap(), AtomicUsize::new(0)))
    }

    /// How often.
    pub(super) fn asked(&self) -> usize {
        self.1.load(Ordering::SeqCst)
    }
}

impl Approver for Says {
    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Answer> {
        self.1.fetch_add(1, Ordering::SeqCst);
        Box::pin(std::future::ready(self.0.clone()))
    }
}

#[tokio::test]
async fn the_directory_and_what_is_exported_persist_and_a_workdir_does_not() {
    let office = Office::new("");
    let host = office.host();
    assert_eq!(shell(&host, "cd sub && export WORD=kept && pwd").await["exit_code"], 0);
    let later = shell(&host, "echo $WORD in $PWD").await;
    assert_eq!(later["output"], format!("kept in {}\n", office.path("work/sub").display()));
    let elsewhere = call(&host, "terminal", json!({ "command": "pwd", "workdir": "/usr" })).await;
    assert_eq!(elsewhere["output"], "/usr\n");
    assert_eq!(shell(&host, "pwd").await["output"], format!("{}\n", office.path("work/sub").display()));
    let other = host.call("terminal", r#"{"command":"pwd; echo $WORD"}"#, in_task("other")).await;
    assert!(other.json().contains("work\\n\\n"), "{}", other.json());
}

#[tokio::test]
async fn a_command_sees_nothing_of_the_hosts_environment_but_the_list() {
    let office = Office::new("");
    let names = shell(&office.host(), "env -0 | cut -z -d= -f1 | sort -z | tr '\\0' ' '").await;
    let allowed = ["HOME", "LANG", "OLDPWD", "PATH", "PWD", "SHELL", "SHLVL", "TERM", "TMPDIR", "TZ", "USER", "_"];
    let names = names["output"].as_str().unwrap().to_owned();
    assert!(std::env::vars().count() > names.split_whitespace().count(), "the test's own environment is larger");
    assert!(names.split_whitespace().all(|name| allowed.contains(&name)), "{names}");
    assert!(names.contains("PATH"));
}

#[tokio::test]
async fn a_command_may_take_longer_than_its_guest() {
    let (_, bytes) = hermes_host::BUNDLED.iter().find(|(name, _)| *name == "terminal").unwrap();
    let limits = "limits = { timeout = \"1s\" }";
    let office = Office::new(&format!("[tools.terminal]\ndigest = \"{}\"\n{limits}\n", Digest::of(bytes)));
    let start = Instant::now();
    assert_eq!(shell(&office.host(), "sleep 2; echo slept").await["output"], "slept\n");
    assert!(start.elapsed() >= Duration::from_secs(2));
}

#[tokio::test]
async fn what_needs_a_person_is_refused_where_there_is_none() {
    let office = Office::new("");
    let answer = shell(&office.host(), ASKS).await;
    assert_eq!(answer["status"], "blocked", "{answer}");
    assert!(answer["error"].as_str().unwrap().contains("nobody to ask"), "{answer}");
    assert_eq!(office.runs(), 0);
}

#[tokio::test]
async fn what_was_approved_runs_and_what_is_never_allowed_does_not() {
    let office = Office::new("");
    let person = Says::new("once");
    let host = office.builder().approver(person.clone()).build().unwrap();
    let answer = shell(&host, ASKS).await;
    assert_eq!((&answer["exit_code"], office.runs()), (&json!(0), 1), "{answer}");
    assert!(answer["approval"].as_str().unwrap().contains("approved once"), "{answer}");
    let asked = person.asked();
    let answer = shell(&host, "sudo mkfs.ext4 /dev/sda1").await;
    assert_eq!(answer["status"], "blocked", "{answer}");
    assert!(answer["error"].as_str().unwrap().contains("never"), "{answer}");
    assert_eq!(person.asked(), asked, "nobody is asked about it");
    let off = Office::new("[approval]\nmode = \"off\"\n");
    assert_eq!(shell(&off.host(), ASKS).await["exit_code"], 0);
    assert_eq!(shell(&off.host(), "rm -rf /").await["status"], "blocked");
}

#[tokio::test]
async fn always_is_written_down_and_holds_for_this_command_alone() {
    let office = Office::new("# mine\n");
    let person = Says::new("always");
    let host = office.builder().approver(person.clone()).build().unwrap();
    shell(&host, ASKS).await;
    shell(&host, ASKS).await;
    assert_eq!((person.asked(), office.runs()), (1, 2));
    shell(&host, &format!("{ASKS} ")).await;
    assert_eq!(person.asked(), 2, "one more blank is another command");
    let config = fs::read_to_string(office.path("home/hermes.toml")).unwrap();
    assert!(config.starts_with("# mine\n") && config.contains("[[approval.allow]]"), "{config}");
    drop(host);
    // Another process of the host knows it, and nobody has to be asked.
    assert_eq!(shell(&office.host(), ASKS).await["exit_code"], 0);
}

#[tokio::test]
async fn of_two_clients_who_answer_one_question_one_is_heard_and_the_command_runs_once() {
    let office = Office::new("");
    let host = office.host();
    let _attendance = host.approvals().attend();
    let mut news = host.approvals().subscribe();
    for round in 1..=20 {
        let calling = tokio::spawn({
            let host = host.clone();
            async move { shell(&host, ASKS).await }
        });
        let id = loop {
            if let News::Put(question) = news.recv().await.unwrap() {
                break question.id().clone();
            }
        };
        let answers = (0..2).map(|_| {
            let (queue, id) = (host.approvals().clone(), id.clone());
            std::thread::spawn(move || queue.answer(&id, Answer::ONCE))
        });
        let answers: Vec<_> = answers.collect::<Vec<_>>().into_iter().map(|it| it.join().unwrap()).collect();
        assert_eq!(answers.iter().filter(|it| it.is_ok()).count(), 1, "{answers:?}");
        assert!(answers.contains(&Err(AnswerError::Already)), "{answers:?}");
        assert_eq!(calling.await.unwrap()["exit_code"], 0);
        assert_eq!(office.runs(), round);
    }
}

#[tokio::test]
async fn a_host_that_starts_again_knows_no_question_of_the_one_before() {
    let office = Office::new("");
    let id: QuestionId = {
        let host = office.host();
        let _attendance = host.approvals().attend();
        let mut news = host.approvals().subscribe();
        let calling = shell(&host, ASKS);
        tokio::select! {
            answer = calling => panic!("nobody answered: {answer}"),
            put = news.recv() => match put.unwrap() {
                News::Put(question) => question.id().clone(),
                other => panic!("{other:?}"),
            }
        }
    };
    let host = office.host();
    let _attendance = host.approvals().attend();
    assert!(host.approvals().pending().is_empty());
    assert_eq!(host.approvals().answer(&id, Answer::ONCE), Err(AnswerError::Unknown));
    assert_eq!(office.runs(), 0);
}

#[tokio::test]
async fn any_tool_can_be_marked() {
    let office = Office::new("[policy]\nwrite_file = \"ask\"\n");
    let write = json!({ "path": "new.txt", "content": "x" });
    let answer = call(&office.host(), "write_file", write.clone()).await;
    assert_eq!(answer["kind"], "denied", "{answer}");
    assert!(!office.path("work/new.txt").exists());
    let host = office.builder().approver(Says::new("once")).build().unwrap();
    assert!(call(&host, "write_file", write).await.get("error").is_none());
    assert!(office.path("work/new.txt").exists());
    assert!(call(&office.host(), "read_file", json!({ "path": "new.txt" })).await.get("error").is_none());
}

#[tokio::test]
async fn a_background_process_is_listed_written_to_and_ended_with_its_task() {
    let office = Office::new("");
    let host = office.host();
    let started = call(&host, "terminal", json!({ "command": "cat", "background": true })).await;
    let id = started["session_id"].as_str().unwrap_or_else(|| panic!("{started}")).to_owned();
    let process = |action: &str, more: Value| {
        let mut arguments = json!({ "action": action, "session_id": id });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let host = host.clone();
        async move { call(&host, "process", arguments).await }
    };
    let listed = call(&host, "process", json!({ "action": "list" })).await;
    assert_eq!(listed["processes"][0]["session_id"], id, "{listed}");
    process("submit", json!({ "data": "one line" })).await;
    process("close", json!({})).await;
    let ended = process("wait", json!({ "timeout": 20 })).await;
    assert_eq!((&ended["status"], &ended["exit_code"]), (&json!("exited"), &json!(0)), "{ended}");
    let log = process("log", json!({})).await;
    assert!(log["output"].as_str().unwrap().contains("one line"), "{log}");
    let number = mark();
    let sleeping = call(&host, "terminal", json!({ "command": format!("sleep {number}"), "background": true })).await;
    assert_eq!(sleeping["status"], "running", "{sleeping}");
    until("it runs", || !processes_with(&number).is_empty()).await;
    host.end_task("t").await;
    assert!(processes_with(&number).is_empty());
    let listed = call(&host, "process", json!({ "action": "list" })).await;
    assert_eq!(listed["processes"], json!([]), "{listed}");
}

#[tokio::test]
async fn what_an_unconfined_shell_in_the_background_is_told_is_asked_about() {
    let office = Office::new("[terminal]\nbackend = \"local\"\n");
    let person = Says::new("once");
    let host = office.builder().approver(person.clone()).build().unwrap();
    let started = call(&host, "terminal", json!({ "command": "bash", "background": true })).await;
    let id = started["session_id"].as_str().unwrap_or_else(|| panic!("{started}")).to_owned();
    assert_eq!(person.asked(), 1, "a shell that runs what it is told");
    let send = |action: &'static str, data: &'static str| {
        let arguments = json!({ "action": action, "session_id": id, "data": data });
        let host = host.clone();
        async move { call(&host, "process", arguments).await }
    };
    let answer = send("submit", "echo harmless > told").await;
    assert!(answer.get("error").is_none_or(Value::is_null), "{answer}");
    assert_eq!(person.asked(), 2, "nobody knows what state the shell is in");
    until("it was told", || office.path("work/told").exists()).await;
    // However many writes bring it, it is the same command.
    for (first, second) in [("rm -rf ", "/\n"), ("nic\\\n", "e rm -rf /\n"), ("cd /\n", "rm -rf etc\n")] {
        let answer = send("write", first).await;
        assert!(answer.get("error").is_none_or(Value::is_null), "{answer}");
        let answer = send("write", second).await;
        assert!(answer.to_string().contains("never"), "{second}: {answer}");
        // The line that was begun is given up.
        send("write", "\n").await;
    }
}

#[tokio::test]
async fn what_a_confined_shell_in_the_background_is_told_is_judged_like_a_command() {
    let office = Office::new("");
    let person = Says::new("once");
    let host = office.builder().approver(person.clone()).build().unwrap();
    let started = call(&host, "terminal", json!({ "command": "bash", "background": true })).await;
    let id = started["session_id"].as_str().unwrap_or_else(|| panic!("{started}")).to_owned();
    let submit = |data: &'static str| {
        let arguments = json!({ "action": "submit", "session_id": id, "data": data });
        let host = host.clone();
        async move { call(&host, "process", arguments).await }
    };
    submit("echo harmless > told").await;
    until("it was told", || office.path("work/told").exists()).await;
    assert_eq!(person.asked(), 0, "the sandbox holds a shell and what it runs");
    submit("rm -rf src; echo done > gone").await;
    until("it was told", || office.path("work/gone").exists()).await;
    assert_eq!(person.asked(), 1, "the sandbox does not hold destruction in the workspace");
    let answer = submit("rm -rf /").await;
    assert!(answer.to_string().contains("never"), "{answer}");
}

#[tokio::test]
async fn news_of_a_process_come_with_the_next_answer_and_once() {
    let office = Office::new("");
    let host = office.host();
    let command = "echo listening on 80; sleep 0.1; echo bye";
    let watched = json!({
        "command": command, "background": true, "notify_on_complete": true, "watch_patterns": ["listening"],
    });
    let started = call(&host, "terminal", watched).await;
    let id = started["session_id"].as_str().unwrap_or_else(|| panic!("{started}")).to_owned();
    let ended = call(&host, "process", json!({ "action": "wait", "session_id": id, "timeout": 20 })).await;
    assert_eq!(ended["status"], "exited", "{ended}");
    let mut notices = Vec::new();
    // The end is told a moment after it came.
    for _ in 0..100 {
        let answer = call(&host, "process", json!({ "action": "list" })).await;
        notices
            .extend([&ended, &answer].into_iter().flat_map(|answer| answer["notices"].as_array()).flatten().cloned());
        if notices.iter().any(|notice| notice["type"] == "completed") {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let matched =
        notices.iter().find(|notice| notice["type"] == "watch_match").unwrap_or_else(|| panic!("{notices:?}"));
    assert!(matched.to_string().contains("listening on 80"), "{matched}");
    assert!(notices.iter().any(|notice| notice["type"] == "completed" && notice["exit_code"] == 0), "{notices:?}");
    let answer = call(&host, "process", json!({ "action": "list" })).await;
    assert!(answer.get("notices").is_none(), "{answer}");
}

#[tokio::test]
async fn the_hosts_own_files_are_not_changed_unasked() {
    // Confined the commands run and reach nothing; unconfined they are asked about.
    for (config, status) in [("", Value::Null), ("[terminal]\nbackend = \"local\"\n", json!("blocked"))] {
        let office = Office::new(config);
        let host = office.host();
        let file = office.path("home/hermes.toml");
        for command in [
            format!("echo '[approval]' > {}", file.display()),
            format!("cp x.wasm {}", office.path("tools").display()),
            format!("hermes-host grant terminal --exec 'rm **' --home {}", office.path("home").display()),
        ] {
            fs::write(office.path("work/x.wasm"), "").unwrap();
            let answer = shell(&host, &command).await;
            assert_eq!(answer["status"], status, "{command}: {answer}");
        }
        assert_eq!(fs::read_to_string(file).unwrap(), config);
        assert_eq!(fs::read_dir(office.path("tools")).unwrap().count(), 0);
    }
}

#[tokio::test]
async fn a_program_that_is_not_known_to_run_its_input_gets_nothing_that_nobody_may_run() {
    let office = Office::new("");
    let host = office.host();
    let started = call(&host, "terminal", json!({ "command": "cat", "background": true })).await;
    let submit = |data: &'static str| {
        let arguments = json!({ "action": "submit", "session_id": started["session_id"], "data": data });
        let host = host.clone();
        async move { call(&host, "process", arguments).await }
    };
    let answer = submit("rm -rf /").await;
    assert!(answer.to_string().contains("never"), "{answer}");
    let answer = submit("rm -rf src").await;
    assert!(answer.get("error").is_none_or(Value::is_null), "{answer}");
    // With a terminal it may offer a shell at any key, so a person is asked where nothing confines it.
    drop(host);
    fs::write(office.path("home/hermes.toml"), "[terminal]\nbackend = \"local\"\n").unwrap();
    let person = Says::new("once");
    let host = office.builder().approver(person.clone()).build().unwrap();
    let started = call(&host, "terminal", json!({ "command": "less x", "background": true, "pty": true })).await;
    let arguments = json!({ "action": "submit", "session_id": started["session_id"], "data": "!id" });
    let before = person.asked();
    call(&host, "process", arguments).await;
    assert_eq!(person.asked(), before + 1);
}

#[tokio::test]
async fn always_holds_after_a_walk_through_the_folders() {
    let office = Office::new("");
    let person = Says::new("always");
    let host = office.builder().approver(person.clone()).build().unwrap();
    shell(&host, ASKS).await;
    shell(&host, "cd sub").await;
    shell(&host, "cd ..").await;
    assert_eq!(shell(&host, ASKS).await["exit_code"], 0);
    assert_eq!(person.asked(), 1);
}

#[tokio::test]
async fn output_is_heard_while_it_comes() {
    let office = Office::new("");
    let host = office.host();
    let (heard, mut hears) = tokio::sync::mpsc::unbounded_channel();
    let progress = Arc::new(move |progress: Progress| heard.send(progress).unwrap());
    let control = Control { progress: Some(progress), ..Control::default() };
    let context = CallContext { control, ..in_task("t") };
    // It waits for a file that is only made once its first line was heard.
    let waits = r#"{"command": "echo begun; until [ -e heard ]; do sleep 0.01; done"}"#;
    let call = host.call("terminal", waits, context);
    let hear = async {
        assert_eq!(hears.recv().await.unwrap().message.as_deref(), Some("begun"));
        fs::write(office.path("work/heard"), "").unwrap();
    };
    let (outcome, ()) = tokio::join!(call, hear);
    assert!(outcome.json().contains("\"exit_code\":0"), "{}", outcome.json());
}

#[tokio::test]
async fn keys_that_a_command_prints_are_masked() {
    let office = Office::new("");
    let key = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    fs::write(office.path("work/notes"), format!("token {key}\n")).unwrap();
    let answer = shell(&office.host(), "cat notes").await;
    assert!(answer["output"].as_str().unwrap().starts_with("token") && !answer.to_string().contains(key), "{answer}");
}

/// The terminal tools with other bytes: a component that nobody knows.
pub(super) fn stranger(office: &Office) -> Digest {
    let (_, bytes) = hermes_host::BUNDLED.iter().find(|(name, _)| *name == "terminal").unwrap();
    // A section that says nothing: its number, its length, its name.
    let bytes = [*bytes, &[0, 2, 1, b'x']].concat();
    fs::write(office.path("tools/stranger.wasm"), &bytes).unwrap();
    Digest::of(&bytes)
}

#[tokio::test]
async fn a_stranger_runs_nothing_until_it_is_granted_and_then_it_is_confined() {
    let office = Office::new("");
    let digest = stranger(&office);
    let host = office.builder().without_bundled().build().unwrap();
    let answer = shell(&host, "echo hello").await;
    assert!(answer["error"].as_str().is_some_and(|why| why.contains("grant")), "{answer}");
    let grant = format!("[tools.stranger]\ndigest = \"{digest}\"\nterminal = {{ shell = true }}\n");
    fs::write(office.path("home/hermes.toml"), grant).unwrap();
    let host = office.builder().without_bundled().build().unwrap();
    let (inside, outside) = (office.path("work/made"), office.path("outside/made"));
    let command = format!("echo x > {}; echo x > {}; true", inside.display(), outside.display());
    let person = Says::new("once");
    let answer = shell(&host, "echo hello").await;
    assert_eq!(answer["output"], "hello\n", "{answer}");
    drop(host);
    let host = office.builder().without_bundled().approver(person).build().unwrap();
    let answer = shell(&host, &command).await;
    assert!(inside.exists() && !outside.exists(), "{answer}");
    assert!(answer["output"].as_str().unwrap().contains("outside/made: "), "it was told so: {answer}");
    // Its own host's files are neither to be read nor to be changed.
    let answer = shell(&host, &format!("cat {}", office.path("home/hermes.toml").display())).await;
    assert!(!answer["output"].as_str().unwrap().contains("digest"), "{answer}");
}

/// The probe with this granted to it.
fn probe(office: &Office, terminal: &str) -> Host {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/probes/probe.wasm");
    let bytes = fs::read(path).unwrap_or_else(|why| panic!("{path}: {why}; run make tools"));
    fs::write(office.path("tools/probe.wasm"), &bytes).unwrap();
    let grant = format!("[tools.probe]\ndigest = \"{}\"\nterminal = {terminal}\n", Digest::of(&bytes));
    fs::write(office.path("home/hermes.toml"), grant).unwrap();
    office.builder().without_bundled().build().unwrap()
}

#[tokio::test]
async fn a_program_runs_as_it_was_granted_and_no_shell_reads_it() {
    let office = Office::new("");
    let exec = r#"{ exec = [{ program = "printf", args = ["%s|", "**"] }, { program = "sort", args = ["*"] }] }"#;
    let host = probe(&office, exec);
    let run = |program: &'static str, arguments: Vec<&'static str>| {
        let host = host.clone();
        async move { call(&host, "commands", json!({ "program": program, "arguments": arguments })).await }
    };
    assert_eq!(run("printf", vec!["%s|", "$HOME", "; id"]).await["output"], "$HOME|; id|");
    for (program, arguments) in [
        ("printf", vec!["%s"]),
        ("sort", vec!["--compress-program=sh"]),
        ("sort", vec!["a", "b"]),
        ("/usr/bin/printf", vec!["%s|"]),
        ("bash", vec!["-c", "id"]),
    ] {
        let answer = run(program, arguments.clone()).await;
        assert!(
            answer["error"].as_str().is_some_and(|why| why.contains("not granted")),
            "{program} {arguments:?}: {answer}"
        );
    }
    let answer = call(&host, "commands", json!({ "shell": "echo x" })).await;
    assert!(answer["error"].as_str().is_some_and(|why| why.contains("--shell")), "{answer}");
}

#[tokio::test]
async fn a_grant_of_a_program_does_not_buy_what_is_never_allowed() {
    let office = Office::new("");
    let host = probe(&office, r#"{ exec = [{ program = "rm", args = ["-rf", "*"] }] }"#);
    let remove = |what: String| {
        let host = host.clone();
        async move { call(&host, "commands", json!({ "program": "rm", "arguments": ["-rf", what] })).await }
    };
    let answer = remove("/".into()).await;
    assert!(answer["error"].as_str().is_some_and(|why| why.contains("never")), "{answer}");
    let answer = remove(office.path("work/sub").display().to_string()).await;
    assert_eq!(answer["code"], 0, "{answer}");
    assert!(!office.path("work/sub").exists());
}

#[tokio::test]
async fn what_a_command_is_given_to_read_is_judged_with_it() {
    let office = Office::new("");
    let host = probe(&office, "{ shell = true }");
    let answer = call(&host, "commands", json!({ "shell": "sh", "input": "rm -rf /" })).await;
    assert!(answer["error"].as_str().is_some_and(|why| why.contains("never")), "{answer}");
    let answer = call(&host, "commands", json!({ "shell": "sh", "input": "echo harmless" })).await;
    assert_eq!(answer["output"], "harmless\n", "{answer}");
}
