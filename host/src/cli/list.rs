//! `hermes-host list`.

use anyhow::Result;
use hermes_host::{Host, ToolStatus, component::Refusal};
use serde_json::{Value, json};

use super::{OK, Options, output};

#[derive(clap::Args)]
pub(super) struct Args {
    /// Print JSON alone
    #[arg(long)]
    json: bool,
}

pub(super) fn run(options: &Options, args: &Args) -> Result<u8> {
    let host = options.host()?;
    let tools = host.list_blocking();
    if args.json {
        let catalogue = host.catalogue();
        let refused: &[Refusal] = catalogue.refusals();
        output::json(&json!({"tools": tools.iter().map(describe).collect::<Vec<Value>>(), "refused": refused}))?;
    } else {
        show(&host, &tools)?;
    }
    Ok(OK)
}

/// The table on stdout, what was refused on stderr.
pub(super) fn show(host: &Host, tools: &[ToolStatus]) -> Result<()> {
    let heading = ["TOOL", "TOOLSET", "COMPONENT", "DIGEST", "STATUS"];
    let mut rows = vec![heading.map(|cell| output::styled(output::BOLD, cell)).to_vec()];
    for tool in tools {
        let definition = &tool.entry.definition;
        let component = &tool.entry.component;
        let emoji = definition.emoji.as_ref().map(|emoji| format!(" {emoji}")).unwrap_or_default();
        let status = match &tool.unavailable {
            None => output::styled(output::GOOD, "available"),
            Some(why) => format!("{}: {why}", output::styled(output::BAD, "unavailable")),
        };
        rows.push(vec![
            format!("{}{emoji}", definition.name),
            definition.toolset.clone(),
            format!("{}{}", component.name, if is_bundled(tool) { " (bundled)" } else { "" }),
            output::styled(output::DIM, &component.digest.short()),
            if tool.grant_is_stale { format!("{status}; its grant is for other bytes") } else { status },
        ]);
    }
    if tools.is_empty() {
        output::note("No tools. Drop .wasm files into a folder and name it with --tools DIR.");
    } else {
        output::line(output::table(&rows).trim_end())?;
    }
    for refusal in host.catalogue().refusals() {
        output::note(&format!("{} {}: {}", output::styled(output::BAD, "refused"), refusal.place, refusal.reason));
    }
    Ok(())
}

fn is_bundled(tool: &ToolStatus) -> bool {
    tool.entry.component.origin == hermes_host::component::Origin::Bundled
}

fn describe(tool: &ToolStatus) -> Value {
    let definition = &tool.entry.definition;
    let component = &tool.entry.component;
    json!({
        "name": definition.name,
        "toolset": definition.toolset,
        "description": definition.description,
        "component": component.name,
        "origin": component.origin.describe(),
        "bundled": is_bundled(tool),
        "digest": component.digest,
        "available": tool.unavailable.is_none(),
        "reason": tool.unavailable,
        "imports": component.inspection.imports.iter().map(|import| &import.name).collect::<Vec<_>>(),
        "grants": {
            "stale": tool.grant_is_stale,
            "limits": {
                "memory": component.limits.memory,
                "timeout_seconds": component.limits.wall.as_secs(),
                "fuel": component.limits.fuel,
            },
        },
    })
}
