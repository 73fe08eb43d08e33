//! `hermes-host policy`.

use anyhow::{Result, bail};
use clap::{Subcommand, ValueEnum, builder::PossibleValue};
use hermes_host::{
    PolicyOutcome,
    policy::{NamePattern, PolicyAction, PolicyRule},
};
use serde_json::{Value, json};

use super::{FAILED, OK, Options, call, output};

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  hermes-host policy\n  hermes-host policy check write_file '{\"path\": \".env\"}'\n  hermes-host policy set terminal ask\n  hermes-host policy set 'mcp__github__delete_*' deny\n\nThe first rule of [policy] in hermes.toml that matches decides; without one a call is allowed. allow takes nothing back from hooks,\ngrants and the judgement of commands. Conditions on arguments, clients and toolsets are written in the file."
)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Print JSON alone
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Say what the policy does with a call and by which rule, without making it
    Check(Check),
    /// Set what happens to calls of a tool where no condition says otherwise
    Set(Set),
}

#[derive(clap::Args)]
struct Check {
    /// The tool
    tool: String,
    /// Its arguments: a JSON object, @FILE, or - for stdin
    #[arg(default_value = "{}", value_name = "JSON|@FILE|-")]
    arguments: String,
    /// As if this client made the call: the name of an MCP client, http or cli [default: one that no rule names]
    #[arg(long, value_name = "NAME")]
    client: Option<String>,
}

#[derive(clap::Args)]
struct Set {
    /// The tool, or a pattern of names in quotes: * is any text, ? one character
    tool: String,
    /// What happens to its calls
    action: Action,
}

/// An action as the command line reads it.
#[derive(Clone, Copy)]
struct Action(PolicyAction);

impl ValueEnum for Action {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [Action; 4] = [
            Action(PolicyAction::ALL[0]),
            Action(PolicyAction::ALL[1]),
            Action(PolicyAction::ALL[2]),
            Action(PolicyAction::ALL[3]),
        ];
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.word()))
    }
}

pub(super) fn run(options: &Options, args: &Args) -> Result<u8> {
    match &args.command {
        None => list(options, args.json),
        Some(Command::Check(check)) => explain(options, check, args.json),
        Some(Command::Set(set)) => {
            let pattern = NamePattern::of_tools(&set.tool)?;
            let file = options.grant_file()?;
            file.set_policy(&pattern, set.action.0)?;
            let (pattern, action) = (pattern.as_str(), set.action.0);
            match args.json {
                true => output::json(&json!({"tool": pattern, "action": action}))?,
                false => output::line(&format!("{pattern}: {} ({})", styled(action), file.path.display()))?,
            }
            Ok(OK)
        }
    }
}

fn list(options: &Options, as_json: bool) -> Result<u8> {
    let file = options.grant_file()?;
    let policy = file.read()?.policy;
    if as_json {
        output::json(&Value::Array(policy.rules().iter().map(describe).collect()))?;
        return Ok(OK);
    }
    for (at, rule) in policy.rules().iter().enumerate() {
        output::line(&format!("{:>3}. {} {rule}{}", at + 1, styled(rule.action()), why(rule)))?;
    }
    if policy.rules().is_empty() {
        options.note(&format!("[policy] in {} has no rules: every call is allowed.", file.path.display()));
    }
    Ok(OK)
}

fn explain(options: &Options, check: &Check, as_json: bool) -> Result<u8> {
    let arguments = call::read(&check.arguments)?;
    if let Err(why) = serde_json::from_str::<Value>(&arguments) {
        bail!("the arguments are not JSON: {why}; quote them like '{{\"key\": \"value\"}}'");
    }
    let outcome = match options.host()?.policy_outcome(&check.tool, &arguments, check.client.as_deref()) {
        Ok(outcome) => outcome,
        Err(why) => {
            output::error(&format!("the call fails before the policy is asked: {why}"));
            return Ok(FAILED);
        }
    };
    if !outcome.is_loaded {
        options.warn(&format!("there is no tool {:?} here; its name alone is judged", check.tool));
    }
    match as_json {
        true => output::json(&json!({
            "tool": check.tool,
            "action": outcome.action,
            "rule": outcome.rule.as_ref().map(|(_, rule)| describe(rule)),
            "position": outcome.rule.as_ref().map(|(at, _)| at),
        }))?,
        false => show(&outcome)?,
    }
    Ok(OK)
}

fn show(outcome: &PolicyOutcome) -> Result<()> {
    let meaning = match outcome.action {
        PolicyAction::Allow => "the policy lets the call pass; hooks, grants and the judgement of commands still apply",
        PolicyAction::Ask => "a person decides about the call",
        PolicyAction::Deny => "the call is refused",
        PolicyAction::Hidden => "the tool does not exist for this client",
    };
    output::line(&format!("{}: {meaning}", styled(outcome.action)))?;
    match &outcome.rule {
        Some((at, rule)) => output::line(&format!("  by rule {at}: {rule}{}", why(rule)))?,
        None => output::line("  no rule matches")?,
    }
    Ok(())
}

fn describe(rule: &PolicyRule) -> Value {
    json!({"pattern": rule.pattern().as_str(), "action": rule.action(), "text": rule.to_string(), "why": rule.why()})
}

fn why(rule: &PolicyRule) -> String {
    rule.why().map_or_else(String::new, |why| format!(" ({why})"))
}

fn styled(action: PolicyAction) -> String {
    let style = match action {
        PolicyAction::Allow => output::GOOD,
        PolicyAction::Ask => output::BOLD,
        PolicyAction::Deny | PolicyAction::Hidden => output::BAD,
    };
    output::styled(style, action.word())
}
