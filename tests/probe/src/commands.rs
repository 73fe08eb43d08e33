//! The tool `commands`: one command through `hermes:tool/terminal`.

use hermes_tool::terminal::{self, Command, Options, Program};
use hermes_tool::{Result, args, tool};
use serde_json::{Value, json};

/// A command line, or a program.
#[args]
pub(crate) struct Commands {
    shell: Option<String>,
    #[serde(default)]
    program: String,
    #[serde(default)]
    arguments: Vec<String>,
    /// What it reads.
    input: Option<String>,
    workdir: Option<String>,
}

/// Runs one command.
#[tool]
pub(crate) fn commands(args: Commands) -> Result<Value> {
    let command = match args.shell {
        Some(line) => Command::Shell(line),
        None => Command::Exec(Program { name: args.program, arguments: args.arguments }),
    };
    let options = Options { workdir: args.workdir, ..Options::default() };
    let input = args.input.map(String::into_bytes);
    Ok(match terminal::run(&command, &options, None, input.as_deref()) {
        Ok(outcome) => json!({ "output": outcome.output, "code": outcome.code, "approval": outcome.approval }),
        Err(fault) => json!({ "error": fault.message }),
    })
}
