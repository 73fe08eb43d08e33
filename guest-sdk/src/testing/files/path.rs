//! Paths of the fake workspace. Inside, a file is known by its path below it, without `.` and `..`; the workspace itself is "".

use super::{Fault, fault};
use crate::fs::Reason;

const WORKSPACE: &str = "/workspace";

/// The path below the workspace.
pub(super) fn inside(path: &str) -> Result<String, Fault> {
    let outside = || fault(Reason::Denied, format!("{path} lies outside the granted folders ({WORKSPACE})"));
    let below = match path.strip_prefix(WORKSPACE) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => rest,
        _ if path.starts_with('/') => return Err(outside()),
        _ if path.is_empty() || path.contains('\0') => {
            return Err(fault(Reason::Invalid, format!("{path:?} is not a usable path")));
        }
        _ => path,
    };
    let mut names = Vec::new();
    for name in below.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop().ok_or_else(outside)?),
            name => names.push(name),
        }
    }
    Ok(names.join("/"))
}

/// The whole path.
pub(super) fn real(inside: &str) -> String {
    if inside.is_empty() { WORKSPACE.to_owned() } else { format!("{WORKSPACE}/{inside}") }
}

/// The directories that the path goes through, the nearest first, without the workspace.
pub(super) fn parents(inside: &str) -> impl Iterator<Item = &str> {
    inside.rmatch_indices('/').map(|(at, _)| &inside[..at])
}

/// What is left of the paths below a directory.
pub(super) fn below<'a>(directory: &'a str, paths: impl Iterator<Item = &'a String>) -> impl Iterator<Item = &'a str> {
    paths.filter_map(move |path| match directory {
        "" => Some(path.as_str()),
        _ => path.strip_prefix(directory)?.strip_prefix('/'),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_names_of_one_file_become_one() {
        for path in ["a/b", "./a//b", "a/c/../b", "/workspace/a/b"] {
            assert_eq!(inside(path).unwrap(), "a/b", "{path}");
        }
        assert_eq!(inside(".").unwrap(), "");
    }

    #[test]
    fn nothing_lies_outside() {
        for path in ["..", "a/../../b", "/etc/passwd", "/workspaces"] {
            assert_eq!(inside(path).unwrap_err().reason, Reason::Denied, "{path}");
        }
        assert_eq!(inside("").unwrap_err().reason, Reason::Invalid);
    }
}
