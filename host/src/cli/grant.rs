//! `hermes-host grant`.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Result, anyhow, bail};
use clap::ArgGroup;
use clap_complete::ArgValueCompleter;
use hermes_host::{
    component::{Digest, Origin},
    grant::{
        self, Access, ExecGrant, FindError, FolderGrant, Found, Grant, Links, Pin, Secrets, TerminalGrant, ToolLimits,
        Wanted,
    },
};
use serde_json::{Value, json};

use super::{OK, Options, complete, output};

/// How lists say that a component may ask people.
pub(super) const MAY_ASK: &str = "ask people";

#[derive(clap::Args)]
#[command(group = ArgGroup::new("paths").args(["read", "write"]).multiple(true))]
#[command(
    after_help = "Examples:\n  hermes-host grant weather --read ~/notes\n  hermes-host grant file --write ~/work --read /etc/hosts\n  hermes-host grant deploy --exec \"git status\" --exec \"git log --oneline **\"\n  hermes-host grant deploy --shell   # any command line: confined, and you are asked\n  hermes-host grant words --memory 256MiB --timeout 60s\n  hermes-host grant weather          # its file was replaced, and you trust the new one\n\nA grant is for the bytes that are there now: other bytes under the same name have none of it."
)]
pub(super) struct Args {
    /// The component: its file's name without .wasm, a bundled one's name, or one of its tools
    #[arg(add = ArgValueCompleter::new(complete::components))]
    name: String,
    /// A folder, with all below it, or a file that it may read; may be given several times
    #[arg(long, value_name = "PATH")]
    read: Vec<PathBuf>,
    /// A folder or a file that it may read and change; may be given several times
    #[arg(long, value_name = "PATH")]
    write: Vec<PathBuf>,
    /// Let it see keys and tokens in the files named here, instead of masking them
    #[arg(long, requires = "paths")]
    show_secrets: bool,
    /// Hand out files named here that have other names too, which may lie elsewhere
    #[arg(long, requires = "paths")]
    hard_links: bool,
    /// Let it run command lines: confined, and under approval
    #[arg(long)]
    shell: bool,
    /// A program that it may run with these arguments, without a shell and without asking: one pattern each, `*` for any text in one, `**`
    /// at the end for any further ones; neither begins an option; may be given several times
    #[arg(long, value_name = "COMMAND")]
    exec: Vec<String>,
    /// Let what it runs reach the network
    #[arg(long)]
    network: bool,
    /// Let it put forms before the person at the other end of a call
    #[arg(long)]
    ask: bool,
    /// Grant to its file, whatever bytes are in it, until it is revoked: for tools that you write. Whoever changes the file has the grant
    #[arg(long, conflicts_with = "digest")]
    dev: bool,
    /// Memory of one call [default: 64MiB; at most 1GiB]
    #[arg(long, value_name = "SIZE", value_parser = grant::parse_memory)]
    memory: Option<usize>,
    /// Time of one call [default: 30s; at most 600s]
    #[arg(long, value_name = "TIME", value_parser = grant::parse_timeout)]
    timeout: Option<Duration>,
    /// Fuel of one call, roughly its instructions
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=i64::MAX as u64))]
    fuel: Option<u64>,
    /// Only if its bytes are these, as `inspect` shows them
    #[arg(long, value_name = "blake3:…")]
    digest: Option<Digest>,
    /// Print JSON alone
    #[arg(long)]
    json: bool,
}

pub(super) fn run(options: &Options, args: &Args) -> Result<u8> {
    let found = find(options, args)?;
    let file = options.grant_file()?;
    let pin = match (&found.origin, args.dev) {
        (_, false) => Pin::Bytes(&found.digest),
        (Origin::File(file), true) => Pin::DevFile { file, digest: &found.digest },
        (Origin::Bundled | Origin::Registered, true) => {
            bail!("--dev is for a file in a tools folder; {} is none", found.name)
        }
    };
    let granted = file.grant_all(
        &found.name,
        pin,
        &Wanted { folders: args.folders()?, commands: args.commands()?, ask: args.ask, limits: args.limits() },
    )?;
    if !granted.left_out.is_empty() || !granted.left_out_commands.is_empty() || granted.left_out_ask {
        let mut had: Vec<String> = granted.left_out.iter().map(FolderGrant::to_string).collect();
        had.extend((!granted.left_out_commands.is_empty()).then(|| granted.left_out_commands.to_string()));
        had.extend(granted.left_out_ask.then(|| MAY_ASK.to_owned()));
        options.warn(&format!(
            "{} had a grant for other bytes, which these were not given: {}; name what you want to grant again",
            found.name,
            had.join(", ")
        ));
    }
    if args.dev {
        options.warn(&format!("dev mode: whatever is written to {} has this grant; end it with hermes-host revoke {}, or bind it to the bytes with hermes-host grant {}", found.origin.describe(), found.name, found.name));
    }
    for warning in warnings(options, &found, &granted.grant)? {
        options.warn(&warning);
    }
    show(&found.name, &granted.grant, args.json)?;
    Ok(OK)
}

impl Args {
    fn limits(&self) -> ToolLimits {
        ToolLimits { memory: self.memory, timeout: self.timeout, fuel: self.fuel, result_chars: None }
    }

    fn commands(&self) -> Result<TerminalGrant> {
        let exec = self.exec.iter().map(|text| ExecGrant::parse(text).map_err(|why| anyhow!("--exec '{text}': {why}")));
        let grant = TerminalGrant { shell: self.shell, exec: exec.collect::<Result<_>>()?, network: self.network };
        if grant.network && grant.is_empty() {
            bail!("--network says nothing by itself; name what it may run with --shell or --exec COMMAND");
        }
        Ok(grant)
    }

