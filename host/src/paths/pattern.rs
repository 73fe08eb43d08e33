//! The patterns of the tables: where one begins, and the names that follow.
//!
//! | text | covers |
//! |---|---|
//! | `**/.vscode` | the name in any folder, and all below it |
//! | `**/.cargo/config.toml` | the two names in a row, in any folder |
//! | `~/.local/bin` | the path in the home, and all below it |
//! | `/etc/shadow` | the path from the root, and all below it |
//!
//! In a name `*` stands for any bytes and `?` for one. Letters match without their case, since some disks do not tell them apart.

use std::{
    os::unix::ffi::OsStrExt,
    path::{Component, Path},
};

use serde::Deserialize;

/// Where a pattern begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    /// In any folder.
    Anywhere,
    /// In the home.
    Home,
    /// At the root.
    Root,
}

/// A pattern of paths. It covers what it names, and all below that.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct PathPattern {
    anchor: Anchor,
    /// As written, without the anchor.
    below: String,
    names: Vec<KnownName>,
}

/// One name of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
struct KnownName {
    text: String,
    is_literal: bool,
}

impl TryFrom<String> for PathPattern {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let anchors = [("**/", Anchor::Anywhere), ("~/", Anchor::Home), ("/", Anchor::Root)];
        let found = anchors.iter().find_map(|(start, anchor)| Some((text.strip_prefix(start)?, *anchor)));
        let (below, anchor) = found.ok_or_else(|| format!("{text:?} begins with none of **/, ~/ and /"))?;
        // A name of its own at both ends: nothing covers everything.
        let ends = [below.split('/').next(), below.split('/').next_back()];
        if below.split('/').any(|name| matches!(name, "" | "." | ".." | "**")) || ends.contains(&Some("*")) {
            return Err(format!("{text:?} has a name that is empty, a dot or everything"));
        }
        let name = |text: &str| KnownName { text: text.to_owned(), is_literal: !text.contains(['*', '?']) };
        Ok(Self { anchor, below: below.to_owned(), names: below.split('/').map(name).collect() })
    }
}

impl PathPattern {
    pub(crate) fn anchor(&self) -> Anchor {
        self.anchor
    }

    /// The names after the anchor, with slashes between them.
    pub(crate) fn below(&self) -> &str {
        &self.below
    }

    /// Whether no name of it has `*` or `?`.
    pub(crate) fn is_literal(&self) -> bool {
        self.names.iter().all(|name| name.is_literal)
    }

    /// Whether it covers a path. What it names must be longer than `beyond` names from the root: a folder that was granted is no
    /// longer asked about, and neither is what it lies in.
    pub(crate) fn covers(&self, path: &[&[u8]], home: Option<&[&[u8]]>, beyond: usize) -> bool {
        let at = |start: usize| {
            let own = path.get(start..).unwrap_or_default();
            let length = self.names.len();
            own.len() >= length
                && start + length > beyond
                && self.names.iter().zip(own).all(|(known, name)| known.is(name))
        };
        match (self.anchor, home) {
            (Anchor::Root, _) => at(0),
            (Anchor::Home, Some(home)) => path.starts_with(home) && at(home.len()),
            (Anchor::Home, None) => false,
            (Anchor::Anywhere, _) => (0..path.len()).any(at),
        }
    }

    /// Whether it covers a path below a home, given from there. What may lie anywhere counts at the top of the home.
    pub(crate) fn covers_in_home(&self, below: &str) -> bool {
        let mut names = below.split('/').map(str::as_bytes);
        self.anchor != Anchor::Root && self.names.iter().all(|known| names.next().is_some_and(|name| known.is(name)))
    }

    /// Whether something is just what it names in any folder, by its own name and that of the folder it is in. Only for patterns
    /// of two names at most.
    pub(crate) fn is_entry(&self, above: &[u8], name: &[u8]) -> bool {
        match (self.anchor, self.names.as_slice()) {
            (Anchor::Anywhere, [known]) => known.is(name),
            (Anchor::Anywhere, [folder, known]) => known.is(name) && folder.is(above),
            _ => false,
        }
    }
}

