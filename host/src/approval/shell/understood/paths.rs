//! Whether a path that a command reads, writes or deletes is understood.

use super::table::Use;
use crate::approval::shell::{
    Category, EffectKind,
    resolve::{Arg, below},
    rules,
    walk::Walker,
};

/// Folders for temporary files, which any command may write.
const TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];

/// Devices that a command may write.
const DEVICES: [&str; 4] = ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"];

/// Devices that a command may read.
const READ_DEVICES: [&str; 4] = ["/dev/null", "/dev/stdin", "/dev/fd/", "/dev/tty"];

/// Folders of the system whose files hold no secrets, beside those that the table of credentials names.
const SYSTEM: [&str; 9] = ["/bin", "/etc", "/lib", "/lib64", "/opt", "/sbin", "/usr", "/var/lib", "/var/log"];

/// Files of the kernel that tell about the machine and about no process.
const KERNEL: [&str; 7] = [
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/uptime",
    "/proc/version",
];

/// Hidden files of a project that no program runs or obeys.
const PLAIN_HIDDEN: [&str; 5] = [".editorconfig", ".gitignore", ".gitkeep", ".keep", ".prettierignore"];

/// Notes the effect on a path, and a doubt if it is not understood.
pub(super) fn used(walker: &mut Walker, program: &str, arg: &Arg, used: Use) {
    // The commands of a process substitution are judged themselves.
    if used == Use::Text || arg.process {
        return;
    }
    let kind = match used {
        Use::Read | Use::Text => EffectKind::Reads,
        Use::Write => EffectKind::Writes,
        Use::Delete => EffectKind::Deletes,
    };
    if arg.text == "-" && used == Use::Read {
        return;
    }
    let path = walker.scope.places.absolute(arg);
    walker.effect(kind, path.clone().unwrap_or_else(|| arg.text.clone()));
    let is_relative = !arg.text.starts_with('/');
    let path = match path {
        Some(path) if arg.is_known() && !(is_relative && walker.scope.places.is_doubtful) => path,
        _ => {
            let word = kind.word();
            let detail = format!("{program} {word} a path that is only known when it runs: {}", arg.shown());
            return walker.doubt(Category::UnknownTarget, detail);
        }
    };
    if used == Use::Read {
        // A device may have no end, or hold what a disk holds.
        if path.starts_with("/dev/") && !READ_DEVICES.iter().any(|open| path.starts_with(open)) {
            walker.doubt(Category::UnknownTarget, format!("{program} reads the device {path}"));
        }
        if !is_readable(walker, &path) {
            walker.doubt(
                Category::UnknownTarget,
                format!("{program} reads {path}, outside the workspace and the system"),
            );
        }
        return;
    }
    match outside(walker, arg, &path) {
        Some(why) => walker.doubt(Category::UnknownTarget, format!("{program} {} {path}, {why}", kind.word())),
        None if used == Use::Write && program != "mkdir" => rules::write::file(walker, arg, "writes"),
        None => {}
    }
}

/// Whether anyone may read there: the workspace, temporary folders and the system, but no home and no process. A pattern counts by the
/// folder before its first wildcard.
fn is_readable(walker: &Walker, path: &str) -> bool {
    let known = path.find(['*', '?', '[']).map_or(path, |at| path.get(..at).unwrap_or(path));
    let known = if known.len() < path.len() { known.rsplit_once('/').map_or("", |(folder, _)| folder) } else { known };
    let places = &walker.scope.places;
    let is_in = |folder: &str| known == folder || below(known, folder);
    places.workspace.as_deref().is_some_and(is_in)
        || TEMPORARY.iter().chain(&SYSTEM).any(|folder| is_in(folder))
        || READ_DEVICES.iter().any(|device| path.starts_with(device))
        || KERNEL.contains(&path)
}

/// Why a write to a path is not understood.
fn outside(walker: &Walker, arg: &Arg, path: &str) -> Option<&'static str> {
    if DEVICES.contains(&path) {
        return None;
    }
    if arg.glob {
        return Some("which is a pattern");
    }
    // Behind a symlink `..` leads elsewhere.
    if arg.text.split('/').any(|part| part == "..") {
        return Some("which is written with ..");
    }
    if let Some(inside) = walker.scope.places.below_workspace(path) {
        let hidden = inside.split('/').any(|part| part.starts_with('.') && !PLAIN_HIDDEN.contains(&part));
        return hidden.then_some("a hidden file that other programs may obey");
    }
    let is_temporary = TEMPORARY.iter().any(|folder| below(path, folder));
    (!is_temporary).then_some("outside the workspace")
}

/// Whether a pattern may match a file whose name is an option.
pub(super) fn may_be_option(arg: &Arg) -> bool {
    arg.glob && arg.text.starts_with(['*', '?', '[', '-'])
}
