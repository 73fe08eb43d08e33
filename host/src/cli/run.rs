//! `hermes-host run`.

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use anyhow::{Context, Result};
use hermes_host::{
    Host,
    component::{Change, Refusal, Watcher},
    registry::Catalogue,
};

use super::{OK, Options, list, output};

/// How long a change of the configuration may go unseen: a revoked grant must not last. Its folder is not watched, since the
/// audit is written there at every call.
const LOOK: Duration = Duration::from_secs(1);

pub(super) fn run(options: &Options) -> Result<u8> {
    let config = options.grant_file()?;
    // Seen before it is read, so that no change falls between.
    let seen = Stamp::of(&config.path);
    let host = options.host()?;
    if !options.quiet {
        list::show_found(&host, &config.read()?)?;
    }
    let watched: Vec<_> = host.folders().iter().chain(host.hook_folders()).cloned().collect();
    let watcher = Watcher::new(&watched).context("failed to watch the folders")?;
    let (quiet, shared) = (options.quiet, host.clone());
    let watch = move || watch(&shared, &watcher, (config.path, seen), quiet);
    thread::Builder::new().name("hermes-watch".into()).spawn(watch)?;
    if !quiet {
        let names: Vec<String> = watched.iter().map(|folder| folder.display().to_string()).collect();
        output::note(&format!("Ready. Watching {}. Press Ctrl-C to stop.", names.join(", ")));
    }
    wait_for_signal()?;
    Ok(OK)
}

/// Looks once at the start, for what was dropped between the loading and the watching.
fn watch(host: &Host, watcher: &Watcher, (config, mut seen): (PathBuf, Option<Stamp>), quiet: bool) {
    let mut change = Change::Files;
    loop {
        let now = Stamp::of(&config);
        let is_reread = now != seen;
        if change == Change::Nothing && !is_reread {
            change = watcher.wait(LOOK);
            continue;
        }
        (change, seen) = (Change::Nothing, now);
        let (before, hooks_before) = (host.catalogue(), Hooks::of(host));
        match host.reload() {
            Ok(()) if quiet => {}
            Ok(()) => {
                if is_reread {
                    output::note(&format!("read {} again", config.display()));
                }
                tell(&before, &host.catalogue());
                tell_hooks(&hooks_before, &Hooks::of(host));
            }
            Err(why) => output::error(&format!("failed to reload, everything stays as it was: {why}")),
        }
    }
}

/// What tells one state of a file from another: which file it is, and when its content or its mode last changed.
#[derive(PartialEq, Eq)]
struct Stamp(u64, i64, i64);

impl Stamp {
    /// Nothing where there is no file.
    fn of(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().map(|metadata| Self(metadata.ino(), metadata.ctime(), metadata.ctime_nsec()))
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
