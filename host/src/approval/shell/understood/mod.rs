//! Where nothing confines a command, only what is fully understood is allowed.
//!
//! Understood is a plain text ([`plain`]): no variable, substitution, function, loop or condition. And in it a known program with options and operands that are modelled, in a known directory, that writes and deletes
//! inside the workspace or a temporary folder alone. Everything else is a doubt, and a doubt asks: an unknown program, an
//! option that is not listed, an operand that is only known when the command runs, a construct that bash evaluates twice.

mod builtins;
mod evaluated;
mod git;
mod paths;
mod plain;
mod scripts;
mod table;
mod variables;

pub(crate) use evaluated::{array, index, is_arithmetic_operator, number, transform};
pub(crate) use plain::obstacle;
pub(crate) use table::only_reads;
pub(crate) use variables::{assigned, exported, inherited, is_name};

use table::{Model, Operands, Use};

use super::{
    Category, EffectKind,
    resolve::{Arg, Sure},
    walk::Walker,
};

/// Folders whose programs are the system's own.
const PROGRAM_FOLDERS: [&str; 6] =
    ["/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/", "/usr/local/sbin/"];

/// Looks at one command with its arguments: notes what it does, and what of it is not understood.
pub(crate) fn command(walker: &mut Walker, word: &Arg, args: &[Arg]) {
    let Some(name) = program_name(word) else {
        walker.effect(EffectKind::Runs, word.text.as_str());
        return walker.doubt(Category::UnknownCommand, format!("the program {} is not known", word.shown()));
    };
    walker.effect(EffectKind::Runs, name);
    let is_understood = match name {
        "printf" => builtins::printf(args),
        "test" | "[" => builtins::test(args),
        "tr" | "echo" | "exit" | "return" | "true" | "false" | ":" | "sleep" | "seq" | "break" | "continue" | "pwd" => {
            true
        }
        "find" => scripts::find(walker, args),
        "sed" => scripts::sed(walker, args),
        "awk" | "gawk" | "mawk" => scripts::awk(walker, args),
        "git" => git::understood(walker, args),
        name if only_reads(name) => {
            reads(walker, name, args);
            true
        }
        name => match (table::find(name), builtins::understood(walker, name, args)) {
            (Some(model), _) => modelled(walker, model, args),
            (None, Some(is_understood)) => is_understood,
            (None, None) => {
                return walker.doubt(Category::UnknownCommand, format!("what `{name}` does is not modelled"));
            }
        },
    };
    if !is_understood {
        let shown = args.iter().map(Arg::shown).collect::<Vec<_>>().join(" ");
        let short: String = shown.chars().take(SHOWN).collect();
        walker.doubt(Category::UnknownCommand, format!("`{name}` with arguments that are not modelled: {short}"));
    }
}

/// How much of the arguments a doubt repeats. The person sees the whole command anyway.
const SHOWN: usize = 80;

/// The name of a program of the system, exactly as it is written: another case is another file.
fn program_name(word: &Arg) -> Option<&str> {
    if !word.is_known() || word.glob {
        return None;
    }
    let text = word.text.as_str();
    match text.rsplit_once('/') {
        None => Some(text),
        Some(_) => {
            PROGRAM_FOLDERS.iter().find_map(|folder| text.strip_prefix(folder)).filter(|name| !name.contains('/'))
        }
    }
}

/// A program that only reads: each argument may be a file.
fn reads(walker: &mut Walker, name: &str, args: &[Arg]) {
    for arg in args {
        if arg.is_option() && arg.is_known() {
            // `--files0-from=PATH`.
            let value = arg.text.split_once('=').filter(|(_, value)| value.contains('/'));
            if let Some((_, value)) = value {
                paths::used(walker, name, &Arg { text: value.into(), ..arg.clone() }, Use::Read);
            }
            continue;
        }
        paths::used(walker, name, arg, Use::Read);
    }
}

