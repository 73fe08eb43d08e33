//! Paths that no deletion may name.

use crate::approval::shell::resolve::{Arg, Places, matches};

/// Folders that hold the system, its settings or everyone's files.
const SYSTEM: [&str; 46] = [
    "/",
    "/bin",
    "/boot",
    "/dev",
    "/efi",
    "/etc",
    "/home",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/media",
    "/mnt",
    "/nix",
    "/opt",
    "/proc",
    "/root",
    "/run",
    "/sbin",
    "/snap",
    "/srv",
    "/sys",
    "/usr",
    "/var",
    "/usr/bin",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local",
    "/usr/sbin",
    "/usr/share",
    "/usr/include",
    "/var/lib",
    "/var/log",
    "/var/spool",
    "/etc/ssh",
    "/etc/systemd",
    "/System",
    "/Library",
    "/Applications",
    "/Users",
    "/Volumes",
    "/private",
    "/private/etc",
    "/private/var",
    "/usr/libexec",
    "/var/cache",
];

/// Why deleting this would be the end of the machine or of a home; `None` if it would not.
pub(super) fn hardline(places: &Places, arg: &Arg) -> Option<String> {
    let path = places.absolute(arg)?;
    // `dir/*` empties the folder.
    let emptied = arg.glob && path.rsplit('/').next().is_some_and(all_names);
    let folder = if emptied {
        path.rsplit_once('/').map_or("/", |(folder, _)| if folder.is_empty() { "/" } else { folder })
    } else {
        &path
    };
    let same = |known: &str| if arg.glob { pattern_is(folder, known) } else { folder == known };
    if SYSTEM.iter().any(|known| same(known)) {
        return Some(folder.to_owned());
    }
    let home = places.home.as_str();
    if same(home) || home.starts_with(&format!("{folder}/")) {
        return Some(format!("{folder} (the home)"));
    }
    let depth_two =
        |parent: &str| folder.strip_prefix(parent).is_some_and(|name| !name.is_empty() && !name.contains('/'));
    if (depth_two("/home/") || depth_two("/Users/"))
        && !places.inside_workspace(folder)
        && !is_workspace(places, folder)
    {
        return Some(format!("{folder} (a home)"));
    }
    let above = places.workspace.as_deref().is_some_and(|workspace| workspace.starts_with(&format!("{folder}/")));
    (above && !folder.starts_with("/tmp")).then(|| format!("{folder} (above the workspace)"))
}

fn is_workspace(places: &Places, folder: &str) -> bool {
    places.workspace.as_deref() == Some(folder)
}

/// Whether a last part of a path means everything in its folder.
pub(super) fn all_names(part: &str) -> bool {
    part.contains('*') && part.chars().all(|found| matches!(found, '*' | '.' | '?' | '[' | ']' | '!'))
}

/// Whether a pattern could mean a path, part by part.
pub(super) fn pattern_is(pattern: &str, path: &str) -> bool {
    let (mut a, mut b) = (pattern.split('/'), path.split('/'));
    loop {
        match (a.next(), b.next()) {
            (None, None) => return true,
            (Some(a), Some(b)) if matches(a, b) => {}
            _ => return false,
        }
    }
}

/// Whether a path names a disk, whole or in part.
pub(super) fn is_disk(path: &str, glob: bool) -> bool {
    let Some(name) = path.strip_prefix("/dev/") else { return glob && pattern_is(path, "/dev/sda") };
    if glob && ["sda", "nvme0n1", "vda", "hda"].iter().any(|disk| matches(name, disk)) {
        return true;
    }
    let kinds = [
        "sd", "nvme", "hd", "mmcblk", "vd", "xvd", "dm-", "md", "nbd", "rdisk", "disk", "mapper/", "disk/", "sr", "zd",
        "pmem",
    ];
    kinds.iter().any(|kind| name.strip_prefix(kind).is_some_and(|rest| !rest.is_empty()))
}
