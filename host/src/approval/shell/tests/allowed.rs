//! What harms nobody and must not be in anyone's way.

use super::{Verdict, judged, lines::LINES, looks::LOOKS, programs::PROGRAMS, work::WORK};

/// All of them.
pub(super) fn allowed() -> Vec<&'static str> {
    [PROGRAMS, LINES, WORK, LOOKS].concat()
}

#[test]
fn nobody_is_asked() {
    let mut wrong = String::new();
    for command in allowed() {
        let judgement = judged(command);
        if judgement.verdict != Verdict::Allow {
            wrong.push_str(&format!("{command}\n    {:?} {:?}\n", judgement.verdict, judgement.reasons));
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// One for one, so that a rule that asks too much shows as soon as one that asks too little.
#[test]
fn there_are_as_many_as_the_others() {
    let others = super::never::NEVER.len()
        + super::refused::ASK.len()
        + super::tricks::SEEN_THROUGH.len()
        + super::tricks::DOUBTED.len();
    assert!(others >= 150);
    assert!(allowed().len() >= others, "{} allowed, {others} others", allowed().len());
}
