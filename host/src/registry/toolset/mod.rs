//! Toolsets: named bundles of tools, and the tools that a name stands for.
//!
//! | kind | from | its tools |
//! |---|---|---|
//! | preset | `presets.toml` | those it lists and includes; a leaf also gains what components register under its name |
//! | custom | the operator's configuration | those it lists and includes |
//! | registered | components and MCP servers | those registered under the name |
//! | old name | `presets.toml` | a fixed list |
//!
//! Nothing here reads a file or the environment. A resolved toolset is a set of names, whether or not such tools are loaded.

mod error;
#[cfg(test)]
mod graph;
mod presets;
mod registered;
mod resolve;
mod sample;
mod select;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

pub use error::ToolsetError;
pub(super) use presets::is_reserved;
pub use presets::{never_parallel, path_scoped};
pub use registered::Registered;
pub use select::Selection;

use crate::component::valid_name;
use presets::{PLATFORM, PRESETS};

/// One bundle. An operator's may say the first three things and nothing else.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Toolset {
    /// One line for lists.
    pub description: String,
    /// Names of tools.
    pub tools: Vec<String>,
    /// Names of toolsets whose tools it has too.
    pub includes: Vec<String>,
    /// A way of working rather than a subject: disabling it takes no core tool away. Presets only.
    #[serde(skip)]
    pub posture: bool,
    /// Whether it never gains a tool that a component registers. Presets only.
    #[serde(skip)]
    pub closed: bool,
    /// While this variable is set, it joins an explicit list of toolsets. Presets only.
    #[serde(skip)]
    pub env: Option<String>,
}

/// Where a toolset comes from, for lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolsetGroup {
    /// The operator's: from the configuration, or made by what a component or an MCP server registered.
    Own,
    /// A preset about a subject or a way of working.
    Subject,
    /// A preset for a place where an agent is talked to.
    Platform,
}

/// The presets and the operator's own toolsets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Toolsets {
    custom: BTreeMap<String, Toolset>,
}

impl Toolsets {
    /// Adds one of the operator's, in place of an earlier one of that name. What it includes need not be there yet.
    pub fn add(&mut self, name: &str, toolset: Toolset) -> Result<(), ToolsetError> {
        if !valid_name(name) {
            return Err(ToolsetError::bad_name(name));
        }
        let preset = || PRESETS.toolsets.contains_key(name).then_some("a preset has this one");
        if let Some(why) = preset().or_else(|| is_reserved(name)) {
            return Err(ToolsetError::Taken { name: name.to_owned(), why });
        }
        if toolset.posture || toolset.closed || toolset.env.is_some() {
            return Err(ToolsetError::PresetOnly { name: name.to_owned() });
        }
        if let Some(tool) = toolset.tools.iter().find(|tool| !valid_name(tool)) {
            return Err(ToolsetError::bad_tool(name, tool));
        }
        self.custom.insert(name.to_owned(), toolset);
        Ok(())
    }

    /// Removes one of the operator's; says whether there was one.
    pub fn remove(&mut self, name: &str) -> bool {
        self.custom.remove(name).is_some()
    }

    /// The preset or custom toolset of this name.
    pub fn get(&self, name: &str) -> Option<&Toolset> {
        PRESETS.toolsets.get(name).or_else(|| self.custom.get(name))
    }

    /// Where the toolset of this name comes from.
    pub fn group(&self, name: &str) -> ToolsetGroup {
        match PRESETS.toolsets.contains_key(name) {
            true if name.starts_with(PLATFORM) => ToolsetGroup::Platform,
            true => ToolsetGroup::Subject,
            false => ToolsetGroup::Own,
        }
    }

    /// All names that stand for themselves, sorted: presets, custom and registered ones, but not the old names.
    pub fn names(&self, registered: &Registered<'_>) -> Vec<String> {
        let defined = PRESETS.toolsets.keys().chain(self.custom.keys()).map(String::as_str);
        let registered = registered.toolsets().filter(|name| !PRESETS.legacy.contains_key(*name));
        let names: BTreeSet<&str> = defined.chain(registered).collect();
        names.into_iter().map(str::to_owned).collect()
    }

    /// Whether a tool is one of those that every platform offers.
    pub fn is_core(&self, tool: &str) -> bool {
        PRESETS.core.contains(tool)
    }

