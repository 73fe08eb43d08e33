//! The tools that a name stands for.

use std::collections::{BTreeSet, HashSet};

use super::{
    Registered, Toolset, ToolsetError, Toolsets,
    presets::{PLATFORM, PRESETS},
};
use crate::registry::near::near;

/// What a name turned out to be.
enum Found<'a> {
    Everything,
    Defined(&'a Toolset),
    Legacy(&'a [String]),
    Registered(&'a BTreeSet<&'a str>),
    /// A platform that came with a component: the core, and the tools that it registered.
    Platform(&'a BTreeSet<&'a str>),
}

/// A toolset that is still to be looked at.
struct Step<'a> {
    name: &'a str,
    included_by: Option<&'a str>,
    /// Whether registered tools count here. Below a closed toolset they do not.
    gains: bool,
}

impl Toolsets {
    /// The tools that a name stands for.
    pub fn resolve(&self, name: &str, registered: &Registered<'_>) -> Result<BTreeSet<String>, ToolsetError> {
        let mut tools = BTreeSet::new();
        let mut add = |names: &mut dyn Iterator<Item = &str>| tools.extend(names.map(str::to_owned));
        // A list rather than recursion: a chain of includes can be as long as the operator's configuration. A toolset may be
        // met twice, below a closed one and elsewhere, and gains only elsewhere.
        let mut steps = vec![Step { name, included_by: None, gains: true }];
        let mut seen = HashSet::new();
        while let Some(Step { name, included_by, gains }) = steps.pop() {
            if !seen.insert((name, gains)) {
                continue;
            }
            match self.find(name, registered) {
                Some(Found::Everything) => add(&mut self.everything(registered)),
                Some(Found::Defined(toolset)) => {
                    let gains = gains && !toolset.closed;
                    add(&mut toolset.tools.iter().map(String::as_str));
                    // An operator's own toolset is what the operator wrote: nobody joins it by its name.
                    if let Some(gained) = registered.under(name)
                        && gains
                        && PRESETS.is_leaf(name)
                    {
                        add(&mut gained.iter().copied());
                    }
                    let included = toolset.includes.iter();
                    steps.extend(included.map(|included| Step { name: included, included_by: Some(name), gains }));
                }
                Some(Found::Legacy(list)) => add(&mut list.iter().map(String::as_str)),
                Some(Found::Registered(list)) => add(&mut list.iter().copied()),
                Some(Found::Platform(list)) => {
                    add(&mut PRESETS.core.iter().map(String::as_str).chain(list.iter().copied()));
                }
                None => return Err(self.unknown(name, included_by, registered)),
            }
        }
        Ok(tools)
    }

