//! What programs do with their arguments. One file per kind of harm.

mod call;
mod cloud;
mod container;
mod delete;
mod disk;
mod editor;
pub(crate) mod environment;
mod git;
pub(crate) mod host;
pub(crate) mod interpreter;
mod literals;
mod network;
mod options;
mod packages;
mod permissions;
mod power;
pub(crate) mod privilege;
mod processes;
mod secrets;
mod sed;
mod services;
mod sql;
mod target;
mod windows;
pub(crate) mod write;

pub(crate) use call::Call;
pub(crate) use secrets::{prints, private, secret};

use super::walk::Walker;

/// Puts a command before every rule that knows its program. Says whether one does.
pub(crate) fn apply(walker: &mut Walker, call: &Call<'_>) -> bool {
    if asks_for_help(call) {
        return true;
    }
    secrets::read(walker, call);
    host::touches(walker, call.name, call.args);
    let rules: [fn(&mut Walker, &Call<'_>) -> bool; 18] = [
        delete::rule,
        disk::rule,
        power::rule,
        processes::rule,
        permissions::rule,
        write::rule,
        git::rule,
        network::rule,
        interpreter::rule,
        editor::rule,
        options::rule,
        container::rule,
        cloud::rule,
        sql::rule,
        services::rule,
        packages::rule,
        host::rule,
        windows::rule,
    ];
    rules.iter().any(|rule| rule(walker, call))
}

/// `mkfs --help` harms nobody. Only if it is all that is asked for: some programs take `--help` for an operand's value.
fn asks_for_help(call: &Call<'_>) -> bool {
    matches!(call.args, [arg] if matches!(arg.text.as_str(), "--help" | "--version" | "-V" | "-h") && arg.is_known())
        && !matches!(call.name, "shutdown" | "halt" | "reboot" | "poweroff" if call.args.iter().all(|arg| arg.text == "-h"))
}

/// Whether a program is a shell.
pub(crate) fn is_shell(name: &str) -> bool {
    matches!(
        name,
        "sh" | "bash"
            | "zsh"
            | "dash"
            | "ksh"
            | "ksh93"
            | "mksh"
            | "pdksh"
            | "ash"
            | "fish"
            | "rbash"
            | "csh"
            | "tcsh"
            | "yash"
            | "posh"
            | "oksh"
            | "bash5"
            | "static-sh"
            | "elvish"
            | "brush"
    )
}
