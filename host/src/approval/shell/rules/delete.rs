//! Deleting and emptying files.

use super::{
    Call,
    target::{all_names, hardline, is_disk},
};
use crate::approval::shell::{
    Category, EffectKind,
    confined::is_build_output,
    resolve::{Arg, Sure},
    walk::Walker,
};

pub(super) fn rule(walker: &mut Walker, call: &Call<'_>) -> bool {
    match call.name {
        "rm" | "grm" | "srm" | "unlink" | "trash" | "rimraf" | "del-cli" => remove(walker, call),
        "gio" if call.commands_are(&["remove", "trash"]) => remove(walker, call),
        "gvfs-rm" | "gvfs-trash" | "trash-put" => remove(walker, call),
        "zip" if call.options().any(|arg| !arg.text.starts_with("--") && arg.text.contains('m')) => gone(walker, call),
        "7z" | "7za" | "rar" if call.says(&["-sdel", "-df"]) || call.commands_are(&["d", "m"]) => gone(walker, call),
        "fdupes" if call.has('d', "delete") => gone(walker, call),
        "rdfind" | "tmpreaper" | "tmpwatch" | "bleachbit" | "rmlint" => gone(walker, call),
        "shred" | "wipe" | "scrub" => overwrite(walker, call),
        "truncate" => truncate(walker, call),
        "find" | "gfind" => find(walker, call),
        "rsync" => {
            if call.options().any(|arg| arg.text.starts_with("--del") || arg.text == "--remove-source-files") {
                let target = call.operands().last().filter(|arg| !arg.text.contains(':'));
                let loses = target.is_some_and(|arg| loses_work(walker, arg));
                let detail = format!("deletes what the source lacks: {}", call.shown());
                walker.ask_inside(Category::RecursiveDelete, detail, loses);
                if let Some(what) = target.and_then(|arg| hardline(&walker.scope.places, arg)) {
                    walker.never(Category::SystemDelete, format!("deletes what the source lacks from {what}"));
                }
            }
            return false;
        }
        _ => return false,
    }
    true
}

/// Programs that delete what they were given, or what they find.
fn gone(walker: &mut Walker, call: &Call<'_>) {
    let loses = call.operands().any(|arg| loses_work(walker, arg));
    walker.ask_inside(Category::RecursiveDelete, call.shown(), loses);
}

/// Whether deleting this loses files of the workspace that no build makes again. In a directory that is not known, a relative path
/// counts as one of the workspace.
pub(super) fn loses_work(walker: &Walker, arg: &Arg) -> bool {
    let places = &walker.scope.places;
    match places.absolute(arg) {
        Some(path) => places.meets_workspace(&path) && !places.below_workspace(&path).is_some_and(is_build_output),
        None => arg.is_known() && !arg.text.starts_with(['/', '~']) && !is_build_output(&arg.text),
    }
}

fn remove(walker: &mut Walker, call: &Call<'_>) {
    let recursive = call.has('r', "recursive")
        || call.has('R', "")
        || matches!(call.name, "rimraf" | "del-cli" | "trash" | "gio" | "gvfs-trash" | "trash-put");
    if call.says(&["--no-preserve-root"]) {
        walker.never(Category::SystemDelete, "rm --no-preserve-root");
    }
    for arg in call.operands() {
        target(walker, call, arg);
    }
    if recursive {
        let loses = call.operands().any(|arg| loses_work(walker, arg));
        walker.ask_inside(Category::RecursiveDelete, call.shown(), loses);
    }
    // The names come from a list that is only known when it runs.
    if walker.is_fed_names() && walker.scope.places.is_in_workspace() {
        walker.ask_inside(Category::RecursiveDelete, format!("{} of every name in a list", call.name), true);
    }
}

fn target(walker: &mut Walker, call: &Call<'_>, arg: &Arg) {
    walker.effect(EffectKind::Deletes, walker.scope.places.absolute(arg).unwrap_or_else(|| arg.text.clone()));
    if !arg.is_known() {
        walker.ask(
            Category::UnknownTarget,
            format!("{} of a path that is only known when it runs: {}", call.name, arg.shown()),
        );
        if arg.sure == Sure::Split && !arg.text.contains(crate::approval::shell::resolve::UNKNOWN) {
            guess(walker, arg);
        }
        return;
    }
    if let Some(what) = hardline(&walker.scope.places, arg) {
        return walker.never(Category::SystemDelete, format!("deletes {what}"));
    }
    let path = walker.scope.places.absolute(arg);
    let disk = path.as_deref().is_some_and(|path| is_disk(path, arg.glob));
    match path {
        Some(_) if disk => walker.ask(Category::Disk, format!("deletes the device {}", arg.shown())),
        Some(path) if walker.scope.places.inside_workspace(&path) && !arg.text.starts_with("..") => {
            repository(walker, arg, &path);
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            let is_output = walker.scope.places.below_workspace(folder).is_some_and(is_build_output);
            if arg.glob && all_names(arg.text.rsplit('/').next().unwrap_or("")) && !is_output {
                walker.ask_at(Category::RecursiveDelete, format!("deletes every file of {folder}"), folder);
            }
        }
        Some(path)
            if arg.text.starts_with('/') || arg.text.starts_with("..") || walker.scope.places.workspace.is_some() =>
        {
            walker.ask(Category::Delete, format!("deletes {path}, outside the workspace"));
        }
        None if arg.text.contains("..") => walker.ask(Category::UnknownTarget, format!("deletes {}", arg.shown())),
        _ => {}
    }
}

