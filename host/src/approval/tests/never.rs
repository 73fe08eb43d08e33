//! What is never run, whoever says what.

use proptest::prelude::*;

use super::super::{
    reviewer::tests::StandIn,
    shell::{Category, Verdict, judge},
};
use super::*;

const NEVER: [&str; 4] = ["rm -rf /", "sudo rm -rf /etc", ":(){ :|:& };:", "mkfs.ext4 /dev/sda1"];

#[test]
fn the_commands_of_these_tests_are_what_they_are_taken_for() {
    for command in NEVER {
        assert_eq!(judge(command, &here()).verdict, Verdict::Never, "{command}");
    }
    for command in [PUSH, UPLOAD] {
        assert_eq!(judge(command, &here()).verdict, Verdict::Ask, "{command}");
    }
}

#[tokio::test]
async fn a_remembered_command_does_not_buy_it() {
    for command in NEVER {
        let allow = format!("[[allow]]\ncommand = '{command}'\ndirectory = '/home/ada/project'\n");
        assert!(why(run(&gate(&allow), command).await).contains("never run"));
    }
}

#[tokio::test]
async fn remembered_categories_do_not_buy_it() {
    let every: String = judge_categories().map(|category| format!("[[allow]]\ncategory = '{category}'\n")).collect();
    for command in NEVER {
        assert!(why(run(&gate(&every), command).await).contains("never run"));
    }
}

#[tokio::test]
async fn a_callback_does_not_buy_it_and_is_not_even_asked() {
    for word in ["once", "session", "always", "always-category"] {
        let says = Says::new(word);
        let gate = gate("").with_approver(says.clone());
        for command in NEVER {
            assert!(why(run(&gate, command).await).contains("never run"));
        }
        assert_eq!(says.asked(), 0);
    }
}

#[tokio::test]
async fn a_reviewer_does_not_buy_it_and_is_not_even_asked() {
    let server = StandIn::saying("APPROVE");
    let gate = gate("mode = 'smart'").with_reviewer(server.reviewer());
    for command in NEVER {
        assert!(why(run(&gate, command).await).contains("never run"));
    }
    assert!(server.requests.try_recv().is_err());
    assert_eq!(by(run(&gate, PUSH).await), "approved once by the reviewer", "the reviewer would have");
}

#[tokio::test]
async fn a_reviewer_is_not_asked_about_an_escalation() {
    use crate::capability::terminal::{Escalation, EscalationKind};
    let server = StandIn::saying("APPROVE");
    let gate = gate("mode = 'smart'").with_reviewer(server.reviewer());
    let escalation = Escalation { to: EscalationKind::Unconfined, reason: "it needs it".into(), is_allowed: false };
    let ruling = gate.command(&asker(), "ls", &here(), Some(&escalation)).await;
    assert!(why(ruling).contains("nobody to ask"));
    assert!(server.requests.try_recv().is_err());
}

#[tokio::test]
async fn asking_nobody_does_not_buy_it() {
    let gate = gate("mode = 'off'");
    for command in NEVER {
        assert!(why(run(&gate, command).await).contains("never run"));
    }
    assert_eq!(by(run(&gate, UPLOAD).await), "approval is off");
}

#[tokio::test]
async fn the_queue_does_not_buy_it_and_holds_no_question() {
    let gate = gate("");
    let _attendance = gate.queue().attend();
    let mut news = gate.queue().subscribe();
    assert!(why(run(&gate, "rm -rf /").await).contains("never run"));
    assert!(news.try_recv().is_err());
}

/// The categories that can be remembered at all.
fn judge_categories() -> impl Iterator<Item = Category> {
    [
        Category::RecursiveDelete,
        Category::Kill,
        Category::InlineCode,
        Category::Service,
        Category::Git,
        Category::Sql,
        Category::Container,
        Category::Packages,
    ]
    .into_iter()
    .inspect(|category| assert!(!category.is_grave()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever surrounds it, and with everything in favour at once.
    #[test]
    fn nothing_buys_a_command_with_a_never_in_it(before in "[a-z ]{0,12}", after in "[a-z ]{0,12}") {
        let command = format!("echo {before}; rm -rf / ; echo {after}");
        let allow = format!("mode = 'off'\n[[allow]]\ncommand = '{command}'\ndirectory = '/home/ada/project'\n");
        let gate = gate(&allow).with_approver(Says::new("always-category"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        prop_assert!(why(runtime.block_on(run(&gate, &command))).contains("never run"));
    }
}
