//! One rule of the policy.

use std::{collections::BTreeSet, fmt};

use globset::{GlobBuilder, GlobMatcher};
use serde_json::Value;

use super::{PolicyAction, condition::Condition};

/// The longest reason that an operator may give for a rule, in bytes. It goes into answers to the model: a sentence, not a document.
pub(super) const WHY_BYTES: usize = 500;

/// A rule that can't be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InvalidRule {
    /// A key that no tool's name can match.
    #[error("{0:?} matches no tool's name: use letters, digits, _ and -, with * for any text and ? for one character")]
    Name(String),
    /// A pattern that can't be read.
    #[error("the pattern {pattern:?} can't be read: {why}")]
    Glob {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        why: String,
    },
    /// Not a JSON pointer.
    #[error("{0:?} is no JSON pointer; name an argument like \"/path\" or \"/options/force\"")]
    Pointer(String),
    /// A condition that nothing can meet.
    #[error("the list of values for {0:?} is empty, so the rule would never match")]
    NoValue(String),
    /// A number that JSON does not have.
    #[error("{0} is no number that an argument can have")]
    NoNumber(f64),
    /// A list without rules.
    #[error("{0:?} has an empty list; write an action, or remove the line")]
    NoRule(String),
    /// Arguments come after the list of tools.
    #[error("a tool is hidden before its arguments are known: remove `when`, or use \"deny\"")]
    HiddenWhen,
    /// A reason that is never shown.
    #[error("`why` is shown where a call is asked about or denied; remove it beside {0:?}")]
    WhyBeside(&'static str),
    /// A reason that is too long.
    #[error("`why` has {0} bytes; the limit is {WHY_BYTES}")]
    LongWhy(usize),
}

/// A pattern over names: `*` is any text, `?` one character.
#[derive(Clone, Debug)]
pub struct NamePattern(GlobMatcher);

impl PartialEq for NamePattern {
    fn eq(&self, other: &Self) -> bool {
        self.0.glob() == other.0.glob()
    }
}

impl NamePattern {
    /// A pattern over tool names.
    pub fn of_tools(text: &str) -> Result<Self, InvalidRule> {
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '*' | '?');
        if text.is_empty() || !text.chars().all(is_of_name) {
            return Err(InvalidRule::Name(text.to_owned()));
        }
        Self::new(text)
    }

    /// A pattern over names of clients, which may be any text.
    pub(super) fn new(text: &str) -> Result<Self, InvalidRule> {
        let glob = GlobBuilder::new(text).literal_separator(false).build();
        let invalid = |why: globset::Error| InvalidRule::Glob { pattern: text.to_owned(), why: why.kind().to_string() };
        Ok(Self(glob.map_err(invalid)?.compile_matcher()))
    }

    /// Whether it stands for this name.
    pub fn matches(&self, name: &str) -> bool {
        self.0.is_match(name)
    }

    /// Whether it stands for one name alone.
    pub fn is_exact(&self) -> bool {
        !self.as_str().contains(['*', '?'])
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        self.0.glob().glob()
    }
}

/// One rule: whom it is about, under which conditions, and what happens.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyRule {
    pub(super) pattern: NamePattern,
    pub(super) action: PolicyAction,
    pub(super) when: Vec<Condition>,
    pub(super) client: Option<NamePattern>,
    pub(super) toolset: Option<ToolsetScope>,
    pub(super) why: Option<String>,
}

/// The tools of one toolset.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ToolsetScope {
    pub(super) name: String,
    pub(super) tools: BTreeSet<String>,
}

impl PolicyRule {
    /// The tools that it is about.
    pub fn pattern(&self) -> &NamePattern {
        &self.pattern
    }

    /// What happens.
    pub fn action(&self) -> PolicyAction {
        self.action
    }

    /// The operator's reason.
    pub fn why(&self) -> Option<&str> {
        self.why.as_deref()
    }

    /// The toolset whose tools alone it is about, and whether that has any.
    pub fn toolset(&self) -> Option<(&str, bool)> {
        self.toolset.as_ref().map(|scope| (scope.name.as_str(), !scope.tools.is_empty()))
    }

    /// Whether it matches every call of the tools that it names, whatever the arguments, the client and the toolset.
    pub fn is_unconditional(&self) -> bool {
        self.when.is_empty() && self.client.is_none() && self.toolset.is_none()
    }

    pub(super) fn conditions(&self) -> &[Condition] {
        &self.when
    }

    pub(super) fn resolve_toolset(&mut self, tools_of: &dyn Fn(&str) -> BTreeSet<String>) {
        if let Some(scope) = &mut self.toolset {
            scope.tools = tools_of(&scope.name);
        }
    }

    /// Whether it is about this tool and this client. A client that is not known is none of those that a rule names.
    pub(super) fn covers(&self, tool: &str, client: Option<&str>) -> bool {
        let is_for_client = |pattern: &NamePattern| client.is_some_and(|client| pattern.matches(client));
        self.pattern.matches(tool)
            && self.client.as_ref().is_none_or(is_for_client)
            && self.toolset.as_ref().is_none_or(|scope| scope.tools.contains(tool))
    }

    /// Whether it hides this tool from this client, if no rule before it decides.
    pub fn hides(&self, tool: &str, client: Option<&str>) -> bool {
        self.action == PolicyAction::Hidden && self.covers(tool, client)
    }

    /// Whether the arguments meet all its conditions.
    pub(super) fn holds_for(&self, arguments: &Value) -> bool {
        self.when.iter().all(|condition| condition.is_met(arguments))
    }
}

/// The rule without its action, as messages name it.
impl fmt::Display for PolicyRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.pattern.as_str())?;
        if let Some(scope) = &self.toolset {
            write!(f, " in the toolset {:?}", scope.name)?;
        }
        if let Some(client) = &self.client {
            write!(f, " for the client {:?}", client.as_str())?;
        }
        let conditions: Vec<String> = self.when.iter().map(Condition::describe).collect();
        if !conditions.is_empty() {
            write!(f, " when {}", conditions.join(" and "))?;
        }
        Ok(())
    }
}
