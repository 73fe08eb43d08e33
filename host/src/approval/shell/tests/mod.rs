//! The tables of commands and their verdicts, and what hostile text must not do.

mod allowed;
mod daily;
mod found;
mod hostile;
mod known;
mod leaks;
mod lines;
mod looks;
mod never;
mod own;
mod pace;
mod programs;
mod refused;
mod runners;
mod subcommands;
mod tricks;
mod work;

use super::{Category, Judgement, Surroundings, Verdict, judge};

/// A task of Ada's, in her project.
pub(super) fn surroundings() -> Surroundings {
    Surroundings {
        directory: Some("/home/ada/project".into()),
        home: Some("/home/ada".into()),
        workspace: Some("/home/ada/project".into()),
        ..Surroundings::default()
    }
}

fn judged(command: &str) -> Judgement {
    judge(command, &surroundings())
}

/// Checks a table and tells every row that is wrong, not only the first.
fn check(table: &[(Category, &str)], verdict: Verdict) {
    let mut wrong = String::new();
    for (category, command) in table {
        let judgement = judged(command);
        let found = judgement.reasons.iter().any(|reason| reason.category == *category);
        if judgement.verdict != verdict || !found {
            wrong.push_str(&format!(
                "{command}\n    wanted {verdict:?} {category:?}, got {:?} {:?}\n",
                judgement.verdict, judgement.reasons
            ));
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}
