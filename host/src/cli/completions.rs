//! `hermes-host completions`.

use anyhow::Result;
use clap::CommandFactory;
use clap_complete::Shell;

use super::{Cli, OK};

#[derive(clap::Args)]
pub(super) struct Args {
    /// The shell
    shell: Shell,
}

pub(super) fn run(args: &Args) -> Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "hermes-host", &mut script);
    std::io::Write::write_all(&mut std::io::stdout().lock(), &script)?;
    Ok(OK)
}
