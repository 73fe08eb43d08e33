//! Another user's rights.

use crate::approval::shell::{Category, resolve::Arg, walk::Walker};

/// Programs that only look, so that running them as root changes nothing.
const LOOKS: [&str; 40] = [
    "apt-cache",
    "arp",
    "blkid",
    "cat",
    "df",
    "dmesg",
    "du",
    "file",
    "find",
    "free",
    "grep",
    "head",
    "id",
    "iostat",
    "ip",
    "journalctl",
    "ls",
    "lsblk",
    "lscpu",
    "lsmod",
    "lsof",
    "lspci",
    "lsusb",
    "netstat",
    "ping",
    "ps",
    "pwd",
    "readlink",
    "ss",
    "stat",
    "tail",
    "test",
    "top",
    "true",
    "uname",
    "uptime",
    "vmstat",
    "wc",
    "which",
    "whoami",
];

/// Judges a wrapper that takes another user's rights.
pub(crate) fn wrapper(walker: &mut Walker, name: &str, options: &[&Arg], command: &[Arg]) {
    if !matches!(name, "sudo" | "doas" | "pkexec" | "gosu" | "su-exec") {
        return;
    }
    let has = |letters: &str| {
        options
            .iter()
            .any(|arg| !arg.text.starts_with("--") && arg.text.chars().skip(1).any(|letter| letters.contains(letter)))
    };
    let long = |names: &[&str]| options.iter().any(|arg| names.iter().any(|name| arg.text.starts_with(name)));
    if has("SsAia") || long(&["--stdin", "--shell", "--login", "--askpass"]) {
        return walker.ask(Category::Privilege, format!("`{name}` with a password from its input or a whole shell"));
    }
    if has("e") || long(&["--edit"]) {
        return walker.ask(Category::Privilege, format!("`{name}` edits a file of another user"));
    }
    let Some(program) = command.first() else { return };
    let base = program.text.rsplit('/').next().unwrap_or("");
    let looks = LOOKS.binary_search(&base).is_ok() || status(command);
    if !looks {
        walker.ask(Category::Privilege, format!("`{name}` runs {}", program.shown()));
    }
}

/// Subcommands that only show.
fn status(command: &[Arg]) -> bool {
    let word = |at: usize| command.get(at).map_or("", |arg| arg.text.as_str());
    match word(0) {
        "systemctl" => {
            matches!(word(1), "status" | "is-active" | "is-enabled" | "list-units" | "show" | "cat" | "list-timers")
        }
        "docker" | "podman" => matches!(word(1), "ps" | "images" | "logs" | "inspect" | "version" | "info" | "stats"),
        "apt" | "apt-get" => matches!(word(1), "update" | "list" | "search" | "show" | "policy"),
        "ufw" => word(1) == "status",
        "iptables" => matches!(word(1), "-L" | "-S"),
        _ => false,
    }
}
