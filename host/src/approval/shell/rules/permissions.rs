//! Rights on files.

use super::{Call, secrets, write};
use crate::approval::shell::{Category, walk::Walker};

pub(super) fn rule(walker: &mut Walker, call: &Call<'_>) -> bool {
    match call.name {
        "chmod" => chmod(walker, call),
        "chown" | "chgrp" => chown(walker, call),
        "setfacl" | "chattr" | "chflags" | "setcap" | "icacls" | "chcon" => {
            walker.ask(Category::Permissions, call.shown())
        }
        _ => return false,
    }
    true
}

fn chmod(walker: &mut Walker, call: &Call<'_>) {
    let mut args =
        call.args.iter().filter(|arg| !matches!(arg.text.as_str(), "-R" | "-v" | "-c" | "-f" | "-Rf" | "-Rv" | "--"));
    let mut args = args.by_ref().filter(|arg| !arg.text.starts_with("--"));
    let reference = call.options().any(|arg| arg.text.starts_with("--reference"));
    if !reference && let Some(mode) = args.next() {
        if !mode.is_known() {
            walker.ask(Category::Permissions, format!("a mode that is only known when it runs: {}", call.shown()));
        } else if opens(&mode.text) {
            walker.ask(Category::Permissions, format!("open to everyone: {}", call.shown()));
        } else if sets_id(&mode.text) {
            walker.ask(Category::Privilege, format!("runs with its owner's rights: {}", call.shown()));
        }
        let runs = mode.text.contains('x') || mode.text.bytes().any(|byte| matches!(byte, b'1' | b'5' | b'7'));
        for file in args {
            if runs {
                walker.note_made(file);
            }
            write::system(walker, file, "changes rights of");
            let closes = mode.text.ends_with("00") || mode.text.starts_with("go-") || mode.text.starts_with("u");
            if let Some(secret) = secrets::secret(walker, file).filter(|_| !closes) {
                walker.ask(Category::Permissions, format!("opens {secret}"));
            }
        }
    }
    if call.has('R', "recursive") {
        outside(walker, call);
    }
}

/// Whether a mode lets everyone write.
fn opens(mode: &str) -> bool {
    if mode.bytes().all(|byte| byte.is_ascii_digit()) {
        return mode.bytes().last().is_some_and(|byte| (byte - b'0') & 2 != 0);
    }
    mode.split(',').any(|clause| {
        let Some(at) = clause.find(['+', '=']) else { return false };
        let (who, what) = clause.split_at(at);
        what.contains('w') && (who.contains('o') || who.contains('a'))
    })
}

fn sets_id(mode: &str) -> bool {
    if mode.bytes().all(|byte| byte.is_ascii_digit()) {
        return mode.len() >= 4 && matches!(mode.bytes().rev().nth(3), Some(b'2' | b'4' | b'6' | b'7'));
    }
    mode.split(',').any(|clause| clause.find(['+', '=']).is_some_and(|at| clause.split_at(at).1.contains('s')))
}

fn chown(walker: &mut Walker, call: &Call<'_>) {
    let recursive = call.has('R', "recursive");
    let owner = call.operand(0);
    let root = owner.split([':', '.']).any(|part| matches!(part, "root" | "0" | "wheel"));
    if recursive && root {
        walker.ask(Category::Permissions, format!("gives a tree to root: {}", call.shown()));
    }
    for file in call.operands().skip(1) {
        write::system(walker, file, "changes the owner of");
    }
    if recursive {
        outside(walker, call);
    }
}

/// A whole tree outside the workspace.
fn outside(walker: &mut Walker, call: &Call<'_>) {
    for arg in call.operands().skip(1) {
        let path = walker.scope.places.absolute(arg);
        let ours = path.as_deref().is_some_and(|path| {
            walker.scope.places.inside_workspace(path) || walker.scope.places.workspace.as_deref() == Some(path)
        });
        if !ours && (arg.text.starts_with('/') || !arg.is_known() || path.is_some()) {
            walker.ask(Category::Permissions, format!("rights of a tree outside the workspace: {}", call.shown()));
        }
    }
}
