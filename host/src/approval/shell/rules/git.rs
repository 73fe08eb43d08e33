//! `git`: what loses work, and what runs programs.

use super::Call;
use crate::approval::shell::{
    Category,
    resolve::Arg,
    walk::{Flow, Walker},
};

pub(super) fn rule(walker: &mut Walker, call: &Call<'_>) -> bool {
    if call.name != "git" {
        return false;
    }
    let mut args = call.args;
    while let Some((first, rest)) = args.split_first() {
        if !first.is_option() {
            break;
        }
        args = rest;
        let takes = ["-c", "-C", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"];
        let mut value = None;
        if takes.contains(&first.text.as_str()) {
            value = rest.first();
            args = rest.get(1..).unwrap_or(&[]);
        }
        match (first.text.as_str(), value) {
            ("-c", Some(setting)) => config(walker, setting),
            ("-C", Some(folder)) => {
                let folder = walker.scope.places.absolute(folder);
                return walker.aside(|walker| {
                    walker.scope.places.directory = folder;
                    rule(walker, &Call { args, ..*call })
                });
            }
            (text, _) if text.starts_with("--config-env") || text.starts_with("--exec-path=") => {
                walker.ask(Category::Environment, call.shown());
            }
            _ => {}
        }
    }
    let Some((command, args)) = args.split_first() else { return true };
    if !command.is_known() {
        walker
            .ask(Category::UnknownCommand, format!("a git command that is only known when it runs: {}", call.shown()));
    }
    for arg in args {
        if let Some((_, text)) = arg.text.split_once("ext::") {
            walker.ask(Category::InlineCode, call.shown());
            walker.program_text("git ext::", text);
        }
    }
    writes(walker, &command.text, args);
    let inner = Call { name: &command.text, args, input: call.input };
    loses(walker, &inner);
    runs(walker, &inner);
    true
}

/// Files and folders that a command makes. Addresses among them are no paths.
fn writes(walker: &mut Walker, command: &str, args: &[Arg]) {
    let makes = matches!(
        command,
        "clone"
            | "worktree"
            | "bundle"
            | "init"
            | "archive"
            | "format-patch"
            | "diff"
            | "show"
            | "log"
            | "checkout-index"
            | "apply"
            | "config"
    );
    // These name paths of the repository; only an option makes a file.
    let shows = matches!(command, "diff" | "show" | "log" | "config" | "apply");
    let mut file = false;
    for arg in args.iter().filter(|_| makes) {
        let value = arg.text.split_once('=').map(|(_, value)| value).filter(|_| arg.is_option());
        let text = value.or_else(|| (!arg.is_option() && (file || !shows)).then_some(arg.text.as_str()));
        file = matches!(arg.text.as_str(), "-o" | "--output" | "-f" | "--file" | "--directory");
        if let Some(text) = text.filter(|text| !text.contains("://")) {
            super::write::file(walker, &Arg { text: text.into(), ..arg.clone() }, "git writes");
        }
    }
    if command == "add"
        && let Some(secret) = args.iter().find_map(|arg| super::secrets::secret(walker, arg))
    {
        walker.ask(Category::CredentialRead, format!("git takes up {secret}"));
    }
}

/// A setting given for one command.
fn config(walker: &mut Walker, setting: &Arg) {
    let (key, value) = setting.text.split_once('=').unwrap_or((&setting.text, ""));
    if let Some(kind) = runs_program(key) {
        match kind {
            Kind::Alias if !value.starts_with('!') => {}
            Kind::Alias | Kind::Shell => walker.program_text("git -c", value.trim_start_matches('!')),
            Kind::Folder => walker.ask(Category::Environment, format!("git -c {}", setting.shown())),
        }
    }
}

enum Kind {
    /// Shell text after `!`.
    Alias,
    /// Shell text.
    Shell,
    /// Decides which programs run.
    Folder,
}

fn runs_program(key: &str) -> Option<Kind> {
    let key = key.to_lowercase();
    let last = key.rsplit('.').next().unwrap_or("");
    if key.starts_with("alias.") {
        return Some(Kind::Alias);
    }
    let shell = [
        "core.pager",
        "core.editor",
        "core.sshcommand",
        "core.askpass",
        "core.gitproxy",
        "sequence.editor",
        "diff.external",
        "gpg.program",
        "credential.helper",
    ];
    if shell.contains(&key.as_str())
        || key.starts_with("pager.")
        || matches!(
            last,
            "textconv" | "clean" | "smudge" | "process" | "cmd" | "driver" | "command" | "helper" | "vcs" | "program"
        )
    {
        return Some(Kind::Shell);
    }
    let folder = matches!(
        key.as_str(),
        "core.hookspath"
            | "core.fsmonitor"
            | "core.attributesfile"
            | "core.worktree"
            | "protocol.ext.allow"
            | "init.templatedir"
            | "include.path"
    );
    let elsewhere = matches!(last, "insteadof" | "pushinsteadof" | "proxy");
    (folder || elsewhere || key.starts_with("includeif.")).then_some(Kind::Folder)
}

/// Whether a path looks like one file and not like a folder.
fn has_extension(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.trim_start_matches('.').contains('.'))
}

