//! A task that goes round in circles is warned, then stopped.
//!
//! | circle | is counted while | ends with |
//! |---|---|---|
//! | the same call fails | tool and arguments are the same | a success of that call |
//! | the same tool fails | the tool is the same | a success of that tool |
//! | the same call gives the same result | it may be repeated without harm | another result, or a success of any call that may change something |
//!
//! Who runs a call asks [`Guardrails::before`] first and reports to [`Guardrails::after`] what came of it; a call that was
//! refused did not run and is not reported. A task that was stopped starts afresh when it is forgotten.

mod failure;
mod recent;
mod signature;
mod task;
mod thresholds;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) use failure::reports_failure;
pub use thresholds::{Counts, Thresholds};

use self::{recent::Recent, signature::Key, task::Task};

/// Tasks that are remembered at the same time, more than one host runs. Whoever starts more than that at once, with names made up
/// as they go, gets no further than about 10 MB.
const TASKS: usize = 256;

/// How a call ended.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ended<'a> {
    /// It failed, or [`reports_failure`] says that its result does.
    Failed,
    /// It worked.
    Worked {
        /// The result as the model gets it.
        result: &'a str,
        /// Whether the tool says that it only reads, or that calling it again changes nothing.
        repeatable: bool,
    },
}

/// The counts of all tasks.
pub(crate) struct Guardrails {
    thresholds: Thresholds,
    tasks: Mutex<Recent<Key, Task>>,
}

impl Default for Guardrails {
    fn default() -> Self {
        Self::new(Thresholds::default())
    }
}

impl Guardrails {
    /// Guardrails for tasks that have tried nothing yet.
    pub(crate) fn new(thresholds: Thresholds) -> Self {
        Self { thresholds, tasks: Mutex::new(Recent::new(TASKS)) }
    }

    /// What it was made with.
    pub(crate) fn thresholds(&self) -> &Thresholds {
        &self.thresholds
    }

    /// Asked before a call: an error is why it must not be run, for the model. `tool` is the name of a registered tool, since
    /// texts repeat it; nothing else of the call ever is in them.
    pub(crate) fn before(&self, task: &str, tool: &str, arguments: &str) -> Result<(), String> {
        let Some(stop) = self.thresholds.stop else { return Ok(()) };
        let (task, of_tool, call) = keys(task, tool, arguments);
        let circle = self.tasks().get(&task).and_then(|task| task.stopped(&of_tool, &call, stop));
        circle.map_or(Ok(()), |circle| Err(circle.refusal(tool)))
    }

    /// Told after a call that was run: a warning for the model, if it begins to go round.
    pub(crate) fn after(&self, task: &str, tool: &str, arguments: &str, ended: Ended<'_>) -> Option<String> {
        let warn = self.thresholds.warn;
        let (task, of_tool, call) = keys(task, tool, arguments);
        let result = match ended {
            Ended::Worked { result, repeatable: true } => Some(signature::of_text(result)),
            _ => None,
        };
        // The hashing is done before the lock is taken: results can be large, and other tasks wait.
        let mut tasks = self.tasks();
        let task = tasks.entry(task);
        let circle = match (ended, result) {
            (Ended::Failed, _) => task.failed(of_tool, call, warn),
            (_, Some(result)) => task.worked(&of_tool, call, result, warn),
            (_, None) => {
                task.changed(&of_tool, &call);
                None
            }
        };
        circle.map(|circle| circle.warning(tool))
    }

    /// Forgets a task: it is over, or somebody had a look and lets it go on.
    pub(crate) fn forget(&self, task: &str) {
        self.tasks().remove(&signature::of_text(task));
    }

    /// Counts stay whole whatever happens while they are held, so a panic elsewhere does not spoil them.
    fn tasks(&self) -> MutexGuard<'_, Recent<Key, Task>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn keys(task: &str, tool: &str, arguments: &str) -> (Key, Key, Key) {
    (signature::of_text(task), signature::of_text(tool), signature::of_call(tool, arguments))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECRET: &str = r#"{"key":"arg-secret"}"#;

    fn rails() -> Guardrails {
        Guardrails::new(Thresholds::default())
    }

    fn fresh(rails: &Guardrails, result: &str) -> Option<String> {
        rails.after("t", "look", SECRET, Ended::Worked { result, repeatable: true })
    }

    fn change(rails: &Guardrails) {
        assert_eq!(rails.after("t", "write", "{}", Ended::Worked { result: "ok", repeatable: false }), None);
    }

