//! Variables whose value changes what later commands mean.

use crate::approval::shell::{Category, Surroundings, walk::Walker};

/// Variables that the shell itself obeys or evaluates, or that programs of the table obey. Sorted.
#[rustfmt::skip]
const OBEYED: [&str; 50] = [
    "BROWSER", "CDPATH", "COMP_WORDBREAKS", "COPROC", "DIRSTACK", "EDITOR", "ENV", "EPOCHREALTIME", "EPOCHSECONDS", "EUID",
    "EXECIGNORE", "FCEDIT", "FIGNORE", "FPATH", "FUNCNAME", "FUNCNEST", "GCONV_PATH", "GLOBIGNORE", "GLOBSORT", "GREP_OPTIONS",
    "GROUPS", "HOME", "HOSTFILE", "IFS", "IGNOREEOF", "INPUTRC", "LINENO", "MAIL", "MAILCHECK", "MAILPATH", "OLDPWD", "OPTERR",
    "OPTIND", "PAGER", "PATH", "POSIXLY_CORRECT", "PPID", "PROMPT_COMMAND", "PWD", "RANDOM", "READLINE_LINE", "SECONDS", "SHELL",
    "SHELLOPTS", "SRANDOM", "TIMEFORMAT", "TMOUT", "TMPDIR", "UID", "VISUAL",
];

/// How the names of further such variables start.
const OBEYED_STARTS: [&str; 12] =
    ["BASH", "DYLD_", "GIT_", "HIST", "JQ_", "LD_", "LESS", "LOCPATH", "PS", "PYTHON", "RIPGREP_", "XDG_"];

/// Variables that may be given to programs: they change how something is shown.
#[rustfmt::skip]
const SHOWN_BY: [&str; 14] = [
    "CI", "CLICOLOR", "CLICOLOR_FORCE", "COLORTERM", "COLUMNS", "DEBUG", "FORCE_COLOR", "LANG", "LANGUAGE", "LINES", "NO_COLOR", "TERM",
    "TZ", "VERBOSE",
];

/// Variables that every shell exports by itself, with what the judge knows from elsewhere.
const KEPT_BY_SHELL: [&str; 4] = ["OLDPWD", "PWD", "SHELL", "_"];

/// Whether a text is the plain name of a variable.
pub(crate) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Whether a variable of the shell may be set without changing what later text means.
pub(super) fn is_settable(name: &str) -> bool {
    is_name(name)
        && name != "_"
        && OBEYED.binary_search(&name).is_err()
        && !OBEYED_STARTS.iter().any(|start| name.starts_with(start))
        && !matches!(name, "histchars" | "auto_resume")
}

/// Whether a variable may be given to programs.
pub(super) fn is_exportable(name: &str) -> bool {
    is_settable(name)
        && (name.bytes().any(|byte| byte.is_ascii_lowercase()) || SHOWN_BY.contains(&name) || name.starts_with("LC_"))
}

pub(super) fn doubt(walker: &mut Walker, name: &str) {
    walker.doubt(Category::UnknownCommand, format!("{name} may change what later commands do"));
}

/// Looks at a variable that the text sets for the shell itself.
pub(crate) fn assigned(walker: &mut Walker, name: &str) {
    if !is_settable(name) {
        doubt(walker, name);
    }
}

/// Looks at a variable that the text gives to a program. `IFS= read` is how lines are read.
pub(crate) fn exported(walker: &mut Walker, name: &str, program: &str) {
    if !(is_exportable(name) || (name == "IFS" && program == "read")) {
        doubt(walker, name);
    }
}

/// Looks at what the task exported earlier: a person let it pass for what it was, not for what each later command makes of it.
pub(crate) fn inherited(walker: &mut Walker, surroundings: &Surroundings) {
    if surroundings.is_confined {
        return;
    }
    for (name, text) in &surroundings.variables {
        let is_plain_path = name == "PATH" && plain_search_path(walker, text);
        if !is_settable(name) && !is_plain_path && !KEPT_BY_SHELL.contains(&name.as_str()) {
            walker.doubt(Category::UnknownCommand, format!("{name}, exported earlier, may change what a command does"));
        }
    }
}

/// A search path without folders that the agent or other users can write.
fn plain_search_path(walker: &Walker, text: &str) -> bool {
    let places = &walker.scope.places;
    text.split(':').all(|folder| {
        folder.starts_with('/')
            && !["/tmp", "/var/tmp", "/dev/shm"].iter().any(|open| folder.starts_with(open))
            && places.absolute_text(folder).is_some_and(|folder| !places.meets_workspace(&folder))
    })
}

#[cfg(test)]
mod tests {
    use super::{OBEYED, is_exportable, is_settable};

    #[test]
    fn variables_that_shells_obey_are_neither_set_nor_exported() {
        assert!(OBEYED.is_sorted());
        for name in
            ["PATH", "BASH_ENV", "PS4", "CDPATH", "GLOBIGNORE", "DIRSTACK", "RANDOM", "GIT_DIR", "LD_PRELOAD", "_"]
        {
            assert!(!is_settable(name) && !is_exportable(name), "{name}");
        }
        assert!(is_settable("FILE") && !is_exportable("FILE"));
        assert!(is_settable("file") && is_exportable("LC_ALL"));
    }
}