fn loses(walker: &mut Walker, call: &Call<'_>) {
    let hidden = call.may_hide_options() && matches!(call.name, "push" | "reset" | "clean" | "branch");
    let lost = match call.name {
        "push" => {
            let marks = call.operands().skip(1).any(|arg| arg.text.starts_with(['+', ':']));
            let force = call.has('f', "force")
                || call.has('d', "delete")
                || call.has('\0', "mirror")
                || call.has('\0', "prune");
            marks || force || call.options().any(|arg| arg.text.starts_with("--force"))
        }
        "reset" => call.has('\0', "hard") || call.says(&["--merge", "--keep"]),
        "checkout-index" => call.has('f', "force"),
        "clean" => (call.has('f', "force") || call.says(&["-x", "-X", "-fdx"])) && !call.has('n', "dry-run"),
        "branch" => {
            let delete = call.has('d', "delete");
            call.has('D', "") || (delete && call.has('f', "force")) || call.has('M', "") || call.has('C', "")
        }
        "tag" => call.has('d', "delete") || call.has('f', "force"),
        "stash" => matches!(call.operand(0), "drop" | "clear"),
        "reflog" => matches!(call.operand(0), "expire" | "delete"),
        "gc" => call.options().any(|arg| arg.text.starts_with("--prune=")),
        "prune" | "filter-branch" | "filter-repo" | "update-ref" | "replace" => true,
        // A rebase that is going on is not begun by these.
        "rebase" => !call.says(&["--abort", "--continue", "--skip", "--quit", "--edit-todo", "--show-current-patch"]),
        "commit" => call.has('\0', "amend"),
        "checkout" | "switch" => {
            call.has('f', "force")
                || call.has('B', "")
                || call.has('C', "force-create")
                || call.says(&["--discard-changes"])
                || call.operands().any(|arg| arg.text == "." || arg.text == ":/")
                // Changes of whole folders are lost, as with `.`.
                || call.args.iter().skip_while(|arg| arg.text != "--").skip(1).any(|arg| !has_extension(&arg.text))
        }
        "restore" => !call.has('S', "staged") && call.operands().any(|arg| !has_extension(&arg.text)),
        "rm" => !call.has('\0', "cached") && (call.has('r', "") || call.has('f', "force")),
        "read-tree" => call.has('\0', "reset"),
        "submodule" => call.commands_are(&["deinit"]) && call.has('f', "force"),
        "worktree" => call.operand(0) == "remove" && call.has('f', "force"),
        "remote" => matches!(call.operand(0), "remove" | "rm" | "prune"),
        _ => false,
    };
    let sends = call.name == "push";
    if lost || hidden {
        let inside = walker.scope.places.is_in_workspace() && (!sends || walker.sends_out);
        walker.ask_inside(Category::Git, format!("git {}", call.shown()), inside);
    }
    if sends && walker.sends_out {
        walker.ask(Category::Exfiltration, format!("git {} sends the repository", call.shown()));
    }
}

fn runs(walker: &mut Walker, call: &Call<'_>) {
    match call.name {
        "config" => {
            let key = call.operand(if matches!(call.operand(0), "set" | "get" | "unset" | "list") { 1 } else { 0 });
            let reads =
                call.says(&["get", "list", "--get", "--list", "-l", "--get-all"]) || call.operands().count() < 2;
            if runs_program(key).is_some() && !reads {
                let inside = walker.scope.places.is_in_workspace() && !call.says(&["--global", "--system"]);
                walker.ask_inside(Category::Persistence, format!("git {}", call.shown()), inside);
                if let Some(text) = call.operands().last().and_then(|arg| arg.text.strip_prefix('!')) {
                    walker.program_text("git config", text);
                }
            }
        }
        "bisect" if call.operand(0) == "run" => {
            let command = call.args.iter().skip(1).cloned().collect();
            walker.call(command, &Flow::unknown());
        }
        "submodule" if call.operand(0) == "foreach" => {
            let text = call.operands().skip(1).map(|arg| arg.text.as_str()).collect::<Vec<_>>().join(" ");
            walker.program_text("git submodule foreach", &text);
        }
        "rebase" => text_options(walker, call, "-x", "--exec"),
        "difftool" => text_options(walker, call, "-x", "--extcmd"),
        "grep" => text_options(walker, call, "-O", "--open-files-in-pager"),
        "clone" | "fetch" | "ls-remote" | "pull" | "push" | "archive" | "fetch-pack" | "send-pack" => {
            let short = if call.name == "clone" { "-u" } else { "" };
            text_options(walker, call, short, "--upload-pack");
            text_options(walker, call, "", "--receive-pack");
            text_options(walker, call, "", "--exec");
            for setting in call.values("-c", "--config") {
                if call.name == "clone" {
                    config(walker, &setting);
                }
            }
            if call.values("", "--template").iter().any(|_| call.name == "clone") {
                walker.ask(Category::Environment, format!("git {}", call.shown()));
            }
        }
        "maintenance" if call.commands_are(&["start", "register"]) => {
            walker.ask(Category::Schedule, format!("git {}", call.shown()));
        }
        "init" if !call.long_values("--template").is_empty() => {
            walker.ask(Category::Environment, format!("git {}", call.shown()));
        }
        "send-email" => walker.ask(Category::Exfiltration, format!("git {}", call.shown())),
        "credential" | "credential-store" => walker.ask(Category::CredentialRead, format!("git {}", call.shown())),
        "daemon" | "instaweb" | "shell" => walker.ask(Category::ReverseShell, format!("git {}", call.shown())),
        _ => {}
    }
}

fn text_options(walker: &mut Walker, call: &Call<'_>, short: &str, long: &str) {
    let mut values = if short.is_empty() { vec![] } else { call.values(short, "") };
    values.extend(call.long_values(long));
    for value in values {
        walker.program_text(&format!("git {} {long}", call.name), &value.text);
    }
}
