//! What confined commands reach of this machine beside the workspace: an allow list, as data.

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use hermes_launch::{Mount, MountAccess};
use serde::Deserialize;

/// The allow list. It is part of the program, and a test reads it.
#[allow(clippy::expect_used, reason = "a test reads the same text")]
static REACH: LazyLock<Reach> =
    LazyLock::new(|| toml::from_str(include_str!("reach.toml")).expect("reach.toml is part of the program"));

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reach {
    system: Vec<PathBuf>,
    home: Vec<PathBuf>,
    caches: BTreeMap<String, PackageCache>,
}

/// A package cache in the home.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PackageCache {
    paths: Vec<PathBuf>,
    locked: Vec<PathBuf>,
}

/// What the operator adds to the reach of confined commands: `read`, `write` and `caches` of `[terminal]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SandboxPolicy {
    /// Paths to read, absolute.
    pub read: Vec<PathBuf>,
    /// Paths to write, absolute.
    pub write: Vec<PathBuf>,
    /// Package caches to write, by name.
    pub caches: Vec<String>,
}

/// The names of the package caches.
pub(crate) fn cache_names() -> impl Iterator<Item = &'static str> {
    REACH.caches.keys().map(String::as_str)
}

/// What lies where the command finds it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Reached {
    pub(super) mounts: Vec<Mount>,
    /// Symlinks on the way: target and place.
    pub(super) symlinks: Vec<(PathBuf, PathBuf)>,
}

/// The allow list on this machine, around a workspace. What does not exist is left out.
pub(super) fn reached(workspace: &Path, home: Option<&Path>, policy: &SandboxPolicy) -> Reached {
    let mut reached = Reached::default();
    REACH.system.iter().for_each(|path| reached.add(path, MountAccess::Read));
    let path = env::var_os("PATH").unwrap_or_default();
    // A folder that holds the home would open all of it, and one of the workspace is the command's own to change.
    let is_programs = |folder: &PathBuf| {
        let real = fs::canonicalize(folder).unwrap_or_else(|_| folder.clone());
        real.is_absolute() && !home.is_some_and(|home| home.starts_with(&real)) && !real.starts_with(workspace)
    };
    let programs = env::split_paths(&path).filter(is_programs);
    programs.for_each(|folder| reached.add(&toolchain(&folder, home), MountAccess::Read));
    if let Some(home) = home {
        REACH.home.iter().for_each(|path| reached.add(&home.join(path), MountAccess::Read));
        for cache in policy.caches.iter().filter_map(|name| REACH.caches.get(name)) {
            cache.paths.iter().for_each(|path| reached.add(&home.join(path), MountAccess::Write));
            cache.locked.iter().for_each(|path| reached.add(&home.join(path), MountAccess::Read));
        }
    }
    policy.read.iter().for_each(|path| reached.add(path, MountAccess::Read));
    policy.write.iter().for_each(|path| reached.add(path, MountAccess::Write));
    reached
}

/// The folder of a toolchain whose programs lie here: `~/.tool/version/bin` needs what lies beside `bin`. Never the home or a folder
/// directly in it: those hold more than a toolchain.
fn toolchain(programs: &Path, home: Option<&Path>) -> PathBuf {
    let inside = home.and_then(|home| programs.strip_prefix(home).ok()).map(|path| path.components().count());
    match (programs.parent(), inside) {
        (Some(parent), Some(depth)) if programs.ends_with("bin") && depth > 2 => parent.to_owned(),
        _ => programs.to_owned(),
    }
}

