//! The host that runs the agent: it must not be stopped or persuaded by what it runs.

use super::Call;
use crate::approval::shell::{
    Category,
    resolve::Arg,
    walk::{Walker, reads},
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

/// Judges a program that is given one of the host's own files. Only those that never write may have it.
pub(super) fn touches(walker: &mut Walker, call: &Call<'_>) {
    if reads(call.name) {
        return;
    }
    for arg in call.operands() {
        let Some(path) = walker.scope.places.absolute(arg) else { continue };
        // A folder that they lie in is named all day long: only what is in them counts here.
        let holds = walker.scope.places.workspace.as_deref().is_some_and(|workspace| workspace.starts_with(&path));
        if walker.scope.places.is_the_hosts(&path) && !holds {
            walker.ask(Category::Host, format!("{} is given {path}", call.name));
        }
    }
}

fn looks(args: &[Arg]) -> bool {
    let Some((word, rest)) = command(args) else { return args.iter().all(Arg::is_known) };
    match word {
        "list" | "inspect" | "definitions" | "toolsets" | "doctor" | "audit" | "completions" => true,
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
