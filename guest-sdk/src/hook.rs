//! Write a hook for hermes-host: plain functions that see the calls of all tools before and after they run.
//!
//! ```
//! use hermes_tool::hook::{Call, Outcome, Verdict};
//! use hermes_tool::{args, log};
//!
//! #[args]
//! struct Command {
//!     command: String,
//! }
//!
//! fn ask_for_sudo(call: &Call) -> Verdict {
//!     match call.arguments_as::<Command>() {
//!         Ok(args) if args.command.starts_with("sudo ") => Verdict::ask(format!("run {}?", args.command)),
//!         Ok(_) => Verdict::Allow,
//!         Err(why) => Verdict::block(why),
//!     }
//! }
//!
//! fn note_errors(call: &Call, outcome: &Outcome) {
//!     if let Outcome::Error(problem) = outcome {
//!         log::warn(format!("{}: {}", call.name, problem.kind));
//!     }
//! }
//!
//! hermes_tool::export_hook!(tools = ["terminal", "process_*"], pre = ask_for_sudo, post = note_errors);
//! # let host = hermes_tool::testing::FakeHost::new();
//! # assert_eq!(host.pre(HOOK, "terminal", r#"{"command":"sudo ls"}"#), Verdict::ask("run sudo ls?"));
//! # host.post(HOOK, "terminal", "{}", &Outcome::error("failed", "no such file"));
//! # assert_eq!(host.log(), ["terminal: failed"]);
//! ```
//!
//! A hook only narrows: it can stop a call, never allow what the operator's grants do not. Every question runs in a new
//! instance: nothing in memory outlives it. Where the call comes from is in [`Call::context`].

use std::fmt::Display;

use serde::de::DeserializeOwned;

pub use crate::bindings::hermes::tool::types::Call;
pub use crate::bindings::hook::exports::hermes::tool::hooks::{Outcome, Problem, Verdict};
use crate::bindings::hook::exports::hermes::tool::hooks::{Points, Subscription};
use crate::{Content, Result, export::report_panics, tool::bad_arguments};

/// A hook: what [`export_hook!`](crate::export_hook!) makes of its functions, found as `HOOK` beside it.
#[derive(Clone, Copy, Debug)]
pub struct Hook {
    /// Names of tools, or beginnings of names that end in `*`. Empty: all tools.
    pub tools: &'static [&'static str],
    /// Asked before the call runs.
    pub pre: Option<fn(&Call) -> Verdict>,
    /// Told after the call.
    pub post: Option<fn(&Call, &Outcome)>,
    /// Asked after the call for another outcome; `None` leaves it. An error may become another error, never a reply.
    pub transform: Option<fn(&Call, Outcome) -> Option<Outcome>>,
}

impl Call {
    /// The arguments as a type, such as one marked `#[args]`.
    pub fn arguments_as<T: DeserializeOwned>(&self) -> Result<T> {
        serde_json::from_str(&self.arguments).map_err(bad_arguments)
    }
}

impl Verdict {
    /// The call does not run. The message is for the model.
    pub fn block(message: impl Display) -> Self {
        Self::Block(message.to_string())
    }

    /// A person decides. The message is for that person; with nobody to ask, the call does not run.
    pub fn ask(message: impl Display) -> Self {
        Self::Ask(message.to_string())
    }
}

impl Outcome {
    /// A reply of one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Reply(vec![Content::Text(text.into())])
    }

    /// An error. The kind is one of the host's, such as `failed` or `denied`.
    pub fn error(kind: impl Into<String>, message: impl Display) -> Self {
        Self::Error(Problem { kind: kind.into(), message: message.to_string() })
    }
}

