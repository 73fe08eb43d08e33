//! What an operator can do about a call that reached one of its component's limits.

use std::time::Duration;

use super::{
    Kill, KillReason, Limits,
    limits::{MEMORY_CEILING, MIB, WALL_CEILING},
};

impl Kill {
    /// This kill with the command that raises the limit, where there is one that can be raised.
    pub(crate) fn with_remedy(mut self, component: &str, limits: &Limits) -> Self {
        let remedy = match self.reason {
            _ if !self.at_limit => None,
            KillReason::OutOfFuel => Some(raise(component, &format!("--fuel {}", limits.fuel.saturating_mul(2)))),
            KillReason::OutOfMemory => raise_memory(component, limits.memory.saturating_mul(2), limits),
            KillReason::Deadline => raise_timeout(component, limits.wall),
            _ => None,
        };
        self.detail.extend(remedy);
        self
    }
}

/// The command that gives a component this much memory; the most there is, where that is less. Nothing where it has that already.
pub(crate) fn raise_memory(component: &str, wanted: usize, limits: &Limits) -> Option<String> {
    let wanted = wanted.next_multiple_of(MIB).min(MEMORY_CEILING);
    (limits.memory < wanted).then(|| raise(component, &format!("--memory {}MiB", wanted / MIB)))
}

fn raise_timeout(component: &str, wall: Duration) -> Option<String> {
    let wanted = wall.saturating_mul(2).min(WALL_CEILING);
    (wall < wanted).then(|| raise(component, &format!("--timeout {}s", wanted.as_secs())))
}

fn raise(component: &str, option: &str) -> String {
    format!("; to raise it: hermes-host grant {component} {option}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(reason: KillReason, limits: &Limits) -> String {
        Kill::at_limit(reason, "over").with_remedy("words", limits).detail
    }

    #[test]
    fn a_limit_that_was_reached_comes_with_the_command_that_raises_it() {
        let limits = Limits { fuel: 10, ..Limits::HANDLE };
        assert_eq!(told(KillReason::OutOfFuel, &limits), "over; to raise it: hermes-host grant words --fuel 20");
        assert_eq!(
            told(KillReason::OutOfMemory, &limits),
            "over; to raise it: hermes-host grant words --memory 128MiB"
        );
        assert_eq!(told(KillReason::Deadline, &limits), "over; to raise it: hermes-host grant words --timeout 60s");
    }

    #[test]
    fn nothing_is_advised_where_it_would_not_help() {
        let most = Limits { memory: MEMORY_CEILING, wall: WALL_CEILING, ..Limits::HANDLE };
        for reason in [KillReason::OutOfMemory, KillReason::Deadline, KillReason::Trap, KillReason::Cancelled] {
            assert_eq!(told(reason, &most), "over", "{reason}");
        }
        // The machine's shortage, not the component's limit.
        let machine = Kill::new(KillReason::OutOfMemory, "the machine has none");
        assert_eq!(machine.clone().with_remedy("words", &Limits::HANDLE), machine);
    }
}
