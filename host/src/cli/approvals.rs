//! `hermes-host approvals`.

use std::{
    io::{BufRead, BufWriter, Write},
    path::PathBuf,
};

use anyhow::{Context, Result, bail};
use clap::Subcommand;
use hermes_host::{
    approval::{
        Keep, Mode, Remembered, judge_on_disk,
        shell::{HostPaths, Judgement, Surroundings, Verdict},
    },
    capability::terminal::{Isolation, Place},
    grant::{Config, TerminalGrant},
};
use serde_json::{Value, json};

use super::{FAILED, OK, Options, USAGE, options::absolute, output};

#[derive(clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Print JSON alone
    #[arg(long)]
    json: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Say what would become of a command, without running it
    Explain(Explain),
    /// Show what is allowed for good, with numbers
    List,
    /// Allow one exact command, a kind of commands or a call for good
    Allow(Allow),
    /// Take back what was allowed for good
    Remove(Remove),
}

#[derive(clap::Args)]
#[command(
    group = clap::ArgGroup::new("what").args(["command", "category", "tool"]).required(true),
    after_help = "Examples:\n  hermes-host approvals allow --command 'git push --force' --directory ~/project\n  hermes-host approvals allow --category packages\n\nA refusal for a client that can't ask names the command to run here."
)]
struct Allow {
    /// The exact text of a command
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    command: Option<String>,
    /// Where the command may run [default: the workspace]
    #[arg(long, value_name = "DIR", requires = "command")]
    directory: Option<PathBuf>,
    /// The digest of what the task exported before, as the refusal names it
    #[arg(long, value_name = "blake3:…", requires = "command")]
    exports: Option<String>,
    /// A kind of commands, as `approvals explain` names it
    #[arg(long, value_name = "KIND")]
    category: Option<String>,
    /// A tool
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// The digest of the tool's exact arguments, as the refusal names it [default: every call]
    #[arg(long, value_name = "blake3:…", requires = "tool")]
    arguments: Option<String>,
    /// For this component alone [default: any]
    #[arg(long, value_name = "NAME")]
    component: Option<String>,
}

#[derive(clap::Args)]
struct Remove {
    /// Its number in `approvals list`
    number: usize,
}

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  hermes-host approvals explain 'rm -rf build'\n  printf '%s\\n' '\"ls\"' '\"sudo reboot\"' | hermes-host approvals explain -\n\nVerdicts: allow runs, ask needs a person, never can't be approved by anybody."
)]
struct Explain {
    /// The command line, in quotes; or - for one JSON string per line on stdin, answered by one JSON verdict per line
    #[arg(allow_hyphen_values = true)]
    command: String,
    /// What follows a command that was not put in quotes
    #[arg(hide = true, allow_hyphen_values = true)]
    rest: Vec<String>,
    /// Judge it as if the sandbox confined it [default: as the configuration says]
    #[arg(long, conflicts_with = "unconfined")]
    confined: bool,
    /// Judge it as if nothing confined it
    #[arg(long)]
    unconfined: bool,
    /// The token file of the server, if it is named with run --token-file
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Print JSON alone
    #[arg(long)]
    json: bool,
}

pub(super) fn run(options: &Options, args: &Args) -> Result<u8> {
    match &args.command {
        Some(Command::Explain(explain)) => {
            let command = &explain.command;
            if !explain.rest.is_empty() {
                let words = format!("{command} {}", explain.rest.join(" "));
                bail!(
                    "the command must be one argument: put it in quotes, like hermes-host approvals explain '{words}'"
                );
            }
            let around = surroundings(options, explain)?;
            if command == "-" {
                return explain_lines(&around);
            }
            let judgement = judge_on_disk(command, &around);
            if explain.json || args.json {
                let mut answer = serde_json::to_value(&judgement)?;
                if let Some(answer) = answer.as_object_mut() {
                    answer.insert("confined".into(), around.is_confined.into());
                }
                output::json(&answer)?;
            } else {
                show(&judgement, &around)?;
            }
            Ok(OK)
        }
        Some(Command::Allow(allow)) => allow.run(options),
        Some(Command::Remove(Remove { number })) => {
            let at = number.checked_sub(1).context("entries are counted from 1, see hermes-host approvals list")?;
            match options.grant_file()?.forget_approval(at).map_err(anyhow::Error::msg)? {
                Some(gone) => output::line(&format!("removed: {}", shown(&serde_json::to_string(&gone)?)))?,
                None => {
                    output::error(&format!("there is no entry {number}; see hermes-host approvals list"));
                    return Ok(FAILED);
                }
            }
            Ok(OK)
        }
        None | Some(Command::List) => remembered(&options.grant_file()?.read()?, args.json),
    }
}