/// What the exports do. The host asks only at the points that `subscribe` names; elsewhere a hook has nothing to say.
#[doc(hidden)]
impl Hook {
    /// A hook for these tools that has no functions yet.
    pub const fn of(tools: &'static [&'static str]) -> Self {
        Self { tools, pre: None, post: None, transform: None }
    }

    /// Fails the build for a hook that the host would refuse, or that could never be asked: it would protect nothing.
    pub const fn checked(self) -> Self {
        assert!(
            self.pre.is_some() || self.post.is_some() || self.transform.is_some(),
            "a hook needs a function: give export_hook! at least one of pre, post and transform"
        );
        let mut i = 0;
        while i < self.tools.len() {
            assert!(
                is_pattern(self.tools[i].as_bytes()),
                "tools of a hook are names (A-Z, a-z, 0-9, _ and -, at most 64), or beginnings of names that end in *"
            );
            i += 1;
        }
        self
    }

    pub fn subscribe(&self) -> Subscription {
        let when = |given: bool, point: Points| if given { point } else { Points::empty() };
        Subscription {
            points: when(self.pre.is_some(), Points::PRE_TOOL_CALL)
                | when(self.post.is_some(), Points::POST_TOOL_CALL)
                | when(self.transform.is_some(), Points::TRANSFORM_TOOL_RESULT),
            tools: self.tools.iter().map(|tool| (*tool).to_owned()).collect(),
        }
    }

    pub fn pre_tool_call(&self, call: &Call) -> Verdict {
        report_panics();
        self.pre.map_or(Verdict::Allow, |pre| pre(call))
    }

    pub fn post_tool_call(&self, call: &Call, outcome: &Outcome) {
        report_panics();
        if let Some(post) = self.post {
            post(call, outcome);
        }
    }

    pub fn transform_tool_result(&self, call: &Call, outcome: Outcome) -> Option<Outcome> {
        report_panics();
        self.transform.and_then(|transform| transform(call, outcome))
    }
}

/// Bytes of a tool's name, by `wit/types.wit`.
const NAME_BYTES: usize = 64;

/// Whether this is a name by the rule for tools, or the beginning of one with a `*` behind it.
const fn is_pattern(pattern: &[u8]) -> bool {
    let (name, any) = match pattern {
        [start @ .., b'*'] => (start, true),
        name => (name, false),
    };
    let mut i = 0;
    while i < name.len() {
        if !(name[i].is_ascii_alphanumeric() || name[i] == b'_' || name[i] == b'-') {
            return false;
        }
        i += 1;
    }
    name.len() <= NAME_BYTES && (any || !name.is_empty())
}

