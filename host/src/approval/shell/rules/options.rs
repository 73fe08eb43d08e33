//! Options of harmless programs that run other programs.

use super::Call;
use crate::approval::shell::{
    Category,
    resolve::UNKNOWN,
    walk::{Flow, Walker},
};

/// A program, and options whose value is a program.
const RUNS: [(&str, &[&str], &[&str]); 23] = [
    ("rg", &[], &["--pre", "--hostname-bin"]),
    ("ag", &[], &["--pager"]),
    ("ack", &[], &["--pager"]),
    ("sort", &[], &["--compress-program"]),
    ("gsort", &[], &["--compress-program"]),
    ("split", &[], &["--filter"]),
    ("man", &["-P", "-H"], &["--pager", "--html"]),
    ("bat", &[], &["--pager"]),
    (
        "tar",
        &["-I", "-F"],
        &[
            "--to-command",
            "--use-compress-program",
            "--rsh-command",
            "--info-script",
            "--new-volume-script",
            "--rmt-command",
        ],
    ),
    (
        "gtar",
        &["-I", "-F"],
        &["--to-command", "--use-compress-program", "--rsh-command", "--info-script", "--new-volume-script"],
    ),
    ("bsdtar", &[], &["--use-compress-program"]),
    ("cpio", &[], &["--rsh-command"]),
    ("zip", &["-TT"], &["--unzip-command"]),
    ("rsync", &["-e"], &["--rsh", "--rsync-path"]),
    ("fzf", &[], &["--preview"]),
    ("tcpdump", &["-z"], &[]),
    ("xterm", &["-e"], &[]),
    ("gnome-terminal", &["-e"], &["--command"]),
    ("konsole", &["-e"], &[]),
    ("nix-shell", &[], &["--run", "--command"]),
    ("npm", &["-c"], &["--script-shell", "--call"]),
    ("npx", &["-c"], &["--call", "--script-shell"]),
    ("wget", &[], &["--use-askpass"]),
];

pub(super) fn rule(walker: &mut Walker, call: &Call<'_>) -> bool {
    if let Some((_, short, long)) = RUNS.iter().find(|(name, ..)| *name == call.name) {
        let mut values = short.iter().flat_map(|option| call.values(option, "")).collect::<Vec<_>>();
        if call.name == "rsync" {
            values = call.clustered('e');
        }
        let long = long.iter().flat_map(|option| call.long_values(option)).collect::<Vec<_>>();
        for value in values.into_iter().chain(long) {
            // A colour or a shell that ends in nothing is no program.
            if !value.text.is_empty() {
                walker.program_text(call.name, &value.text);
            }
        }
    }
    match call.name {
        "tar" | "gtar" => tar(walker, call),
        "make" | "gmake" | "ninja" => make(walker, call),
        "cmake" if call.says(&["-E"]) => {
            let command = call.args.iter().skip_while(|arg| arg.text != "-E").skip(1).cloned().collect();
            walker.call(command, &Flow::unknown());
        }
        "cargo" => {
            super::host::built(walker, call);
            let settings = call.values("", "--config");
            if settings
                .iter()
                .any(|value| ["wrapper", "runner", "linker", "alias"].iter().any(|word| value.text.contains(word)))
            {
                walker.ask(Category::InlineCode, call.shown());
            }
            if call.leading(1).any(|word| matches!(word, "publish" | "yank")) && !call.says(&["--dry-run", "-n"]) {
                walker.ask(Category::Packages, call.shown());
            }
        }
        "tmux" | "screen" => session(walker, call),
        "ansible" => {
            for text in call.values("-a", "--args") {
                walker.program_text("ansible", &text.text);
            }
        }
        "direnv" | "asdf" | "nvm" => return false,
        _ => return RUNS.iter().any(|(name, ..)| *name == call.name && !matches!(*name, "npm" | "npx" | "rsync")),
    }
    true
}

fn tar(walker: &mut Walker, call: &Call<'_>) {
    if call.may_hide_options() && call.args.iter().any(|arg| arg.text.starts_with(UNKNOWN)) {
        walker
            .ask(Category::UnknownTarget, format!("options of tar that are only known when it runs: {}", call.shown()));
    }
    for action in call.long_values("--checkpoint-action") {
        if let Some(text) = action.text.strip_prefix("exec=") {
            walker.program_text("tar", text);
            walker.ask(Category::InlineCode, format!("tar runs: {text}"));
        }
    }
    if call.has('\0', "remove-files") {
        let inside = walker.scope.places.is_in_workspace();
        walker.ask_inside(Category::RecursiveDelete, call.shown(), inside);
    }
    if call.has('P', "absolute-names") && (call.has('x', "extract") || call.operand(0).contains('x')) {
        walker.ask(Category::SystemWrite, format!("unpacks to absolute paths: {}", call.shown()));
    }
}

fn make(walker: &mut Walker, call: &Call<'_>) {
    for arg in call.args {
        let Some((name, text)) = arg.text.split_once('=').filter(|(name, _)| !name.starts_with('-')) else { continue };
        if matches!(name, "SHELL" | ".SHELLFLAGS" | "CC" | "CXX" | "LD" | "AR" | "MAKE") {
            walker.program_text("make", text);
        }
        if text.contains("$(shell") || text.contains("`") {
            walker.ask(Category::InlineCode, call.shown());
        }
    }
    let from_input = call
        .values("-f", "--file")
        .iter()
        .any(|file| matches!(file.text.as_str(), "-" | "/dev/stdin") || file.process || walker.is_made(file));
    if call.has('\0', "eval") || from_input {
        walker.ask(Category::InlineCode, call.shown());
    }
}

/// Keys typed into another shell.
fn session(walker: &mut Walker, call: &Call<'_>) {
    if call.says(&["send-keys", "send", "stuff", "run-shell", "run", "-X", "pipe-pane", "if-shell"]) {
        walker.ask(Category::PipedCode, format!("types into another shell: {}", call.shown()));
    }
    if call.says(&["kill-server", "kill-session", "quit"]) {
        walker.ask(Category::Kill, call.shown());
    }
    let starts = call.says(&["new-session", "new", "new-window", "neww", "split-window", "splitw"]);
    if call.name == "tmux"
        && starts
        && let Some(last) = call.operands().last().filter(|arg| arg.text.contains(' '))
    {
        walker.program_text("tmux", &last.text);
    }
    if call.name == "screen" && call.options().any(|arg| arg.text.contains('m')) {
        let command: Vec<_> = call.args.iter().skip_while(|arg| arg.is_option()).skip(1).cloned().collect();
        walker.call(command, &Flow::unknown());
    }
}
