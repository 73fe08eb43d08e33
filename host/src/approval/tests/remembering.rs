//! What an answer is remembered for, and what it is not.

use super::*;

#[tokio::test]
async fn the_same_command_passes_for_the_session_and_another_asks_again() {
    let says = Says::new("session");
    let gate = gate("").with_approver(says.clone());
    assert_eq!(by(run(&gate, PUSH).await), "approved for this session by the operator");
    assert_eq!(by(run(&gate, PUSH).await), "approved earlier for this session");
    assert_eq!(says.asked(), 1);
    let blank = format!("{PUSH} ");
    by(run(&gate, &blank).await);
    by(gate.command(&asker(), PUSH, &surroundings("/home/ada/project/other"), None).await);
    by(gate.command(&Asker { session: Some("t".into()), ..asker() }, PUSH, &here(), None).await);
    by(gate.command(&Asker { component: "other".into(), ..asker() }, PUSH, &here(), None).await);
    assert_eq!(says.asked(), 5);
}

#[tokio::test]
async fn the_same_command_asks_again_where_the_task_exported_something_else() {
    let exporting = |value: &str| {
        let mut surroundings = here();
        surroundings.variables.insert("X".into(), value.into());
        surroundings
    };
    let mut aliasing = here();
    aliasing.aliases.insert("X".into(), "src".into());
    for command in ["rm -rf $X", "python3 <<E\n$X\nE", PUSH] {
        let says = Says::new("session");
        let gate = gate("").with_approver(says.clone());
        let all = [here(), exporting("src"), exporting("lib"), aliasing.clone()];
        for (before, surroundings) in all.iter().enumerate() {
            for _ in 0..2 {
                by(gate.command(&asker(), command, surroundings, None).await);
                assert_eq!(says.asked(), before + 1, "{command}");
            }
        }
    }
}

#[tokio::test]
async fn what_could_not_be_read_back_is_not_remembered() {
    let says = Says::new("always");
    let file = Arc::new(File::default());
    let gate = gate("").with_approver(says.clone()).with_keep(file.clone());
    by(gate.command(&asker(), PUSH, &surroundings("relative"), None).await);
    by(gate.command(&asker(), PUSH, &Surroundings { directory: None, ..here() }, None).await);
    by(gate.command(&Asker { component: String::new(), ..asker() }, PUSH, &here(), None).await);
    assert!(file.kept.lock().unwrap().is_empty());
    assert_eq!(says.asked(), 3);
}

#[tokio::test]
async fn a_kind_is_remembered_where_it_is_not_grave() {
    let says = Says::new("session-category");
    let gate = gate("").with_approver(says.clone());
    assert_eq!(by(run(&gate, PUSH).await), "approved for this session by the operator, for all commands of its kind");
    assert_eq!(by(run(&gate, "git reset --hard HEAD~3").await), "approved earlier for this session");
    assert_eq!(says.asked(), 1);
    by(run(&gate, "git push --force origin x && kill 4242").await);
    assert_eq!(says.asked(), 2, "one of its categories was not remembered");
    let answer = by(run(&gate, UPLOAD).await);
    assert_eq!(answer, "approved once by the operator; session-category is not possible here");
    by(run(&gate, UPLOAD).await);
    assert_eq!(says.asked(), 4);
}

#[tokio::test]
async fn for_good_is_written_down_and_holds_after_a_restart() {
    let file = Arc::new(File::default());
    let gate = gate("").with_approver(Says::new("always")).with_keep(file.clone());
    assert_eq!(by(run(&gate, PUSH).await), "approved for good by the operator");
    assert_eq!(by(run(&gate, PUSH).await), "allowed for good by the configuration");
    let kept = file.kept.lock().unwrap().clone();
    assert_eq!(kept.len(), 1);
    let restarted = Gate::new(Approval { allow: kept, ..Approval::default() });
    assert_eq!(by(run(&restarted, PUSH).await), "allowed for good by the configuration");
    assert!(why(run(&restarted, &PUSH.replace("topic", "main")).await).contains("nobody to ask"));
}

#[tokio::test]
async fn what_cant_be_written_down_counts_once_and_is_told() {
    for (keep, says) in
        [(Some(File { broken: true, ..File::default() }), "the disk is full"), (None, "no configuration")]
    {
        let operator = Says::new("always");
        let mut gate = gate("").with_approver(operator.clone());
        if let Some(file) = keep {
            gate = gate.with_keep(Arc::new(file));
        }
        for asked in 1..3 {
            let by = by(run(&gate, PUSH).await);
            assert!(by.starts_with("approved once") && by.contains(says), "{by}");
            assert_eq!(operator.asked(), asked);
        }
    }
}

#[tokio::test]
async fn without_a_session_nothing_is_remembered_for_one() {
    let says = Says::new("session");
    let gate = gate("").with_approver(says.clone());
    let nameless = Asker { session: None, ..asker() };
    for _ in 0..2 {
        assert!(by(gate.command(&nameless, PUSH, &here(), None).await).starts_with("approved once"));
    }
    assert_eq!(says.asked(), 2);
}

#[tokio::test]
async fn a_call_is_remembered_by_its_arguments_or_by_its_tool() {
    let marked = Asker { tool: "write_file".into(), ..asker() };
    let policy = vec!["the policy asks".to_owned()];
    let says = Says::new("session");
    let exact = gate("").with_approver(says.clone());
    for arguments in ["{}", "{}", "{\"a\":1}"] {
        by(exact.call(&marked, arguments, policy.clone(), CallExtent::Tool).await);
    }
    assert_eq!(says.asked(), 2);
    let says = Says::new("session-category");
    let tool = gate("").with_approver(says.clone());
    for arguments in ["{}", "{\"a\":1}"] {
        by(tool.call(&marked, arguments, policy.clone(), CallExtent::Tool).await);
    }
    assert_eq!(says.asked(), 1);
}
