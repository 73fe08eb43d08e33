//! `hermes-host toolsets`.

use anyhow::Result;
use clap::Subcommand;
use hermes_host::ToolsetStatus;
use serde_json::{Value, json};

use super::{OK, Options, output};

#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct Args {
    /// Only this one, with every tool it resolves to
    name: Option<String>,
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
        (false, _, all) => table(all)?,
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

fn table(toolsets: &[ToolsetStatus]) -> Result<()> {
    let mut rows = vec![output::headings(["TOOLSET", "TOOLS", "WORK HERE", "DESCRIPTION"])];
    for one in toolsets {
        let works = one.available.len().to_string();
        let works = if one.available.is_empty() { works } else { output::styled(output::GOOD, &works) };
        let about = match &one.problem {
            Some(problem) => output::styled(output::BAD, problem),
            None => one.description.clone(),
        };
        rows.push(vec![one.name.clone(), one.tools.len().to_string(), works, about]);
    }
    output::line(output::table(&rows).trim_end())
}

fn show(one: &ToolsetStatus) -> Result<()> {
    output::line(&output::styled(output::BOLD, &one.name))?;
    if !one.description.is_empty() {
        output::line(&one.description)?;
    }
    if !one.includes.is_empty() {
        output::line(&format!("includes {}", one.includes.join(", ")))?;
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
        "description": one.description,
        "includes": one.includes,
        "tools": one.tools,
        "available_tools": one.available,
        "available": !one.available.is_empty(),
        "problem": one.problem,
    })
}
