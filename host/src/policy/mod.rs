//! The operator's policy: what happens to calls of a tool, by its name, its arguments and the client.
//!
//! ```toml
//! [policy]                                    # in the order of the file; the first rule that matches decides
//! "mcp__github__delete_*" = "deny"
//! "write_file" = [
//!     { action = "deny", when = { "/path" = { glob = "*.env" } }, why = "edit secrets by hand" },
//!     { action = "allow", client = "claude-code" },
//!     "ask",
//! ]
//! "*" = { action = "hidden", toolset = "browser" }
//! ```
//!
//! A key is a pattern over tool names. Its value is an action, a rule with conditions, or a list of both. No rule that matches
//! means `allow`. `allow` takes nothing back from a hook, a grant or the judgement of a command: it only ends the search.

mod condition;
mod edit;
mod read;
mod rule;
#[cfg(test)]
mod tests;

use std::{collections::BTreeSet, fmt};

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use edit::{PolicyLayoutError, set_action};
pub use rule::{InvalidRule, NamePattern, PolicyRule};

/// What happens to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PolicyAction {
    /// It goes on.
    Allow,
    /// A person decides.
    Ask,
    /// It is refused, and the model is told which rule refused it.
    Deny,
    /// The tool does not exist for the client: not in definitions, not in searches, not callable.
    Hidden,
}

impl PolicyAction {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Allow, Self::Ask, Self::Deny, Self::Hidden];

    /// The word in hermes.toml.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
            Self::Hidden => "hidden",
        }
    }
}

impl fmt::Display for PolicyAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// The table `[policy]`: rules in the order in which they are tried.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolPolicy {
    rules: Vec<PolicyRule>,
}

impl ToolPolicy {
    /// The rules, in their order.
    pub fn rules(&self) -> &[PolicyRule] {
        &self.rules
    }

    /// The same policy with the tools of each toolset that a rule names. Before this, such a rule matches no tool.
    #[must_use]
    pub fn with_toolsets(mut self, tools_of: impl Fn(&str) -> BTreeSet<String>) -> Self {
        for rule in &mut self.rules {
            rule.resolve_toolset(&tools_of);
        }
        self
    }

    /// The rule that decides about a call: the first that matches. `arguments` gives the arguments as the tool would get them; it is
    /// only called where a rule looks at them.
    pub fn decide(&self, tool: &str, client: Option<&str>, arguments: impl FnOnce() -> Value) -> Option<&PolicyRule> {
        let mut candidates = self.rules.iter().filter(|rule| rule.covers(tool, client)).peekable();
        // Most calls need no look at their arguments, which may be large.
        if let Some(first) = candidates.next_if(|rule| rule.conditions().is_empty()) {
            return Some(first);
        }
        candidates.peek()?;
        let arguments = arguments();
        candidates.find(|rule| rule.holds_for(&arguments))
    }

    /// Whether a tool is hidden from a client. This is known before there are arguments, so rules with conditions do not count.
    pub fn hides(&self, tool: &str, client: Option<&str>) -> bool {
        let mut candidates = self.rules.iter().filter(|rule| rule.covers(tool, client));
        candidates.find(|rule| rule.conditions().is_empty()).is_some_and(|rule| rule.hides(tool, client))
    }
}
