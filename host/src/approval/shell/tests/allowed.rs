//! What harms nobody and must not be in anyone's way.

use super::{check_harmless, lines::LINES, looks::LOOKS, programs::PROGRAMS, work::WORK};

/// All of them.
pub(super) fn allowed() -> Vec<&'static str> {
    [PROGRAMS, LINES, WORK, LOOKS].concat()
}

#[test]
fn nobody_is_asked() {
    check_harmless(&allowed());
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
