//! `hermes-host list`.

use std::sync::Arc;

use anyhow::Result;
use hermes_host::{
    Host, ToolStatus,
    component::{Component, Hooks, Origin, Refusal},
    grant::{Config, FolderGrant, Standing, TerminalGrant, asks_for_answers, asks_for_commands, asks_for_files},
    registry::{Entry, Status, Subscription},
    sandbox::Limits,
};
use serde_json::{Value, json};

use super::{OK, Options, output, table::Table};

#[derive(clap::Args)]
pub(super) struct Args {
    /// Print JSON alone
    #[arg(long)]
    json: bool,
}

pub(super) fn run(options: &Options, args: &Args) -> Result<u8> {
    let host = options.host()?;
    let config = options.grant_file()?.read()?;
    let tools = host.list_blocking();
    if args.json {
        let catalogue = host.catalogue();
        let refused: Vec<Refusal> = [catalogue.refusals(), &host.refused_hooks()].concat();
        output::json(&json!({
            "tools": tools.iter().map(|tool| describe(&host, &config, tool)).collect::<Vec<Value>>(),
            "hooks": host.hooks().iter().map(|hook| describe_hook(hook)).collect::<Vec<Value>>(),
            "refused": refused,
            "commands": config.terminal.summary(),
        }))?;
    } else {
        show(&host, &config, &tools)?;
    }
    Ok(OK)
}

/// The table on stdout, what was refused on stderr.
fn show(host: &Host, config: &Config, tools: &[ToolStatus]) -> Result<()> {
    let status = |tool: &ToolStatus| {
        let status = match &tool.status {
            Status::Available => output::styled(output::GOOD, "available"),
            Status::Compiling => output::styled(output::DIM, "compiling"),
            Status::Flapping(why) => format!("{}: {why}", output::styled(output::BAD, "flapping")),
            Status::Unavailable(why) => format!("{}: {why}", output::styled(output::BAD, "unavailable")),
        };
        match InForce::of(config, &tool.entry.component).stale {
            Some(why) => format!("{status}; {why}"),
            None => status,
        }
    };
    let rows = tools.iter().map(|tool| (&*tool.entry, Some(status(tool))));
    table(config, rows, Some("STATUS"))?;
    show_hooks(host)?;
    show_commands(config);
    show_all_refusals(host);
    Ok(())
}

/// The table of what was found. Nothing is asked whether it works: a start instantiates nothing.
pub(super) fn show_found(host: &Host, config: &Config) -> Result<()> {
    table(config, host.catalogue().tools().map(|entry| (&**entry, None)), None)?;
    show_hooks(host)?;
    show_commands(config);
    show_stale(config, host.catalogue().components());
    show_all_refusals(host);
    Ok(())
}

/// The components among these whose grants are for other bytes.
pub(super) fn show_stale<'a>(config: &Config, components: impl IntoIterator<Item = &'a Arc<Component>>) {
    for component in components {
        if let Some(why) = InForce::of(config, component).stale {
            output::note(&format!("{} {}: {why}", output::styled(output::BAD, "no grant:"), component.name));
        }
    }
}

/// What holds commands.
fn show_commands(config: &Config) {
    output::note(&format!("Commands: {}", config.terminal.summary()));
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
        output::note(&format!("{} {}: {}", output::styled(output::BAD, "refused:"), refusal.place, refusal.reason));
    }
}

fn table<'a>(
    config: &Config,
    tools: impl Iterator<Item = (&'a Entry, Option<String>)>,
    last: Option<&str>,
) -> Result<()> {
    let columns = [("TOOL", 9), ("TOOLSET", 5), ("TOKENS", 1), ("COMPONENT", 4), ("DIGEST", 2), ("GRANTS", 6)];
    let mut table = Table::new(columns.into_iter().chain(last.map(|last| (last, 8))));
    for (entry, status) in tools {
        let Entry { definition, component, .. } = entry;
        let emoji = definition.emoji.as_ref().map(|emoji| format!(" {emoji}")).unwrap_or_default();
        let mut row = vec![
            format!("{}{emoji}", definition.name),
            definition.toolset.clone(),
            hermes_host::tokens(definition).to_string(),
            format!("{}{}", component.name, if is_bundled(entry) { " (bundled)" } else { "" }),
            output::styled(output::DIM, &component.digest.short()),
            InForce::of(config, component).in_one_line(),
        ];
        row.extend(status);
        table.push(row);
    }
    if table.is_empty() {
        output::note("No tools. Drop .wasm files into a folder and name it with --tools DIR.");
        return Ok(());
    }
    output::show_table(&table)
}

