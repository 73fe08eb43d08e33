//! `hermes-host doctor`.

use std::process::{Command, Stdio};

use anyhow::Result;
use hermes_host::{
    BUNDLED, Host,
    capability::terminal::{Launcher, layers},
};
use serde_json::{Value, json};

use super::{FAILED, OK, Options, output, table::Table};

#[derive(clap::Args)]
pub(super) struct Args {
    /// Print JSON alone
    #[arg(long)]
    json: bool,
}

/// How a finding counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Good,
    /// Works, but something could be better or is only needed for more.
    Note,
    /// Something that is needed is not there.
    Missing,
    /// Something is there and can't be used.
    Problem,
}

struct Finding {
    what: &'static str,
    verdict: Verdict,
    detail: String,
}

impl Finding {
    fn new(what: &'static str, verdict: Verdict, detail: impl Into<String>) -> Self {
        Self { what, verdict, detail: detail.into() }
    }

    fn word(&self) -> &'static str {
        match self.verdict {
            Verdict::Good => "ok",
            Verdict::Note => "note",
            Verdict::Missing => "missing",
            Verdict::Problem => "problem",
        }
    }
}

pub(super) fn run(options: &Options, args: &Args) -> Result<u8> {
    let mut findings = match options.host() {
        Ok(host) => examine(&host),
        Err(why) => vec![Finding::new("host", Verdict::Problem, format!("{why:#}"))],
    };
    findings.push(commands(options));
    findings.extend(backends());
    findings.push(guest_toolchain());
    if args.json {
        let describe = |f: &Finding| json!({"what": f.what, "status": f.word(), "detail": f.detail});
        output::json(&Value::Array(findings.iter().map(describe).collect()))?;
    } else {
        let mut table = Table::new([("STATUS", 8), ("WHAT", 7), ("DETAIL", 9)]);
        for finding in &findings {
            let style = match finding.verdict {
                Verdict::Good => output::GOOD,
                Verdict::Note => output::DIM,
                Verdict::Missing | Verdict::Problem => output::BAD,
            };
            table.push(vec![output::styled(style, finding.word()), finding.what.into(), finding.detail.clone()]);
        }
        output::show_table(&table)?;
    }
    Ok(if findings.iter().any(|finding| matches!(finding.verdict, Verdict::Missing | Verdict::Problem)) {
        FAILED
    } else {
        OK
    })
}

fn examine(host: &Host) -> Vec<Finding> {
    let catalogue = host.catalogue();
    let unavailable = host.list_blocking().into_iter().filter(|tool| !tool.status.is_offered()).count();
    let folders: Vec<String> = host.folders().iter().map(|folder| folder.display().to_string()).collect();
    let mut findings = vec![
        Finding::new("home", Verdict::Good, host.home().display().to_string()),
        Finding::new("cache", Verdict::Good, format!("{}, writable by you alone", host.home().join("cache").display())),
        Finding::new("instances", Verdict::Good, format!("allocated {}", host.sandbox().allocation().name())),
        match BUNDLED.len() {
            0 => Finding::new("bundled tools", Verdict::Missing, "none are in this binary; build it with make build"),
            count => Finding::new("bundled tools", Verdict::Good, output::count(count, "component")),
        },
        Finding::new("tools folder", Verdict::Good, folders.join(", ")),
        Finding::new(
            "tools",
            Verdict::Good,
            format!("{} loaded, {unavailable} unavailable", output::count(catalogue.tools().count(), "tool")),
        ),
    ];
    let hooks: Vec<String> = host.hooks().iter().map(|hook| hook.name.clone()).collect();
    if !hooks.is_empty() {
        findings.push(Finding::new("hooks", Verdict::Good, hooks.join(", ")));
    }
    for refusal in catalogue.refusals().iter().chain(&host.refused_hooks()) {
        let detail = format!("refused: {}: {}", refusal.place, refusal.reason);
        findings.push(Finding::new("component", Verdict::Problem, detail));
    }
    findings
}

/// Where commands do run, and why.
fn commands(options: &Options) -> Finding {
    match options.grant_file().and_then(|file| Ok(file.read()?)) {
        Ok(config) => {
            let verdict = if config.terminal.can_run() { Verdict::Good } else { Verdict::Missing };
            Finding::new("commands", verdict, config.terminal.summary())
        }
        Err(why) => Finding::new("commands", Verdict::Problem, format!("{why:#}")),
    }
}

/// Where commands could run.
fn backends() -> Vec<Finding> {
    let shell = ["/bin/bash", "/bin/sh"].into_iter().find(|shell| std::path::Path::new(shell).exists());
    let local = match shell {
        Some(shell) => Finding::new("terminal local", Verdict::Good, format!("commands run by {shell}")),
        None => Finding::new("terminal local", Verdict::Missing, "no /bin/bash and no /bin/sh"),
    };
    let sandbox = match layers::held(&Launcher::default()) {
        Ok(held) => {
            let verdict = if held.has_namespaces() { Verdict::Good } else { Verdict::Note };
            Finding::new("terminal sandbox", verdict, format!("held by {}", layers::described(held)))
        }
        // Whether commands need it is said above.
        Err(why) => Finding::new("terminal sandbox", Verdict::Note, why.to_string()),
    };
    let ssh = Command::new("ssh").arg("-V").stdin(Stdio::null()).stdout(Stdio::null()).output();
    let ssh = match ssh {
        Ok(output) if output.status.success() => {
            let version = String::from_utf8_lossy(&output.stderr);
            Finding::new("terminal ssh", Verdict::Good, version.lines().next().unwrap_or("ssh").to_owned())
        }
        _ => Finding::new(
            "terminal ssh",
            Verdict::Note,
            "no ssh client; to run commands on another machine, install openssh-client",
        ),
    };
    let later = "docker, singularity, modal and daytona are not there yet";
    vec![local, sandbox, ssh, Finding::new("terminal others", Verdict::Note, later)]
}

/// Only authors need it, so its absence is no fault.
fn guest_toolchain() -> Finding {
    let targets = Command::new("rustup").args(["target", "list", "--installed"]).stderr(Stdio::null()).output();
    let installed = targets.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("wasm32-wasip2"));
    if installed {
        Finding::new("guest toolchain", Verdict::Good, "rustup target wasm32-wasip2")
    } else {
        let advice = "to write tools in Rust, run: rustup target add wasm32-wasip2";
        Finding::new("guest toolchain", Verdict::Note, advice)
    }
}
