//! What a model is told when a confined command failed and the sandbox is the likely cause.

use std::path::Path;

use super::super::Ended;

/// What programs print when the sandbox refused something, in small letters, and what was refused.
const SIGNS: [(&str, Refused); 16] = [
    ("permission denied", Refused::File),
    ("operation not permitted", Refused::File),
    ("read-only file system", Refused::File),
    ("device or resource busy", Refused::File),
    ("permissionerror", Refused::File),
    ("eacces", Refused::File),
    ("eperm", Refused::File),
    ("erofs", Refused::File),
    ("could not resolve", Refused::Network),
    ("unable to resolve", Refused::Network),
    ("failure in name resolution", Refused::Network),
    ("name or service not known", Refused::Network),
    ("no such host", Refused::Network),
    ("network is unreachable", Refused::Network),
    ("eai_again", Refused::Network),
    ("enetunreach", Refused::Network),
];

/// What programs print of a path that the sandbox does not show.
const ABSENT: [&str; 3] = ["no such file or directory", "enoent", "cannot find the path"];

/// Bytes of output that are searched, from its end: the error is the last thing that is printed.
const SEARCHED: usize = 8 * 1024;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Refused {
    File,
    Network,
}

impl Refused {
    fn hint(self, has_network: bool) -> &'static str {
        match (self, has_network) {
            (Self::File, _) => {
                "the sandbox is a likely cause: a confined command writes in the workspace and its own /tmp, and reads those, the \
                 system and toolchains; if it needs more, ask for it with escalate=\"unconfined\" and a reason"
            }
            (Self::Network, false) => {
                "the sandbox is a likely cause: a confined command has no network; if it needs one, ask for it with \
                 escalate=\"network\" and a reason"
            }
            (Self::Network, true) => {
                "the sandbox is a likely cause: a confined command reaches public addresses through the proxy in http_proxy alone; \
                 if it needs more, ask for it with escalate=\"unconfined\" and a reason"
            }
        }
    }
}

/// The hint for a command that failed. `shows` says whether the sandbox shows a path.
pub(super) fn of(ended: Ended, output: &str, has_network: bool, shows: impl Fn(&Path) -> bool) -> Option<&'static str> {
    if ended.code() == 0 {
        return None;
    }
    let start = output.ceil_char_boundary(output.len().saturating_sub(SEARCHED));
    let output = output.get(start..).unwrap_or_default();
    let lower = output.to_ascii_lowercase();
    if let Some((_, refused)) = SIGNS.iter().find(|(sign, _)| lower.contains(sign)) {
        return Some(refused.hint(has_network));
    }
    // Whether the path exists outside is not for the command to know, so every path that is not shown counts.
    let mut paths =
        output.split(|c: char| c.is_whitespace() || "'\"`:,()".contains(c)).filter(|word| word.starts_with('/'));
    let is_absent = ABSENT.iter().any(|sign| lower.contains(sign));
    (is_absent && paths.any(|path| !shows(Path::new(path)))).then(|| Refused::File.hint(has_network))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_that_the_sandbox_causes_names_the_way_out() {
        let hint = |code, output, network| of(Ended::Exit(code), output, network, |path| path.starts_with("/usr"));
        let names = |hint: Option<&str>, word: &str| hint.is_some_and(|hint| hint.contains(word));
        assert!(names(hint(1, "touch: cannot touch '/etc/x': Permission denied", false), "unconfined"));
        assert!(names(hint(1, "open /x: permission denied", false), "unconfined"));
        assert!(names(hint(6, "curl: (6) Could not resolve host: a.example", false), "\"network\""));
        assert!(names(hint(4, "wget: unable to resolve host address", false), "\"network\""));
        assert!(names(hint(6, "curl: (6) Could not resolve host: a.example", true), "http_proxy"));
        assert!(names(hint(1, "cat: /home/ada/notes: No such file or directory", false), "unconfined"));
        assert_eq!(hint(1, "cat: /usr/x: No such file or directory", false), None);
        assert_eq!(hint(1, "cat: x: No such file or directory", false), None);
        assert_eq!(hint(1, "assertion failed", false), None);
        assert_eq!(hint(0, "Permission denied", false), None);
    }
}
