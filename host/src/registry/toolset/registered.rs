//! What components and MCP servers registered, by the toolset they named.

use std::collections::{BTreeMap, BTreeSet};

/// What the toolset of an MCP server is called: this and the server's name.
pub(super) const MCP: &str = "mcp-";

/// Which tools are registered under which toolset.
#[derive(Clone, Debug, Default)]
pub struct Registered<'a> {
    tools: BTreeMap<&'a str, BTreeSet<&'a str>>,
}

impl<'a> FromIterator<(&'a str, &'a str)> for Registered<'a> {
    /// From pairs of a toolset and a tool.
    fn from_iter<I: IntoIterator<Item = (&'a str, &'a str)>>(pairs: I) -> Self {
        let mut tools: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (toolset, tool) in pairs {
            tools.entry(toolset).or_default().insert(tool);
        }
        Self { tools }
    }
}

impl<'a> Registered<'a> {
    /// The toolsets that have a tool, sorted.
    pub(super) fn toolsets(&self) -> impl Iterator<Item = &'a str> {
        self.tools.keys().copied()
    }

    /// The tools under this name, if it is that of a registered toolset.
    pub(super) fn under(&self, toolset: &str) -> Option<&BTreeSet<&'a str>> {
        self.tools.get(toolset)
    }

    /// The tools of the MCP server of this name.
    pub(super) fn of_server(&self, server: &str) -> Option<&BTreeSet<&'a str>> {
        self.under(&format!("{MCP}{server}"))
    }

    /// The MCP servers that have a tool, sorted.
    pub(super) fn servers(&self) -> impl Iterator<Item = &'a str> {
        self.toolsets().filter_map(|toolset| toolset.strip_prefix(MCP))
    }

    /// Every tool.
    pub(super) fn all(&self) -> impl Iterator<Item = &'a str> {
        self.tools.values().flatten().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_in_any_order_make_one_set_per_toolset() {
        let registered: Registered<'_> =
            [("web", "b"), ("mcp-x", "c"), ("web", "a"), ("web", "b")].into_iter().collect();
        assert_eq!(registered.toolsets().collect::<Vec<_>>(), ["mcp-x", "web"]);
        assert_eq!(registered.under("web"), Some(&BTreeSet::from(["a", "b"])));
        assert_eq!(registered.under("x"), None);
        assert_eq!(registered.of_server("x"), Some(&BTreeSet::from(["c"])));
        assert_eq!(registered.servers().collect::<Vec<_>>(), ["x"]);
        assert_eq!(registered.all().collect::<Vec<_>>(), ["c", "a", "b"]);
    }
}
