//! Commands in the arguments of programs that nobody looked at: a program may run what it is given.

use super::{Flow, Walker, wrappers};
use crate::approval::shell::{
    Category, Verdict,
    limits::SEARCHED_ARGUMENTS,
    resolve::{Arg, Value},
    rules,
};

/// Programs that are there to run a command, with too many ways to write it for a table.
#[rustfmt::skip]
const RUNNERS: [&str; 51] = [
    "abduco", "alacritty", "ansible", "cargo-watch", "chezmoi", "clush", "concurrently", "cssh", "distrobox", "distrobox-enter",
    "distrobox-host-exec", "dsh", "dtach", "entr", "expect", "flatpak-spawn", "foot", "forever", "gnome-terminal", "guix", "hyper",
    "incus", "kitty", "konsole", "lxc", "lxc-attach", "machinectl", "nix", "nodemon", "npm-run-all", "pdsh", "pssh", "reflex",
    "run-parts", "runc", "salt", "salt-call", "screen", "sg", "ssh-agent", "start-stop-daemon", "terminator", "tilix", "tmux",
    "toolbox", "urxvt", "watchexec", "wezterm", "xfce4-terminal", "xterm", "zellij",
];

/// Programs that never run an operand, so that a command among them is only a text.
#[rustfmt::skip]
const READS: [&str; 79] = [
    ":", "[", "ack", "ag", "apropos", "base64", "basename", "bat", "cat", "clear", "cmp", "column", "comm", "cowsay", "cut", "date",
    "df", "diff", "dirname", "docker", "du", "echo", "egrep", "expr", "false", "fgrep", "figlet", "file", "find", "fold", "gh", "git",
    "glab", "grep", "head", "hermes", "hermes-host", "hexdump", "info", "jq", "kubectl", "less", "logger", "look", "ls", "man",
    "md5sum", "mkdir", "mktemp", "more", "nl", "notify-send", "od", "pgrep", "podman", "printf", "ps", "pwd", "readlink", "realpath",
    "rg", "rm", "say", "sed", "seq", "sha256sum", "sleep", "sort", "stat", "strings", "tail", "test", "touch", "tr", "true", "uniq",
    "wc", "whatis", "yq",
];

/// Programs with which the unforgivable is done.
#[rustfmt::skip]
const GRAVE: [&str; 20] = [
    "blkdiscard", "cp", "dd", "find", "grm", "kill", "killall5", "mke2fs", "mkfs", "mkswap", "mv", "rimraf", "rm", "shred", "srm",
    "sudo", "systemctl", "tee", "wipe", "wipefs",
];

/// How many commands in the arguments of one program are looked at. More than that is no way to write a command.
const CARRIED: usize = 8;

impl Walker {
    /// Looks for commands in a program's arguments. A runner runs them; any other program may, so a person has to know.
    pub(super) fn carried(&mut self, name: &str, args: &[Arg]) {
        let runner = RUNNERS.binary_search(&name).is_ok();
        if self.probing || (!runner && reads(name)) {
            return;
        }
        if args.len() > SEARCHED_ARGUMENTS && args.iter().any(|arg| is_grave(&arg.text, runner)) {
            return self.ask(Category::Limit, format!("`{name}` with too many arguments to search for commands"));
        }
        let starts = (0..args.len()).filter(|at| args.get(*at).is_some_and(|arg| is_grave(&arg.text, runner)));
        for at in starts.take(CARRIED) {
            let command = args.get(at..).unwrap_or(&[]).to_vec();
            self.probe(name, runner, |walker| walker.call(command, &Flow::unknown()));
        }
        if !runner && rules::interpreter::is_interpreter(name) {
            return;
        }
        for text in args.iter().flat_map(|arg| texts(&arg.text)).filter(|text| holds_grave(text, runner)).take(CARRIED)
        {
            let text = text.to_owned();
            self.probe(name, runner, |walker| walker.shell_text(&text, &Flow::unknown()));
        }
    }

    /// Looks for a command in a variable that a program gets. Which programs run which variables, nobody knows.
    pub(crate) fn carried_by(&mut self, variable: &str, value: &Value) {
        let (Value::Known(text) | Value::Guess(text)) = value else { return };
        if !self.probing && text.contains(' ') && holds_grave(text, false) {
            let text = text.trim_start_matches([':', '!', '|', ' ']).to_owned();
            self.probe(variable, false, |walker| walker.shell_text(&text, &Flow::unknown()));
        }
    }

    /// Judges what may run, and keeps what a person has to know of it.
    fn probe(&mut self, name: &str, runner: bool, walk: impl FnOnce(&mut Self) -> Flow) {
        if !self.spend() {
            return;
        }
        let before = (self.findings.len(), self.commands.len());
        self.probing = true;
        self.inside(name, |walker| walker.aside(walk));
        self.probing = false;
        self.commands.truncate(before.1);
        let found = self.findings.split_off(before.0.min(self.findings.len()));
        for finding in found {
            let reason = finding.reason;
            match finding.verdict {
                // Words of a person that are no shell text.
                _ if matches!(reason.category, Category::Unparsed | Category::UnknownCommand) => {}
                Verdict::Never if runner => self.never(reason.category, reason.detail),
                Verdict::Never => {
                    self.ask(Category::UnknownCommand, format!("`{name}` may run what {}", reason.detail));
                }
                _ if runner => self.ask(reason.category, reason.detail),
                _ => {}
            }
        }
    }
}

/// Whether a program never runs an operand.
pub(crate) fn reads(name: &str) -> bool {
    READS.binary_search(&name).is_ok()
}

/// Whether a word is a program that is worth looking at.
fn is_grave(word: &str, runner: bool) -> bool {
    let name = word.rsplit('/').next().unwrap_or("");
    GRAVE.binary_search(&name).is_ok()
        || name.starts_with("mkfs.")
        || rules::is_shell(name)
        || wrappers::find(name).is_some()
        || (runner && matches!(name, "reboot" | "halt" | "poweroff" | "shutdown" | "curl" | "wget" | "nc" | "truncate"))
}

/// The texts in an argument that may be shell text: all of it, or an option's value.
fn texts(arg: &str) -> Vec<&str> {
    if !arg.contains([' ', '\t', '\n']) {
        return vec![];
    }
    if !arg.starts_with('-') {
        // `enter:execute(command)`.
        let opened =
            arg.split_once('(').filter(|(before, _)| before.ends_with("execute") || before.ends_with("become"));
        let inner = opened.and_then(|(_, rest)| rest.rsplit_once(')')).map(|(inner, _)| inner);
        return inner.into_iter().chain([arg]).collect();
    }
    let attached = arg.get(2..).filter(|_| !arg.starts_with("--"));
    arg.split_once('=').map(|(_, value)| value).into_iter().chain(attached).collect()
}

fn holds_grave(text: &str, runner: bool) -> bool {
    text.split(|found: char| !(found.is_ascii_alphanumeric() || matches!(found, '.' | '-' | '_')))
        .any(|word| is_grave(word, runner))
}

#[cfg(test)]
mod tests {
    use super::{GRAVE, READS, RUNNERS};

    #[test]
    fn the_tables_are_sorted_so_that_they_can_be_searched() {
        assert!(RUNNERS.is_sorted() && READS.is_sorted() && GRAVE.is_sorted());
    }
}
