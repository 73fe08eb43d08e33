//! Where paths really lead.

use std::path::{Path, PathBuf};

/// The path with the links of its existing part followed, so that two names of one file become one. What does not exist yet keeps
/// its name. Nothing where it goes back (`..`) out of what does not exist.
pub(crate) fn real(path: &Path) -> Option<PathBuf> {
    let mut missing = Vec::new();
    let mut existing = path;
    loop {
        if let Ok(real) = std::fs::canonicalize(existing) {
            return Some(missing.iter().rev().fold(real, |path, name| path.join(name)));
        }
        missing.push(existing.file_name()?);
        existing = existing.parent()?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_names_of_one_file_become_one() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("a")).unwrap();
        std::os::unix::fs::symlink(root.join("a"), root.join("b")).unwrap();
        let found = |name: &str| real(&root.join(name));
        assert_eq!(found("b/new/./file"), Some(root.join("a/new/file")));
        assert_eq!(found("b"), Some(root.join("a")));
        // The way back out of a link is not the way in.
        std::fs::create_dir_all(root.join("c/d")).unwrap();
        std::os::unix::fs::symlink(root.join("c/d"), root.join("e")).unwrap();
        assert_eq!(found("e/../x"), Some(root.join("c/x")));
        assert_eq!(found("none/../x"), None);
    }
}
