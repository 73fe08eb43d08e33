//! Which tools a command line wants.

use hermes_host::registry::Selection;

#[derive(clap::Args)]
pub(super) struct SelectionArgs {
    /// Only tools of this toolset; may be given several times [default: all]
    #[arg(long, value_name = "NAME")]
    toolset: Vec<String>,
    /// No tools of this toolset, or not this tool; may be given several times
    #[arg(long, value_name = "NAME")]
    without: Vec<String>,
    /// This tool, besides the named toolsets; may be given several times
    #[arg(long, value_name = "NAME")]
    tool: Vec<String>,
}

impl SelectionArgs {
    pub(super) fn selection(&self) -> Selection {
        Selection {
            enabled: (!self.toolset.is_empty()).then(|| self.toolset.clone()),
            disabled: self.without.clone(),
            tools: self.tool.clone(),
        }
    }

    /// The same as words of a command line.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        let named = [("--toolset", &self.toolset), ("--without", &self.without), ("--tool", &self.tool)];
        named.into_iter().flat_map(|(option, names)| names.iter().flat_map(move |name| [option, name.as_str()]))
    }

    /// The tools that were named.
    pub(super) fn tools(&self) -> &[String] {
        &self.tool
    }
}
