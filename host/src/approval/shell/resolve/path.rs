//! Paths, made absolute without looking at the disk.

use super::{Arg, UNKNOWN};
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
    own: Vec<String>,
}

impl Places {
    pub(crate) fn of(surroundings: &Surroundings) -> Self {
        let plain = |path: &Option<String>| path.as_deref().map(|path| tidy(path, "/"));
        Self {
            directory: plain(&surroundings.directory).or_else(|| plain(&surroundings.workspace)),
            home: plain(&surroundings.home).unwrap_or_else(|| SOME_HOME.into()),
            workspace: plain(&surroundings.workspace),
            own: surroundings.own.iter().map(|path| tidy(path, "/")).collect(),
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
            return self.directory.as_deref().map(|directory| tidy(rest.trim_start_matches('/'), directory));
        }
        if text.starts_with('/') {
            return Some(tidy(text, "/"));
        }
        self.directory.as_deref().map(|directory| tidy(text, directory))
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
