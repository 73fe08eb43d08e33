//! Commands that ask for more than the sandbox gives.

use std::{
    fs,
    sync::{Arc, Mutex},
};

use futures_util::future::BoxFuture;
use hermes_host::{
    Host,
    approval::{Answer, Approver, Question},
};
use serde_json::{Value, json};

use super::tools::{Office, Says, call};

const REASON: &str = "the notes lie outside";

fn escalated(command: &str, to: &str) -> Value {
    json!({ "command": command, "escalate": to, "reason": REASON })
}

/// A host whose person always says this word.
fn host(office: &Office, word: &str) -> (Host, Arc<Says>) {
    let person = Says::new(word);
    (office.builder().approver(person.clone()).build().unwrap(), person)
}

/// A file that only an unconfined command reads.
fn notes(office: &Office) -> String {
    let notes = office.path("outside/notes");
    fs::write(&notes, "the notes\n").unwrap();
    format!("cat {}", notes.display())
}

fn is_blocked(answer: &Value, why: &str) -> bool {
    answer["status"] == "blocked" && answer["error"].as_str().is_some_and(|text| text.contains(why))
}

#[tokio::test]
async fn a_person_decides_about_each_escalation() {
    let office = Office::new("");
    let command = notes(&office);
    let (asking, person) = host(&office, "once");
    let plain = call(&asking, "terminal", json!({ "command": command })).await;
    assert!(plain["exit_code"] == 1 && plain.to_string().contains("escalate"), "the way out is told: {plain}");
    assert_eq!(person.asked(), 0);
    for asked in 1..=2 {
        let answer = call(&asking, "terminal", escalated(&command, "unconfined")).await;
        assert_eq!((answer["output"].as_str(), person.asked()), (Some("the notes\n"), asked), "{answer}");
    }
    let (refusing, person) = host(&office, "deny");
    let answer = call(&refusing, "terminal", escalated(&command, "unconfined")).await;
    assert!(is_blocked(&answer, "refused") && person.asked() == 1, "{answer}");
    let answer = call(&office.host(), "terminal", escalated(&command, "unconfined")).await;
    assert!(is_blocked(&answer, "nobody to ask"), "{answer}");
}

#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Approver for Notes {
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        self.0.lock().unwrap().push(serde_json::to_string(&question.shown()).unwrap());
        Box::pin(std::future::ready("deny".parse().unwrap()))
    }
}

#[tokio::test]
async fn the_question_shows_the_reason_as_the_models_words() {
    let office = Office::new("");
    let person = Arc::new(Notes::default());
    let host = office.builder().approver(person.clone()).build().unwrap();
    call(&host, "terminal", escalated("ls", "network")).await;
    call(&host, "terminal", escalated("ls", "unconfined")).await;
    let seen = person.0.lock().unwrap().clone();
    let says = format!("the model says: “{REASON}”");
    assert!(seen[0].contains("asks for the network") && seen[0].contains(&says), "{seen:?}");
    assert!(seen[1].contains("asks to run outside the sandbox") && seen[1].contains(&says), "{seen:?}");
}

#[tokio::test]
async fn an_escalation_is_remembered_for_this_command_alone() {
    for word in ["session", "always"] {
        let office = Office::new("");
        let command = notes(&office);
        let (first, person) = host(&office, word);
        for _ in 0..2 {
            let answer = call(&first, "terminal", escalated(&command, "unconfined")).await;
            assert_eq!((answer["output"].as_str(), person.asked()), (Some("the notes\n"), 1), "{answer}");
        }
        let other = call(&first, "terminal", escalated(&format!("{command} -n"), "unconfined")).await;
        assert_eq!(person.asked(), 2, "another command: {other}");
        call(&first, "terminal", escalated(&command, "network")).await;
        assert_eq!(person.asked(), 3, "another escalation");
        drop(first);
        let (later, person) = host(&office, "deny");
        call(&later, "terminal", escalated(&command, "unconfined")).await;
        assert_eq!(person.asked(), usize::from(word == "session"), "after a restart");
    }
}

