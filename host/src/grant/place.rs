//! From a path on the command line to the path of a grant: the same whatever the current directory is.

use std::path::{Component, Path, PathBuf};

use super::folder::{locate, operators_home};

/// Where a path leads that somebody typed, from the current directory, links followed. What is not there keeps its name.
pub fn resolve(path: &Path) -> Result<PathBuf, String> {
    let current = std::env::current_dir().map_err(|why| format!("failed to find the current directory: {why}"))?;
    // A shell leaves the ~ of --read=~/notes as it is.
    let place = locate(path, operators_home().as_deref(), &current)?;
    Ok(std::fs::canonicalize(&place).unwrap_or_else(|_| folded(&place)))
}

/// The path to write into a grant for what somebody typed: absolute, or `~/…` below the home. It must be there, since what a
/// later hand puts in its place is not what was granted.
pub fn to_grant(path: &Path) -> Result<PathBuf, String> {
    let place = resolve(path)?;
    let shown = path.display();
    let metadata = std::fs::metadata(&place).map_err(|why| match why.kind() {
        std::io::ErrorKind::NotFound => format!("{shown} does not exist; make it, or name another"),
        _ => format!("failed to look at {shown}: {why}"),
    })?;
    if !metadata.is_dir() && !metadata.is_file() {
        return Err(format!("{shown} is neither a folder nor a regular file; only those can be granted"));
    }
    if place.to_str().is_none() {
        return Err(format!("{shown} is not UTF-8, and hermes.toml is: rename it, or grant the folder above it"));
    }
    let home = operators_home().and_then(|home| std::fs::canonicalize(home).ok());
    Ok(from_home(&place, home.as_deref()))
}

/// Whether two absolute paths are the same place.
pub(super) fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| folded(path));
    one == other || real(one) == real(other)
}

fn from_home(place: &Path, home: Option<&Path>) -> PathBuf {
    // A home that is the root, as in containers, would turn every path round.
    let below = home.filter(|home| home.parent().is_some()).and_then(|home| place.strip_prefix(home).ok());
    below.map_or_else(|| place.into(), |rest| Path::new("~").join(rest).components().collect())
}

/// Without `..`, taken as written: for what is no longer there, nothing else can be known.
fn folded(path: &Path) -> PathBuf {
    let mut folded = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(folded.pop()),
            part => folded.push(part),
        }
    }
    folded
}

#[cfg(test)]
mod tests {
    use std::os::unix::{ffi::OsStrExt, fs::symlink};

    use super::*;

    #[test]
    fn a_link_is_granted_as_what_it_leads_to() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("real")).unwrap();
        symlink(root.join("real"), root.join("link")).unwrap();
        assert_eq!(to_grant(&root.join("link")).unwrap(), root.join("real"));
        assert_eq!(to_grant(&root.join("link/../real/")).unwrap(), root.join("real"));
        assert!(is_same(&root.join("link"), &root.join("real")));
        assert!(!is_same(&root.join("link"), &root));
    }

    #[test]
    fn what_is_gone_can_still_be_named() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        assert_eq!(resolve(&root.join("gone/../gone")).unwrap(), root.join("gone"));
        assert!(is_same(&root.join("gone"), &root.join("x/../gone/.")));
    }

    #[test]
    fn what_is_missing_or_no_file_or_not_utf_8_is_refused_with_what_to_do() {
        let dir = tempfile::tempdir().unwrap();
        assert!(to_grant(&dir.path().join("none")).unwrap_err().contains("does not exist; make it"));
        assert!(to_grant(Path::new("/dev/null")).unwrap_err().contains("neither a folder nor a regular file"));
        assert!(to_grant(Path::new("")).unwrap_err().contains("empty"));
        let odd = dir.path().join(std::ffi::OsStr::from_bytes(b"\xff"));
        std::fs::create_dir(&odd).unwrap();
        assert!(to_grant(&odd).unwrap_err().contains("not UTF-8"));
    }

    #[test]
    fn what_is_below_the_home_is_written_from_there() {
        let from = |place: &str, home: &str| from_home(Path::new(place), Some(Path::new(home)));
        assert_eq!(from("/home/ada/notes/a", "/home/ada").as_os_str(), "~/notes/a");
        assert_eq!(from("/home/ada", "/home/ada").as_os_str(), "~");
        assert_eq!(from("/home/adams", "/home/ada").as_os_str(), "/home/adams");
        assert_eq!(from("/etc", "/").as_os_str(), "/etc");
        assert_eq!(from_home(Path::new("/etc"), None).as_os_str(), "/etc");
    }
}
