//! `hermes-host run`.

use std::{thread, time::Duration};

use anyhow::{Context, Result};
use hermes_host::{
    Host,
    component::{Change, Refusal, Watcher},
    registry::Catalogue,
};

use super::{OK, Options, list, output};

/// How long the watching thread waits before it looks whether the host is still wanted.
const LOOK: Duration = Duration::from_secs(3600);

pub(super) fn run(options: &Options) -> Result<u8> {
    let host = options.host()?;
    if !options.quiet {
        list::show_found(&host)?;
    }
    let watched: Vec<_> = host.folders().iter().chain(host.hook_folders()).cloned().collect();
    let watcher = Watcher::new(&watched).context("failed to watch the folders")?;
    let (quiet, shared) = (options.quiet, host.clone());
    thread::Builder::new().name("hermes-watch".into()).spawn(move || watch(&shared, &watcher, quiet))?;
    if !quiet {
        let names: Vec<String> = watched.iter().map(|folder| folder.display().to_string()).collect();
        output::note(&format!("Ready. Watching {}. Press Ctrl-C to stop.", names.join(", ")));
    }
    wait_for_signal()?;
    Ok(OK)
}

/// Looks once at the start, for what was dropped between the loading and the watching.
fn watch(host: &Host, watcher: &Watcher, quiet: bool) {
    let mut change = Change::Files;
    loop {
        if change == Change::Nothing {
            change = watcher.wait(LOOK);
            continue;
        }
        change = Change::Nothing;
        let (before, hooks_before) = (host.catalogue(), Hooks::of(host));
        match host.reload() {
            Ok(()) if quiet => {}
            Ok(()) => {
                tell(&before, &host.catalogue());
                tell_hooks(&hooks_before, &Hooks::of(host));
            }
            Err(why) => output::error(&format!("failed to reload, everything stays as it was: {why}")),
        }
    }
}

/// What is different now, a line each.
fn tell(before: &Catalogue, after: &Catalogue) {
    for tool in after.tools() {
        let name = &tool.definition.name;
        match before.get(name) {
            None => output::note(&format!("{} {name}", output::styled(output::GOOD, "added"))),
            Some(old) if old.component.digest != tool.component.digest => {
                output::note(&format!("{} {name}", output::styled(output::GOOD, "updated")));
            }
            Some(_) => {}
        }
    }
    for gone in before.tools().filter(|tool| after.get(&tool.definition.name).is_none()) {
        output::note(&format!("{} {}", output::styled(output::DIM, "removed"), gone.definition.name));
    }
    let known = before.refusals();
    list::show_refusals(after.refusals().iter().filter(|refusal| !known.contains(refusal)));
}

/// The hooks at one time: their names and digests, and what was refused.
struct Hooks {
    loaded: Vec<String>,
    refused: Vec<Refusal>,
}

impl Hooks {
    fn of(host: &Host) -> Self {
        let loaded = host.hooks().iter().map(|hook| format!("{} {}", hook.name, hook.digest.short())).collect();
        Self { loaded, refused: host.refused_hooks() }
    }
}

fn tell_hooks(before: &Hooks, after: &Hooks) {
    for hook in after.loaded.iter().filter(|hook| !before.loaded.contains(hook)) {
        output::note(&format!("{} hook {hook}", output::styled(output::GOOD, "added")));
    }
    for hook in before.loaded.iter().filter(|hook| !after.loaded.contains(hook)) {
        output::note(&format!("{} hook {hook}", output::styled(output::DIM, "removed")));
    }
    list::show_refusals(after.refused.iter().filter(|refusal| !before.refused.contains(refusal)));
}

fn wait_for_signal() -> Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        Ok(())
    })
}
