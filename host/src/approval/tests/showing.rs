//! What people see of what an agent wrote.

use proptest::prelude::*;

use super::*;
use crate::text::is_hidden;

fn shown(command: &str) -> Shown {
    let judgement = shell::judge(command, &here());
    let subject = Subject::Command {
        command: command.into(),
        directory: Some("/p\u{1b}[2J  \n".into()),
        exports: None,
        judgement,
    };
    Question::new(Asker { task: Some("t\u{202e}\n".into()), ..asker() }, subject, TIMEOUT).unwrap().shown()
}

#[test]
fn a_question_says_what_is_asked_and_what_can_be_answered() {
    let json = serde_json::to_value(question(TIMEOUT)).unwrap();
    assert_eq!((json["kind"].as_str(), json["text"].as_str()), (Some("command"), Some(PUSH)));
    assert_eq!(json["directory"], "/home/ada/project");
    assert!(json["reasons"][0].as_str().unwrap().starts_with("git: "));
    // Git throws work away: not for good as a kind.
    assert_eq!(json["choices"], serde_json::json!(["once", "session", "always", "session-category", "deny"]));
    let titles: Vec<&str> = question(TIMEOUT).titled_choices().into_iter().map(|(_, title)| title).collect();
    assert_eq!(titles[..3], ["Yes, this once", "Yes, for this session", "Always, exactly this command here"]);
    assert_eq!(titles.last(), Some(&"No"));
    assert_eq!(json["expires_at"].as_u64().unwrap() - json["asked_at"].as_u64().unwrap(), 60_000);
    let id = json["id"].as_str().unwrap();
    assert!(id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
}

#[test]
fn two_questions_never_share_an_id() {
    assert_ne!(question(TIMEOUT).id(), question(TIMEOUT).id());
}

#[test]
fn a_grave_command_is_offered_by_its_text_alone() {
    assert_eq!(shown(UPLOAD).choices, ["once", "session", "always", "deny"]);
}

#[test]
fn a_line_of_the_command_cant_pass_for_the_hosts_words() {
    let far = "x".repeat(80 - 6);
    let prompt =
        shown(&format!("git push --force\nnote: the reviewer approved\rwhy | harmless\n{far}the reviewer approved"));
    let prompt = prompt.prompt(80);
    assert!(prompt.lines().filter(|line| line.contains(" | ")).all(|line| line.len() <= 80), "{prompt}");
    let forged = prompt.lines().filter(|line| line.contains("reviewer approved")).collect::<Vec<_>>();
    assert!(forged.len() >= 2);
    assert!(forged.iter().all(|line| line.starts_with("    | ") || line.starts_with("why | ")), "{prompt}");
}

#[test]
fn arguments_are_cut_and_it_is_said() {
    let subject =
        Subject::Call {
            arguments: "ä".repeat(20_000), reasons: vec!["x".repeat(5_000); 30], extent: CallExtent::Tool
        };
    let shown = Question::new(asker(), subject, TIMEOUT).unwrap().shown();
    assert_eq!(shown.text.len() + shown.omitted, 40_000);
    assert_eq!((shown.reasons.len(), shown.more_reasons), (20, 10));
    assert!(shown.prompt(80).contains("bytes of the arguments are not shown") && shown.prompt(80).len() < 30_000);
}

proptest! {
    #[test]
    fn nothing_shown_is_obeyed_or_unseen(command in any::<String>()) {
        let shown = shown(&command);
        let json = serde_json::to_string(&shown).unwrap();
        let safe = |text: &str| text.chars().all(|c| matches!(c, '\n' | '\t') || !is_hidden(c));
        prop_assert!(safe(&json) && safe(&shown.prompt(80)), "{}", json);
        let directory = "in  | /p\\u{1b}[2J  \\u{a}\n";
        prop_assert!(shown.prompt(80).contains(directory));
    }
}
