//! What a model is told when a confined command failed and the sandbox is the likely cause.

use super::super::Ended;

/// What programs print when the sandbox refused something, and what was refused.
const SIGNS: [(&str, &str); 13] = [
    ("Permission denied", FILES),
    ("Operation not permitted", FILES),
    ("Read-only file system", FILES),
    ("Device or resource busy", FILES),
    ("PermissionError", FILES),
    ("EACCES", FILES),
    ("EROFS", FILES),
    ("Could not resolve host", NETWORK),
    ("Temporary failure in name resolution", NETWORK),
    ("Name or service not known", NETWORK),
    ("Network is unreachable", NETWORK),
    ("EAI_AGAIN", NETWORK),
    ("ENETUNREACH", NETWORK),
];

const FILES: &str = "the sandbox is a likely cause: a confined command writes in the workspace and its own /tmp, and reads those, the \
                     system and toolchains; if it needs more, ask for it with escalate=\"unconfined\" and a reason";

const NETWORK: &str = "the sandbox is a likely cause: a confined command has no network; if it needs one, ask for it with \
                       escalate=\"network\" and a reason";

/// The hint for a command that failed.
pub(super) fn of(ended: Ended, output: &str) -> Option<String> {
    if ended.code() == 0 {
        return None;
    }
    SIGNS.iter().find(|(sign, _)| output.contains(sign)).map(|(_, hint)| (*hint).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_that_the_sandbox_causes_names_the_way_out() {
        let hint = |code, output| of(Ended::Exit(code), output);
        assert!(hint(1, "touch: cannot touch '/etc/x': Permission denied").is_some_and(|it| it.contains("unconfined")));
        assert!(hint(6, "curl: (6) Could not resolve host: a.example").is_some_and(|it| it.contains("network")));
        assert_eq!(hint(1, "assertion failed"), None);
        assert_eq!(hint(0, "Permission denied"), None);
    }
}