    #[test]
    fn the_same_call_failing_is_warned_then_stopped_and_others_go_on() {
        let rails = rails();
        let warned: Vec<_> = (0..5).map(|_| rails.after("t", "look", SECRET, Ended::Failed)).collect();
        assert_eq!(warned[0], None);
        assert!(warned[1].as_ref().unwrap().starts_with("look failed 2 times with the same arguments: "));
        assert!(warned[2].as_ref().unwrap().starts_with("look failed 3 times in a row: "));
        let stopped = rails.before("t", "look", r#"{ "key" : "arg-secret" }"#).unwrap_err();
        assert!(
            stopped.starts_with("look was not run, since it failed 5 times with the same arguments: "),
            "{stopped}"
        );
        assert_eq!(rails.before("t", "look", "{}"), Ok(()));
        assert_eq!(rails.before("t", "other", SECRET), Ok(()));
        assert_eq!(rails.before("u", "look", SECRET), Ok(()));
    }

    #[test]
    fn the_same_tool_failing_is_stopped_whatever_the_arguments() {
        let rails = rails();
        for n in 0..8 {
            assert_eq!(rails.before("t", "look", "{}"), Ok(()));
            let warned = rails.after("t", "look", &n.to_string(), Ended::Failed);
            assert_eq!(warned.is_some(), n >= 2, "{n}");
        }
        assert!(rails.before("t", "look", "{}").unwrap_err().contains("failed 8 times in a row"));
        assert_eq!(rails.before("t", "other", "{}"), Ok(()));
    }

    #[test]
    fn the_same_result_again_is_warned_then_stopped_until_something_changes() {
        let rails = rails();
        assert_eq!(fresh(&rails, "A"), None);
        assert!(fresh(&rails, "A").unwrap().starts_with("look gave the same result 2 times for the same arguments: "));
        assert_eq!(fresh(&rails, "B"), None);
        for _ in 0..4 {
            assert_eq!(rails.before("t", "look", SECRET), Ok(()));
            fresh(&rails, "B");
        }
        assert!(rails.before("t", "look", SECRET).unwrap_err().contains("gave the same result 5 times"));
        change(&rails);
        assert_eq!(rails.before("t", "look", SECRET), Ok(()));
        assert_eq!(fresh(&rails, "B"), None);
    }

    #[test]
    fn a_success_clears_the_failures_of_its_call_and_its_tool_only() {
        let rails = rails();
        for _ in 0..4 {
            rails.after("t", "look", SECRET, Ended::Failed);
            rails.after("t", "look", "{}", Ended::Failed);
        }
        assert!(rails.before("t", "look", "1").is_err());
        fresh(&rails, "A");
        assert_eq!(rails.after("t", "look", SECRET, Ended::Failed), None);
        let other = rails.after("t", "look", "{}", Ended::Failed).unwrap();
        assert!(other.contains("failed 5 times with the same arguments"), "{other}");
    }

    #[test]
    fn a_call_that_may_change_the_world_is_never_told_about_its_results() {
        let rails = rails();
        for _ in 0..20 {
            change(&rails);
        }
        assert_eq!(rails.before("t", "write", "{}"), Ok(()));
    }

    #[test]
    fn a_forgotten_task_starts_afresh() {
        let rails = rails();
        (0..8).for_each(|_| drop(rails.after("t", "look", SECRET, Ended::Failed)));
        assert!(rails.before("t", "look", SECRET).is_err());
        rails.forget("t");
        assert_eq!(rails.before("t", "look", SECRET), Ok(()));
    }

    #[test]
    fn texts_hold_neither_arguments_nor_results() {
        let rails = rails();
        let mut texts = Vec::new();
        for _ in 0..9 {
            texts.extend(rails.after("t", "look", SECRET, Ended::Failed));
            texts.extend(rails.before("t", "look", SECRET).err());
        }
        rails.forget("t");
        for _ in 0..9 {
            texts.extend(fresh(&rails, "result-secret"));
            texts.extend(rails.before("t", "look", SECRET).err());
        }
        assert!(texts.len() > 20 && texts.iter().all(|text| text.starts_with("look ") && !text.contains("secret")));
    }

    #[test]
    fn the_task_that_was_not_used_for_the_longest_time_is_forgotten_first() {
        let rails = rails();
        (0..8).for_each(|_| drop(rails.after("kept", "look", SECRET, Ended::Failed)));
        (0..8).for_each(|_| drop(rails.after("lost", "look", SECRET, Ended::Failed)));
        for n in 0..TASKS - 1 {
            // Being refused counts as use: nobody gets past by waiting for others.
            assert!(rails.before("kept", "look", SECRET).is_err());
            rails.after(&n.to_string(), "look", SECRET, Ended::Failed);
        }
        assert_eq!(rails.before("lost", "look", SECRET), Ok(()));
        assert_eq!(rails.tasks().len(), TASKS);
    }

    /// One call as it happened: its tool, its arguments, and its result with whether it may be repeated, or None if it failed.
    type Event = (usize, usize, Option<(usize, bool)>);

    /// The same rules, told from the whole history instead of from counters.
    struct History(Vec<Event>);

    impl History {
        fn tool_failures(&self, tool: usize) -> u32 {
            self.0.iter().rev().filter(|event| event.0 == tool).take_while(|event| event.2.is_none()).count() as u32
        }

        fn call_failures(&self, tool: usize, arguments: usize) -> u32 {
            let of_call = self.0.iter().rev().filter(|event| (event.0, event.1) == (tool, arguments));
            of_call.take_while(|event| event.2.is_none()).count() as u32
        }

        fn same_results(&self, tool: usize, arguments: usize) -> u32 {
            let lately = self.0.iter().rev().take_while(|event| !matches!(event.2, Some((_, false))));
            let results = lately.filter(|event| (event.0, event.1) == (tool, arguments)).filter_map(|event| event.2);
            let results: Vec<_> = results.collect();
            results.iter().take_while(|result| **result == results[0]).count() as u32
        }

        fn circle(&self, (tool, arguments): (usize, usize), limits: Counts) -> [Option<String>; 3] {
            let text = |count: u32, limit: u32, did: &str, how: &str| {
                (limit != 0 && count >= limit)
                    .then(|| format!("{did} {count} time{} {how}:", if count == 1 { "" } else { "s" }))
            };
            [
                text(self.tool_failures(tool), limits.same_tool, "failed", "in a row"),
                text(self.call_failures(tool, arguments), limits.same_call, "failed", "with the same arguments"),
                text(
                    self.same_results(tool, arguments),
                    limits.same_result,
                    "gave the same result",
                    "for the same arguments",
                ),
            ]
        }
    }

    fn counts() -> impl Strategy<Value = Counts> {
        (0..6_u32, 0..8_u32, 0..6_u32).prop_map(|(same_call, same_tool, same_result)| Counts {
            same_call,
            same_tool,
            same_result,
        })
    }

    proptest! {
        #[test]
        fn counters_and_history_agree(
            warn in counts(),
            stop in prop::option::of(counts()),
            events in prop::collection::vec(
                (0..2_usize, 0..2_usize, prop::option::of((0..2_usize, prop::bool::weighted(0.9)))), 0..80),
        ) {
            let rails = Guardrails::new(Thresholds { warn, stop });
            let mut history = History(Vec::new());
            for event in events {
                let (tool, arguments) = (["look", "find"][event.0], event.1.to_string());
                let why = stop.and_then(|stop| history.circle((event.0, event.1), stop).into_iter().flatten().next());
                let answer = rails.before("t", tool, &arguments);
                match (&answer, &why) {
                    (Err(text), Some(why)) => {
                        let start = format!("{tool} was not run, since it {why} ");
                        prop_assert!(text.starts_with(&start), "{} {}", text, start);
                        continue;
                    }
                    _ => prop_assert!(answer.is_ok() && why.is_none(), "{:?} {:?}", answer, why),
                }
                history.0.push(event);
                let [of_tool, of_call, of_result] = history.circle((event.0, event.1), warn);
                let result = event.2.map(|(result, _)| result.to_string()).unwrap_or_default();
                let (ended, why) = match event.2 {
                    None => (Ended::Failed, of_tool.or(of_call)),
                    Some((_, true)) => (Ended::Worked { result: &result, repeatable: true }, of_result),
                    Some((_, false)) => (Ended::Worked { result: &result, repeatable: false }, None),
                };
                let text = rails.after("t", tool, &arguments, ended);
                let agree = match (&text, &why) {
                    (Some(text), Some(why)) => text.starts_with(&format!("{tool} {why} ")),
                    (text, why) => text.is_none() && why.is_none(),
                };
                prop_assert!(agree, "{:?} {:?}", text, why);
            }
        }
    }
}