    /// Whether a preset lists a tool of this name, loaded or not.
    pub fn is_preset_tool(&self, name: &str) -> bool {
        PRESETS.tools.contains(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_tools(tools: &[&str]) -> Toolset {
        Toolset { tools: tools.iter().map(ToString::to_string).collect(), ..Toolset::default() }
    }

    #[test]
    fn a_custom_toolset_says_three_things_and_nothing_else() {
        let read: Toolset = toml::from_str("description = \"d\"\ntools = [\"t\"]\nincludes = [\"web\"]").unwrap();
        assert_eq!((read.description.as_str(), read.tools.len(), read.includes.len()), ("d", 1, 1));
        assert_eq!(toml::from_str::<Toolset>("").unwrap(), Toolset::default());
        for other in ["posture = true", "closed = false", "env = \"HOME\"", "core = true", "tool = []"] {
            let why = toml::from_str::<Toolset>(other).unwrap_err().to_string();
            assert!(why.contains("unknown field"), "{other}: {why}");
        }
    }

    #[test]
    fn what_only_presets_may_say_is_refused_in_code_too() {
        let mut toolsets = Toolsets::default();
        let flagged = [
            Toolset { posture: true, ..Toolset::default() },
            Toolset { closed: true, ..Toolset::default() },
            Toolset { env: Some("X".into()), ..Toolset::default() },
        ];
        for toolset in flagged {
            assert!(matches!(toolsets.add("mine", toolset), Err(ToolsetError::PresetOnly { .. })));
        }
        assert!(toolsets.get("mine").is_none());
    }

    #[test]
    fn names_that_are_bad_or_taken_are_refused() {
        let mut toolsets = Toolsets::default();
        let long = "x".repeat(65);
        for name in ["", "*", "a b", "../x", "ä", &long] {
            assert!(matches!(toolsets.add(name, Toolset::default()), Err(ToolsetError::BadName { .. })), "{name}");
        }
        for name in ["all", "mcp-", "mcp-github", "hermes-", "hermes-mine", "web", "safe", "hermes-cli", "web_tools"] {
            assert!(matches!(toolsets.add(name, Toolset::default()), Err(ToolsetError::Taken { .. })), "{name}");
        }
        assert!(toolsets.custom.is_empty());
        for name in ["mine", "hermes", "mcp", "Web", &"x".repeat(64)] {
            assert_eq!(toolsets.add(name, Toolset::default()), Ok(()), "{name}");
        }
    }

    #[test]
    fn a_member_that_can_not_be_a_tool_is_refused_by_name() {
        let mut toolsets = Toolsets::default();
        let why = toolsets.add("mine", with_tools(&["read_file", "rm -rf"])).unwrap_err().to_string();
        assert!(why.contains("mine") && why.contains("rm -rf"), "{why}");
        assert!(toolsets.get("mine").is_none());
    }

    #[test]
    fn a_custom_toolset_comes_is_replaced_and_goes_and_a_preset_stays() {
        let mut toolsets = Toolsets::default();
        toolsets.add("mine", with_tools(&["a"])).unwrap();
        toolsets.add("mine", with_tools(&["b"])).unwrap();
        assert_eq!(toolsets.get("mine").unwrap().tools, ["b"]);
        assert!(toolsets.remove("mine") && !toolsets.remove("mine"));
        assert!(toolsets.get("mine").is_none());
        assert!(!toolsets.remove("web") && toolsets.get("web").is_some());
    }

    #[test]
    fn names_are_sorted_and_unique_and_not_the_old_ones() {
        let mut toolsets = Toolsets::default();
        toolsets.add("mine", Toolset::default()).unwrap();
        let registered: Registered<'_> =
            [("web", "a"), ("mine", "b"), ("weather", "c"), ("mcp-x", "d"), ("web_tools", "e")].into_iter().collect();
        let names = toolsets.names(&registered);
        assert!(names.is_sorted_by(|a, b| a < b));
        assert_eq!(names.len(), 57 + 3);
        for (name, group) in [
            ("web", ToolsetGroup::Subject),
            ("coding", ToolsetGroup::Subject),
            ("mine", ToolsetGroup::Own),
            ("weather", ToolsetGroup::Own),
            ("mcp-x", ToolsetGroup::Own),
            ("hermes-cli", ToolsetGroup::Platform),
        ] {
            assert!(names.iter().any(|known| known == name), "{name}");
            assert_eq!(toolsets.group(name), group, "{name}");
        }
    }
}
