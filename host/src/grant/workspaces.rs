//! The folders that a client may choose as the workspace.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Deserializer, de::Error as _};

use super::folder::{locate, operators_home};

/// What the operator says about folders that a client works on. Without a list, no client is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Workspaces {
    #[serde(deserialize_with = "absolute")]
    allow: Vec<PathBuf>,
}

impl Workspaces {
    /// Whether a client may choose at all.
    pub fn is_empty(&self) -> bool {
        self.allow.is_empty()
    }

    /// The real path of a folder, where it is one of the list or lies below one. Symlinks are followed first, on both sides.
    pub fn admit(&self, folder: &Path) -> Option<PathBuf> {
        let real = fs::canonicalize(folder).ok().filter(|real| real.is_dir())?;
        let home = operators_home();
        let allowed = self.allow.iter().filter_map(|path| locate(path, home.as_deref(), Path::new("/")).ok());
        let mut allowed = allowed.filter_map(|path| fs::canonicalize(path).ok());
        allowed.any(|allowed| real.starts_with(allowed)).then_some(real)
    }
}

/// A relative path would depend on where the host was started.
fn absolute<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PathBuf>, D::Error> {
    let paths = Vec::<PathBuf>::deserialize(deserializer)?;
    let is_whole = |path: &Path| path.is_absolute() || path.starts_with("~");
    match paths.iter().find(|path| !is_whole(path) || locate(path, Some(Path::new("/")), Path::new("/")).is_err()) {
        Some(path) => {
            let path = path.display();
            Err(D::Error::custom(format!("workspaces.allow names {path:?}: write a path that begins with / or ~/")))
        }
        None => Ok(paths),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn allow(paths: &[&Path]) -> Workspaces {
        Workspaces { allow: paths.iter().map(|path| path.to_path_buf()).collect() }
    }

    #[test]
    fn a_folder_of_the_list_and_those_below_it_are_admitted_and_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        for folder in ["src/a", "src-b", "other"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        fs::write(root.join("src/file"), "").unwrap();
        symlink(root.join("other"), root.join("src/link")).unwrap();
        symlink(root.join("src"), root.join("alias")).unwrap();
        let list = allow(&[&root.join("alias"), &root.join("gone")]);
        for (folder, admitted) in [
            ("src", Some("src")),
            ("src/a", Some("src/a")),
            ("alias/a", Some("src/a")),
            ("src/a/../../src/a", Some("src/a")),
            ("src-b", None),
            ("src/link", None),
            ("src/a/../../other", None),
            ("src/file", None),
            ("gone", None),
            ("", None),
        ] {
            let admitted = admitted.map(|folder| root.join(folder));
            assert_eq!(list.admit(&root.join(folder)), admitted, "{folder}");
        }
        assert_eq!(allow(&[]).admit(&root), None);
    }

    #[test]
    fn the_list_has_whole_paths() {
        let parse = |text: &str| toml::from_str::<Workspaces>(text);
        assert!(parse("").unwrap().is_empty());
        assert!(!parse(r#"allow = ["~/src", "/srv/work"]"#).unwrap().is_empty());
        for bad in [r#"allow = ["src"]"#, r#"allow = [""]"#, r#"allow = ["~ada/src"]"#, r#"alow = []"#] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
