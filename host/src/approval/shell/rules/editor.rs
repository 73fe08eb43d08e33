//! Editors and debuggers that run commands.

use super::Call;
use crate::approval::shell::{Category, resolve::Arg, walk::Walker};

pub(super) fn rule(walker: &mut Walker, call: &Call<'_>) -> bool {
    match call.name {
        "vim" | "vi" | "nvim" | "ex" | "view" | "gvim" | "vimdiff" | "less" | "more" => vim(walker, call),
        "emacs" | "emacsclient" => {
            if call.says(&["--eval", "-eval", "-f", "-l", "--load", "--execute", "-e", "--script"]) {
                walker.ask(Category::InlineCode, call.shown());
            }
        }
        "ed" => {
            let safe = call.input.text.as_deref().is_some_and(|text| !text.contains('!'));
            if call.input.fed && !safe {
                walker.ask(Category::PipedCode, "ed may run commands of its input");
            }
        }
        "gdb" | "lldb" => debugger(walker, call),
        "ftp" | "lftp" | "tftp" | "mailx" | "mail" | "mutt" if call.input.fed => {
            let text = call.input.text.as_deref();
            if text.is_none_or(|text| text.contains('!')) {
                walker.ask(Category::PipedCode, format!("{} may run commands of its input", call.name));
            }
        }
        _ => return false,
    }
    true
}

fn vim(walker: &mut Walker, call: &Call<'_>) {
    let mut commands: Vec<String> = call.values("-c", "--cmd").into_iter().map(|arg| arg.text).collect();
    commands.extend(call.args.iter().filter_map(|arg| arg.text.strip_prefix('+').map(str::to_owned)));
    for command in commands {
        if let Some((before, shell)) = command.split_once('!') {
            // `q!` and `wq!` only insist.
            if !shell.trim().is_empty() || before.trim().trim_start_matches(':').is_empty() {
                walker.ask(Category::InlineCode, format!("{} runs: {shell}", call.name));
                walker.program_text(call.name, shell);
            }
        }
        let mut words = command.trim_start_matches(':').split_whitespace();
        if let (Some(word), Some(path)) = (words.next(), words.last())
            && ["w", "w!", "write", "write!", "sav", "saveas", "wq", "x", "up"].contains(&word)
        {
            let path = path.replacen('~', &walker.scope.places.home.clone(), usize::from(path.starts_with('~')));
            super::write::file(walker, &Arg::known(path), "writes");
        }
        if ["system(", "term", "python", "py3", "lua", "perl", "ruby", "source"]
            .iter()
            .any(|word| command.contains(word))
        {
            walker.ask(Category::InlineCode, call.shown());
        }
    }
    if call.name != "less" && call.name != "more" && (!call.values("-S", "").is_empty() || call.has('s', "")) {
        walker.ask(Category::InlineCode, format!("runs a script of commands: {}", call.shown()));
    }
}

fn debugger(walker: &mut Walker, call: &Call<'_>) {
    if call.input.fed {
        walker.code_stream(call.name, call.input);
    }
    let scripts = [call.values("-x", "--command"), call.values("-s", "--source")].concat();
    for script in scripts {
        walker.foreign_script(call.name, &script, call.input);
    }
    let commands = [call.values("-ex", "--eval-command"), call.values("-o", "--one-line")].concat();
    for command in commands {
        let text = command.text.trim();
        let shell = text
            .strip_prefix("shell")
            .or_else(|| text.strip_prefix('!'))
            .or_else(|| text.strip_prefix("platform shell"));
        if let Some(shell) = shell {
            walker.ask(Category::InlineCode, call.shown());
            walker.program_text(call.name, shell);
        } else if text.starts_with("python")
            || text.starts_with("call")
            || text.starts_with("script")
            || text.starts_with("expr")
        {
            walker.ask(Category::InlineCode, call.shown());
        }
    }
    if let Some(at) = call.args.iter().position(|arg| matches!(arg.text.as_str(), "--args" | "--")) {
        let command = call.args.iter().skip(at + 1).cloned().collect();
        walker.call(command, call.input);
    }
    if call.has('p', "pid") {
        walker.ask(Category::Kill, format!("takes hold of a running process: {}", call.shown()));
    }
}
