//! Random toolsets for tests: 50 custom ones that include each other, themselves and presets as it happens, and tools that
//! strangers registered under any of the names.

use proptest::{prelude::*, sample::Index};

use super::{Registered, Toolset, Toolsets};

/// Custom toolsets in a graph.
const NODES: usize = 50;

/// What else is included and registered under: leaves, composites, closed ones, platforms, and two that are no presets.
const OTHERS: [&str; 11] = [
    "web",
    "vision",
    "discord",
    "safe",
    "coding",
    "debugging",
    "hermes-webhook",
    "hermes-discord",
    "hermes-gateway",
    "weather",
    "mcp-server",
];

/// A graph before anything is added: who has and includes what, and what is registered.
#[derive(Clone, Debug)]
pub(super) struct Graph {
    pub(super) nodes: Vec<(String, Toolset)>,
    pub(super) registered: Vec<(String, String)>,
}

impl Graph {
    pub(super) fn toolsets(&self) -> Toolsets {
        let mut toolsets = Toolsets::default();
        for (name, toolset) in &self.nodes {
            toolsets.add(name, toolset.clone()).unwrap();
        }
        toolsets
    }

    pub(super) fn registered(&self) -> Registered<'_> {
        self.registered.iter().map(|(toolset, tool)| (toolset.as_str(), tool.as_str())).collect()
    }
}

/// Any name in a graph.
pub(super) fn name() -> impl Strategy<Value = String> {
    any::<Index>().prop_map(|index| match index.index(NODES + OTHERS.len()) {
        node if node < NODES => format!("n{node}"),
        other => OTHERS[other - NODES].to_owned(),
    })
}

/// Any graph. The two that are no presets always have a tool, and so always exist.
pub(super) fn graph() -> impl Strategy<Value = Graph> {
    let tools = prop::collection::vec((0..40u8).prop_map(|tool| format!("t{tool}")), 0..3);
    let node = (tools, prop::collection::vec(name(), 0..4)).prop_map(|(tools, includes)| Toolset {
        tools,
        includes,
        ..Toolset::default()
    });
    let registered = prop::collection::vec((name(), (0..40u8).prop_map(|tool| format!("r{tool}"))), 0..40);
    (prop::collection::vec(node, NODES), registered).prop_map(|(nodes, mut registered)| {
        registered.extend(["weather", "mcp-server"].map(|toolset| (toolset.to_owned(), format!("{toolset}_tool"))));
        let nodes = nodes.into_iter().enumerate().map(|(node, toolset)| (format!("n{node}"), toolset)).collect();
        Graph { nodes, registered }
    })
}
