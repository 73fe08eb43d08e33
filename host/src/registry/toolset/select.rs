//! Which tools an agent has: the toolsets it was given, without those that were taken away.

use std::collections::BTreeSet;

use super::{
    Registered, Toolset, ToolsetError, Toolsets,
    presets::{PLATFORM, PRESETS},
};

/// Which toolsets and tools are wanted. The default is everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Selection {
    /// These toolsets. `None`: everything, or nothing but [`tools`](Self::tools) where some are named.
    pub enabled: Option<Vec<String>>,
    /// Without these: toolsets, or tools where no toolset has the name.
    pub disabled: Vec<String>,
    /// These tools besides, by name. One that is not there yet may come.
    pub tools: Vec<String>,
}

impl Toolsets {
    /// The tools of a selection. `has_env` says whether a variable is set. A name that does not exist is an error in both
    /// lists: a misspelt toolset that should be disabled would otherwise stay.
    pub fn select(
        &self,
        selection: &Selection,
        registered: &Registered<'_>,
        has_env: &dyn Fn(&str) -> bool,
    ) -> Result<BTreeSet<String>, ToolsetError> {
        let mut tools = BTreeSet::new();
        match &selection.enabled {
            None if !selection.tools.is_empty() => {}
            None => tools = self.resolve("all", registered)?,
            Some(enabled) => {
                // A caller that was given closed toolsets alone gets nothing besides.
                let open = !enabled.iter().all(|name| self.get(name).is_some_and(|toolset| toolset.closed));
                let by_env = |preset: &Toolset| open && preset.env.as_deref().is_some_and(has_env);
                let by_env = PRESETS.toolsets.iter().filter(|(_, preset)| by_env(preset));
                for name in enabled.iter().chain(by_env.map(|(name, _)| name)) {
                    tools.append(&mut self.resolve(name, registered)?);
                }
            }
        }
        tools.extend(selection.tools.iter().cloned());
        for name in &selection.disabled {
            let keeps_core = self.keeps_core(name);
            let disabled = match self.resolve(name, registered) {
                Err(_) if self.is_preset_tool(name) || registered.all().any(|tool| tool == name) => {
                    BTreeSet::from([name.clone()])
                }
                resolved => resolved?,
            };
            for tool in disabled {
                if !(keeps_core && self.is_core(&tool)) {
                    tools.remove(&tool);
                }
            }
        }
        Ok(tools)
    }

