//! The toolsets that everybody has, from `presets.toml`.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    sync::LazyLock,
};

use serde::Deserialize;

use super::{Toolset, registered::MCP};

/// What a platform's toolset is called: this and the platform's name.
pub(super) const PLATFORM: &str = "hermes-";

// The text is part of the program and a test parses it, so no program that passed its tests fails here.
#[allow(clippy::expect_used, reason = "the text is embedded and tested")]
pub(super) static PRESETS: LazyLock<Presets> =
    LazyLock::new(|| Presets::parse(include_str!("presets.toml")).expect("presets.toml is valid"));

/// All that the file says.
#[derive(Debug)]
pub(super) struct Presets {
    /// The tools that every platform offers.
    pub(super) core: BTreeSet<String>,
    /// By name.
    pub(super) toolsets: BTreeMap<String, Toolset>,
    /// The tools of all of them.
    pub(super) tools: HashSet<String>,
    /// Old names and their tools.
    pub(super) legacy: BTreeMap<String, Vec<String>>,
    /// By name: toolsets and their weights in percent.
    pub(super) distributions: BTreeMap<String, BTreeMap<String, u8>>,
    parallel: Parallel,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    core: BTreeSet<String>,
    toolsets: BTreeMap<String, Preset>,
    legacy: BTreeMap<String, Vec<String>>,
    parallel: Parallel,
    distributions: BTreeMap<String, BTreeMap<String, u8>>,
}

/// A toolset with what operators may not say.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Preset {
    description: String,
    tools: Vec<String>,
    includes: Vec<String>,
    core: bool,
    posture: bool,
    closed: bool,
    env: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parallel {
    path_scoped: Vec<String>,
    never: Vec<String>,
}

impl Presets {
    fn parse(text: &str) -> Result<Self, toml::de::Error> {
        let File { core, toolsets, legacy, parallel, distributions } = toml::from_str(text)?;
        let toolsets: BTreeMap<String, Toolset> =
            toolsets.into_iter().map(|(name, preset)| (name, preset.into_toolset(&core))).collect();
        let tools = toolsets.values().flat_map(|toolset| toolset.tools.clone()).collect();
        Ok(Self { core, toolsets, tools, legacy, distributions, parallel })
    }

    /// Whether a preset gains what components register under its name.
    pub(super) fn is_leaf(&self, name: &str) -> bool {
        self.toolsets.contains_key(name) && !self.is_composite(name)
    }

    /// Whether a preset is made of others, or fixed: it gains nothing by its own name.
    pub(super) fn is_composite(&self, name: &str) -> bool {
        let fixed = |preset: &Toolset| preset.closed || preset.posture || !preset.includes.is_empty();
        let composite = |preset: &Toolset| fixed(preset) || name.starts_with(PLATFORM);
        self.toolsets.get(name).is_some_and(composite)
    }
}

impl Preset {
    fn into_toolset(self, core: &BTreeSet<String>) -> Toolset {
        let Self { description, mut tools, includes, core: has_core, posture, closed, env } = self;
        if has_core {
            tools.extend(core.iter().cloned());
        }
        Toolset { description, tools, includes, posture, closed, env }
    }
}

/// Why no component may register a tool under this toolset, if none may. The names of leaves are open to all.
pub(crate) fn is_reserved(name: &str) -> Option<&'static str> {
    if name == "all" || name == "*" {
        Some("this one stands for every tool")
    } else if name.starts_with(MCP) {
        Some("names that begin with mcp- are those of MCP servers")
    } else if name.starts_with(PLATFORM) {
        Some("names that begin with hermes- are those of platforms")
    } else if PRESETS.legacy.contains_key(name) {
        Some("this one is an old name for a fixed list of tools")
    } else if PRESETS.is_composite(name) {
        Some("this one is made of other toolsets; register under one of those")
    } else {
        None
    }
}

/// The tools that may run beside each other while their paths do not overlap.
pub fn path_scoped() -> &'static [String] {
    &PRESETS.parallel.path_scoped
}

