//! `hermes-host list`.

use anyhow::Result;
use hermes_host::{
    Host, ToolStatus,
    component::{Origin, Refusal},
    registry::Entry,
};
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
fn show(host: &Host, tools: &[ToolStatus]) -> Result<()> {
    let status = |tool: &ToolStatus| {
        let status = match &tool.unavailable {
            None => output::styled(output::GOOD, "available"),
            Some(why) => format!("{}: {why}", output::styled(output::BAD, "unavailable")),
        };
        if tool.grant_is_stale { format!("{status}; its grant is for other bytes") } else { status }
    };
    let rows = tools.iter().map(|tool| (&*tool.entry, Some(status(tool))));
    table(rows, Some("STATUS"))?;
    show_refusals(host.catalogue().refusals());
    Ok(())
}

/// The table of what was found. Nothing is asked whether it works: a start instantiates nothing.
pub(super) fn show_found(host: &Host) -> Result<()> {
    table(host.catalogue().tools().map(|entry| (&**entry, None)), None)?;
    show_refusals(host.catalogue().refusals());
    Ok(())
}

pub(super) fn show_refusals<'a>(refusals: impl IntoIterator<Item = &'a Refusal>) {
    for refusal in refusals {
        output::note(&format!("{} {}: {}", output::styled(output::BAD, "refused"), refusal.place, refusal.reason));
    }
}

fn table<'a>(tools: impl Iterator<Item = (&'a Entry, Option<String>)>, last: Option<&str>) -> Result<()> {
    let heading = ["TOOL", "TOOLSET", "COMPONENT", "DIGEST"].into_iter().chain(last);
    let mut rows = vec![heading.map(|cell| output::styled(output::BOLD, cell)).collect()];
    for (entry, status) in tools {
        let Entry { definition, component, .. } = entry;
        let emoji = definition.emoji.as_ref().map(|emoji| format!(" {emoji}")).unwrap_or_default();
        let mut row = vec![
            format!("{}{emoji}", definition.name),
            definition.toolset.clone(),
            format!("{}{}", component.name, if is_bundled(entry) { " (bundled)" } else { "" }),
            output::styled(output::DIM, &component.digest.short()),
        ];
        row.extend(status);
        rows.push(row);
    }
    if rows.len() == 1 {
        output::note("No tools. Drop .wasm files into a folder and name it with --tools DIR.");
        return Ok(());
    }
    output::line(output::table(&rows).trim_end())
}

fn is_bundled(entry: &Entry) -> bool {
    entry.component.origin == Origin::Bundled
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
        "bundled": is_bundled(&tool.entry),
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
