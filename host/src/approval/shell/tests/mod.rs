//! The tables of commands and their verdicts, and what hostile text must not do.

mod allowed;
mod confinement;
mod daily;
mod evaluated_twice;
mod found;
mod hostile;
mod known;
mod leaks;
mod lines;
mod looks;
mod never;
mod own;
mod programs;
mod refused;
mod runners;
mod spellings;
mod subcommands;
mod tricks;
mod understood;
mod work;

use super::{Category, Judgement, Surroundings, Verdict, judge};

/// A task of Ada's, in her project.
pub(super) fn surroundings() -> Surroundings {
    Surroundings {
        directory: Some("/home/ada/project".into()),
        home: Some("/home/ada".into()),
        workspace: Some("/home/ada/project".into()),
        is_repository: true,
        ..Surroundings::default()
    }
}

/// The same task where the sandbox confines it, without the network.
pub(super) fn confined() -> Surroundings {
    Surroundings { is_confined: true, ..surroundings() }
}

/// The rows of a file of commands.
pub(super) fn rows(file: &str) -> Vec<String> {
    let path = format!("{}/../tests/commands/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Checks commands that do no harm: no rule stands against them, confined they run, and unconfined they run or are asked about
/// for the one reason that they are not understood.
fn check_harmless(commands: &[&str]) {
    let mut wrong = String::new();
    for command in commands {
        let unconfined = judged(command);
        let not_understood = [Category::UnknownCommand, Category::UnknownTarget];
        let doubts = unconfined.reasons.iter().all(|reason| not_understood.contains(&reason.category));
        let inside = judge(command, &confined());
        if unconfined.is_suspect || !doubts || inside.verdict != Verdict::Allow {
            wrong.push_str(&format!("{command}\n    {:?} confined {:?}\n", unconfined.reasons, inside.verdict));
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
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
