//! `hermes-host toolsets`.

use anyhow::Result;
use clap::Subcommand;
use clap_complete::ArgValueCompleter;
use hermes_host::{ToolsetStatus, registry::ToolsetGroup};
use serde_json::{Value, json};

use super::{OK, Options, complete, output, table::Table};

#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct Args {
    /// Only this one, with every tool it resolves to
    #[arg(add = ArgValueCompleter::new(complete::toolsets))]
    name: Option<String>,
    /// Show those without a tool that works here, too
    #[arg(long, conflicts_with = "name")]
    all: bool,
    /// Print JSON alone
    #[arg(long)]
    json: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Draw toolsets from a distribution: the same seed gives the same toolsets, on every machine
    Sample(SampleArgs),
}

#[derive(clap::Args)]
struct SampleArgs {
    /// The distribution; without it, their names are listed
    name: Option<String>,
    /// What the draw depends on
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Print JSON alone
    #[arg(long)]
    json: bool,
}

pub(super) fn run(options: &Options, args: &Args) -> Result<u8> {
    let host = options.host()?;
    if let Some(Command::Sample(args)) = &args.command {
        return sample(&host.toolsets(), args);
    }
    let toolsets = pollster::block_on(host.list_toolsets(args.name.as_deref()))?;
    match (args.json, args.name.is_some(), toolsets.as_slice()) {
        (true, true, [one]) => output::json(&describe(one))?,
        (true, _, all) => output::json(&Value::Array(all.iter().map(describe).collect()))?,
        (false, true, [one]) => show(one)?,
        (false, _, all) => show_groups(all, args.all)?,
    }
    Ok(OK)
}

fn sample(toolsets: &hermes_host::registry::Toolsets, args: &SampleArgs) -> Result<u8> {
    let (names, key) = match &args.name {
        Some(name) => (toolsets.sample(name, args.seed)?, "toolsets"),
        None => (toolsets.distributions().map(str::to_owned).collect(), "distributions"),
    };
    if args.json {
        output::json(&json!({"seed": args.seed, key: names}))?;
    } else {
        for name in names {
            output::line(&name)?;
        }
    }
    Ok(OK)
}

/// The toolsets by where they come from. One without a tool that works here is hidden, unless it has a problem to show.
fn show_groups(toolsets: &[ToolsetStatus], with_empty: bool) -> Result<()> {
    let is_shown = |one: &&ToolsetStatus| with_empty || !one.available.is_empty() || one.problem.is_some();
    for (group, heading) in [
        (ToolsetGroup::Own, "Your own"),
        (ToolsetGroup::Subject, "By subject"),
        (ToolsetGroup::Platform, "By platform"),
    ] {
        let shown: Vec<&ToolsetStatus> = toolsets.iter().filter(|one| one.group == group).filter(is_shown).collect();
        if !shown.is_empty() {
            output::line(&output::styled(output::BOLD, heading))?;
            output::show_table(&table(&shown))?;
            output::line("")?;
        }
    }
    let hidden = toolsets.len() - toolsets.iter().filter(is_shown).count();
    if hidden > 0 {
        let toolsets = output::count(hidden, "toolset");
        output::note(&format!(
            "Not shown: {toolsets} without a tool that works here. To see them: hermes-host toolsets --all"
        ));
    }
    Ok(())
}

fn table(toolsets: &[&ToolsetStatus]) -> Table {
    let mut table = Table::new([("TOOLSET", 9), ("TOOLS", 1), ("WORK HERE", 2), ("DESCRIPTION", 8)]);
    for one in toolsets {
        let works = one.available.len().to_string();
        let works = if one.available.is_empty() { works } else { output::styled(output::GOOD, &works) };
        let about = match &one.problem {
            Some(problem) => output::styled(output::BAD, problem),
            None => one.description.clone(),
        };
        table.push(vec![one.name.clone(), one.tools.len().to_string(), works, about]);
    }
    table
}

fn show(one: &ToolsetStatus) -> Result<()> {
    output::line(&output::styled(output::BOLD, &one.name))?;
    if !one.description.is_empty() {
        output::line(&one.description)?;
    }
    if !one.includes.is_empty() {
        output::line(&format!("includes: {}", one.includes.join(", ")))?;
    }
    for tool in &one.tools {
        if one.available.contains(tool) {
            output::line(&format!("  {tool}"))?;
        } else {
            output::line(&output::styled(output::DIM, &format!("  {tool} (not here)")))?;
        }
    }
    Ok(())
}

fn describe(one: &ToolsetStatus) -> Value {
    json!({
        "name": one.name,
        "group": one.group,
        "description": one.description,
        "includes": one.includes,
        "tools": one.tools,
        "available_tools": one.available,
        "available": !one.available.is_empty(),
        "problem": one.problem,
    })
}