/// The names of a path from the root.
pub(crate) fn names_of(path: &Path) -> Vec<&[u8]> {
    let normal = |part| match part {
        Component::Normal(name) => Some(name.as_bytes()),
        _ => None,
    };
    path.components().filter_map(normal).collect()
}

impl KnownName {
    fn is(&self, name: &[u8]) -> bool {
        let known = self.text.as_bytes();
        if self.is_literal {
            return known.eq_ignore_ascii_case(name);
        }
        // Nearly all names are done here: a walk asks of every entry.
        let (last, end) = (known.last().copied(), name.last().copied());
        let may_end = last == Some(b'*') || last == Some(b'?') || last.map(lower) == end.map(lower);
        may_end && fits(known, name)
    }
}

fn lower(byte: u8) -> u8 {
    byte.to_ascii_lowercase()
}

/// Whether a name fits a pattern with wildcards. At most one star is taken back at a time, so it takes no more than the product of
/// the lengths.
fn fits(known: &[u8], name: &[u8]) -> bool {
    let (mut at, mut from) = (0, 0);
    // What follows the last star, and where it was tried last.
    let mut again: Option<(usize, usize)> = None;
    while from < name.len() {
        match known.get(at) {
            Some(b'*') => {
                again = Some((at + 1, from));
                at += 1;
            }
            Some(byte) if *byte == b'?' || byte.eq_ignore_ascii_case(&name[from]) => {
                at += 1;
                from += 1;
            }
            _ => match again {
                Some((star, start)) => {
                    (at, from) = (star, start + 1);
                    again = Some((star, start + 1));
                }
                None => return false,
            },
        }
    }
    known[at..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> PathPattern {
        text.to_owned().try_into().unwrap()
    }

    fn covers(text: &str, path: &str, beyond: usize) -> bool {
        let home = names_of(Path::new("/home/ada"));
        pattern(text).covers(&names_of(Path::new(path)), Some(&home), beyond)
    }

    #[test]
    fn a_pattern_covers_what_it_names_and_all_below() {
        for (text, path) in [
            ("**/.vscode", "/p/.vscode"),
            ("**/.vscode", "/p/sub/.VSCode/tasks.json"),
            ("**/.cargo/config.toml", "/p/.cargo/config.toml"),
            ("**/.git/modules/*/hooks", "/p/.git/modules/lib/hooks/pre-push"),
            ("~/.local/bin", "/home/ada/.local/bin/ls"),
            ("/etc/ssh/ssh_host_*_key", "/etc/ssh/ssh_host_rsa_key"),
            ("**/?*.key", "/p/a.b.key"),
            ("**/*key*.pem", "/p/server-key-1.pem"),
        ] {
            assert!(covers(text, path, 0), "{text} {path}");
        }
        for (text, path) in [
            ("**/.vscode", "/p/.vscode2/x"),
            ("**/.cargo/config.toml", "/p/.cargo/x/config.toml"),
            ("~/.local/bin", "/p/.local/bin/ls"),
            ("~/.local/bin", "/home/ada/p/.local/bin"),
            ("/etc/ssh/ssh_host_*_key", "/etc/ssh/ssh_host_rsa_key.pub"),
            ("**/?*.key", "/p/.key"),
            ("**/?*.key", "/p/a.keys"),
        ] {
            assert!(!covers(text, path, 0), "{text} {path}");
        }
    }

    #[test]
    fn what_was_granted_itself_is_not_covered() {
        assert!(covers("**/.vscode", "/p/.vscode/tasks.json", 1));
        assert!(!covers("**/.vscode", "/p/.vscode/tasks.json", 2));
        assert!(covers("**/.git/hooks", "/p/.git/hooks/x", 2));
        assert!(covers("**/.vscode", "/p/.vscode/a/.vscode", 2));
    }

    #[test]
    fn a_text_without_an_anchor_or_with_an_odd_name_is_no_pattern() {
        for text in ["", ".ssh", "**/", "~/", "/", "~/a/", "~/../x", "**/*", "**/**/x", "a/**/b"] {
            assert!(PathPattern::try_from(text.to_owned()).is_err(), "{text:?}");
        }
    }
}
