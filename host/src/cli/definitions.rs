//! `hermes-host definitions`.

use anyhow::Result;
use hermes_host::{
    DefinitionsRequest,
    registry::{Format, Provider, SearchMode},
};
use serde_json::Value;

use super::{OK, Options, output, selection::SelectionArgs};

#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    selection: SelectionArgs,
    /// Whose form: openai, anthropic or mcp
    #[arg(long, default_value = "openai")]
    format: Format,
    /// Whose schema rules: standard, gemini, moonshot, xai or llamacpp
    #[arg(long, default_value = "standard")]
    provider: Provider,
    /// Replace tools outside the core by three that search for them: auto, on or off [default: as configured]
    #[arg(long, value_name = "MODE")]
    search: Option<SearchMode>,
    /// Tokens of the model's context window [default: as configured]
    #[arg(long, value_name = "TOKENS")]
    context_window: Option<u64>,
    /// As this client gets them: the policy may hide tools from one
    #[arg(long, value_name = "NAME")]
    client: Option<String>,
}

/// Tools that can't work here are left out: a model should not be offered them.
pub(super) fn run(options: &Options, args: &Args) -> Result<u8> {
    let host = options.host()?;
    let request = DefinitionsRequest {
        toolsets: args.selection.selection(),
        client: args.client.clone(),
        format: args.format,
        provider: args.provider,
        search: args.search,
        context_window: args.context_window,
    };
    let definitions = pollster::block_on(host.definitions(&request))?;
    tracing::info!(
        "{} tools, about {} tokens; {} more are found by tool_search",
        definitions.tools.len(),
        definitions.tokens,
        definitions.deferred.len()
    );
    output::json(&Value::Array(definitions.tools))?;
    Ok(OK)
}
