//! `hermes-host definitions`.

use anyhow::{Result, bail};
use hermes_host::registry::Format;
use serde_json::Value;

use super::{OK, Options, output};

#[derive(clap::Args)]
pub(super) struct Args {
    /// Only tools of this toolset; may be given several times
    #[arg(long, value_name = "NAME")]
    toolset: Vec<String>,
    /// Whose form: openai, anthropic or mcp
    #[arg(long, default_value = "openai")]
    format: Format,
}

/// Tools that can't work here are left out: a model should not be offered them.
pub(super) fn run(options: &Options, args: &Args) -> Result<u8> {
    let host = options.host()?;
    let tools = host.list_blocking();
    for wanted in &args.toolset {
        if !tools.iter().any(|tool| tool.entry.definition.toolset == *wanted) {
            let mut known: Vec<&str> = tools.iter().map(|tool| tool.entry.definition.toolset.as_str()).collect();
            known.sort_unstable();
            known.dedup();
            bail!("there is no toolset {wanted}; there are: {}", known.join(", "));
        }
    }
    let definitions: Vec<Value> = tools
        .iter()
        .filter(|tool| tool.unavailable.is_none())
        .map(|tool| &tool.entry.definition)
        .filter(|definition| args.toolset.is_empty() || args.toolset.contains(&definition.toolset))
        .map(|definition| args.format.render(definition))
        .collect();
    output::json(&Value::Array(definitions))?;
    Ok(OK)
}
