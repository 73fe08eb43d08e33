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
        return;
    }
    match outside(walker, arg, &path) {
        Some(why) => walker.doubt(Category::UnknownTarget, format!("{program} {} {path}, {why}", kind.word())),
        None if used == Use::Write && program != "mkdir" => rules::write::file(walker, arg, "writes"),
        None => {}
    }
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
