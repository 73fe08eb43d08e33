//! Paths, made absolute without looking at the disk.

use super::{Arg, UNKNOWN, matches};
use crate::approval::shell::Surroundings;

/// Stands for the home when it is not known. No user has such a name.
const SOME_HOME: &str = "/home/~";

/// The directories that paths are resolved against.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    /// Where the command runs, if that is known.
    pub(crate) directory: Option<String>,
    pub(crate) home: String,
    pub(crate) workspace: Option<String>,
    /// Whether the workspace is a git repository of its own.
    pub(crate) is_repository: bool,
    /// Whether a `cd` that may have failed leaves the directory in doubt.
    pub(crate) is_doubtful: bool,
    own: Vec<String>,
    /// Other spellings of the home and the workspace, longest first.
    spellings: Vec<(String, String)>,
}

impl Places {
    pub(crate) fn of(surroundings: &Surroundings) -> Self {
        let mut spellings: Vec<(String, String)> = Vec::new();
        for (other, given) in &surroundings.spellings {
            // The given spelling of one may lie below another spelling of the other.
            let given = respelled(tidy(given, "/"), &spellings);
            spellings.push((tidy(other, "/"), given));
            spellings.sort_by_key(|(other, _)| std::cmp::Reverse(other.len()));
        }
        let one = |path: &str| respelled(tidy(path, "/"), &spellings);
        let plain = |path: &Option<String>| path.as_deref().map(one);
        let own = surroundings.own.iter().flat_map(|path| [tidy(path, "/"), one(path)]).collect();
        Self {
            directory: plain(&surroundings.directory).or_else(|| plain(&surroundings.workspace)),
            home: plain(&surroundings.home).unwrap_or_else(|| SOME_HOME.into()),
            workspace: plain(&surroundings.workspace),
            is_repository: surroundings.is_repository,
            is_doubtful: surroundings.directory.is_none(),
            own,
            spellings,
        }
    }

    /// The absolute path of an argument, if it is known.
    pub(crate) fn absolute(&self, arg: &Arg) -> Option<String> {
        if arg.text.contains(UNKNOWN) { None } else { self.absolute_text(&arg.text) }
    }

    /// The absolute path of a text, if the directory that it depends on is known.
    pub(crate) fn absolute_text(&self, text: &str) -> Option<String> {
        let mut text = text;
        while let Some(rest) = ["/proc/self/root", "/proc/1/root"].iter().find_map(|way| text.strip_prefix(way)) {
            text = if rest.is_empty() { "/" } else { rest };
        }
        if let Some(rest) = text.strip_prefix("/proc/self/cwd") {
            return self.directory.as_deref().map(|directory| self.one(tidy(rest.trim_start_matches('/'), directory)));
        }
        if text.starts_with('/') {
            return Some(self.one(tidy(text, "/")));
        }
        self.directory.as_deref().map(|directory| self.one(tidy(text, directory)))
    }

    /// A path in the one spelling that all comparisons use.
    fn one(&self, path: String) -> String {
        if self.spellings.is_empty() { path } else { respelled(path, &self.spellings) }
    }

    /// Whether a path is the workspace, lies in it, or holds it.
    pub(crate) fn meets_workspace(&self, path: &str) -> bool {
        self.workspace
            .as_deref()
            .is_some_and(|workspace| path == workspace || below(path, workspace) || below(workspace, path))
    }

    /// Whether the command may run in the workspace: a directory that is not known may be there.
    pub(crate) fn is_in_workspace(&self) -> bool {
        self.directory.as_deref().is_none_or(|directory| self.meets_workspace(directory))
    }

    /// The path below the workspace, if it lies there.
    pub(crate) fn below_workspace<'a>(&self, path: &'a str) -> Option<&'a str> {
        path.strip_prefix(self.workspace.as_deref()?)?.strip_prefix('/')
    }

    /// The host's own path that an argument names, holds or may match as a pattern.
    pub(crate) fn hosts_own(&self, arg: &Arg) -> Option<String> {
        let path = self.absolute(arg)?;
        let matched = arg.glob && self.own.iter().any(|own| pattern_meets(&path, own));
        (matched || self.is_the_hosts(&path)).then_some(path)
    }

    /// Whether a path lies in the workspace, and is not the workspace itself.
    pub(crate) fn inside_workspace(&self, path: &str) -> bool {
        self.workspace.as_deref().is_some_and(|workspace| below(path, workspace))
    }

    /// Whether a path is one of the host's own, or one of them lies below it.
    pub(crate) fn is_the_hosts(&self, path: &str) -> bool {
        let default = self.below_home(path).is_some_and(|path| path == ".hermes" || path.starts_with(".hermes/"));
        let named = |own: &String| own == path || below(path, own) || below(own, path);
        self.own.iter().any(named) || (default && !self.inside_workspace(path))
    }

    /// The path below the home, if it lies there.
    pub(crate) fn below_home<'a>(&self, path: &'a str) -> Option<&'a str> {
        if let Some(rest) = path.strip_prefix(self.home.as_str()).and_then(|rest| rest.strip_prefix('/')) {
            return Some(rest);
        }
        // The homes of others hold keys too.
        path.strip_prefix("/root/").or_else(|| {
            let (_, rest) = path.strip_prefix("/home/").or_else(|| path.strip_prefix("/Users/"))?.split_once('/')?;
            Some(rest)
        })
    }
}

/// Whether `path` lies below `folder`.
pub(crate) fn below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder)
        .is_some_and(|rest| if folder == "/" { !rest.is_empty() } else { rest.starts_with('/') && rest.len() > 1 })
}

/// Whether a pattern may match a path, a folder above it or something below it.
fn pattern_meets(pattern: &str, path: &str) -> bool {
    pattern.split('/').zip(path.split('/')).all(|(pattern, part)| matches(pattern, part))
}

/// A path with the beginning that it has in the spelling that the operator gave.
fn respelled(path: String, spellings: &[(String, String)]) -> String {
    for (other, given) in spellings {
        if path == *other {
            return given.clone();
        }
        if below(&path, other)
            && let Some(rest) = path.strip_prefix(other.as_str())
        {
            return format!("{given}{rest}");
        }
    }
    path
}

/// Joins a path to a directory and takes out `.`, `..` and double slashes.
fn tidy(path: &str, directory: &str) -> String {
    let base = if path.starts_with('/') { "" } else { directory };
    let mut parts: Vec<&str> = Vec::new();
    for part in base.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let mut out = String::with_capacity(base.len() + path.len() + 1);
    for part in &parts {
        out.push('/');
        out.push_str(part);
    }
    if out.is_empty() { "/".into() } else { out }
}

#[cfg(test)]
mod tests {
    use super::{below, tidy};

    #[test]
    fn a_path_is_tidied_without_the_disk() {
        for (path, directory, expected) in [
            ("/", "/w", "/"),
            ("//etc/./x/..", "/w", "/etc"),
            ("../..", "/w", "/"),
            ("a/../../b", "/w", "/b"),
            (".", "/w/x", "/w/x"),
        ] {
            assert_eq!(tidy(path, directory), expected);
        }
    }

    #[test]
    fn a_folder_is_not_below_itself() {
        assert!(below("/w/a", "/w"));
        assert!(!below("/w", "/w"));
        assert!(!below("/wx", "/w"));
        assert!(below("/a", "/"));
    }
}
