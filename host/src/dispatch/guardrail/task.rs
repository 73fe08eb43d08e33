//! What one task has tried, counted.

use super::{recent::Recent, signature::Key, thresholds::Counts};

/// Calls, and tools, that are remembered of one task. A loop is much shorter: one that takes hundreds of different calls to come
/// round also fails with the same tool again and again, which is counted apart. An entry takes about 100 bytes.
pub(super) const ENTRIES: usize = 256;

/// A way of going round, and how often it was gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Circle {
    /// The tool failed in a row.
    Tool(u32),
    /// The call failed.
    Call(u32),
    /// The call gave the same result.
    Result(u32),
}

impl Circle {
    /// What a model is told beside the result.
    pub(super) fn warning(self, tool: &str) -> String {
        let next = match self {
            Self::Tool(_) => "check what you assume about it, or use another tool",
            Self::Call(_) => "do not repeat the call; read its error, then change the arguments or the approach",
            Self::Result(_) => "use the result you have instead of asking again",
        };
        format!("{tool} {self}: {next}")
    }

    /// What a model is told instead of a result.
    pub(super) fn refusal(self, tool: &str) -> String {
        let next = match self {
            Self::Tool(_) => "use another tool, or finish without it and say what is missing",
            Self::Call(_) => "change the arguments, use another tool, or say what stands in the way",
            Self::Result(_) => "use the result you have; it can only differ after something was changed",
        };
        format!("{tool} was not run, since it {self}: {next}")
    }
}

impl std::fmt::Display for Circle {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let times = |count: &u32| if *count == 1 { "1 time".to_owned() } else { format!("{count} times") };
        match self {
            Self::Tool(count) => write!(out, "failed {} in a row", times(count)),
            Self::Call(count) => write!(out, "failed {} with the same arguments", times(count)),
            Self::Result(count) => write!(out, "gave the same result {} for the same arguments", times(count)),
        }
    }
}

/// The counts of one call.
#[derive(Default)]
struct Call {
    failures: u32,
    /// The last result, and how often it came.
    result: Option<(Key, u32)>,
}

/// The counts of one task.
pub(super) struct Task {
    calls: Recent<Key, Call>,
    /// Failures in a row.
    tools: Recent<Key, u32>,
}

impl Default for Task {
    fn default() -> Self {
        Self { calls: Recent::new(ENTRIES), tools: Recent::new(ENTRIES) }
    }
}

impl Task {
    /// Why the call must not be run. What stops the most is named first: other arguments do not help where the tool is stopped.
    pub(super) fn stopped(&mut self, tool: &Key, call: &Key, stop: Counts) -> Option<Circle> {
        let tool = self.tools.get(tool).copied().filter(|count| reached(*count, stop.same_tool));
        tool.map(Circle::Tool).or_else(|| {
            let call = self.calls.get(call)?;
            if reached(call.failures, stop.same_call) {
                return Some(Circle::Call(call.failures));
            }
            call.result.filter(|(_, count)| reached(*count, stop.same_result)).map(|(_, count)| Circle::Result(count))
        })
    }

    /// Counts a call that failed.
    pub(super) fn failed(&mut self, tool: Key, call: Key, warn: Counts) -> Option<Circle> {
        let of_tool = more(self.tools.entry(tool));
        let of_call = more(&mut self.calls.entry(call).failures);
        if reached(of_tool, warn.same_tool) {
            Some(Circle::Tool(of_tool))
        } else {
            reached(of_call, warn.same_call).then_some(Circle::Call(of_call))
        }
    }

    /// Counts a call that worked and may be repeated.
    pub(super) fn worked(&mut self, tool: &Key, call: Key, result: Key, warn: Counts) -> Option<Circle> {
        self.tools.remove(tool);
        let call = self.calls.entry(call);
        let mut count = call.result.filter(|(last, _)| *last == result).map_or(0, |(_, count)| count);
        more(&mut count);
        *call = Call { failures: 0, result: Some((result, count)) };
        reached(count, warn.same_result).then_some(Circle::Result(count))
    }

    /// Counts a call that worked and may have changed the world: whoever looks again now has a reason to.
    pub(super) fn changed(&mut self, tool: &Key, call: &Key) {
        self.tools.remove(tool);
        self.calls.remove(call);
        self.calls.retain(|call| {
            call.result = None;
            call.failures > 0
        });
    }
}

fn reached(count: u32, limit: u32) -> bool {
    limit > 0 && count >= limit
}

fn more(count: &mut u32) -> u32 {
    *count = count.saturating_add(1);
    *count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(n: usize) -> Key {
        super::super::signature::of_text(&n.to_string())
    }

    #[test]
    fn a_task_remembers_so_many_calls_and_tools_and_no_more() {
        let mut task = Task::default();
        let never = Counts { same_call: 0, same_tool: 0, same_result: 0 };
        for n in 0..3 * ENTRIES {
            task.failed(key(n), key(n), never);
            task.worked(&key(n + 1), key(n + 100_000), key(n), never);
        }
        assert_eq!((task.calls.len(), task.tools.len()), (ENTRIES, ENTRIES));
        let once = Counts { same_call: 1, same_tool: 1, same_result: 1 };
        assert_eq!(task.stopped(&key(0), &key(0), once), None);
        assert_eq!(task.stopped(&key(0), &key(3 * ENTRIES - 1), once), Some(Circle::Call(1)));
        task.changed(&key(0), &key(0));
        assert_eq!(task.stopped(&key(0), &key(3 * ENTRIES - 1 + 100_000), once), None);
    }
}