/// The tools that never run beside another.
pub fn never_parallel() -> &'static [String] {
    &PRESETS.parallel.never
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        component::valid_name,
        registry::toolset::{Registered, Toolsets},
    };

    fn resolved(name: &str) -> BTreeSet<String> {
        Toolsets::default().resolve(name, &Registered::default()).unwrap()
    }

    fn leaves() -> impl Iterator<Item = (&'static str, &'static Toolset)> {
        let all = PRESETS.toolsets.iter().map(|(name, preset)| (name.as_str(), preset));
        all.filter(|(name, _)| !PRESETS.is_composite(name))
    }

    #[test]
    fn the_file_parses_and_every_name_in_it_is_valid_and_leads_somewhere() {
        let leaf_tools: BTreeSet<&String> = leaves().flat_map(|(_, leaf)| &leaf.tools).collect();
        for (name, preset) in &PRESETS.toolsets {
            assert!(valid_name(name) && !preset.description.is_empty(), "{name}");
            assert!(!preset.description.contains('\n'), "{name}");
            for included in &preset.includes {
                assert!(PRESETS.toolsets.contains_key(included), "{name} includes {included}");
            }
            for tool in &preset.tools {
                assert!(valid_name(tool) && leaf_tools.contains(tool), "{name} has {tool}");
            }
        }
        for (name, tools) in &PRESETS.legacy {
            assert!(!PRESETS.toolsets.contains_key(name), "{name}");
            assert!(!tools.is_empty() && tools.iter().all(|tool| leaf_tools.contains(tool)), "{name}");
        }
        assert!(PRESETS.core.iter().all(|tool| leaf_tools.contains(tool)));
        assert!(path_scoped().iter().chain(never_parallel()).all(|tool| leaf_tools.contains(tool)));
    }

    #[test]
    fn no_list_names_a_tool_twice() {
        let lists = PRESETS.toolsets.iter().map(|(name, preset)| (name, &preset.tools));
        for (name, tools) in lists.chain(&PRESETS.legacy) {
            assert_eq!(tools.iter().collect::<BTreeSet<_>>().len(), tools.len(), "{name}");
        }
    }

    #[test]
    fn the_core_has_52_tools_and_the_command_line_has_exactly_these() {
        assert_eq!(PRESETS.core.len(), 52);
        assert_eq!(resolved("hermes-cli"), PRESETS.core);
    }

    #[test]
    fn the_presets_are_57_in_30_leaves_3_composites_and_24_platforms() {
        let platforms = PRESETS.toolsets.keys().filter(|name| name.starts_with(PLATFORM)).count();
        assert_eq!((PRESETS.toolsets.len(), leaves().count(), platforms), (57, 30, 24));
        assert_eq!(PRESETS.legacy.len(), 9);
    }

    #[test]
    fn seventeen_platforms_have_the_core_and_nothing_else() {
        let platforms = PRESETS.toolsets.keys().filter(|name| name.starts_with(PLATFORM));
        assert_eq!(platforms.filter(|name| resolved(name) == PRESETS.core).count(), 17);
    }

    #[test]
    fn every_preset_has_as_many_tools_as_its_users_know() {
        let counts = [
            ("browser", 13),
            ("coding", 32),
            ("context_engine", 0),
            ("debugging", 8),
            ("feishu_drive", 4),
            ("file", 4),
            ("hermes-acp", 29),
            ("hermes-api-server", 35),
            ("hermes-discord", 54),
            ("hermes-feishu", 57),
            ("hermes-gateway", 64),
            ("hermes-webhook", 4),
            ("hermes-yuanbao", 57),
            ("homeassistant", 4),
            ("kanban", 12),
            ("project", 3),
            ("safe", 4),
            ("skills", 3),
            ("spotify", 7),
            ("terminal", 4),
            ("video_gen", 3),
            ("yuanbao", 5),
        ];
        for (name, count) in counts {
            assert_eq!(resolved(name).len(), count, "{name}");
        }
        assert_eq!(resolved("all").len(), 79);
    }

    #[test]
    fn what_is_not_safe_everywhere_is_left_out_there() {
        for (name, without) in [
            ("safe", &["terminal", "execute_code", "write_file"][..]),
            ("hermes-webhook", &["terminal", "execute_code", "write_file", "memory"]),
            ("hermes-acp", &["clarify", "text_to_speech", "cronjob"]),
            ("hermes-api-server", &["clarify", "text_to_speech"]),
        ] {
            let tools = resolved(name);
            assert!(without.iter().all(|tool| !tools.contains(*tool)), "{name}");
        }
    }

    #[test]
    fn the_flags_are_on_those_that_need_them_and_nowhere_else() {
        let with = |has: fn(&Toolset) -> bool| {
            let with = PRESETS.toolsets.iter().filter(|(_, preset)| has(preset));
            with.map(|(name, _)| name.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(with(|preset| preset.posture), ["coding"]);
        assert_eq!(with(|preset| preset.closed), ["hermes-webhook", "safe"]);
        assert_eq!(with(|preset| preset.env.is_some()), ["kanban"]);
        assert_eq!(PRESETS.toolsets["kanban"].env.as_deref(), Some("HERMES_KANBAN_TASK"));
    }

    #[test]
    fn a_word_that_the_file_does_not_know_is_an_error() {
        let text = include_str!("presets.toml");
        assert!(Presets::parse(&text.replace("closed = true", "close = true")).is_err());
        assert!(Presets::parse(&format!("colour = 1\n{text}")).is_err());
    }

    #[test]
    fn composites_platforms_and_servers_are_reserved_and_leaves_are_open() {
        for name in ["all", "*", "mcp-", "mcp-github", "safe", "coding", "debugging", "hermes-cli", "hermes-webhook"] {
            assert!(is_reserved(name).is_some(), "{name}");
        }
        assert!(is_reserved("hermes-irc").is_some());
        assert!(leaves().all(|(name, _)| is_reserved(name).is_none()));
        let closed = include_str!("presets.toml").replace("todo = {", "todo = { closed = true,");
        assert!(Presets::parse(&closed).unwrap().is_composite("todo") && !PRESETS.is_composite("todo"));
        assert!(["weather", "mcp", "hermes", "browser-cdp"].into_iter().all(|name| is_reserved(name).is_none()));
    }

    #[test]
    fn every_distribution_is_made_of_presets_and_can_draw_one() {
        assert_eq!(PRESETS.distributions.len(), 10);
        for (name, weights) in &PRESETS.distributions {
            for (toolset, weight) in weights {
                assert!(*weight <= 100 && PRESETS.toolsets.contains_key(toolset), "{name}: {toolset}");
            }
            assert!(weights.values().any(|weight| *weight > 0), "{name}");
        }
        let everything: BTreeMap<String, u8> = leaves().map(|(name, _)| (name.to_owned(), 100)).collect();
        assert_eq!(PRESETS.distributions["default"], everything);
    }

    #[test]
    fn the_parallel_lists_are_those_of_the_file() {
        assert_eq!(path_scoped(), ["read_file", "write_file", "patch"]);
        assert_eq!(never_parallel(), ["clarify"]);
    }
}