    /// What comes first wins. The operator's and our own names come before a stranger's; a server's bare name comes last, since
    /// it is a convenience.
    fn find<'a>(&'a self, name: &str, registered: &'a Registered<'a>) -> Option<Found<'a>> {
        if name == "all" || name == "*" {
            return Some(Found::Everything);
        }
        let platform = || name.strip_prefix(PLATFORM).and_then(|platform| registered.under(platform));
        self.get(name)
            .map(Found::Defined)
            .or_else(|| PRESETS.legacy.get(name).map(|list| Found::Legacy(list)))
            .or_else(|| registered.under(name).map(Found::Registered))
            .or_else(|| platform().map(Found::Platform))
            .or_else(|| registered.of_server(name).map(Found::Registered))
    }

    /// Every toolset's tools and every registered one. Nothing need be followed: all that can be included is in here itself. So
    /// a custom toolset that includes an unknown one does not stop those who ask for everything.
    fn everything<'a>(&'a self, registered: &'a Registered<'a>) -> impl Iterator<Item = &'a str> {
        let defined = PRESETS.toolsets.values().chain(self.custom.values());
        defined.flat_map(|toolset| &toolset.tools).map(String::as_str).chain(registered.all())
    }

    fn unknown(&self, name: &str, included_by: Option<&str>, registered: &Registered<'_>) -> ToolsetError {
        let names = self.names(registered);
        let names = names.iter().chain(PRESETS.legacy.keys()).map(String::as_str);
        ToolsetError::unknown(name, included_by, near(name, names.chain(registered.servers())))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::registry::toolset::graph::{Graph, graph, name};

    fn custom<const N: usize>(toolsets: [(&str, &[&str], &[&str]); N]) -> Toolsets {
        let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        let mut all = Toolsets::default();
        for (name, tools, includes) in toolsets {
            let toolset = Toolset { tools: owned(tools), includes: owned(includes), ..Toolset::default() };
            all.add(name, toolset).unwrap();
        }
        all
    }

    fn registered<const N: usize>(pairs: [(&'static str, &'static str); N]) -> Registered<'static> {
        pairs.into_iter().collect()
    }

    #[track_caller]
    fn check(toolsets: &Toolsets, name: &str, registered: &Registered<'_>, tools: &[&str]) {
        let resolved = toolsets.resolve(name, registered).unwrap();
        assert_eq!(resolved.iter().map(String::as_str).collect::<Vec<_>>(), tools, "{name}");
    }

    #[test]
    fn a_diamond_counts_once() {
        let toolsets = custom([
            ("top", &["t"], &["left", "right"]),
            ("left", &["l"], &["bottom"]),
            ("right", &["r"], &["bottom"]),
            ("bottom", &["b", "t"], &[]),
        ]);
        check(&toolsets, "top", &registered([]), &["b", "l", "r", "t"]);
    }

    #[test]
    fn a_cycle_ends_and_gives_all_its_members_the_same_tools() {
        let toolsets =
            custom([("a", &["x"], &["b"]), ("b", &["y"], &["c", "b"]), ("c", &["z"], &["a"]), ("d", &["d"], &["d"])]);
        for name in ["a", "b", "c"] {
            check(&toolsets, name, &registered([]), &["x", "y", "z"]);
        }
        check(&toolsets, "d", &registered([]), &["d"]);
    }

    #[test]
    fn a_chain_of_100_000_includes_does_not_exhaust_the_stack() {
        let mut toolsets = custom([("n100000", &["end"], &["n0"])]);
        for n in 0..100_000 {
            let toolset = Toolset { includes: vec![format!("n{}", n + 1)], ..Toolset::default() };
            toolsets.add(&format!("n{n}"), toolset).unwrap();
        }
        check(&toolsets, "n0", &registered([]), &["end"]);
    }

    #[test]
    fn everything_is_every_toolsets_and_every_registered_tool() {
        let toolsets = custom([("mine", &["own"], &["gone", "all"])]);
        let registered = registered([("web", "a"), ("weather", "b"), ("mcp-x", "c"), ("safe", "d")]);
        let all = toolsets.resolve("all", &registered).unwrap();
        assert_eq!(all.len(), 79 + 5);
        assert!(["own", "a", "b", "c", "d", "web_search", "xai_video_edit"].iter().all(|tool| all.contains(*tool)));
        assert_eq!(toolsets.resolve("*", &registered).unwrap(), all);
    }

    #[test]
    fn a_toolset_may_include_everything() {
        let toolsets = custom([("mine", &["own"], &["*"])]);
        let registered = registered([("weather", "a")]);
        assert_eq!(toolsets.resolve("mine", &registered), toolsets.resolve("all", &registered));
    }

    #[test]
    fn leaves_gain_what_is_registered_under_them_and_an_operators_own_toolsets_do_not() {
        let toolsets = custom([("mine", &["own"], &["web"])]);
        let registered = registered([("web", "more"), ("mine", "extra")]);
        check(&toolsets, "web", &registered, &["more", "web_extract", "web_search"]);
        check(&toolsets, "mine", &registered, &["more", "own", "web_extract", "web_search"]);
        assert!(toolsets.resolve("coding", &registered).unwrap().contains("more"));
    }

    #[test]
    fn a_composite_gains_nothing_by_its_own_name() {
        let toolsets = Toolsets::default();
        for name in ["coding", "debugging", "safe", "hermes-cli", "hermes-discord", "hermes-webhook"] {
            let stranger: Registered<'_> = [(name, "evil")].into_iter().collect();
            assert_eq!(toolsets.resolve(name, &stranger), toolsets.resolve(name, &registered([])), "{name}");
        }
    }

    #[test]
    fn a_stranger_does_not_slip_into_a_closed_toolset_by_what_it_includes() {
        let strangers = registered([("web", "evil"), ("vision", "evil2"), ("clarify", "evil3"), ("safe", "evil4")]);
        let safe = ["image_generate", "vision_analyze", "web_extract", "web_search"];
        let toolsets = custom([("wrapper", &[], &["safe"]), ("both", &[], &["safe", "web"])]);
        check(&toolsets, "safe", &strangers, &safe);
        check(&toolsets, "wrapper", &strangers, &safe);
        check(&toolsets, "hermes-webhook", &strangers, &["clarify", "vision_analyze", "web_extract", "web_search"]);
        // The operator opened this one: `web` was asked for beside the closed one.
        let both = ["evil", "image_generate", "vision_analyze", "web_extract", "web_search"];
        check(&toolsets, "both", &strangers, &both);
    }

    #[test]
    fn a_registered_toolset_and_a_server_are_found_by_name() {
        let toolsets = custom([("taken", &["own"], &[])]);
        let registered = registered([
            ("weather", "forecast"),
            ("mcp-github", "mcp__github__issue"),
            ("mcp-weather", "mcp__weather__now"),
            ("mcp-taken", "mcp__taken__x"),
            ("mcp-web_tools", "mcp__web_tools__x"),
        ]);
        check(&toolsets, "weather", &registered, &["forecast"]);
        check(&toolsets, "mcp-weather", &registered, &["mcp__weather__now"]);
        check(&toolsets, "mcp-github", &registered, &["mcp__github__issue"]);
        check(&toolsets, "github", &registered, &["mcp__github__issue"]);
        check(&toolsets, "taken", &registered, &["own"]);
        check(&toolsets, "web_tools", &registered, &["web_extract", "web_search"]);
    }

    #[test]
    fn a_platform_of_a_component_has_the_core_and_its_own_tools() {
        let toolsets = Toolsets::default();
        let registered = registered([("irc", "irc_send"), ("mcp-hermes-irc", "other"), ("discord", "discord_more")]);
        let mut core = PRESETS.core.clone();
        core.insert("irc_send".into());
        assert_eq!(toolsets.resolve("hermes-irc", &registered), Ok(core));
        assert!(toolsets.resolve("hermes-jabber", &registered).is_err());
        // A preset stays itself, and gains by what it includes.
        assert_eq!(toolsets.resolve("hermes-discord", &registered).unwrap().len(), 54 + 1);
    }

    #[test]
    fn old_names_are_fixed_lists_whatever_is_registered() {
        let strangers = registered([("web_tools", "evil"), ("web", "evil2")]);
        check(&Toolsets::default(), "web_tools", &strangers, &["web_extract", "web_search"]);
        for name in PRESETS.legacy.keys() {
            let resolved = Toolsets::default().resolve(name, &strangers).unwrap();
            assert_eq!(resolved.len(), PRESETS.legacy[name].len(), "{name}");
        }
    }

    #[test]
    fn an_unknown_name_is_an_error_that_names_the_nearest() {
        let toolsets = custom([("mine", &[], &["wether"])]);
        let registered = registered([("weather", "a"), ("mcp-github", "b")]);
        let near = |name: &str| match toolsets.resolve(name, &registered) {
            Err(ToolsetError::Unknown { near, included_by, .. }) => (near, included_by),
            other => panic!("{other:?}"),
        };
        assert_eq!(near("termnal").0[0], "terminal");
        assert_eq!(near("gihtub").0[0], "github");
        assert_eq!(near("web_tool").0[0], "web_tools");
        let (names, included_by) = near("mine");
        assert_eq!((names[0].as_str(), included_by.as_deref()), ("weather", Some("mine")));
        assert!(near("").0.is_empty() && near("ALL").0.is_empty());
    }

    /// What can be reached from `start` over these edges, found by trying all edges until nothing changes.
    fn reachable(start: &str, edges: &[(String, String)]) -> BTreeSet<String> {
        let mut reached = BTreeSet::from([start.to_owned()]);
        loop {
            let before = reached.len();
            for (from, to) in edges {
                if reached.contains(from) {
                    reached.insert(to.clone());
                }
            }
            if reached.len() == before {
                return reached;
            }
        }
    }

    /// By the rules in plain words: the tools of all that is reached, and what is registered under the leaves that are reached
    /// without passing a closed toolset, or under a name that nobody defined.
    fn naive(start: &str, graph: &Graph) -> BTreeSet<String> {
        let toolsets = graph.toolsets();
        let closed = ["safe", "hermes-webhook"];
        let names = toolsets.names(&graph.registered());
        let edges: Vec<(String, String)> = names
            .iter()
            .filter_map(|name| Some((name, toolsets.get(name)?)))
            .flat_map(|(name, toolset)| toolset.includes.iter().map(|to| (name.clone(), to.clone())))
            .collect();
        let open: Vec<_> = edges.iter().filter(|(from, _)| !closed.contains(&from.as_str())).cloned().collect();
        let mut gaining = reachable(start, &open);
        gaining
            .retain(|name| !name.starts_with("hermes-") && !["safe", "coding", "debugging"].contains(&name.as_str()));
        gaining.retain(|name| !toolsets.custom.contains_key(name));
        let own = reachable(start, &edges);
        let own = own.iter().filter_map(|name| toolsets.get(name)).flat_map(|toolset| toolset.tools.clone());
        let gained = graph.registered.iter().filter(|(toolset, _)| gaining.contains(toolset));
        own.chain(gained.map(|(_, tool)| tool.clone())).collect()
    }

    proptest! {
        #[test]
        fn resolution_ends_and_is_plain_reachability(graph in graph(), start in name()) {
            let resolved = graph.toolsets().resolve(&start, &graph.registered()).unwrap();
            prop_assert_eq!(&resolved, &naive(&start, &graph));
            prop_assert!(resolved.is_subset(&graph.toolsets().resolve("all", &graph.registered()).unwrap()));
        }

        #[test]
        fn the_order_of_includes_does_not_matter(graph in graph(), start in name(), by: prop::sample::Index) {
            let mut turned = graph.clone();
            for (_, toolset) in &mut turned.nodes {
                toolset.includes.reverse();
                if !toolset.includes.is_empty() {
                    let by = by.index(toolset.includes.len());
                    toolset.includes.rotate_left(by);
                }
            }
            turned.registered.reverse();
            prop_assert_eq!(
                graph.toolsets().resolve(&start, &graph.registered()),
                turned.toolsets().resolve(&start, &turned.registered())
            );
        }

        #[test]
        fn strangers_never_change_a_closed_toolset(graph in graph()) {
            for name in ["safe", "hermes-webhook"] {
                let alone = Toolsets::default().resolve(name, &Registered::default());
                prop_assert_eq!(graph.toolsets().resolve(name, &graph.registered()), alone);
            }
        }
    }
}
