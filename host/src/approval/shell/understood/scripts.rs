//! Programs that take a small program as an argument: `find`, `sed`, `awk`.

use super::{paths, table::Use};
use crate::approval::shell::{
    resolve::{Arg, Sure},
    walk::Walker,
};

/// Tests and actions of `find` that take no argument and only look.
#[rustfmt::skip]
const FIND_ALONE: [&str; 24] = [
    "!", "(", ")", ",", "-a", "-and", "-daystart", "-depth", "-empty", "-executable", "-false", "-follow", "-ls", "-mount", "-not", "-o",
    "-or", "-print", "-print0", "-prune", "-quit", "-readable", "-true", "-xdev",
];

/// Tests and actions of `find` that take one text.
#[rustfmt::skip]
const FIND_TEXT: [&str; 26] = [
    "-amin", "-atime", "-cmin", "-ctime", "-group", "-iname", "-inum", "-ipath", "-iregex", "-links", "-maxdepth", "-mindepth", "-mmin",
    "-mtime", "-name", "-newer", "-path", "-perm", "-printf", "-regex", "-regextype", "-size", "-type", "-user", "-wholename", "-xtype",
];

/// `find` that only looks.
pub(super) fn find(walker: &mut Walker, args: &[Arg]) -> bool {
    let mut rest = args.iter().peekable();
    while let Some(start) = rest.next_if(|arg| !arg.text.starts_with(['-', '(', '!', ','])) {
        if paths::may_be_option(start) {
            return false;
        }
        paths::used(walker, "find", start, Use::Read);
    }
    while let Some(arg) = rest.next() {
        if !arg.is_known() || arg.glob {
            return false;
        }
        if FIND_TEXT.contains(&arg.text.as_str()) {
            // A value that may be several arguments may be `-delete`.
            if !rest.next().is_some_and(|value| value.sure != Sure::Split && !value.glob) {
                return false;
            }
        } else if !FIND_ALONE.contains(&arg.text.as_str()) {
            return false;
        }
    }
    true
}

/// `sed` with scripts of plain commands.
pub(super) fn sed(walker: &mut Walker, args: &[Arg]) -> bool {
    let mut scripts = Vec::new();
    let mut files = Vec::new();
    let mut edits = false;
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        if arg.sure == Sure::Split || paths::may_be_option(arg) {
            return false;
        }
        match arg.text.as_str() {
            "-n" | "-E" | "-r" | "-s" | "-z" | "-u" | "-nE" | "-En" | "-nr" => {}
            "-i" => edits = true,
            "-e" => scripts.extend(rest.next()),
            text if text.starts_with('-') && text.len() > 1 => return false,
            _ => files.push(arg),
        }
    }
    if scripts.is_empty() {
        if files.is_empty() {
            return false;
        }
        scripts.push(files.remove(0));
    }
    for file in files {
        paths::used(walker, "sed", file, if edits { Use::Write } else { Use::Read });
    }
    scripts.iter().all(|script| script.is_known() && script.text.split([';', '\n']).all(is_plain_sed))
}

/// One command of sed that neither runs nor writes: an address and `p`, `d`, `q` or `=`, or a substitution without `e` and `w`.
fn is_plain_sed(command: &str) -> bool {
    let command = command.trim();
    let rest = address(command).map_or(command, |rest| rest.strip_prefix(',').and_then(address).unwrap_or(rest)).trim();
    let rest = rest.strip_prefix('!').unwrap_or(rest);
    if matches!(rest, "p" | "d" | "q" | "=" | "") {
        return !rest.is_empty() || command.is_empty();
    }
    let Some(rest) = rest.strip_prefix('s') else { return false };
    let Some(delimiter) = rest.chars().next().filter(|found| matches!(found, '/' | '|' | '#' | ',' | '@' | ':')) else {
        return false;
    };
    // An escaped delimiter, or a class that holds one, would need the whole grammar.
    if rest.contains(['\\', '[', '{']) {
        return false;
    }
    let parts: Vec<&str> = rest.split(delimiter).collect();
    matches!(parts.as_slice(), [_, _, _, flags] if flags.chars().all(|flag| matches!(flag, 'g' | 'p' | 'i' | 'I' | '0'..='9')))
}

/// What follows an address: a number, `$`, or a pattern without escapes.
fn address(command: &str) -> Option<&str> {
    if let Some(rest) = command.strip_prefix('$') {
        return Some(rest);
    }
    if let Some(rest) = command.strip_prefix('/') {
        let (pattern, rest) = rest.split_once('/')?;
        return (!pattern.contains(['\\', '['])).then_some(rest);
    }
    let digits = command.bytes().take_while(u8::is_ascii_digit).count();
    (digits > 0).then(|| command.get(digits..)).flatten()
}

/// `awk` with a program that can neither run, write nor read by itself.
pub(super) fn awk(walker: &mut Walker, args: &[Arg]) -> bool {
    let mut rest = args.iter();
    let program = loop {
        let Some(arg) = rest.next() else { return false };
        if !arg.is_known() || arg.glob {
            return false;
        }
        match arg.text.as_str() {
            "-F" => {
                if !rest.next().is_some_and(Arg::is_known) {
                    return false;
                }
            }
            text if text.starts_with("-F") => {}
            text if text.starts_with('-') => return false,
            _ => break arg,
        }
    };
    for file in rest {
        // `name=value` between the files is an assignment.
        if paths::may_be_option(file) || file.text.contains('=') || file.sure == Sure::Split {
            return false;
        }
        paths::used(walker, "awk", file, Use::Read);
    }
    let runs = ["system", "getline", "ENVIRON", "close", "fflush", "printf >", "ARGV"];
    !program.text.contains(['|', '>', '<', '@', '`']) && !runs.iter().any(|word| program.text.contains(word))
}
