//! `hermes-host list`.

use anyhow::Result;
use hermes_host::{
    Host, ToolStatus,
    component::{Component, Hooks, Origin, Refusal},
    registry::{Entry, Status, Subscription},
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
        let refused: Vec<Refusal> = [catalogue.refusals(), &host.refused_hooks()].concat();
        output::json(&json!({
            "tools": tools.iter().map(|tool| describe(&host, tool)).collect::<Vec<Value>>(),
            "hooks": host.hooks().iter().map(|hook| describe_hook(hook)).collect::<Vec<Value>>(),
            "refused": refused,
        }))?;
    } else {
        show(&host, &tools)?;
    }
    Ok(OK)
}

/// The table on stdout, what was refused on stderr.
fn show(host: &Host, tools: &[ToolStatus]) -> Result<()> {
    let status = |tool: &ToolStatus| {
        let status = match &tool.status {
            Status::Available => output::styled(output::GOOD, "available"),
            Status::Flapping(why) => format!("{}: {why}", output::styled(output::BAD, "flapping")),
            Status::Unavailable(why) => format!("{}: {why}", output::styled(output::BAD, "unavailable")),
        };
        if tool.grant_is_stale { format!("{status}; its grant is for other bytes") } else { status }
    };
    let rows = tools.iter().map(|tool| (&*tool.entry, Some(status(tool))));
    table(rows, Some("STATUS"))?;
    show_hooks(host)?;
    show_all_refusals(host);
    Ok(())
}

/// The table of what was found. Nothing is asked whether it works: a start instantiates nothing.
pub(super) fn show_found(host: &Host) -> Result<()> {
    table(host.catalogue().tools().map(|entry| (&**entry, None)), None)?;
    show_hooks(host)?;
    show_all_refusals(host);
    Ok(())
}

/// A hook that was refused is worse than a tool: it says so.
fn show_all_refusals(host: &Host) {
    show_refusals(host.catalogue().refusals());
    let hooks = host.refused_hooks();
    show_refusals(&hooks);
    if !hooks.is_empty() {
        output::note(
            "A hook that can't be loaded blocks every call, unless hermes.toml has on_failure = \"allow\" for it.",
        );
    }
}

pub(super) fn show_refusals<'a>(refusals: impl IntoIterator<Item = &'a Refusal>) {
    for refusal in refusals {
        output::note(&format!("{} {}: {}", output::styled(output::BAD, "refused"), refusal.place, refusal.reason));
    }
}

fn table<'a>(tools: impl Iterator<Item = (&'a Entry, Option<String>)>, last: Option<&str>) -> Result<()> {
    let heading = ["TOOL", "TOOLSET", "TOKENS", "COMPONENT", "DIGEST"].into_iter().chain(last);
    let mut rows = vec![heading.map(|cell| output::styled(output::BOLD, cell)).collect()];
    for (entry, status) in tools {
        let Entry { definition, component, .. } = entry;
        let emoji = definition.emoji.as_ref().map(|emoji| format!(" {emoji}")).unwrap_or_default();
        let mut row = vec![
            format!("{}{emoji}", definition.name),
            definition.toolset.clone(),
            hermes_host::tokens(definition).to_string(),
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

fn describe(host: &Host, tool: &ToolStatus) -> Value {
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
        "available": tool.status.is_offered(),
        "flapping": matches!(tool.status, Status::Flapping(_)),
        "reason": tool.status.reason(),
        "tokens": hermes_host::tokens(definition),
        "max_result_chars": host.max_result_chars(&definition.name),
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

/// Who watches over the calls, where somebody does.
fn show_hooks(host: &Host) -> Result<()> {
    let mut rows = vec![output::headings(["HOOK", "ASKED", "ABOUT", "DIGEST"])];
    for hook in host.hooks() {
        let tools = if hook.offer.tools.is_empty() { "all tools".to_owned() } else { hook.offer.tools.join(", ") };
        let digest = output::styled(output::DIM, &hook.digest.short());
        rows.push(vec![hook.name.clone(), points(&hook.offer).join(", "), tools, digest]);
    }
    if rows.len() == 1 {
        return Ok(());
    }
    output::line(&format!("\n{}", output::table(&rows).trim_end()))
}

fn points(wanted: &Subscription) -> Vec<&'static str> {
    let points = [
        (wanted.pre_tool_call, "pre_tool_call"),
        (wanted.post_tool_call, "post_tool_call"),
        (wanted.transform_tool_result, "transform_tool_result"),
    ];
    points.into_iter().filter(|(wanted, _)| *wanted).map(|(_, name)| name).collect()
}

fn describe_hook(hook: &Component<Hooks>) -> Value {
    json!({
        "name": hook.name,
        "origin": hook.origin.describe(),
        "digest": hook.digest,
        "points": points(&hook.offer),
        "tools": hook.offer.tools,
    })
}