fn is_bundled(entry: &Entry) -> bool {
    entry.component.origin == Origin::Bundled
}

fn describe(host: &Host, config: &Config, tool: &ToolStatus) -> Value {
    let definition = &tool.entry.definition;
    let component = &tool.entry.component;
    let InForce { folders, commands, ask, is_dev, stale } = InForce::of(config, component);
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
            "stale": stale.is_some(),
            "dev": is_dev,
            "reason": stale,
            "fs": folders,
            "terminal": commands,
            "ask": ask,
            "limits": describe_limits(&component.limits),
        },
    })
}

pub(super) fn describe_limits(limits: &Limits) -> Value {
    json!({"memory": limits.memory, "timeout_seconds": limits.wall.as_secs(), "fuel": limits.fuel})
}

/// The files and commands that a component may use.
struct InForce {
    folders: Vec<FolderGrant>,
    commands: TerminalGrant,
    ask: bool,
    /// Whether they are granted to a file, whatever bytes are in it.
    is_dev: bool,
    /// Why its grant is not among them, and what to run.
    stale: Option<String>,
}

impl InForce {
    fn of(config: &Config, component: &Component) -> Self {
        let is_bundled = component.origin == Origin::Bundled;
        let by_default = is_bundled && asks_for_files(&component.inspection);
        let mut commands = TerminalGrant { shell: is_bundled, ..TerminalGrant::default() };
        let mut folders: Vec<FolderGrant> = by_default.then(FolderGrant::workspace).into_iter().collect();
        let (mut stale, mut ask, mut is_dev) = (None, false, false);
        match config.standing(component.identity()) {
            Standing::Nothing => {}
            Standing::Holds(grant) => {
                folders.extend_from_slice(grant.folders());
                is_dev = grant.dev.is_some();
                ask = grant.ask() && asks_for_answers(&component.inspection);
                commands = TerminalGrant { shell: grant.terminal().shell || is_bundled, ..grant.terminal().clone() };
            }
            Standing::Stale(why) => stale = Some(why.reason(&component.name)),
        }
        if !asks_for_commands(&component.inspection) {
            commands = TerminalGrant::default();
        }
        Self { folders, commands, ask, is_dev, stale }
    }

    fn in_one_line(&self) -> String {
        let mut parts: Vec<String> = self.folders.iter().map(FolderGrant::to_string).collect();
        parts.extend((!self.commands.is_empty()).then(|| self.commands.to_string()));
        parts.extend(self.ask.then(|| super::grant::MAY_ASK.to_owned()));
        parts.extend(self.is_dev.then(|| output::styled(output::BAD, "dev: any bytes of its file")));
        parts.extend(self.stale.iter().map(|_| output::styled(output::BAD, "stale")));
        if parts.is_empty() { "-".into() } else { parts.join(", ") }
    }
}

/// Who watches over the calls, where somebody does.
fn show_hooks(host: &Host) -> Result<()> {
    let mut table = Table::new([("HOOK", 9), ("ASKED", 5), ("ABOUT", 6), ("DIGEST", 1)]);
    for hook in host.hooks() {
        let tools = if hook.offer.tools.is_empty() { "all tools".to_owned() } else { hook.offer.tools.join(", ") };
        let digest = output::styled(output::DIM, &hook.digest.short());
        table.push(vec![hook.name.clone(), points(&hook.offer).join(", "), tools, digest]);
    }
    if table.is_empty() {
        return Ok(());
    }
    output::line("")?;
    output::show_table(&table)
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