/// A repository's own folder.
fn repository(walker: &mut Walker, arg: &Arg, path: &str) {
    if path.contains("/.git/") || path.ends_with("/.git") {
        walker.ask_at(Category::Git, format!("deletes inside a repository's own folder: {}", arg.shown()), path);
    }
}

/// A text that the target may have.
fn guess(walker: &mut Walker, arg: &Arg) {
    if let Some(what) = hardline(&walker.scope.places, arg) {
        walker.never(Category::SystemDelete, format!("may delete {what}"));
    }
}

fn overwrite(walker: &mut Walker, call: &Call<'_>) {
    for arg in call.operands() {
        if walker.scope.places.absolute(arg).is_some_and(|path| is_disk(&path, arg.glob)) {
            walker.never(Category::Disk, format!("{} overwrites the disk {}", call.name, arg.shown()));
        }
    }
    let loses = call.operands().any(|arg| loses_work(walker, arg));
    walker.ask_inside(Category::Overwrite, call.shown(), loses);
}

fn truncate(walker: &mut Walker, call: &Call<'_>) {
    // Growing a file loses nothing.
    let sizes = call.values("-s", "--size");
    if !sizes.iter().all(|size| size.is_known() && size.text.starts_with('+')) || sizes.is_empty() {
        let loses = call.operands().any(|arg| loses_work(walker, arg));
        walker.ask_inside(Category::Overwrite, call.shown(), loses);
    }
}

/// Whether `find` is told by name what it deletes, or deletes what is empty.
fn selects_names(call: &Call<'_>) -> bool {
    let texts: Vec<&str> = call.args.iter().map(|arg| arg.text.as_str()).collect();
    let is_negated = |at: usize| at > 0 && matches!(texts.get(at - 1), Some(&("!" | "-not")));
    texts.iter().enumerate().any(|(at, text)| match *text {
        "-empty" => !is_negated(at),
        "-name" | "-iname" | "-path" | "-ipath" | "-wholename" | "-regex" => {
            !is_negated(at) && texts.get(at + 1).is_some_and(|pattern| !all_names(pattern))
        }
        _ => false,
    })
}

/// Whether `find` runs a program that deletes what was found.
fn runs_deletion(call: &Call<'_>) -> bool {
    let is_deletion = |arg: &Arg| matches!(arg.text.rsplit('/').next(), Some("rm" | "unlink" | "shred"));
    call.args.windows(2).any(|pair| {
        let [option, program] = pair else { return false };
        matches!(option.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir") && is_deletion(program)
    })
}

fn find(walker: &mut Walker, call: &Call<'_>) {
    if call.may_hide_options() {
        walker.ask(
            Category::UnknownTarget,
            format!("options of find that are only known when it runs: {}", call.shown()),
        );
    }
    for file in ["-fprint", "-fprint0", "-fprintf", "-fls"].iter().flat_map(|option| call.values("", option)) {
        super::write::file(walker, &file, "find writes");
    }
    if !call.says(&["-delete"]) && !runs_deletion(call) {
        return;
    }
    let starts: Vec<&Arg> = call.args.iter().take_while(|arg| !arg.text.starts_with(['-', '(', '!'])).collect();
    let filtered = call.args.iter().any(|arg| {
        matches!(
            arg.text.as_str(),
            "-name"
                | "-iname"
                | "-path"
                | "-ipath"
                | "-regex"
                | "-mtime"
                | "-mmin"
                | "-size"
                | "-empty"
                | "-newer"
                | "-user"
                | "-atime"
                | "-ctime"
                | "-maxdepth"
                | "-perm"
                | "-inum"
                | "-wholename"
        )
    });
    // A pattern of names deletes what the text says; without one it is a tree.
    let all = !selects_names(call);
    let here = Arg::known(".");
    let loses = all
        && if starts.is_empty() { loses_work(walker, &here) } else { starts.iter().any(|arg| loses_work(walker, arg)) };
    for start in starts {
        if !filtered && let Some(what) = hardline(&walker.scope.places, start) {
            walker.never(Category::SystemDelete, format!("find deletes everything below {what}"));
        }
    }
    walker.ask_inside(Category::RecursiveDelete, call.shown(), loses);
}
