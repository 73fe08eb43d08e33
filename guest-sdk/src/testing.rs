//! A fake host, for `cargo test` on the author's own machine.
//!
//! ```
//! use hermes_tool::testing::FakeHost;
//! use hermes_tool::{Error, Result, args, log, tool};
//!
//! #[args]
//! struct Divide { a: f64, b: f64 }
//!
//! /// Divides a by b.
//! #[tool]
//! fn divide(args: Divide) -> Result<String> {
//!     if args.b == 0.0 {
//!         return Err(Error::invalid("b must not be 0"));
//!     }
//!     log::info("dividing");
//!     Ok((args.a / args.b).to_string())
//! }
//!
//! let host = FakeHost::new();
//! assert_eq!(host.call(divide::TOOL, r#"{"a": 1, "b": 4}"#).unwrap().text(), "0.25");
//! assert_eq!(host.call(divide::TOOL, r#"{"a": 1, "b": 0}"#).unwrap_err(), Error::invalid("b must not be 0"));
//! assert_eq!(host.log(), ["dividing"]);
//! ```
//!
//! Files lie in memory, and what happened to them can be looked at:
//!
//! ```
//! use hermes_tool::testing::FakeHost;
//! use hermes_tool::{NoArgs, Result, fs, tool};
//!
//! /// Empties the waste-paper basket.
//! #[tool(destructive)]
//! fn empty(_: NoArgs) -> Result<String> {
//!     fs::commit(&[fs::Change::Remove(fs::Remove { path: "basket/letter.txt".into(), version: None })])?;
//!     Ok("done".into())
//! }
//!
//! let host = FakeHost::new().file("basket/letter.txt", "Dear").file("desk/letter.txt", "Dear");
//! host.call(empty::TOOL, "{}").unwrap();
//! assert_eq!(host.content("basket/letter.txt"), None);
//! assert_eq!(host.content("desk/letter.txt").unwrap(), b"Dear");
//! assert_eq!(host.call(empty::TOOL, "{}").unwrap_err().message(), "/workspace/basket/letter.txt does not exist");
//! ```
//!
//! Commands are never run: a test says what they give, and can look at what was asked for.
//!
//! ```
//! use hermes_tool::terminal::{self, Command, Options};
//! use hermes_tool::testing::{self, FakeHost};
//! use hermes_tool::{NoArgs, Result, tool};
//!
//! /// Removes what the last build left.
//! #[tool(destructive)]
//! fn clean(_: NoArgs) -> Result<String> {
//!     let outcome = terminal::run(&Command::Shell("make clean".into()), &Options::default(), Some(60), None)?;
//!     Ok(if outcome.code == 0 { "clean".into() } else { outcome.output })
//! }
//!
//! let host = FakeHost::new().command("make clean", Ok(testing::ran(2, "no rule")));
//! assert_eq!(host.call(clean::TOOL, "{}").unwrap().text(), "no rule");
//! assert_eq!(host.asked()[0].timeout, Some(60));
//! ```
//!
//! A hook is asked in the same way, with the tool's name beside the arguments:
//!
//! ```
//! use hermes_tool::hook::{Call, Outcome};
//! use hermes_tool::testing::FakeHost;
//!
//! fn no_details(_: &Call, outcome: Outcome) -> Option<Outcome> {
//!     match outcome {
//!         Outcome::Error(problem) => Some(Outcome::error(problem.kind, "it did not work")),
//!         Outcome::Reply(_) => None,
//!     }
//! }
//!
//! hermes_tool::export_hook!(tools = ["db_*"], transform = no_details);
//!
//! let host = FakeHost::new();
//! let error = Outcome::error("failed", "no table users at db:5432");
//! assert_eq!(host.transform(HOOK, "db_query", "{}", error.clone()), Outcome::error("failed", "it did not work"));
//! assert_eq!(host.transform(HOOK, "terminal", "{}", error.clone()), error);
//! ```

mod arguments;
pub(crate) mod ask;
pub(crate) mod files;
pub(crate) mod terminal;

use std::cell::RefCell;

use crate::describer::Describe;
use crate::hook::{Call, Hook, Outcome, Verdict};
use crate::{Content, Context, Error, Redescription, Surroundings, Tool, export::with_context};

pub use ask::Question;
pub use terminal::{Asked, ran};