impl Reached {
    /// Adds a path, and where it is a symlink, that and what it leads to.
    pub(super) fn add(&mut self, path: &Path, access: MountAccess) {
        let Ok(real) = fs::canonicalize(path) else { return };
        // A path that covers the whole machine is a mistake in PATH or in a link.
        if real.parent().is_none() {
            return;
        }
        // Only a link itself is made again. A folder on the way that is one leads to what is mounted by its real name.
        if fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink())
            && let Ok(target) = fs::read_link(path)
            && !self.symlinks.iter().any(|(_, place)| place == path)
        {
            self.symlinks.push((target, path.to_owned()));
        }
        let mount = Mount::at(real, access).optional();
        if !self.mounts.contains(&mount) {
            self.mounts.push(mount);
        }
    }

    /// Parents before children, so that no mount covers an earlier one, and no mount that its parent already shows.
    pub(super) fn ordered(mut self) -> Self {
        self.mounts.sort_by(|one, other| one.target.cmp(&other.target));
        let mut kept: Vec<Mount> = Vec::new();
        for mount in self.mounts {
            let is_shown = kept_in(&kept, &mount.target).is_some_and(|parent| {
                let same_place = mount.target.strip_prefix(&parent.target).ok()
                    == mount.source.strip_prefix(&parent.source).ok()
                    && mount.source.starts_with(&parent.source);
                same_place && parent.access == mount.access && !mount.is_pinned
            });
            if !is_shown {
                kept.push(mount);
            }
        }
        self.mounts = kept;
        // A symlink in a folder that is mounted from its own place is there already.
        let symlinks = std::mem::take(&mut self.symlinks);
        self.symlinks = symlinks.into_iter().filter(|(_, place)| !self.shows(place)).collect();
        self
    }

    /// Keeps a path from being moved away: each folder above it, up to the mount that the command may write, becomes a mount of its own.
    pub(super) fn pin(&mut self, path: &Path) {
        let holder = path.parent().and_then(|folder| kept_in(&self.mounts, folder));
        let Some(writable) = holder.filter(|mount| mount.access == MountAccess::Write) else { return };
        let top = writable.target.clone();
        if writable.source != top {
            return;
        }
        for folder in path.ancestors().skip(1).take_while(|folder| **folder != *top) {
            let pin = Mount::at(folder, MountAccess::Write).pinned().optional();
            if !self.mounts.iter().any(|mount| mount.target == pin.target) {
                self.mounts.push(pin);
            }
        }
    }

    /// Whether a path lies in a mount, or is a symlink beside them.
    pub(super) fn reaches(&self, path: &Path) -> bool {
        let symlinks = self.symlinks.iter().map(|(_, place)| place);
        self.mounts.iter().map(|mount| &mount.target).chain(symlinks).any(|place| path.starts_with(place))
    }

    /// Whether a mount shows this path as it is on this machine.
    pub(super) fn shows(&self, path: &Path) -> bool {
        kept_in(&self.mounts, path).is_some_and(|mount| mount.source == mount.target)
    }
}

/// The innermost mount that a path lies in.
fn kept_in<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    let holders = mounts.iter().filter(|mount| path.starts_with(&mount.target));
    holders.max_by_key(|mount| mount.target.as_os_str().len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_can_be_read_and_names_what_is_needed() {
        let reach: Reach = toml::from_str(include_str!("reach.toml")).unwrap();
        assert!(reach.system.iter().all(|path| path.is_absolute()) && reach.home.iter().all(|path| path.is_relative()));
        assert!(reach.system.contains(&"/usr".into()) && reach.caches.contains_key("cargo"));
    }

    #[test]
    fn a_toolchain_is_more_than_its_programs_and_the_home_is_none() {
        let home = Path::new("/home/a");
        for (programs, folder) in [
            ("/home/a/.nvm/versions/node/v20/bin", "/home/a/.nvm/versions/node/v20"),
            ("/home/a/bin", "/home/a/bin"),
            ("/home/a/.local/bin", "/home/a/.local/bin"),
            ("/usr/bin", "/usr/bin"),
        ] {
            assert_eq!(toolchain(Path::new(programs), Some(home)), Path::new(folder), "{programs}");
        }
    }

    #[test]
    fn every_folder_above_a_pinned_path_is_a_mount() {
        let at = |path: &str| Mount::at(path, MountAccess::Write);
        let mounts = vec![at("/w"), Mount::at("/w/ro", MountAccess::Read), Mount { target: "/h".into(), ..at("/x") }];
        let mut reached = Reached { mounts, symlinks: Vec::new() }.ordered();
        for path in ["/w/a/b/key", "/w/top", "/w/ro/deep/key", "/h/a/key", "/w"] {
            reached.pin(Path::new(path));
        }
        let pins: Vec<_> = reached.ordered().mounts.into_iter().filter(|mount| mount.is_pinned).collect();
        assert_eq!(pins.iter().map(|pin| pin.target.to_str().unwrap()).collect::<Vec<_>>(), ["/w/a", "/w/a/b"]);
    }

    #[test]
    fn parents_come_before_children_and_nothing_twice() {
        let mount = |path: &str, access| Mount::at(path, access);
        let mounts = vec![
            mount("/w/a/b", MountAccess::Read),
            mount("/w", MountAccess::Write),
            mount("/usr/bin", MountAccess::Read),
            mount("/usr", MountAccess::Read),
        ];
        let ordered = Reached { mounts, symlinks: vec![("usr/bin".into(), "/bin".into())] }.ordered();
        let expected = [("/usr", MountAccess::Read), ("/w", MountAccess::Write), ("/w/a/b", MountAccess::Read)];
        assert_eq!(ordered.mounts, expected.map(|(path, access)| mount(path, access)));
        assert_eq!(ordered.symlinks.len(), 1);
    }
}
