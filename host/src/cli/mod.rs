//! The command line: one file per subcommand, each a thin layer on the library.
//!
//! Results go to stdout, everything for people to stderr. Exit codes: 0 done, 1 the tool or the check failed, 2 wrong usage,
//! an unknown tool, or a host that could not start, 130 a `run` that was told to end a second time.

mod approvals;
mod audit;
mod call;
mod complete;
mod completions;
mod definitions;
mod doctor;
mod grant;
mod inspect;
mod list;
mod options;
mod output;
mod policy;
mod print_config;
mod progress;
mod prompt;
mod revoke;
mod run;
mod selection;
mod table;
mod toolsets;
mod watch;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, parser::ValueSource};

use clap_complete::CompleteEnv;
use options::Options;

/// The client's name of calls by this program, in the policy and the audit.
const CLIENT: &str = "cli";

/// It worked.
const OK: u8 = 0;
/// The tool failed, or a check did.
const FAILED: u8 = 1;
/// The command was used wrongly, the tool is unknown, or the host could not start.
const USAGE: u8 = 2;

#[derive(Parser)]
#[command(name = "hermes-host", version, about = "Runs AI-agent tools that nobody has to trust", max_term_width = 100)]
#[command(
    after_help = "Start with:\n  hermes-host list\n  hermes-host call calculate '{\"expression\": \"0.1 + 0.2\"}'\n\nDrop .wasm files into ~/.hermes/tools, or name a folder with --tools DIR."
)]
struct Cli {
    #[command(flatten)]
    options: Options,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve the tools to agents, by MCP and HTTP, and reload when files change
    Run(run::Args),
    /// Show every tool: whether it can work here, its component, its digest and its grants
    List(list::Args),
    /// Call one tool and print the JSON of its result
    Call(call::Args),
    /// Print the schemas that a model gets
    Definitions(definitions::Args),
    /// Show the bundles of tools and what they come to here
    Toolsets(toolsets::Args),
    /// Show or set what happens to calls of a tool: allow, ask, deny or hidden
    Policy(policy::Args),
    /// Show what was approved for good, or judge a command without running it
    Approvals(approvals::Args),
    /// Show what was called, and check that the record is whole
    Audit(audit::Args),
    /// Show what a file is and what it could ask for, without running it
    Inspect(inspect::Args),
    /// Let a component use folders and files or run commands, as long as its bytes stay the same
    Grant(grant::Args),
    /// Take folders, files and commands away from a component
    Revoke(revoke::Args),
    /// Say what works on this machine and what is missing
    Doctor(doctor::Args),
    /// Print a completion script for a shell
    Completions(completions::Args),
}

pub(crate) fn main() -> ExitCode {
    // Answers a shell and ends, where one asks.
    CompleteEnv::with_factory(Cli::command).var(complete::VARIABLE).complete();
    let matches = Cli::command().get_matches();
    // clap exits by itself where this would fail.
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|why| why.exit());
    let is_http_named =
        matches.subcommand_matches("run").is_some_and(|run| run.value_source("http") == Some(ValueSource::CommandLine));
    options::start_log(&cli.options);
    let result = match cli.command {
        Command::Run(args) => run::run(&cli.options, &args, is_http_named),
        Command::List(args) => list::run(&cli.options, &args),
        Command::Call(args) => call::run(&cli.options, &args),
        Command::Definitions(args) => definitions::run(&cli.options, &args),
        Command::Toolsets(args) => toolsets::run(&cli.options, &args),
        Command::Policy(args) => policy::run(&cli.options, &args),
        Command::Approvals(args) => approvals::run(&cli.options, &args),
        Command::Audit(args) => audit::run(&cli.options, &args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Grant(args) => grant::run(&cli.options, &args),
        Command::Revoke(args) => revoke::run(&cli.options, &args),
        Command::Doctor(args) => doctor::run(&cli.options, &args),
        Command::Completions(args) => completions::run(&args),
    };
    match result {
        Ok(code) => ExitCode::from(code),
        Err(why) if output::is_broken_pipe(&why) => ExitCode::from(OK),
        Err(why) => {
            output::error(&format!("{why:#}"));
            ExitCode::from(USAGE)
        }
    }
}
