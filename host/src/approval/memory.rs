//! What was decided before. It is asked only about what may be asked at all: a `never` does not come here.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::{
    answer::Scope,
    question::{Asker, CallExtent, Subject},
    remembered::{Remembered, digest},
    shell::{Category, Verdict},
};

/// How many decisions of sessions are kept, all sessions together. Each was made by a person, so there are dozens a day; the
/// bound is for a host that runs for months. The oldest is forgotten, which only means that it is asked again.
const SESSION_DECISIONS: usize = 1_000;

/// Decisions that hold for a session or for good.
#[derive(Debug, Default)]
pub struct Memory {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// With the session that each holds for, the oldest first.
    sessions: VecDeque<(String, Remembered)>,
    always: Vec<Remembered>,
}

impl Memory {
    /// A memory that holds what the configuration allows.
    pub fn new(always: Vec<Remembered>) -> Self {
        Self { state: Mutex::new(State { always, ..State::default() }) }
    }

    /// Whether this was approved before, and for how long.
    ///
    /// Only what a person may decide can be remembered: for any other verdict nothing is known here.
    pub(super) fn knows(&self, asker: &Asker, subject: &Subject) -> Option<Scope> {
        let state = self.lock();
        let always: Vec<&Remembered> = state.always.iter().filter(|it| it.is_for(asker)).collect();
        let session = asker.session.as_deref().unwrap_or_default();
        // A caller without a session has none in common with another caller without one.
        let in_session =
            state.sessions.iter().filter(|(of, it)| !session.is_empty() && of == session && it.is_for(asker));
        let both: Vec<&Remembered> = always.iter().copied().chain(in_session.map(|(_, it)| it)).collect();
        if covers(&always, asker, subject) {
            Some(Scope::Always)
        } else {
            covers(&both, asker, subject).then_some(Scope::Session)
        }
    }

    /// Remembers for a session, until the host ends.
    pub(super) fn add_to_session(&self, session: &str, remembered: Remembered) {
        let mut state = self.lock();
        let entry = (session.to_owned(), remembered);
        if !state.sessions.contains(&entry) {
            if state.sessions.len() == SESSION_DECISIONS {
                state.sessions.pop_front();
            }
            state.sessions.push_back(entry);
        }
    }

    /// Remembers for good, as far as this process goes.
    pub(super) fn add_for_good(&self, remembered: Remembered) {
        let mut state = self.lock();
        if !state.always.contains(&remembered) {
            state.always.push(remembered);
        }
    }

    /// Holds what the configuration allows now, and no longer what it allowed before.
    pub(super) fn set_for_good(&self, always: Vec<Remembered>) {
        self.lock().always = always;
    }

