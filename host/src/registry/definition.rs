//! What a component registered, after the host has checked it. Everything in it was written by a stranger.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{schema, tool_search::is_bridge, toolset::is_reserved};
use crate::{
    component::valid_name,
    text::{cut, one_line, printable},
    wit::latest,
};

/// Tools one component may register. The largest known bundle, a browser's, has twelve.
const TOOLS: usize = 128;

/// Bytes of a description. The longest of Hermes's 79 tools has under 6 kB, schema included. Attack 34.
const DESCRIPTION_BYTES: usize = 8 << 10;

/// Required environment names of one tool.
const ENV_NAMES: usize = 32;

/// One tool as a model may see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Definition {
    /// Unique in the host.
    pub name: String,
    /// The bundle it belongs to.
    pub toolset: String,
    /// For the model.
    pub description: String,
    /// JSON Schema of the arguments.
    pub parameters: Value,
    /// JSON Schema of the result, where it is structured.
    pub output: Option<Value>,
    /// For lists.
    pub emoji: Option<String>,
    /// Variables the host's environment must have.
    pub required_env: Vec<String>,
    /// The most characters of a result that a model should be shown, by the tool's own word.
    pub max_result_size: Option<u64>,
    /// What it says of itself.
    pub hints: Hints,
}

/// Claims of a tool about itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the fields are those of wit/types.wit")]
pub struct Hints {
    pub read_only: bool,
    pub destructive: bool,
    pub idempotent: bool,
    pub open_world: bool,
    pub parallel_safe: bool,
}

impl Definition {
    /// Checks all that a component registered. One bad definition refuses the component: its author should see it.
    pub(crate) fn accept_all(raw: Vec<latest::Definition>) -> Result<Vec<Self>, String> {
        if raw.is_empty() {
            return Err("registers no tool".into());
        }
        if raw.len() > TOOLS {
            return Err(format!("registers {} tools; the limit is {TOOLS}", raw.len()));
        }
        let mut names = HashSet::new();
        let mut patterns = 0;
        let mut accepted = Vec::new();
        for definition in raw {
            let definition = Self::accept(definition, &mut patterns)?;
            if !names.insert(definition.name.clone()) {
                return Err(format!("registers {} twice", definition.name));
            }
            accepted.push(definition);
        }
        Ok(accepted)
    }

    fn accept(raw: latest::Definition, patterns: &mut usize) -> Result<Self, String> {
        for (what, name) in [("tool", &raw.name), ("toolset", &raw.toolset)] {
            if !valid_name(name) {
                let shown = one_line(name, 80);
                return Err(format!("registers a {what} named {shown:?}; a name is 1 to 64 of A-Z a-z 0-9 _ -"));
            }
        }
        if is_bridge(&raw.name) {
            return Err(format!("registers {}, which is one of the host's own tools", raw.name));
        }
        if let Some(why) = is_reserved(&raw.toolset) {
            return Err(format!("registers {} under the toolset {}: {why}", raw.name, raw.toolset));
        }
        let name = raw.name;
        let fault = |what: &str, why: String| format!("registers {name} with {what}: {why}");
        if raw.required_env.len() > ENV_NAMES {
            return Err(fault("too many required environment names", format!("the limit is {ENV_NAMES}")));
        }
        if let Some(bad) = raw.required_env.iter().find(|name| !valid_name(name)) {
            return Err(fault("a bad environment name", format!("{:?}", one_line(bad, 80))));
        }
        let parameters = schema::accept(&raw.parameters, schema::Role::Parameters, patterns)
            .map_err(|why| fault("bad parameters", why))?;
        let output = raw.output.as_deref().map(|text| schema::accept(text, schema::Role::Output, patterns)).transpose();
        let output = output.map_err(|why| fault("a bad output schema", why))?;
        Ok(Self {
            toolset: raw.toolset,
            description: description(&raw.description),
            parameters,
            output,
            emoji: raw.emoji.map(|emoji| one_line(&emoji, 32)).filter(|emoji| !emoji.is_empty()),
            required_env: raw.required_env,
            max_result_size: raw.max_result_size,
            hints: Hints {
                read_only: raw.hints.contains(latest::Hints::READ_ONLY),
                destructive: raw.hints.contains(latest::Hints::DESTRUCTIVE),
                idempotent: raw.hints.contains(latest::Hints::IDEMPOTENT),
                open_world: raw.hints.contains(latest::Hints::OPEN_WORLD),
                parallel_safe: raw.hints.contains(latest::Hints::PARALLEL_SAFE),
            },
            name,
        })
    }
}

/// A description as models may see it.
pub(super) fn description(text: &str) -> String {
    cut(printable(text).trim(), DESCRIPTION_BYTES)
}

#[cfg(test)]
impl Definition {
    /// A definition of this name with nothing in it.
    pub(crate) fn named(name: &str) -> Self {
        Self {
            name: name.into(),
            toolset: "test".into(),
            description: String::new(),
            parameters: Value::Null,
            output: None,
            emoji: None,
            required_env: Vec::new(),
            max_result_size: None,
            hints: Hints::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(name: &str) -> latest::Definition {
        latest::Definition {
            name: name.into(),
            toolset: "demo".into(),
            description: "Says\u{1b}[31m hello.".into(),
            parameters: r#"{"type":"object"}"#.into(),
            output: None,
            emoji: None,
            required_env: vec![],
            max_result_size: None,
            hints: latest::Hints::empty(),
        }
    }

    #[test]
    fn names_with_paths_controls_or_look_alikes_are_refused() {
        for name in ["", "../up", "a\nb", "а", &"n".repeat(65)] {
            assert!(Definition::accept_all(vec![raw(name)]).is_err(), "{name:?}");
        }
    }

    #[test]
    fn escapes_leave_descriptions_and_long_ones_are_cut() {
        let mut long = raw("hello");
        long.description.push_str(&"x".repeat(1 << 20));
        let accepted = Definition::accept_all(vec![long]).unwrap();
        assert!(accepted[0].description.starts_with("Says[31m hello."));
        assert!(accepted[0].description.len() <= DESCRIPTION_BYTES);
    }

    #[test]
    fn the_hosts_own_names_and_reserved_toolsets_are_refused() {
        assert!(Definition::accept_all(vec![raw("tool_call")]).unwrap_err().contains("host's own"));
        for toolset in ["mcp-github", "all", "safe", "hermes-cli"] {
            let reserved = latest::Definition { toolset: toolset.into(), ..raw("a") };
            assert!(Definition::accept_all(vec![reserved]).unwrap_err().contains(toolset), "{toolset}");
        }
    }

    #[test]
    fn the_same_name_twice_in_one_component_is_refused() {
        assert!(Definition::accept_all(vec![raw("a"), raw("a")]).unwrap_err().contains("twice"));
    }
}
