//! What `run` does when files change: it loads anew, and says what is different.

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use hermes_host::{
    BackgroundCompiler, Host,
    component::{Change, Component, Refusal, Watcher},
    grant::GrantFile,
    registry::Catalogue,
};

use super::{list, output};

/// How long a change of the configuration may go unseen: a revoked grant must not last. Its folder is not watched, since the
/// audit is written there at every call.
const LOOK: Duration = Duration::from_millis(500);

/// How long until it is tried again to take a change up: what kept the host from it may be over, and what was revoked must not last.
const AGAIN: Duration = Duration::from_secs(2);

/// Why a change could not be taken up.
struct Trouble {
    why: String,
    again: Instant,
}

/// The configuration, as it was when it was last looked at.
pub(super) struct Config {
    pub(super) file: GrantFile,
    stamp: Option<Stamp>,
}

impl Config {
    /// Seen before it is read, so that no change falls between.
    pub(super) fn seen(file: GrantFile) -> Self {
        Self { stamp: Stamp::of(&file.path), file }
    }
}

/// Begins with what was dropped between the loading and the watching.
pub(super) fn watch(host: &Host, mut watcher: Watcher, compiler: &BackgroundCompiler, mut config: Config, quiet: bool) {
    watcher.catch_up();
    // Files are loaded on several threads, and each may ask.
    let watcher = Mutex::new(watcher);
    let lock = || watcher.lock().unwrap_or_else(PoisonError::into_inner);
    let mut change = Change::Nothing;
    let mut trouble: Option<Trouble> = None;
    loop {
        let now = Stamp::of(&config.file.path);
        let is_reread = now != config.stamp;
        let is_due = trouble.as_ref().is_some_and(|trouble| trouble.again <= Instant::now());
        if change == Change::Nothing && !is_reread && !is_due && !compiler.is_due() {
            change = lock().wait(LOOK);
            continue;
        }
        (change, config.stamp) = (Change::Nothing, now);
        if is_reread {
            compiler.try_again();
        }
        let (before, hooks_before) = (host.catalogue(), Hooks::of(host));
        match host.refresh(&|path| lock().is_being_written(path)) {
            Ok(new) => {
                trouble = None;
                compiler.take(new);
                if quiet {
                    continue;
                }
                if is_reread {
                    output::note(&format!("read {} again", config.file.path.display()));
                }
                tell(&before, &host.catalogue());
                tell_stale(&before, &host.catalogue(), &config.file);
                tell_hooks(&hooks_before, &Hooks::of(host));
            }
            Err(why) => {
                let why = format!("failed to reload, everything stays as it was: {why}");
                // Once, not every time.
                if trouble.as_ref().is_none_or(|known| known.why != why) {
                    output::error(&why);
                }
                trouble = Some(Trouble { why, again: Instant::now() + AGAIN });
            }
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

/// Components that came just now and have no grant, since theirs is for other bytes.
fn tell_stale(before: &Catalogue, after: &Catalogue, file: &GrantFile) {
    let is_new =
        |component: &&Arc<Component>| !before.components().iter().any(|known| known.digest == component.digest);
    // A file that can't be read has been told of already: nothing is reloaded from it.
    if let Ok(config) = file.read() {
        list::show_stale(&config, after.components().iter().filter(is_new));
    }
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
