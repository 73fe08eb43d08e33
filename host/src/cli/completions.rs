//! `hermes-host completions`.

use anyhow::{Context, Result};
use clap_complete::{Shell, env::Shells};

use super::{OK, complete};

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  source <(hermes-host completions bash)             # in ~/.bashrc\n  hermes-host completions fish | source              # in ~/.config/fish/config.fish\n\nThe script asks this program at every key, so that it knows the tools, toolsets and components that are here."
)]
pub(super) struct Args {
    /// The shell
    shell: Shell,
}

pub(super) fn run(args: &Args) -> Result<u8> {
    let shells = Shells::builtins();
    let shell = shells.completer(&args.shell.to_string()).context("this shell can't be asked to complete")?;
    let program = std::env::current_exe().context("failed to find this program")?;
    let program = program.to_str().context("the path of this program is not text")?;
    let mut script = Vec::new();
    shell.write_registration(complete::VARIABLE, "hermes-host", "hermes-host", program, &mut script)?;
    std::io::Write::write_all(&mut std::io::stdout().lock(), &script)?;
    Ok(OK)
}
