//! Errors about files of a component that was granted none. Through WASI a guest hears no reason, only that there is no such file: the
//! host knows why, and says so.

use super::CallError;
use crate::capability::Granted;

/// How the standard libraries of languages say that a file can't be reached: Rust, wasi-libc and CPython, and what Node's names for the
/// same are. Other errors of such a component have other reasons.
const FILE_ERRORS: [&str; 7] = [
    "pre-opened file descriptor",
    "No such file or directory",
    "Capabilities insufficient",
    "Bad file descriptor",
    "Not capable",
    "ENOENT",
    "ENOTCAPABLE",
];

/// Adds to an error about files that none was granted, and what the operator can do.
pub(super) fn explain(mut error: CallError, component: &str, granted: &Granted) -> CallError {
    if FILE_ERRORS.iter().any(|text| error.message.contains(text)) {
        let why = match &granted.stale {
            Some(stale) => stale.to_string(),
            None => format!(
                "no folder was granted to {component}; the operator can change that: hermes-host grant {component} --read PATH"
            ),
        };
        error.message.push_str(&format!(" ({why})"));
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::ErrorKind;

    fn explained(message: &str, granted: &Granted) -> String {
        explain(CallError { kind: ErrorKind::Failed, message: message.into() }, "notes", granted).message
    }

    #[test]
    fn an_error_about_files_names_the_grant_and_others_stay_as_they_are() {
        let rust = "failed to find a pre-opened file descriptor through which \"a.txt\" could be opened";
        let nothing = Granted::default();
        let advice =
            "(no folder was granted to notes; the operator can change that: hermes-host grant notes --read PATH)";
        assert_eq!(explained(rust, &nothing), format!("{rust} {advice}"));
        assert_eq!(explained("7 is no prime", &nothing), "7 is no prime");
        let stale = Granted { stale: Some("its grant is for other bytes".into()), ..Granted::default() };
        let python = "[Errno 44] No such file or directory: 'a.txt'";
        assert_eq!(explained(python, &stale), format!("{python} (its grant is for other bytes)"));
    }
}
