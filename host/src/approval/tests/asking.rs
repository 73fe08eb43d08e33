//! Who is asked, in which order, and what the model is told.

use super::super::reviewer::tests::StandIn;
use super::*;

#[tokio::test]
async fn what_nothing_stands_against_passes_without_a_word() {
    assert_eq!(run(&gate(""), "ls -la").await, Ruling::Passed { by: None, decided: None });
}

#[tokio::test]
async fn nobody_to_ask_means_no() {
    let why = why(run(&gate(""), PUSH).await);
    assert!(
        why.contains("git:") && why.contains("nobody to ask") && why.contains("hermes-host approvals allow --command"),
        "{why}"
    );
}

#[tokio::test]
async fn a_queue_that_nobody_attends_any_more_is_not_asked() {
    let gate = gate("");
    drop(gate.queue().attend());
    assert!(why(run(&gate, PUSH).await).contains("nobody to ask"));
}

#[tokio::test]
async fn a_callback_decides_once() {
    let says = Says::new("once");
    let gate = gate("").with_approver(says.clone());
    assert_eq!(by(run(&gate, PUSH).await), "approved once by the operator");
    assert_eq!(by(run(&gate, PUSH).await), "approved once by the operator");
    assert_eq!(says.asked(), 2);
    let gate = super::gate("").with_approver(Says::new("deny"));
    assert!(why(run(&gate, PUSH).await).contains("the operator refused"));
}

#[tokio::test]
async fn the_reason_of_a_refusal_reaches_the_model() {
    struct Refuses;
    impl Approver for Refuses {
        fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Answer> {
            Box::pin(async { Answer::refuse("push to a branch\nof your own") })
        }
    }
    let gate = gate("").with_approver(Arc::new(Refuses));
    assert!(why(run(&gate, PUSH).await).contains("refused: push to a branch of your own;"));
}

#[tokio::test]
async fn silence_means_no() {
    struct Silent;
    impl Approver for Silent {
        fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Answer> {
            Box::pin(std::future::pending())
        }
    }
    let silent = gate("timeout = '1s'").with_approver(Arc::new(Silent));
    assert!(why(run(&silent, PUSH).await).contains("nobody answered within 1 s"));
    let gate = gate("timeout = '1s'");
    let _attendance = gate.queue().attend();
    let before = tokio::time::Instant::now();
    assert!(why(run(&gate, PUSH).await).contains("nobody answered within 1 s"));
    assert!(before.elapsed().as_secs() >= 1);
    assert!(gate.queue().pending().is_empty());
}

#[tokio::test]
async fn what_the_operator_denies_is_refused_even_with_approval_off() {
    let gate = gate("mode = 'off'\ndeny = ['git push*']");
    assert!(why(run(&gate, PUSH).await).contains("approval.deny"));
    assert!(
        why(run(&gate, "cd x && git push").await).contains("approval.deny"),
        "though nothing else stands against it"
    );
}

#[tokio::test]
async fn a_command_too_long_to_be_shown_is_not_asked_about() {
    let says = Says::new("once");
    let gate = gate("").with_approver(says.clone());
    let long = format!("{PUSH} # {}", "x".repeat(40_000));
    assert!(why(run(&gate, &long).await).contains("too long to be shown"));
    assert_eq!(says.asked(), 0);
}

#[tokio::test]
async fn the_reviewer_approves_one_run_and_is_asked_again() {
    let server = StandIn::saying("APPROVE");
    let says = Says::new("deny");
    let gate = gate("mode = 'smart'").with_reviewer(server.reviewer()).with_approver(says.clone());
    for _ in 0..2 {
        assert_eq!(by(run(&gate, PUSH).await), "approved once by the reviewer");
        server.requests.recv().unwrap();
    }
    assert_eq!(says.asked(), 0);
}

#[tokio::test]
async fn a_reviewer_that_refuses_leaves_it_to_a_person_with_a_note() {
    struct Reads(Mutex<Option<String>>);
    impl Approver for Reads {
        fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
            *self.0.lock().unwrap() = question.shown().note;
            Box::pin(std::future::ready(Answer::ONCE))
        }
    }
    let server = StandIn::saying("DENY");
    let alone = gate("mode = 'smart'").with_reviewer(server.reviewer());
    assert!(why(run(&alone, PUSH).await).contains("the reviewer refused, and there is nobody to ask"));
    let reads = Arc::new(Reads(Mutex::default()));
    let gate = gate("mode = 'smart'").with_reviewer(server.reviewer()).with_approver(reads.clone());
    assert_eq!(by(run(&gate, PUSH).await), "approved once by the operator");
    assert_eq!(reads.0.lock().unwrap().as_deref(), Some("the reviewer refused"));
}

#[tokio::test]
async fn a_reviewer_that_is_down_leaves_it_to_a_person() {
    let server = StandIn::sending(Vec::new());
    let alone = gate("mode = 'smart'").with_reviewer(server.reviewer());
    assert!(why(run(&alone, PUSH).await).contains("nobody to ask"));
    let gate = gate("mode = 'smart'").with_reviewer(server.reviewer()).with_approver(Says::new("once"));
    assert_eq!(by(run(&gate, PUSH).await), "approved once by the operator");
}

#[tokio::test]
async fn the_reviewer_is_asked_only_in_its_mode_and_only_about_what_can_be_read() {
    let server = StandIn::saying("APPROVE");
    let ask = gate("mode = 'ask'").with_reviewer(server.reviewer());
    assert!(why(run(&ask, PUSH).await).contains("nobody to ask"));
    let smart = gate("mode = 'smart'").with_reviewer(server.reviewer());
    for command in ["git push --force \u{202e}x", "git push --force 'x"] {
        assert!(why(run(&smart, command).await).contains("nobody to ask"), "{command}");
    }
    let marked = Asker { tool: "write_file".into(), ..asker() };
    let policy = vec!["the policy asks".to_owned()];
    assert!(why(smart.call(&marked, "{}", policy, CallExtent::Tool).await).contains("nobody to ask"));
    assert!(server.requests.try_recv().is_err());
}

#[tokio::test]
async fn a_call_with_a_reason_asks_and_others_pass() {
    let gate = gate("");
    assert_eq!(
        gate.call(&asker(), "{}", Vec::new(), CallExtent::Tool).await,
        Ruling::Passed { by: None, decided: None }
    );
    let reasons = vec!["hook pii: a name".to_owned()];
    assert!(why(gate.call(&asker(), "{}", reasons, CallExtent::SameArguments).await).contains("hook pii: a name"));
}