/// A program of the table of models. False if an option or an operand is not listed there.
fn modelled(walker: &mut Walker, model: &Model, args: &[Arg]) -> bool {
    let mut operands: Vec<&Arg> = Vec::new();
    let mut has_pattern = false;
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        if arg.text == "--" && arg.is_known() {
            operands.extend(rest);
            break;
        }
        if paths::may_be_option(arg) || arg.sure == Sure::Split {
            return false;
        }
        if !arg.is_option() {
            operands.push(arg);
            continue;
        }
        if !arg.is_known() {
            return false;
        }
        let Some(values) = options(model, &arg.text) else { return false };
        for (option, used, value) in values {
            has_pattern |= matches!(option.as_str(), "-e" | "-f" | "--regexp" | "--file");
            let Some(used) = used else { continue };
            let value = match value {
                Some(text) => Arg { text, ..arg.clone() },
                None => match rest.next() {
                    Some(next) => next.clone(),
                    None => return false,
                },
            };
            if value.sure == Sure::Split {
                return false;
            }
            paths::used(walker, model.name, &value, used);
        }
    }
    operands_used(walker, model, &operands, has_pattern)
}

/// An option, what its value is used for, and the value where it is attached.
type OptionUse = (String, Option<Use>, Option<String>);

/// The options in one argument, each with what its value is used for and the value where it is attached. `None` if one is not
/// listed.
fn options(model: &Model, text: &str) -> Option<Vec<OptionUse>> {
    if text.starts_with("--") {
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value.to_owned())));
        let (used, attached) = model.option(name)?;
        return match (used, value) {
            (None, Some(_)) => None,
            (Some(_), None) if attached => Some(vec![(name.to_owned(), None, None)]),
            (used, value) => Some(vec![(name.to_owned(), used, value)]),
        };
    }
    let letters = text.strip_prefix('-')?;
    if letters.bytes().all(|byte| byte.is_ascii_digit()) {
        return model.option("-#").map(|_| vec![]);
    }
    let mut found = Vec::new();
    for (at, letter) in letters.char_indices() {
        let name = format!("-{letter}");
        let (used, attached) = model.option(&name)?;
        if used.is_none() {
            found.push((name, None, None));
            continue;
        }
        let value = letters.get(at + letter.len_utf8()..).filter(|value| !value.is_empty()).map(str::to_owned);
        let used = if attached && value.is_none() { None } else { used };
        found.push((name, used, value));
        break;
    }
    Some(found)
}

fn operands_used(walker: &mut Walker, model: &Model, operands: &[&Arg], has_pattern: bool) -> bool {
    let name = model.name;
    match (model.operands, operands) {
        (Operands::None, operands) => return operands.is_empty(),
        (Operands::Each(used), operands) => each(walker, name, operands, used),
        (Operands::Pattern, operands) if has_pattern => each(walker, name, operands, Use::Read),
        (Operands::Pattern, [_, files @ ..]) => each(walker, name, files, Use::Read),
        (Operands::InOut, [input]) => each(walker, name, &[input], Use::Read),
        (Operands::InOut, [input, output]) => {
            each(walker, name, &[input], Use::Read);
            each(walker, name, &[output], Use::Write);
        }
        (Operands::Copy | Operands::Move, [sources @ .., target]) if !sources.is_empty() => {
            // The names that a pattern matches decide what is written.
            if sources.iter().any(|source| source.glob) {
                return false;
            }
            // What is moved out of the workspace is gone from it.
            let places = &walker.scope.places;
            let stays = places.absolute(target).is_some_and(|path| places.below_workspace(&path).is_some());
            if model.operands == Operands::Move && !stays {
                return false;
            }
            let used = if model.operands == Operands::Copy { Use::Read } else { Use::Delete };
            each(walker, name, sources, used);
            each(walker, name, &[target], Use::Write);
            for source in sources {
                // A folder gets the source's name.
                let file = source.text.trim_end_matches('/').rsplit('/').next().unwrap_or("");
                let inside = Arg { text: format!("{}/{file}", target.text), ..(*target).clone() };
                each(walker, name, &[&inside], Use::Write);
            }
        }
        (Operands::Format, operands) => return operands.iter().all(|arg| arg.is_known() && arg.text.starts_with('+')),
        (Operands::Pattern | Operands::InOut, []) => {}
        _ => return false,
    }
    true
}

fn each(walker: &mut Walker, name: &str, operands: &[&Arg], used: Use) {
    operands.iter().for_each(|arg| paths::used(walker, name, arg, used));
}

/// Looks at a file that a redirection reads.
pub(crate) fn redirected_from(walker: &mut Walker, arg: &Arg) {
    paths::used(walker, "a redirection", arg, Use::Read);
}

/// Looks at a file that a redirection writes.
pub(crate) fn redirected_to(walker: &mut Walker, arg: &Arg) {
    paths::used(walker, "a redirection", arg, Use::Write);
}