    /// Forgets what was decided for a session. For the end of a session.
    pub fn forget_session(&self, session: &str) {
        self.lock().sessions.retain(|(of, _)| of != session);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code that can panic runs while it is held half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn covers(known: &[&Remembered], asker: &Asker, subject: &Subject) -> bool {
    match subject {
        Subject::Command { command, directory, exports, judgement } => {
            let same = |it: &&Remembered| match it {
                Remembered::Command { command: text, directory: place, exports: with, .. } => {
                    text == command && Some(place) == directory.as_ref() && with == exports
                }
                Remembered::Category { .. } | Remembered::Call { .. } => false,
            };
            let allowed = |category: Category| {
                !category.is_grave()
                    && known.iter().any(|it| matches!(it, Remembered::Category { category: of, .. } if *of == category))
            };
            let may_be_asked = judgement.verdict == Verdict::Ask;
            // All of nothing is true: a verdict without a reason must not pass for one whose reasons are all remembered.
            let kind = !judgement.reasons.is_empty() && judgement.reasons.iter().all(|reason| allowed(reason.category));
            may_be_asked && (known.iter().any(same) || kind)
        }
        Subject::Call { arguments, extent, .. } => {
            let of_tool = |it: &&Remembered| match it {
                Remembered::Call { tool, arguments: only, .. } if *tool == asker.tool => match only {
                    Some(only) => *only == digest(arguments.as_bytes()),
                    None => *extent != CallExtent::SameArguments,
                },
                _ => false,
            };
            known.iter().any(of_tool)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::shell::{Judgement, Reason};
    use super::*;

    fn asker(session: &str) -> Asker {
        Asker {
            tool: "terminal".into(),
            component: "terminal".into(),
            session: Some(session.into()),
            ..Asker::default()
        }
    }

    fn command(command: &str, directory: &str, verdict: Verdict, categories: &[Category]) -> Subject {
        let reason = |category: &Category| Reason { category: *category, detail: String::new() };
        let reasons = categories.iter().map(reason).collect();
        let judgement = Judgement { verdict, reasons, commands: Vec::new(), effects: Vec::new(), is_suspect: true };
        Subject::Command { command: command.into(), directory: Some(directory.into()), exports: None, judgement }
    }

    fn pushes(command_text: &str, directory: &str) -> Subject {
        command(command_text, directory, Verdict::Ask, &[Category::Git])
    }

    #[test]
    fn an_exact_command_is_known_in_its_directory_its_session_and_its_component_alone() {
        let memory = Memory::default();
        let (ada, told) = (asker("ada"), pushes("git push -f", "/p"));
        memory.add_to_session("ada", Remembered::exactly(&ada, &told).unwrap());
        assert_eq!(memory.knows(&ada, &told), Some(Scope::Session));
        for other in [pushes("git push  -f", "/p"), pushes("git push -f ", "/p"), pushes("git push -f", "/p/q")] {
            assert_eq!(memory.knows(&ada, &other), None, "{other:?}");
        }
        assert_eq!(memory.knows(&asker("eve"), &told), None);
        assert_eq!(memory.knows(&Asker { component: "other".into(), ..ada.clone() }, &told), None);
        memory.forget_session("ada");
        assert_eq!(memory.knows(&ada, &told), None);
    }

    #[test]
    fn callers_without_a_session_share_none() {
        let memory = Memory::default();
        let told = pushes("git push -f", "/p");
        memory.add_to_session("", Remembered::exactly(&asker(""), &told).unwrap());
        assert_eq!(memory.knows(&asker(""), &told), None);
        assert_eq!(memory.knows(&Asker { session: None, ..asker("") }, &told), None);
    }

    #[test]
    fn every_category_of_a_command_must_be_remembered() {
        let git = Remembered::Category { category: Category::Git, component: None };
        let kill = Remembered::Category { category: Category::Kill, component: None };
        let both = command("x", "/p", Verdict::Ask, &[Category::Git, Category::Kill]);
        let memory = Memory::new(vec![git]);
        assert_eq!(memory.knows(&asker("s"), &pushes("any", "/p")), Some(Scope::Always));
        assert_eq!(memory.knows(&asker("s"), &both), None);
        memory.add_to_session("s", kill);
        assert_eq!(memory.knows(&asker("s"), &both), Some(Scope::Session));
    }

    #[test]
    fn a_grave_category_counts_for_nothing_even_if_it_got_in() {
        let disk = Remembered::Category { category: Category::Disk, component: None };
        let memory = Memory::new(vec![disk]);
        let subject = command("x", "/p", Verdict::Ask, &[Category::Disk]);
        assert_eq!(memory.knows(&asker("s"), &subject), None);
    }

    #[test]
    fn a_never_and_a_verdict_without_reasons_are_not_known() {
        let memory = Memory::new(vec![Remembered::Category { category: Category::Git, component: None }]);
        let never = command("x", "/p", Verdict::Never, &[Category::Git]);
        memory.add_for_good(Remembered::exactly(&asker("s"), &never).unwrap());
        assert_eq!(memory.knows(&asker("s"), &never), None);
        assert_eq!(memory.knows(&asker("s"), &command("y", "/p", Verdict::Ask, &[])), None);
    }

    #[test]
    fn calls_are_known_by_their_arguments_or_by_their_tool() {
        let call = |arguments: &str| Subject::Call {
            arguments: arguments.into(),
            reasons: Vec::new(),
            extent: CallExtent::Tool,
        };
        let memory = Memory::default();
        memory.add_for_good(Remembered::exactly(&asker("s"), &call("{}")).unwrap());
        assert_eq!(memory.knows(&asker("s"), &call("{}")), Some(Scope::Always));
        assert_eq!(memory.knows(&asker("s"), &call("{ }")), None);
        for kind in Remembered::kind(&asker("s"), &call("{}")) {
            memory.add_to_session("s", kind);
        }
        assert_eq!(memory.knows(&asker("s"), &call("{ }")), Some(Scope::Session));
        let other = Asker { tool: "process".into(), ..asker("s") };
        assert_eq!(memory.knows(&other, &call("{}")), None);
    }

    #[test]
    fn the_oldest_decision_is_forgotten_first() {
        let memory = Memory::default();
        let told = |n: usize| pushes(&format!("git push -f {n}"), "/p");
        for n in 0..=SESSION_DECISIONS {
            memory.add_to_session("s", Remembered::exactly(&asker("s"), &told(n)).unwrap());
        }
        assert_eq!(memory.knows(&asker("s"), &told(0)), None);
        assert_eq!(memory.knows(&asker("s"), &told(1)), Some(Scope::Session));
        assert_eq!(memory.lock().sessions.len(), SESSION_DECISIONS);
    }
}
