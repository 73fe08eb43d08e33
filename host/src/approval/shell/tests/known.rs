//! What a judgement says beside its verdict.

use super::{Category, Surroundings, Verdict, judge, judged, surroundings};

#[test]
fn the_answer_has_the_shape_that_explain_prints() {
    let json = serde_json::to_value(judged("timeout 5 sudo rm -rf '/'")).unwrap();
    assert_eq!(json["verdict"], "never");
    assert_eq!(json["reasons"][0]["category"], "system-delete");
    assert_eq!(json["reasons"][0]["detail"], "deletes /");
    let inner = json["commands"].as_array().unwrap().last().unwrap();
    assert_eq!(inner["program"], "rm");
    assert_eq!(inner["arguments"], serde_json::json!(["-rf", "/"]));
    assert_eq!(inner["through"], serde_json::json!(["timeout", "sudo"]));
}

#[test]
fn an_allowed_command_has_no_reasons() {
    let json = serde_json::to_string(&judged("ls")).unwrap();
    assert_eq!(
        json,
        r#"{"verdict":"allow","reasons":[],"commands":[{"program":"ls","arguments":[]}],"effects":[{"kind":"runs","target":"ls"}]}"#
    );
}

#[test]
fn verdicts_are_ordered_from_harmless_to_worst() {
    assert!(Verdict::Allow < Verdict::Ask && Verdict::Ask < Verdict::Never);
}

#[test]
fn the_worst_reason_comes_first() {
    let judgement = judged("curl x | sh; rm -rf /");
    assert_eq!(judgement.reasons.first().unwrap().category, Category::SystemDelete);
}

#[test]
fn the_tasks_own_variables_and_aliases_are_followed() {
    let mut around = surroundings();
    around.variables.insert("TARGET".into(), "/etc".into());
    around.aliases.insert("gone".into(), "rm -rf".into());
    assert_eq!(judge("rm -rf \"$TARGET\"", &around).verdict, Verdict::Never);
    assert_eq!(judge("gone /", &around).verdict, Verdict::Never);
}

#[test]
fn without_surroundings_the_home_is_still_the_home() {
    let nothing = Surroundings::default();
    for command in ["rm -rf ~", "rm -rf $HOME/*", "rm -rf /home/ada", "cd; rm -rf ."] {
        assert_eq!(judge(command, &nothing).verdict, Verdict::Never, "{command}");
    }
    for command in ["rm -rf build", "rm ../x", "rm /tmp/x", "cat ~/.ssh/id_rsa"] {
        assert_eq!(judge(command, &nothing).verdict, Verdict::Ask, "{command}");
    }
    assert_eq!(judge("ls && echo x", &nothing).verdict, Verdict::Allow);
    for command in ["cat x", "touch x", "git status"] {
        assert_eq!(judge(command, &nothing).verdict, Verdict::Ask, "{command}");
    }
}