    fn folders(&self) -> Result<Vec<FolderGrant>> {
        // Writing includes reading: what is named for both comes last as what may be written.
        let read = self.read.iter().map(|path| (path, Access::Read));
        let all = read.chain(self.write.iter().map(|path| (path, Access::Write)));
        let folder = |(path, access): (&PathBuf, Access)| {
            Ok(FolderGrant {
                secrets: if self.show_secrets { Secrets::Shown } else { Secrets::Masked },
                hard_links: if self.hard_links { Links::Allowed } else { Links::Refused },
                ..FolderGrant::new(grant::to_grant(path).map_err(|why| anyhow!("--{}: {why}", access.name()))?, access)
            })
        };
        all.map(folder).collect()
    }
}

/// The component that is meant, by its own name or by a tool's. Only for the latter something must be loaded.
fn find(options: &Options, args: &Args) -> Result<Found> {
    let folders = options.tool_folders()?;
    let (name, mut near) = match grant::find(&args.name, &folders, args.digest.as_ref()) {
        Err(FindError::Unknown { name, near }) => (name, near),
        found => {
            let found = found?;
            if found.name != args.name {
                let (name, place) = (&args.name, found.origin.describe());
                options
                    .note(&format!("{name} has the same bytes as {} ({place}), which is what is loaded", found.name));
            }
            return Ok(found);
        }
    };
    let catalogue = options.host()?.catalogue();
    if let Some(entry) = catalogue.get(&name) {
        let component = &entry.component.name;
        options.note(&format!("The tool {name} belongs to the component {component}."));
        return Ok(grant::find(component, &folders, args.digest.as_ref())?);
    }
    near.extend(catalogue.near(&name).into_iter().map(str::to_owned));
    bail!(FindError::Unknown { name, near });
}

/// What the operator may not have meant.
fn warnings(options: &Options, found: &Found, grant: &Grant) -> Result<Vec<String>> {
    let name = &found.name;
    let mut warnings = Vec::new();
    match &found.inspection {
        Err(why) => warnings.push(format!("{name} can't be loaded: it {why}")),
        Ok(_) if !grant.folders().is_empty() && !found.asks_for_files() => warnings.push(format!(
            "this has no effect: {name} does not ask for files, it imports neither hermes:tool/filesystem nor wasi:filesystem"
        )),
        Ok(_) => {}
    }
    if found.inspection.is_ok() && !grant.terminal().is_empty() && !found.asks_for_commands() {
        warnings.push(format!("this has no effect: {name} runs no commands, it does not import hermes:tool/terminal"));
    }
    if found.inspection.is_ok() && grant.ask() && !found.asks_for_answers() {
        warnings.push(format!("this has no effect: {name} asks nobody, it does not import hermes:tool/ask"));
    }
    let file = options.grant_file()?;
    let mut own = vec![("the host's own files", options.home()?), ("the grants", file.path)];
    own.extend(options.tool_folders()?.into_iter().map(|folder| ("the components", folder)));
    let home = std::env::var_os("HOME").map(PathBuf::from);
    for folder in grant.folders() {
        let Ok(place) = folder.located(&file.workspace) else { continue };
        if place.parent().is_none() {
            warnings.push(format!("{folder}: that is every file of this machine"));
        } else if home.as_ref().is_some_and(|home| real(home) == real(&place)) {
            warnings.push(format!("{folder}: that is your whole home, with your keys, mail and browser"));
        }
        let place = real(&place);
        let is_touched = |(_, path): &&(&str, PathBuf)| {
            let path = real(path);
            path.starts_with(&place) || (place.starts_with(path) && folder.access == Access::Write)
        };
        if let Some((what, path)) = own.iter().find(is_touched) {
            let danger = match folder.access {
                Access::Read => "",
                Access::Write => ": who writes there decides what it is granted and what code runs",
            };
            warnings.push(format!("{folder}: this reaches {what} in {}{danger}", path.display()));
        }
    }
    Ok(warnings)
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.into())
}

/// What a component has now.
pub(super) fn show(name: &str, grant: &Grant, as_json: bool) -> Result<()> {
    if as_json {
        return output::json(&describe(name, grant));
    }
    let pin = match (&grant.digest, &grant.dev) {
        (_, Some(file)) => {
            format!(" ({})", output::styled(output::BAD, &format!("dev: any bytes of {}", file.display())))
        }
        (Some(digest), None) => format!(" ({})", output::styled(output::DIM, &digest.short())),
        (None, None) => String::new(),
    };
    output::line(&format!("{}{pin}", output::styled(output::BOLD, name)))?;
    for folder in grant.folders() {
        output::line(&format!("  {folder}"))?;
    }
    if grant.folders().is_empty() {
        output::line("  no files")?;
    }
    if !grant.terminal().is_empty() {
        output::line(&format!("  {}", grant.terminal()))?;
    }
    if grant.ask() {
        output::line(&format!("  {MAY_ASK}"))?;
    }
    if let Some(limits) = grant.own_limits() {
        output::line(&format!("  limits of a call: {limits}"))?;
    }
    if !grant.overridden().is_empty() {
        output::line(&format!("  may take the names of other tools: {}", grant.overridden().join(", ")))?;
    }
    Ok(())
}

fn describe(name: &str, grant: &Grant) -> Value {
    json!({
        "component": name,
        "digest": grant.digest,
        "dev": grant.dev,
        "fs": grant.folders(),
        "terminal": grant.terminal(),
        "ask": grant.ask(),
        "override": grant.overridden(),
        "limits": super::list::describe_limits(&grant.limits()),
    })
}
