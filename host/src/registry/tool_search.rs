//! When a model searches for tools instead of being given all of them, and the three tools it then gets.

use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Definition, Hints};

/// Share of the context window that the schemas of the tools in question may take, in percent.
const WINDOW_PERCENT: u64 = 10;

/// Tokens they may take where the window is not known: a tenth of the common 200,000.
const TOKENS: u64 = 20_000;

/// The toolset of the three.
const TOOLSET: &str = "tool_search";

/// The operator's word on it: `[tool_search]` in the configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ToolSearch {
    /// Whether tools are searched for.
    pub enabled: SearchMode,
    /// Tokens that the schemas of tools outside the core may take before they are.
    pub budget: Option<u64>,
}

/// Whether tools are searched for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SearchMode {
    /// When their schemas outgrow the budget.
    #[default]
    Auto,
    /// Whenever there is one outside the core.
    On,
    /// Never.
    Off,
}

impl std::str::FromStr for SearchMode {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => Ok(Self::Auto),
            "on" => Ok(Self::On),
            "off" => Ok(Self::Off),
            _ => Err("expected auto, on or off"),
        }
    }
}

impl ToolSearch {
    /// Whether `tokens` of schemas outside the core are too many.
    pub fn is_needed(&self, tokens: u64, window: Option<u64>) -> bool {
        let budget = self.budget.or(window.map(|window| window / 100 * WINDOW_PERCENT)).unwrap_or(TOKENS);
        match self.enabled {
            SearchMode::Off => false,
            SearchMode::On => tokens > 0,
            SearchMode::Auto => tokens > 0 && tokens >= budget,
        }
    }
}

/// Finds tools by what they do.
pub const TOOL_SEARCH: &str = "tool_search";
/// Shows one tool's schema.
pub const TOOL_DESCRIBE: &str = "tool_describe";
/// Calls a tool that was found.
pub const TOOL_CALL: &str = "tool_call";

/// Hits where the model does not say how many.
pub const HITS: usize = 5;
/// Hits at most.
pub const MOST_HITS: usize = 20;

/// Whether the name is one of the host's own tools, which no component may register.
pub(crate) fn is_bridge(name: &str) -> bool {
    [TOOL_SEARCH, TOOL_DESCRIBE, TOOL_CALL].contains(&name)
}

/// The definitions of the three.
pub fn bridge_definitions() -> &'static [Definition] {
    static DEFINITIONS: LazyLock<[Definition; 3]> = LazyLock::new(|| {
        [
            definition(
                TOOL_CALL,
                "Calls a tool that is not in your list, by the name that tool_search found. Its arguments must fit the schema that tool_describe shows.",
                json!({
                    "name": {"type": "string", "description": "The tool's name."},
                    "arguments": {"type": "object", "description": "The tool's arguments."},
                }),
                &["name"],
            ),
            definition(
                TOOL_DESCRIBE,
                "Shows the description and the argument schema of a tool that tool_search found. Look at it before you call the tool.",
                json!({"name": {"type": "string", "description": "The tool's name."}}),
                &["name"],
            ),
            definition(
                TOOL_SEARCH,
                "Finds tools that are not in your list, by what they do. More tools exist than you were given: search before you say that something can't be done.",
                json!({
                    "query": {"type": "string", "description": "What the tool should do, in a few words."},
                    "limit": {"type": "integer", "minimum": 1, "maximum": MOST_HITS, "default": HITS, "description": "How many to show."},
                }),
                &["query"],
            ),
        ]
    });
    &*DEFINITIONS
}

fn definition(name: &str, description: &str, properties: Value, required: &[&str]) -> Definition {
    Definition {
        name: name.into(),
        toolset: TOOLSET.into(),
        description: description.into(),
        parameters: json!({"type": "object", "properties": properties, "required": required}),
        output: None,
        emoji: None,
        required_env: Vec::new(),
        max_result_size: None,
        hints: Hints { read_only: name != TOOL_CALL, ..Hints::default() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn search_begins_where_schemas_outgrow_a_tenth_of_the_window() {
        let auto = ToolSearch::default();
        assert!(!auto.is_needed(19_999, None));
        assert!(auto.is_needed(20_000, None));
        assert!(auto.is_needed(800, Some(8_000)));
        assert!(!auto.is_needed(799, Some(8_000)));
        assert!(!auto.is_needed(0, Some(0)));
        let small = ToolSearch { budget: Some(10), ..auto };
        assert!(small.is_needed(10, Some(1_000_000)));
        assert!(!ToolSearch { enabled: SearchMode::Off, ..small }.is_needed(u64::MAX, None));
        assert!(ToolSearch { enabled: SearchMode::On, ..auto }.is_needed(1, None));
    }
}