impl Allow {
    fn run(&self, options: &Options) -> Result<u8> {
        let file = options.grant_file()?;
        let directory = self.command.as_ref().map(|_| match &self.directory {
            Some(directory) => absolute(directory),
            None => Ok(file.workspace.clone()),
        });
        let directory = directory.transpose()?.map(|path| path.to_string_lossy().into_owned());
        let members = [
            ("command", &self.command),
            ("directory", &directory),
            ("exports", &self.exports),
            ("category", &self.category),
            ("tool", &self.tool),
            ("arguments", &self.arguments),
            ("component", &self.component),
        ];
        let given = members.into_iter().filter_map(|(name, text)| Some((name, text.as_ref()?.as_str())));
        let entry: Value =
            given.map(|(name, text)| (name.to_owned(), Value::from(text))).collect::<serde_json::Map<_, _>>().into();
        let entry: Remembered = serde_json::from_value(entry)?;
        file.keep(&entry).map_err(anyhow::Error::msg)?;
        let text = shown(&serde_json::to_string(&entry)?);
        output::line(&format!("allowed for good: {text} ({})", file.path.display()))?;
        Ok(OK)
    }
}

/// The surroundings of a command of the bundled tools, as the host with these options builds them.
fn surroundings(options: &Options, explain: &Explain) -> Result<Surroundings> {
    let file = options.grant_file()?;
    let place = file.read()?.terminal.place(true, &TerminalGrant::default(), &file.workspace);
    let isolation = match (explain.confined, explain.unconfined, place.isolation()) {
        (true, _, Isolation::Unconfined) => Isolation::Confined { network: false },
        (_, true, _) => Isolation::Unconfined,
        (_, _, isolation) => isolation,
    };
    // On another machine nothing of this one is known.
    if matches!(place, Place::Ssh(_)) && !explain.confined {
        return Ok(Surroundings::default().isolated(isolation));
    }
    let builder = explain.token_file.iter().fold(options.builder()?, |builder, file| builder.secret_file(file));
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    let paths = HostPaths { workspace: &file.workspace, home: home.as_deref(), own: &builder.own_paths()? };
    Ok(paths.surroundings().isolated(isolation))
}

/// One verdict for each line, in their order. A line that is no JSON string gets an error in its place, and the others go on.
fn explain_lines(surroundings: &Surroundings) -> Result<u8> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut code = OK;
    for (at, line) in std::io::stdin().lock().lines().enumerate() {
        let line = line.context("failed to read the commands from stdin")?;
        let answer = match serde_json::from_str::<String>(&line) {
            Ok(command) => brief(&judge_on_disk(&command, surroundings)),
            Err(why) => {
                code = USAGE;
                json!({ "error": format!("line {} is not a JSON string: {why}", at + 1) })
            }
        };
        writeln!(out, "{answer}")?;
    }
    out.flush()?;
    Ok(code)
}

fn brief(judgement: &Judgement) -> Value {
    json!({ "verdict": judgement.verdict, "reasons": judgement.reasons })
}

fn show(judgement: &Judgement, around: &Surroundings) -> Result<()> {
    let (style, word, meaning) = match judgement.verdict {
        Verdict::Allow => (output::GOOD, "allow", "it runs"),
        Verdict::Ask => (output::BOLD, "ask", "a person decides"),
        Verdict::Never => (output::BAD, "never", "nobody can approve it"),
    };
    let place = match (around.is_confined, around.has_network) {
        (true, false) => "confined by the sandbox",
        (true, true) => "confined by the sandbox, with the network",
        (false, _) => "unconfined",
    };
    output::line(&format!("{}: {meaning} ({place})", output::styled(style, word)))?;
    for reason in &judgement.reasons {
        output::line(&format!("  {}: {}", reason.category, shown(&reason.detail)))?;
    }
    if !judgement.effects.is_empty() {
        output::line("effects:")?;
    }
    for effect in &judgement.effects {
        output::line(&format!("  {} {}", effect.kind.word(), shown(&effect.target)))?;
    }
    if !judgement.commands.is_empty() {
        output::line("commands:")?;
    }
    for command in &judgement.commands {
        let words: Vec<String> =
            [&command.program].into_iter().chain(&command.arguments).map(|word| shown(word)).collect();
        let through = match command.through.as_slice() {
            [] => String::new(),
            through => output::styled(output::DIM, &format!("  (through {})", shown(&through.join(", ")))),
        };
        output::line(&format!("  {}{through}", words.join(" ")))?;
    }
    Ok(())
}

/// A command is another's text: nothing in it is obeyed by the terminal.
fn shown(text: &str) -> String {
    text.chars().flat_map(|c| if hermes_host::is_hidden(c) { c.escape_unicode().collect() } else { vec![c] }).collect()
}

/// What was decided for good, and who is asked. Questions that wait live in the host that runs.
fn remembered(config: &Config, as_json: bool) -> Result<u8> {
    let approval = &config.approval;
    let mode = match approval.mode {
        Mode::Ask => "ask",
        Mode::Smart => "smart",
        Mode::Off => "off",
    };
    let allow: Vec<Value> = approval.allow.iter().map(serde_json::to_value).collect::<Result<_, _>>()?;
    if as_json {
        output::json(&json!({ "mode": mode, "allow": allow }))?;
        return Ok(OK);
    }
    output::line(&format!("mode: {mode}"))?;
    if allow.is_empty() {
        output::line("nothing is allowed for good")?;
    }
    for (at, entry) in allow.iter().enumerate() {
        output::line(&format!("{:>3}. allowed for good: {}", at + 1, shown(&entry.to_string())))?;
    }
    output::note(
        "Questions that wait are answered where the host runs. To judge a command: hermes-host approvals explain COMMAND",
    );
    Ok(OK)
}