    /// Whether disabling a toolset leaves the core alone. A platform or a way of working is mostly core: who disables Discord
    /// does not mean the terminal.
    fn keeps_core(&self, name: &str) -> bool {
        name.starts_with(PLATFORM) || self.get(name).is_some_and(|toolset| toolset.posture)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::registry::toolset::graph::{graph, name};

    fn select(enabled: Option<&[&str]>, disabled: &[&str], env: &str) -> Result<BTreeSet<String>, ToolsetError> {
        let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        let selection = Selection { enabled: enabled.map(owned), disabled: owned(disabled), tools: Vec::new() };
        let registered = [("web", "web_more"), ("weather", "forecast")].into_iter().collect();
        Toolsets::default().select(&selection, &registered, &|name| name == env)
    }

    fn names(tools: &BTreeSet<String>) -> Vec<&str> {
        tools.iter().map(String::as_str).collect()
    }

    #[test]
    fn the_default_is_everything() {
        let all = Toolsets::default().select(&Selection::default(), &Registered::default(), &|_| false).unwrap();
        assert_eq!(all.len(), 79);
        assert_eq!(select(None, &[], "").unwrap().len(), 79 + 2);
    }

    #[test]
    fn a_list_is_the_union_of_its_toolsets_and_an_empty_list_is_nothing() {
        let tools = select(Some(&["search", "weather", "todo"]), &[], "").unwrap();
        assert_eq!(names(&tools), ["forecast", "todo", "web_search"]);
        assert!(select(Some(&[]), &[], "").unwrap().is_empty());
    }

    #[test]
    fn a_variable_that_is_set_adds_its_toolset_to_a_list_and_disabling_still_wins() {
        assert_eq!(select(Some(&["todo"]), &[], "HERMES_KANBAN_TASK").unwrap().len(), 1 + 12);
        assert_eq!(select(Some(&["todo"]), &[], "HERMES_KANBAN").unwrap().len(), 1);
        assert_eq!(names(&select(Some(&["todo"]), &["kanban"], "HERMES_KANBAN_TASK").unwrap()), ["todo"]);
        assert_eq!(select(Some(&["hermes-webhook"]), &[], "HERMES_KANBAN_TASK").unwrap().len(), 4);
        assert_eq!(select(Some(&[]), &[], "HERMES_KANBAN_TASK").unwrap().len(), 0);
    }

    #[test]
    fn what_is_disabled_is_gone_with_what_is_registered_under_it() {
        let tools = select(Some(&["web", "file"]), &["web"], "").unwrap();
        assert_eq!(names(&tools), ["patch", "read_file", "search_files", "write_file"]);
        assert!(!select(None, &["terminal"], "").unwrap().contains("read_terminal"));
        assert!(select(None, &["all"], "").unwrap().is_empty());
    }

    #[test]
    fn disabling_a_platform_or_a_posture_leaves_the_core() {
        let tools = select(Some(&["hermes-discord", "spotify"]), &["hermes-discord"], "").unwrap();
        assert_eq!(tools.len(), 52 + 7);
        assert!(!tools.contains("discord") && tools.contains("terminal"));
        let tools = select(Some(&["hermes-cli", "web"]), &["coding"], "").unwrap();
        assert_eq!(tools, Toolsets::default().resolve("hermes-cli", &Registered::default()).unwrap());
        // A composite that is neither goes as it is.
        assert!(!select(Some(&["hermes-cli"]), &["debugging"], "").unwrap().contains("terminal"));
    }

    #[test]
    fn tools_are_named_beside_toolsets_or_alone_and_taken_away() {
        let select = |enabled: Option<&[&str]>, disabled: &[&str], tools: &[&str]| {
            let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect();
            let selection = Selection { enabled: enabled.map(owned), disabled: owned(disabled), tools: owned(tools) };
            let registered = [("weather", "forecast")].into_iter().collect();
            Toolsets::default().select(&selection, &registered, &|_| false).map(|tools| tools.into_iter().collect())
        };
        let names = |names: &[&str]| Ok(names.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(select(None, &[], &["terminal", "later"]), names(&["later", "terminal"]));
        assert_eq!(select(Some(&["todo"]), &[], &["forecast"]), names(&["forecast", "todo"]));
        let file = Some(&["file"][..]);
        assert_eq!(select(file, &["read_file", "write_file"], &[]), names(&["patch", "search_files"]));
        assert_eq!(select(None, &["forecast"], &["forecast", "terminal"]), names(&["terminal"]));
        // A name that both have is the toolset's.
        assert_eq!(select(None, &["terminal"], &["terminal", "process", "patch"]), names(&["patch"]));
        assert!(select(None, &["later"], &[]).is_err());
    }

    #[test]
    fn a_misspelt_name_is_an_error_in_both_lists() {
        for (enabled, disabled) in [(Some(&["termnal"][..]), &[][..]), (None, &["termnal"][..])] {
            let why = select(enabled, disabled, "").unwrap_err().to_string();
            assert!(why.contains("terminal"), "{why}");
        }
    }

    proptest! {
        /// The whole meaning of a selection, from both sides: what is there was enabled and not disabled, and what is
        /// missing was not enabled or was disabled.
        #[test]
        fn a_tool_is_selected_if_it_was_enabled_and_not_disabled(
            graph in graph(),
            enabled in prop::option::of(prop::collection::vec(name(), 0..5)),
            disabled in prop::collection::vec(name(), 0..4),
        ) {
            let (toolsets, registered) = (graph.toolsets(), graph.registered());
            let resolve = |name: &str| toolsets.resolve(name, &registered).unwrap();
            let mut taken = BTreeSet::new();
            for name in &disabled {
                let bundle = name.starts_with("hermes-") || name == "coding";
                taken.extend(resolve(name).into_iter().filter(|tool| !(bundle && toolsets.is_core(tool))));
            }
            let wanted: BTreeSet<String> = match &enabled {
                Some(enabled) => enabled.iter().flat_map(|name| resolve(name)).collect(),
                None => resolve("all"),
            };
            let selection = Selection { enabled, disabled, tools: Vec::new() };
            let selected = toolsets.select(&selection, &registered, &|_| false).unwrap();
            for tool in resolve("all") {
                let expected = wanted.contains(&tool) && !taken.contains(&tool);
                prop_assert_eq!(selected.contains(&tool), expected, "{}", tool);
            }
        }

        #[test]
        fn disabling_more_never_adds_a_tool(graph in graph(), first in name(), second in name()) {
            let (toolsets, registered) = (graph.toolsets(), graph.registered());
            let without = |disabled: Vec<String>| {
                let selection = Selection { disabled, ..Selection::default() };
                toolsets.select(&selection, &registered, &|_| true).unwrap()
            };
            let both = without(vec![first.clone(), second.clone()]);
            prop_assert!(both.is_subset(&without(vec![first.clone()])));
            prop_assert_eq!(both, without(vec![second, first]));
        }
    }
}
