//! `hermes-host revoke`.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use clap_complete::ArgValueCompleter;
use hermes_host::grant::{Access, EditError, ExecGrant, Taken, Unwanted, UnwantedCommands, resolve};

use super::{FAILED, OK, Options, complete, grant, output};

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  hermes-host revoke weather                   # all its files and commands\n  hermes-host revoke weather --read ~/notes\n\nExits with 1 if what is named is not granted; then nothing is changed. A component whose file is gone can be named too."
)]
pub(super) struct Args {
    /// The component, as hermes.toml names it
    #[arg(add = ArgValueCompleter::new(complete::components))]
    name: String,
    /// A path that it may no longer use at all; may be given several times
    #[arg(long, value_name = "PATH")]
    read: Vec<PathBuf>,
    /// The same, but only if it may write there; may be given several times
    #[arg(long, value_name = "PATH")]
    write: Vec<PathBuf>,
    /// Command lines
    #[arg(long)]
    shell: bool,
    /// A program, as it was granted; may be given several times
    #[arg(long, value_name = "COMMAND")]
    exec: Vec<String>,
    /// The network
    #[arg(long)]
    network: bool,
    /// To ask people
    #[arg(long)]
    ask: bool,
    /// Everything; so it is without any of the others too
    #[arg(long, conflicts_with_all = ["read", "write", "shell", "exec", "network", "ask"])]
    all: bool,
    /// Print JSON alone
    #[arg(long)]
    json: bool,
}

pub(super) fn run(options: &Options, args: &Args) -> Result<u8> {
    let unwanted = |path: &Path, access: Access| {
        let place = resolve(path).map_err(|why| anyhow!("--{}: {why}", access.name()))?;
        Ok(Unwanted { written: path.into(), place, access })
    };
    let read = args.read.iter().map(|path| unwanted(path, Access::Read));
    let all: Result<Vec<Unwanted>> = read.chain(args.write.iter().map(|path| unwanted(path, Access::Write))).collect();
    let exec = args.exec.iter().map(|text| ExecGrant::parse(text).map_err(|why| anyhow!("--exec '{text}': {why}")));
    let commands = UnwantedCommands { shell: args.shell, exec: exec.collect::<Result<_>>()?, network: args.network };
    match options.grant_file()?.revoke_all(&args.name, &Taken { folders: all?, commands, ask: args.ask }) {
        Ok(revoked) => {
            for folder in &revoked.removed {
                options.note(&format!("revoked: {folder}"));
            }
            if !revoked.removed_commands.is_empty() {
                options.note(&format!("revoked: {}", revoked.removed_commands));
            }
            if revoked.removed_ask {
                options.note(&format!("revoked: {}", grant::MAY_ASK));
            }
            grant::show(&args.name, &revoked.grant, args.json)?;
            Ok(OK)
        }
        Err(why @ EditError::NothingToRevoke(_)) => {
            output::error(&why.to_string());
            Ok(FAILED)
        }
        Err(why) => Err(why.into()),
    }
}
