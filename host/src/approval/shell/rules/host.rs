//! The host that runs the agent: it must not be stopped or persuaded by what it runs.

use super::Call;
use crate::{
    approval::shell::{
        Category,
        resolve::{Arg, below},
        understood,
        walk::Walker,
    },
    paths::obeyed,
};

/// Options of the host that take the next argument. Any other option before the command is taken for a trick.
const VALUES: [&str; 6] = ["--tools", "--hooks", "--config", "--workspace", "--home", "--log"];

/// Options of the host that stand alone.
const FLAGS: [&str; 3] = ["--quiet", "-q", "--json"];

pub(super) fn rule(walker: &mut Walker, call: &Call<'_>) -> bool {
    let harmless = match call.name {
        "hermes-host" => looks(call.args),
        "hermes" => !call.commands_are(&["gateway", "update", "config", "approvals"]) && !call.may_hide_options(),
        _ => return false,
    };
    if !harmless {
        walker.ask(Category::Host, call.shown());
    }
    true
}

/// `cargo run --bin hermes-host -- …`: the host, built from its source.
pub(super) fn built(walker: &mut Walker, call: &Call<'_>) {
    let after = call.args.iter().position(|arg| arg.text == "--").and_then(|at| call.args.get(at + 1..));
    let host = call.commands_are(&["run", "r"]) && call.args.iter().any(|arg| arg.text.ends_with("hermes-host"));
    if after.is_some_and(|args| host && !looks(args)) {
        walker.ask(Category::Host, call.shown());
    }
}

/// Subcommands of git that change no file of the work tree.
const GIT_READS: [&str; 10] =
    ["add", "blame", "check-ignore", "commit", "diff", "grep", "log", "ls-files", "show", "status"];

/// Judges a program that is given one of the host's own files, or a file of the workspace that other programs obey, as an operand or
/// as an option's value. Only a program that never writes may have it.
pub(crate) fn touches(walker: &mut Walker, name: &str, args: &[Arg]) {
    if understood::only_reads(name) {
        return;
    }
    // What these write is known by their options, and judged there.
    let is_reading = matches!(name, "grep" | "egrep" | "fgrep" | "rg" | "file" | "tree" | "find" | "sed" | "gsed");
    let is_git_reading = name == "git"
        && args
            .iter()
            .find(|arg| !arg.text.starts_with('-'))
            .is_some_and(|word| GIT_READS.contains(&word.text.as_str()));
    for arg in args {
        for text in values(&arg.text) {
            let value = Arg { text: text.to_owned(), ..arg.clone() };
            let places = &walker.scope.places;
            let inside =
                places.absolute(&value).filter(|path| !is_reading && !is_git_reading && places.inside_workspace(path));
            if let Some(path) = inside.filter(|path| obeyed::for_commands(path).is_some()) {
                walker.ask_at(
                    Category::Persistence,
                    format!("{name} is given {path}, which other programs obey"),
                    &path,
                );
            }
            let Some(path) = walker.scope.places.hosts_own(&value) else { continue };
            // The workspace and the folders that it lies in are named all day long: only what is in them counts here.
            let workspace = walker.scope.places.workspace.as_deref();
            if workspace.is_some_and(|workspace| workspace == path || below(workspace, &path)) && !arg.glob {
                continue;
            }
            walker.ask_at(Category::Host, format!("{name} is given {path}"), &path);
        }
    }
}

/// The texts in an argument that may be a path: all of it, the value after `=`, and the value behind a short option.
fn values(text: &str) -> impl Iterator<Item = &str> {
    let whole = (!text.starts_with('-')).then_some(text);
    let assigned = text.split_once('=').map(|(_, value)| value);
    let attached = text.strip_prefix('-').filter(|rest| !rest.starts_with('-')).and_then(|rest| {
        let mut letters = rest.chars();
        letters.next()?;
        Some(letters.as_str())
    });
    let in_whole = whole.and_then(|text| text.strip_prefix('@'));
    [whole, assigned, attached, in_whole].into_iter().flatten().filter(|value| !value.is_empty())
}

fn looks(args: &[Arg]) -> bool {
    let Some((word, rest)) = command(args) else { return args.iter().all(Arg::is_known) };
    match word {
        "list" | "inspect" | "definitions" | "toolsets" | "doctor" | "audit" | "completions" => true,
        "policy" => command(rest).is_none_or(|(word, _)| word == "check"),
        "approvals" => command(rest).is_none_or(|(word, _)| word == "explain"),
        _ => false,
    }
}

/// The command and what follows it. A word that can't be placed is a command that nobody knows.
fn command(args: &[Arg]) -> Option<(&str, &[Arg])> {
    let mut rest = args;
    while let Some((arg, after)) = rest.split_first() {
        let name = arg.text.split('=').next().unwrap_or("");
        rest = match arg.text.as_str() {
            _ if !arg.is_known() => return Some(("", after)),
            text if FLAGS.contains(&text) || (text.contains('=') && VALUES.contains(&name)) => after,
            text if VALUES.contains(&text) => match after.split_first() {
                Some((value, after)) if value.is_known() => after,
                _ => return Some(("", &[])),
            },
            text => return Some((text, after)),
        };
    }
    None
}
