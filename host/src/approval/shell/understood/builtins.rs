//! Builtins of the shell and wrappers whose command is judged by itself.

use super::{paths, table::Use, variables};
use crate::approval::shell::{
    resolve::{Arg, Sure},
    walk::Walker,
};

/// Whether a builtin or wrapper with these arguments is understood. `None` if it is neither.
pub(super) fn understood(walker: &mut Walker, name: &str, args: &[Arg]) -> Option<bool> {
    let known = args.iter().all(Arg::is_known);
    let texts: Vec<&str> = args.iter().map(|arg| arg.text.as_str()).collect();
    Some(match name {
        "cd" => match texts.as_slice() {
            [] => true,
            [target] => {
                let is_plain = known && !args.iter().any(|arg| arg.glob) && !target.starts_with('-');
                if is_plain && let Some(arg) = args.first() {
                    paths::used(walker, "cd", arg, Use::Read);
                }
                is_plain
            }
            _ => false,
        },
        "export" | "declare" | "typeset" | "local" | "readonly" => declares(walker, name, args),
        "unset" => names(&texts, &["-v", "-f"]) && known,
        "read" => reads(&texts) && known,
        "set" => known && sets(&texts),
        "wait" => known && texts.iter().all(|text| text.starts_with('%') || is_number(text)),
        "umask" | "env" if texts.is_empty() => true,
        // The text is judged where it is followed; text that is not known asks there.
        "eval" => true,
        "command" => match texts.as_slice() {
            ["-v" | "-V", ..] => true,
            [first, ..] => !first.starts_with('-'),
            [] => true,
        },
        "builtin" => texts.first().is_none_or(|first| !first.starts_with('-')),
        "env" => {
            let mut names = texts.iter().map_while(|text| text.split_once('=').map(|(name, _)| name));
            known && texts.first().is_some_and(|first| !first.starts_with('-')) && names.all(variables::is_exportable)
        }
        "nice" => match texts.as_slice() {
            ["-n", number, command, ..] => is_number(number) && !command.starts_with('-'),
            [first, ..] => !first.starts_with('-'),
            [] => true,
        },
        "timeout" => texts.first().is_some_and(|first| first.starts_with(|c: char| c.is_ascii_digit())),
        "bash" => {
            matches!(texts.as_slice(), ["-c" | "-ec" | "-euc", _, ..] | ["-euo", "pipefail", "-c", _, ..])
        }
        // Another shell reads the same text as bash only where the text is plain.
        "sh" | "dash" => matches!(texts.as_slice(), ["-c", text] if is_plain_text(text)),
        _ => return None,
    })
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Text that every shell reads alike.
fn is_plain_text(text: &str) -> bool {
    text.chars().all(|found| found.is_ascii_alphanumeric() || " -_./,:+=;'\"%@\n".contains(found))
}

/// Names of variables after options of a list.
fn names(texts: &[&str], options: &[&str]) -> bool {
    texts.iter().all(|text| options.contains(text) || variables::is_settable(text))
}

/// `read -r a b`.
fn reads(texts: &[&str]) -> bool {
    let mut rest = texts.iter();
    while let Some(text) = rest.next() {
        match *text {
            "-r" | "-s" | "-rs" => {}
            "-d" | "-n" | "-t" | "-p" => {
                rest.next();
            }
            text if text.starts_with('-') || !variables::is_settable(text) => return false,
            _ => {}
        }
    }
    true
}

/// `set -euo pipefail`, `set -- a b`.
fn sets(texts: &[&str]) -> bool {
    let mut rest = texts.iter();
    while let Some(text) = rest.next() {
        match *text {
            "--" => return true,
            "-e" | "-u" | "-x" | "+e" | "+u" | "+x" | "-eu" | "-ex" | "-eux" | "-ux" => {}
            "-o" | "+o" | "-euo" | "-eo" | "-uo" | "-euxo" => match rest.next() {
                Some(&("pipefail" | "errexit" | "nounset" | "xtrace")) => {}
                _ => return false,
            },
            _ => return false,
        }
    }
    true
}

/// `export NAME=value` and its kin, without an attribute that makes the value an expression, a reference or an array.
fn declares(walker: &mut Walker, name: &str, args: &[Arg]) -> bool {
    let mut exported = name == "export";
    for arg in args {
        if arg.sure == Sure::Split {
            return false;
        }
        match arg.text.as_str() {
            "-x" | "-rx" | "-gx" if arg.is_known() => exported = true,
            "-r" | "-g" | "-p" | "--" if arg.is_known() => {}
            text if text.starts_with('-') => return false,
            text => {
                let (name, value) = text.split_once('=').unwrap_or((text, ""));
                // A value in parentheses is expanded again if the variable is an array.
                if !variables::is_name(name) || value.starts_with('(') {
                    return false;
                }
                let is_allowed = if exported { variables::is_exportable(name) } else { variables::is_settable(name) };
                if !is_allowed {
                    variables::doubt(walker, name);
                }
            }
        }
    }
    true
}

/// `printf` with a format that is known. `-v` takes a name.
pub(super) fn printf(args: &[Arg]) -> bool {
    match args {
        [first, rest @ ..] if first.text == "-v" => {
            rest.first().is_some_and(|name| name.is_known() && variables::is_settable(&name.text))
                && rest.get(1).is_some_and(|format| format.is_known() && !format.text.starts_with('-'))
        }
        [first, ..] => first.is_known() && (!first.text.starts_with('-') || first.text == "--"),
        [] => true,
    }
}

/// `test`: `-v` and `-R` evaluate an index in their operand.
pub(super) fn test(args: &[Arg]) -> bool {
    let args = match args {
        [inner @ .., last] if last.text == "]" => inner,
        args => args,
    };
    let evaluates = |arg: &Arg| matches!(arg.text.as_str(), "-v" | "-R");
    if args.iter().all(Arg::is_known) {
        return args
            .windows(2)
            .all(|pair| !matches!(pair, [option, name] if evaluates(option) && !variables::is_name(&name.text)));
    }
    if args.iter().any(|arg| arg.sure == Sure::Split) {
        return false;
    }
    let args = match args {
        [first, rest @ ..] if first.text == "!" => rest,
        args => args,
    };
    match args {
        [_] => true,
        [operator, _] => operator.is_known() && !evaluates(operator),
        [_, operator, _] => operator.is_known() && !matches!(operator.text.as_str(), "-a" | "-o"),
        _ => false,
    }
}
