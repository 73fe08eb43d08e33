//! The variables that a command sees: a short list of the host's own, and what the task's commands exported.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStrExt,
};

use super::limits::VARIABLES;

/// Names and values.
pub(crate) type Variables = BTreeMap<OsString, OsString>;

/// What a command gets of the host's own variables. Everything else may be a secret. Attack 42.
const ALLOWED: [&str; 7] = ["PATH", "HOME", "LANG", "TZ", "USER", "SHELL", "TMPDIR"];

/// Where programs are found if the host itself was not told.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What the shell keeps for itself.
const OF_THE_SHELL: [&str; 4] = ["OLDPWD", "PWD", "SHLVL", "_"];

/// What is never carried on to a later command: it would make that one run something else than it says.
const CHANGES_MEANING: [&str; 9] =
    ["BASH_ENV", "ENV", "IFS", "PS4", "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND", "GCONV_PATH", "GLIBC_TUNABLES"];

/// Beginnings of such names: loaders, functions in variables, and the host's own.
const CHANGES_MEANING_BEGINNINGS: [&str; 4] = ["LD_", "DYLD_", "BASH_FUNC_", "HERMES_"];

/// What every command of a host begins with.
pub(crate) fn base(of_the_host: impl Fn(&str) -> Option<OsString>) -> Variables {
    let mut variables: Variables =
        ALLOWED.iter().filter_map(|name| Some((OsString::from(name), of_the_host(name)?))).collect();
    variables.entry("PATH".into()).or_insert_with(|| PATH.into());
    variables
}

/// What kind of terminal a command has, unless its task said otherwise.
pub(crate) fn add_terminal(variables: &mut Variables, pty: bool) {
    let kind = if pty { "xterm-256color" } else { "dumb" };
    variables.entry("TERM".into()).or_insert_with(|| kind.into());
}

/// Changes a task's variables as one command did. Another that ran beside it may have changed others meanwhile.
pub(crate) fn carry(task: &mut Variables, before: &Variables, after: Variables) {
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        task.remove(name);
    }
    for (name, value) in after {
        let room = task.len() < VARIABLES || task.contains_key(&name);
        if room && before.get(&name) != Some(&value) && is_carried(&name) {
            task.insert(name, value);
        }
    }
}

fn is_carried(name: &OsStr) -> bool {
    let bytes = name.as_bytes();
    let is_one_of = |names: &[&str]| names.iter().any(|known| name == *known);
    !bytes.is_empty()
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        && !is_one_of(&OF_THE_SHELL)
        && !is_one_of(&CHANGES_MEANING)
        && !CHANGES_MEANING_BEGINNINGS.iter().any(|start| bytes.starts_with(start.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables<const N: usize>(pairs: [(&str, &str); N]) -> Variables {
        pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect()
    }

    #[test]
    fn a_command_gets_only_what_is_allowed() {
        let host = [("PATH", "/bin"), ("HOME", "/home/a"), ("AWS_SECRET_ACCESS_KEY", "x"), ("LD_PRELOAD", "x.so")];
        let host = |name: &str| host.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
        assert_eq!(base(host), variables([("PATH", "/bin"), ("HOME", "/home/a")]));
        assert_eq!(base(|_| None), variables([("PATH", PATH)]));
    }

    #[test]
    fn changes_are_carried_and_nothing_else_is_touched() {
        let before = variables([("A", "1"), ("B", "1"), ("C", "1")]);
        let mut task = variables([("A", "1"), ("B", "1"), ("C", "another's")]);
        carry(&mut task, &before, variables([("A", "2"), ("C", "1"), ("D", "new"), ("PWD", "/"), ("_", "x")]));
        assert_eq!(task, variables([("A", "2"), ("C", "another's"), ("D", "new")]));
    }

    #[test]
    fn what_would_change_a_later_command_is_not_carried() {
        let mut task = Variables::new();
        let after =
            [("LD_PRELOAD", "x"), ("BASH_ENV", "x"), ("BASH_FUNC_ls%%", "() { :; }"), ("HERMES_X", "x"), ("a b", "x")];
        carry(&mut task, &Variables::new(), variables(after));
        assert_eq!(task, Variables::new());
    }
}
