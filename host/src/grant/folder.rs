//! One place that a component may use: what the operator wrote, and where that is.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Deserializer, Serialize, de::Error};

use crate::text::is_hidden;

/// What a path starts with that is meant from the operator's home.
const HOME: &str = "~";

/// What may be done with the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// Read them.
    Read,
    /// Read them, and change, make and remove them.
    Write,
}

impl Access {
    /// As it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// What becomes of secrets in what is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Secrets {
    /// The component does not see them.
    #[default]
    #[serde(rename = "mask")]
    Masked,
    /// It sees the files as they are.
    #[serde(rename = "show")]
    Shown,
}

impl Secrets {
    /// As it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Masked => "mask",
            Self::Shown => "show",
        }
    }
}

/// What becomes of files that have other names too, which may lie outside the grant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Links {
    /// They are not handed out.
    #[default]
    #[serde(rename = "refuse")]
    Refused,
    /// They are files like any other.
    #[serde(rename = "allow")]
    Allowed,
}

impl Links {
    /// As it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Refused => "refuse",
            Self::Allowed => "allow",
        }
    }
}

/// A folder and everything below it, or a single file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FolderGrant {
    /// As the operator wrote it: absolute, from the home (`~`, `~/notes`), or from the workspace.
    #[serde(deserialize_with = "written")]
    pub path: PathBuf,
    /// What may be done there.
    pub access: Access,
    /// Whether secrets are masked.
    #[serde(default)]
    pub secrets: Secrets,
    /// Whether files with several names are handed out.
    #[serde(default)]
    pub hard_links: Links,
}

impl FolderGrant {
    /// A grant with the careful choices: secrets masked, files with several names refused.
    pub fn new(path: impl Into<PathBuf>, access: Access) -> Self {
        Self { path: path.into(), access, secrets: Secrets::default(), hard_links: Links::default() }
    }

    /// What a bundled component has without being granted it.
    pub fn workspace() -> Self {
        Self::new(".", Access::Write)
    }

    /// Where it is, absolute if the workspace is. Reads the variable HOME and nothing else.
    pub fn located(&self, workspace: &Path) -> Result<PathBuf, String> {
        locate(&self.path, operators_home().as_deref(), workspace)
    }
}

/// `read ~/notes (secrets shown)`.
impl fmt::Display for FolderGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path == Path::new(".") { "workspace".into() } else { self.path.to_string_lossy() };
        let path: String = path.chars().filter(|c| !is_hidden(*c)).collect();
        write!(f, "{} {path}", self.access.name())?;
        match (self.secrets, self.hard_links) {
            (Secrets::Masked, Links::Refused) => Ok(()),
            (Secrets::Shown, Links::Refused) => f.write_str(" (secrets shown)"),
            (Secrets::Masked, Links::Allowed) => f.write_str(" (hard links allowed)"),
            (Secrets::Shown, Links::Allowed) => f.write_str(" (secrets shown, hard links allowed)"),
        }
    }
}

/// What `~` means.
pub(super) fn operators_home() -> Option<PathBuf> {
    std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute())
}

pub(super) fn locate(path: &Path, home: Option<&Path>, workspace: &Path) -> Result<PathBuf, String> {
    check(path)?;
    let place = match path.strip_prefix(HOME) {
        Ok(rest) => home.ok_or("~ means the folder that HOME names, and it names none")?.join(rest),
        Err(_) => workspace.join(path),
    };
    // Drops what says nothing: `./` and a slash at the end.
    Ok(place.components().collect())
}

fn check(path: &Path) -> Result<(), String> {
    let bytes = path.as_os_str().as_encoded_bytes();
    if bytes.is_empty() {
        return Err("the path is empty; write \".\" for the workspace".into());
    }
    if bytes.contains(&0) {
        return Err("the path contains a NUL, which no file's name does".into());
    }
    if bytes.starts_with(HOME.as_bytes()) && !path.starts_with(HOME) {
        let path = path.display();
        return Err(format!(
            "{path} names another user's home, which is not looked up: write it out; a folder that is called so is ./{path}"
        ));
    }
    Ok(())
}

fn written<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
    let path = PathBuf::from(String::deserialize(deserializer)?);
    check(&path).map_err(D::Error::custom)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<FolderGrant, String> {
        toml::from_str(text).map_err(|why| why.to_string())
    }

    #[test]
    fn the_careful_choice_is_the_default() {
        let grant = parse("path = \"~/notes\"\naccess = \"read\"").unwrap();
        assert_eq!(grant, FolderGrant::new("~/notes", Access::Read));
        assert_eq!((grant.secrets, grant.hard_links), (Secrets::Masked, Links::Refused));
        let open = parse("path = \"/x\"\naccess = \"write\"\nsecrets = \"show\"\nhard_links = \"allow\"").unwrap();
        assert_eq!((open.access, open.secrets, open.hard_links), (Access::Write, Secrets::Shown, Links::Allowed));
    }

    #[test]
    fn what_is_not_understood_is_an_error_that_says_so() {
        for (text, message) in [
            ("path = \"\"\naccess = \"read\"", "empty"),
            ("path = \"a\\u0000b\"\naccess = \"read\"", "NUL"),
            ("path = \"~ada/notes\"\naccess = \"read\"", "another user's home"),
            ("path = \"a\"", "access"),
            ("access = \"read\"", "path"),
            ("path = \"a\"\naccess = \"all\"", "unknown variant"),
            ("path = \"a\"\naccess = \"read\"\nsecret = \"show\"", "unknown field"),
            ("path = \"a\"\naccess = \"read\"\nsecrets = true", "secrets"),
        ] {
            let why = parse(text).unwrap_err();
            assert!(why.contains(message), "{text:?}: {why}");
        }
    }

    #[test]
    fn a_path_is_absolute_or_from_the_home_or_from_the_workspace() {
        let at = |path: &str| locate(Path::new(path), Some(Path::new("/home/ada")), Path::new("/work"));
        for (path, place) in [
            ("/etc/", "/etc"),
            ("~", "/home/ada"),
            ("~/", "/home/ada"),
            ("~/notes/./a", "/home/ada/notes/a"),
            (".", "/work"),
            ("notes", "/work/notes"),
            ("./~ada", "/work/~ada"),
            // Where this leads is for the system to say: what is before it may be a link.
            ("a/../b", "/work/a/../b"),
        ] {
            assert_eq!(at(path).unwrap().as_os_str(), place, "{path}");
        }
        assert!(at("~ada").is_err());
        assert!(locate(Path::new("~/x"), None, Path::new("/work")).unwrap_err().contains("HOME"));
        assert_eq!(locate(Path::new("x"), None, Path::new("/work")).unwrap(), Path::new("/work/x"));
    }

    #[test]
    fn it_is_shown_in_one_line_that_a_terminal_does_not_obey() {
        let mut grant = FolderGrant::new("~/no\u{1b}[2Jtes\n", Access::Read);
        grant.secrets = Secrets::Shown;
        assert_eq!(grant.to_string(), "read ~/no[2Jtes (secrets shown)");
        assert_eq!(FolderGrant::workspace().to_string(), "write workspace");
    }
}