#[tokio::test]
async fn the_operator_lets_it_pass_or_never_gives_it() {
    let office = Office::new("[terminal]\nunconfined = \"allow\"\nnetwork = \"never\"\n");
    let (allowing, person) = host(&office, "deny");
    call(&allowing, "terminal", escalated("ls /usr", "unconfined")).await;
    assert_eq!(person.asked(), 0, "it is understood and allowed");
    for command in ["make", "cat /root/notes", "echo \"$HOME\""] {
        call(&allowing, "terminal", escalated(command, "unconfined")).await;
    }
    assert_eq!(person.asked(), 3, "unconfined, what is not understood is asked about all the same");
    let answer = call(&allowing, "terminal", escalated("ls", "network")).await;
    assert!(is_blocked(&answer, "never gives network"), "{answer}");
    let office = Office::new("[terminal]\nunconfined = \"never\"\nnetwork = \"allow\"\n");
    let (refusing, person) = host(&office, "once");
    let answer = call(&refusing, "terminal", escalated("ls", "unconfined")).await;
    assert!(is_blocked(&answer, "never gives unconfined"), "{answer}");
    let proxy = call(&refusing, "terminal", json!({ "command": "echo $https_proxy" })).await;
    assert_eq!(proxy["output"], "http://127.0.0.1:3128\n", "commands have the network: {proxy}");
    assert_eq!(person.asked(), 0);
}

#[tokio::test]
async fn a_wish_without_a_reason_or_of_an_unknown_kind_is_refused() {
    let office = Office::new("");
    let (host, person) = host(&office, "once");
    for arguments in [
        json!({ "command": "ls", "escalate": "unconfined" }),
        json!({ "command": "ls", "escalate": "unconfined", "reason": " " }),
        json!({ "command": "ls", "escalate": "root", "reason": REASON }),
    ] {
        let answer = call(&host, "terminal", arguments.clone()).await;
        assert!(answer["error"].is_string(), "{arguments}: {answer}");
    }
    assert_eq!(person.asked(), 0);
}

#[tokio::test]
async fn approval_that_is_off_does_not_let_a_command_leave_the_sandbox() {
    let office = Office::new("[approval]\nmode = \"off\"\n");
    let (host, person) = host(&office, "deny");
    let answer = call(&host, "terminal", escalated("ls", "unconfined")).await;
    assert!(is_blocked(&answer, "refused") && person.asked() == 1, "{answer}");
}

/// A shell that was started outside the sandbox runs what it reads outside, too.
#[tokio::test]
async fn what_an_escalated_shell_is_told_is_asked_about_every_time() {
    let office = Office::new("");
    let (host, person) = host(&office, "once");
    let start = json!({ "command": "bash", "background": true, "escalate": "unconfined", "reason": REASON });
    let started = call(&host, "terminal", start).await;
    let id = started["session_id"].as_str().unwrap_or_else(|| panic!("{started}")).to_owned();
    for asked in 2..=3 {
        let submit = json!({ "action": "submit", "session_id": id, "data": "echo harmless" });
        call(&host, "process", submit).await;
        assert_eq!(person.asked(), asked, "it is unconfined");
    }
}

#[tokio::test]
async fn a_component_that_is_not_bundled_can_not_leave_the_sandbox() {
    let office = Office::new("");
    let digest = super::tools::stranger(&office);
    let grant = format!("[tools.stranger]\ndigest = \"{digest}\"\nterminal = {{ shell = true }}\n");
    fs::write(office.path("home/hermes.toml"), grant).unwrap();
    let person = Says::new("once");
    let host = office.builder().without_bundled().approver(person.clone()).build().unwrap();
    for to in ["network", "unconfined"] {
        let answer = call(&host, "terminal", escalated("ls", to)).await;
        assert!(is_blocked(&answer, "never gives"), "{answer}");
    }
    assert_eq!(person.asked(), 0);
}