/// Makes the component of a hook: names the tools it watches over and the functions it has.
///
/// | option | meaning |
/// |---|---|
/// | `tools = ["…"]` | names of tools, or beginnings of names that end in `*`; it comes first, and without it all tools are meant |
/// | `pre = path` | a function `fn(&Call) -> Verdict`, asked before a call runs |
/// | `post = path` | a function `fn(&Call, &Outcome)`, told after the call |
/// | `transform = path` | a function `fn(&Call, Outcome) -> Option<Outcome>`, asked after the call for another outcome |
///
/// Any of the functions may be left out, but not all. The hook is then found as `HOOK`, for
/// [`FakeHost`](crate::testing::FakeHost); on the author's own machine nothing is exported.
///
/// ```
/// use hermes_tool::hook::{Call, Verdict};
///
/// fn no_removal(call: &Call) -> Verdict {
///     if call.arguments.contains("rm -rf") { Verdict::block("not here") } else { Verdict::Allow }
/// }
///
/// hermes_tool::export_hook!(tools = ["terminal", "process_*"], pre = no_removal);
/// # let host = hermes_tool::testing::FakeHost::new();
/// # assert_eq!(host.pre(HOOK, "process_start", r#"{"command":"rm -rf /"}"#), Verdict::block("not here"));
/// # assert_eq!(host.pre(HOOK, "memory", r#"{"text":"rm -rf /"}"#), Verdict::Allow);
/// ```
///
/// A hook without a function does not compile, nor does one for tools that can't exist:
///
/// ```compile_fail,E0080
/// hermes_tool::export_hook!(tools = ["terminal"]);
/// ```
/// ```compile_fail,E0080
/// # use hermes_tool::hook::{Call, Outcome};
/// fn note(_: &Call, _: &Outcome) {}
/// hermes_tool::export_hook!(tools = ["browser.*"], post = note);
/// ```
#[macro_export]
macro_rules! export_hook {
    (tools = [$($tool:literal),* $(,)?] $(, $point:ident = $function:expr)* $(,)?) => {
        /// The hook as the host sees it.
        pub const HOOK: $crate::hook::Hook = $crate::hook::Hook {
            $($point: ::core::option::Option::Some($function),)*
            ..$crate::hook::Hook::of(&[$($tool),*])
        }
        .checked();

        #[cfg(target_family = "wasm")]
        const _: () = {
            use $crate::bindings::hook::exports::hermes::tool::hooks as wit;

            struct Component;

            impl wit::Guest for Component {
                fn subscribe() -> wit::Subscription {
                    HOOK.subscribe()
                }
                fn pre_tool_call(call: wit::Call) -> wit::Verdict {
                    HOOK.pre_tool_call(&call)
                }
                fn post_tool_call(call: wit::Call, outcome: wit::Outcome) {
                    HOOK.post_tool_call(&call, &outcome);
                }
                fn transform_tool_result(call: wit::Call, outcome: wit::Outcome) -> Option<wit::Outcome> {
                    HOOK.transform_tool_result(&call, outcome)
                }
            }

            $crate::bindings::hook::export!(Component with_types_in $crate::bindings::hook);
        };
    };
    ($($point:ident = $function:expr),* $(,)?) => {
        $crate::export_hook!(tools = [] $(, $point = $function)*);
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NoArgs, testing::FakeHost};

    fn turn_over(_: &Call, outcome: Outcome) -> Option<Outcome> {
        match outcome {
            Outcome::Reply(_) => Some(Outcome::error("denied", "not for you")),
            Outcome::Error(_) => Some(Outcome::text("all is well")),
        }
    }

    fn needs_none(call: &Call) -> Verdict {
        call.arguments_as::<NoArgs>().map_or_else(Verdict::ask, |_| Verdict::Allow)
    }

    const HOOK: Hook = Hook { pre: Some(needs_none), transform: Some(turn_over), ..Hook::of(&["a", "b_*"]) };

    #[test]
    fn a_hook_subscribes_to_the_points_it_has_functions_for() {
        let subscription = HOOK.subscribe();
        assert_eq!(subscription.points, Points::PRE_TOOL_CALL | Points::TRANSFORM_TOOL_RESULT);
        assert_eq!(subscription.tools, ["a", "b_*"]);
    }

    #[test]
    fn tools_are_names_or_beginnings_of_names() {
        assert!(["terminal", "a-b_9", "browser_*", "*"].iter().all(|good| is_pattern(good.as_bytes())));
        assert!(["", "a b", "a.*", "*_a", "a**", "é"].iter().all(|bad| !is_pattern(bad.as_bytes())));
        assert!(is_pattern(&[b'a'; NAME_BYTES]) && !is_pattern(&[b'a'; NAME_BYTES + 1]));
    }

    #[test]
    fn a_hook_is_asked_about_its_own_tools_only() {
        let host = FakeHost::new();
        assert!(matches!(host.pre(HOOK, "a", "[1]"), Verdict::Ask(why) if why.starts_with("bad arguments: ")));
        assert_eq!(host.pre(HOOK, "b_1", "{}"), Verdict::Allow);
        assert_eq!(host.pre(HOOK, "ab", "[1]"), Verdict::Allow);
        let denied = Outcome::error("denied", "not for you");
        assert_eq!(host.transform(HOOK, "b_1", "{}", Outcome::text("hello")), denied);
        assert_eq!(host.transform(HOOK, "c", "{}", Outcome::text("hello")), Outcome::text("hello"));
    }

    #[test]
    #[should_panic(expected = "a hook can't make a reply of an error")]
    fn an_error_never_becomes_a_reply() {
        FakeHost::new().transform(HOOK, "a", "{}", Outcome::error("failed", "no"));
    }
}