thread_local! {
    static LOG: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Calls tools and asks hooks natively, and keeps what they log, the files they change and the commands they ask for. One for each
/// test: all of it belongs to the thread.
#[derive(Debug)]
pub struct FakeHost(());

/// The result of a call.
#[derive(Clone, Debug)]
pub struct Reply(Vec<Content>);

impl FakeHost {
    /// A host with an empty log, an empty workspace and no process.
    #[allow(clippy::new_without_default, reason = "it clears what the thread has, which a default value should not")]
    pub fn new() -> Self {
        LOG.take();
        files::clear();
        terminal::clear();
        ask::clear();
        Self(())
    }

    /// Calls the tool as the host does: arguments come as JSON text, are turned into what the tool's schema asks for where that loses
    /// nothing, and are held against it. The tool is not called where they do not fit.
    pub fn call(&self, tool: Tool, arguments: &str) -> Result<Reply, Error> {
        let arguments = arguments::prepare(tool, arguments)?;
        with_context(context(), || (tool.handle)(&arguments)).map(Reply)
    }

    /// Asks the tool whether it can work here.
    pub fn check(&self, tool: Tool) -> Result<(), String> {
        tool.check.map_or(Ok(()), |check| check())
    }

    /// The JSON Schema that the model gets for the tool's arguments.
    pub fn parameters(&self, tool: Tool) -> serde_json::Value {
        serde_json::from_str(&(tool.parameters)()).unwrap_or_default()
    }

    /// Asks the tools how they describe themselves where the model is offered these.
    pub fn describe(&self, describe: Describe, tools: &[&str]) -> Vec<Redescription> {
        describe(&Surroundings { tools: tools.iter().map(|tool| (*tool).to_owned()).collect() })
    }

    /// What the hook says of a call that is about to run. It allows what it does not watch over.
    pub fn pre(&self, hook: Hook, tool: &str, arguments: &str) -> Verdict {
        hook.pre.filter(|_| covers(hook, tool)).map_or(Verdict::Allow, |pre| pre(&call(tool, arguments)))
    }

    /// Tells the hook how a call ended, if it watches over that tool.
    pub fn post(&self, hook: Hook, tool: &str, arguments: &str, outcome: &Outcome) {
        if let Some(post) = hook.post.filter(|_| covers(hook, tool)) {
            post(&call(tool, arguments), outcome);
        }
    }

    /// The outcome of a call after the hook has seen it.
    ///
    /// # Panics
    ///
    /// If the hook makes a reply of an error, which the host does not let it do.
    pub fn transform(&self, hook: Hook, tool: &str, arguments: &str, outcome: Outcome) -> Outcome {
        let Some(transform) = hook.transform.filter(|_| covers(hook, tool)) else { return outcome };
        let Some(other) = transform(&call(tool, arguments), outcome.clone()) else { return outcome };
        let hidden = matches!((&outcome, &other), (Outcome::Error(_), Outcome::Reply(_)));
        assert!(!hidden, "a hook can't make a reply of an error: {outcome:?} became {other:?}");
        other
    }

    /// What was logged since this host was made.
    pub fn log(&self) -> Vec<String> {
        LOG.with_borrow(Clone::clone)
    }
}

fn context() -> Context {
    Context { call_id: "call-1".into(), task_id: None, session_id: None }
}

fn call(tool: &str, arguments: &str) -> Call {
    Call { name: tool.to_owned(), arguments: arguments.to_owned(), context: context() }
}

/// Whether the hook watches over the tool, by the host's rule.
fn covers(hook: Hook, tool: &str) -> bool {
    let fits = |pattern: &&str| match pattern.strip_suffix('*') {
        Some(start) => tool.starts_with(start),
        None => tool == *pattern,
    };
    hook.tools.is_empty() || hook.tools.iter().any(fits)
}

impl Reply {
    /// The pieces of the result.
    pub fn content(&self) -> &[Content] {
        &self.0
    }

    /// The result as text: the text and JSON pieces, a line each.
    pub fn text(&self) -> String {
        let texts = self.0.iter().filter_map(|piece| match piece {
            Content::Text(text) | Content::Json(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// The result as JSON; `null` where it is not one JSON piece.
    pub fn json(&self) -> serde_json::Value {
        match self.0.as_slice() {
            [Content::Json(text)] => serde_json::from_str(text).unwrap_or_default(),
            _ => serde_json::Value::Null,
        }
    }
}

/// Stands in for the imports of `hermes:tool/log`.
pub(crate) mod fake_log {
    use super::LOG;
    use crate::log::Level;

    pub(crate) fn log(_: Level, message: &str) {
        LOG.with_borrow_mut(|log| log.push(message.to_owned()));
    }

    pub(crate) fn progress(done: u64, total: Option<u64>, message: Option<&str>) {
        let total = total.map(|total| format!("/{total}")).unwrap_or_default();
        LOG.with_borrow_mut(|log| log.push(format!("progress {done}{total} {}", message.unwrap_or_default())));
    }
}
