//! Ending processes.

use super::Call;
use crate::approval::shell::{Category, walk::Walker};

pub(super) fn rule(walker: &mut Walker, call: &Call<'_>) -> bool {
    match call.name {
        "kill" => kill(walker, call),
        "killall5" => walker.never(Category::KillAll, call.shown()),
        "pkill" | "killall" | "skill" | "xkill" | "fuser" | "tskill" => {
            let harmless = call.says(&["-0", "-l", "--list"]) || (call.name == "fuser" && !call.has('k', "kill"));
            if !harmless {
                walker.ask(Category::Kill, call.shown());
            }
        }
        _ => return false,
    }
    true
}

fn kill(walker: &mut Walker, call: &Call<'_>) {
    if call.says(&["-l", "-L", "--list", "--table"]) {
        return;
    }
    let mut args = call.args;
    let mut signal = "";
    if let [first, rest @ ..] = args
        && first.text.starts_with('-')
        && first.text != "--"
    {
        match first.text.as_str() {
            "-s" | "-n" | "--signal" => {
                signal = rest.first().map_or("", |arg| arg.text.as_str());
                args = rest.get(1..).unwrap_or(&[]);
            }
            text => {
                signal = text.trim_start_matches('-');
                args = rest;
            }
        }
    }
    // `kill -1` names no process but is meant for all; `kill -1 1234` is a signal.
    let all = args.iter().any(|arg| arg.text == "-1") || (args.is_empty() && signal == "1");
    if all {
        return walker.never(Category::KillAll, format!("ends every process: {}", call.shown()));
    }
    if signal != "0" {
        walker.ask(Category::Kill, call.shown());
    }
}
