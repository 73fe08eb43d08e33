//! `git` commands that only look, in the workspace's own repository.
//!
//! git obeys the configuration of the repository that it finds: `core.fsmonitor`, `core.pager`, external diffs and filters name
//! programs. The workspace's repository is the operator's own, and a command that changes its configuration asks. Any other
//! repository may be the work of others, and so may a submodule, which `status` and `diff` look into. So these commands are understood
//! only where they start in the workspace's root, with a `.git` there, and without an option that names another repository, a setting or
//! a program.

use super::{paths, table::Use};
use crate::approval::shell::{
    resolve::{Arg, Sure},
    walk::Walker,
};

/// Commands that look, whatever operands they have.
const LOOKS: [&str; 10] =
    ["blame", "cat-file", "describe", "log", "ls-files", "merge-base", "rev-list", "rev-parse", "shortlog", "show"];

/// Options that write, run a program or leave the repository.
const REFUSED: [&str; 16] = [
    "--output",
    "--ext-diff",
    "--textconv",
    "--filters",
    "--open-files-in-pager",
    "--no-index",
    "--exec",
    "--contents",
    "--git-dir",
    "--path-format",
    "--batch-command",
    "--show-signature",
    "--dirty",
    "--broken",
    "--submodule",
    "--ignore-revs-file",
];

/// A value of an operand or an option that leaves the repository, or a format that has signatures checked by gpg.
fn leaves(arg: &Arg) -> bool {
    let value = arg.text.split_once('=').map_or(arg.text.as_str(), |(_, value)| value);
    let is_outside = |text: &str| text.starts_with(['/', '~']) || text.split('/').any(|part| part == "..");
    is_outside(&arg.text) || is_outside(value) || arg.text.contains("%G")
}

/// Whether the command only looks at the workspace's repository.
pub(super) fn understood(walker: &mut Walker, args: &[Arg]) -> bool {
    let places = &walker.scope.places;
    let is_at_root = !places.is_doubtful && places.directory.is_some() && places.directory == places.workspace;
    if !places.is_repository || !is_at_root {
        return false;
    }
    let args = match args {
        [first, rest @ ..] if first.text == "--no-pager" => rest,
        args => args,
    };
    let Some((command, args)) = args.split_first() else { return true };
    if !command.is_known() || args.iter().any(|arg| arg.sure == Sure::Split || paths::may_be_option(arg)) {
        return false;
    }
    let is_plain = match command.text.as_str() {
        // These look into each submodule, where git obeys the configuration of the submodule.
        "status" | "diff" => {
            let is_ignored = |arg: &Arg| matches!(arg.text.as_str(), "--ignore-submodules" | "--ignore-submodules=all");
            let mut about = args.iter().filter(|arg| arg.text.starts_with("--ig")).peekable();
            about.peek().is_some() && about.all(is_ignored)
        }
        "branch" => {
            matches!(args, [])
                || args
                    .iter()
                    .all(|arg| matches!(arg.text.as_str(), "-a" | "-v" | "-vv" | "-r" | "--show-current" | "--list"))
        }
        "tag" => args.is_empty() || args.iter().all(|arg| matches!(arg.text.as_str(), "-l" | "--list")),
        "remote" => matches!(args, []) || matches!(args, [arg] if arg.text == "-v"),
        "stash" | "worktree" => matches!(args, [arg] if arg.text == "list"),
        "grep" => !args.iter().any(|arg| arg.text.starts_with('-') && arg.text.contains('O')),
        name => LOOKS.contains(&name),
    };
    // git takes the beginning of a long option for the option.
    let is_refused = |arg: &Arg| {
        let name = arg.text.split('=').next().unwrap_or("");
        name.len() > 2 && name.starts_with("--") && REFUSED.iter().any(|refused| refused.starts_with(name))
    };
    if !is_plain
        || args.iter().any(leaves)
        || args.iter().any(|arg| arg.is_option() && (!arg.is_known() || is_refused(arg)))
    {
        return false;
    }
    for arg in args.iter().skip_while(|arg| arg.text != "--").skip(1) {
        paths::used(walker, "git", arg, Use::Read);
    }
    true
}
