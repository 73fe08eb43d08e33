//! What ignore files leave out.

use std::{
    ffi::OsStr,
    os::{fd::AsFd, fd::BorrowedFd, unix::ffi::OsStrExt},
    path::Path,
    sync::Arc,
};

use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder},
};

use super::{open, read, skipped::Skip};

/// Names of the files with rules. They are looked for in every folder, be it in a git repository or not.
pub(super) const IGNORE: &[u8] = b".ignore";
pub(super) const GITIGNORE: &[u8] = b".gitignore";

/// Bytes of a file with rules. The largest in use have some thousand lines; a hostile one of this size takes a second.
const RULES_BYTES: u64 = 128 << 10;

/// The rules of a folder, and through it of those above.
pub(super) struct Level {
    above: Option<Arc<Level>>,
    /// Where the part of a path below this folder begins.
    start: usize,
    ignore: Gitignore,
    gitignore: Gitignore,
    exclude: Gitignore,
}

/// Which files with rules a folder may have.
#[derive(Clone, Copy)]
pub(super) struct Present {
    pub(super) ignore: bool,
    pub(super) gitignore: bool,
    /// Whether to look for `.git/info/exclude`.
    pub(super) exclude: bool,
}

impl Level {
    /// The rules that count in a folder whose own path has so many bytes. A file that can't be used is given to `report`.
    pub(super) fn new(
        folder: BorrowedFd<'_>,
        start: usize,
        present: Present,
        above: Option<Arc<Self>>,
        mut report: impl FnMut(Skip),
    ) -> Option<Arc<Self>> {
        let mut rules = |present: bool, at: Result<BorrowedFd<'_>, Skip>, name: &[u8]| {
            let rules = if present { at.and_then(|at| parse(at, name)) } else { Err(Skip::Gone) };
            rules.unwrap_or_else(|skip| {
                if skip != Skip::Gone {
                    report(Skip::IgnoreFile);
                }
                Gitignore::empty()
            })
        };
        let ignore = rules(present.ignore, Ok(folder), IGNORE);
        let gitignore = rules(present.gitignore, Ok(folder), GITIGNORE);
        let info = if present.exclude { open::folder_below(folder, b".git/info") } else { Err(Skip::Gone) };
        let exclude = rules(present.exclude, info.as_ref().map(AsFd::as_fd).map_err(|skip| *skip), b"exclude");
        if ignore.is_empty() && gitignore.is_empty() && exclude.is_empty() {
            return above;
        }
        Some(Arc::new(Self { above, start, ignore, gitignore, exclude }))
    }

    /// Whether a path is left out. In each kind of file the nearest rule decides, and `.ignore` before `.gitignore` before
    /// git's own list.
    pub(super) fn ignores(&self, path: &[u8], folder: bool) -> bool {
        let (mut gitignore, mut exclude) = (None, None);
        let mut level = Some(self);
        while let Some(Self { above, start, ignore, .. }) = level {
            let below = Path::new(OsStr::from_bytes(path.get(*start..).unwrap_or_default()));
            if let Some(verdict) = verdict(ignore, below, folder) {
                return verdict;
            }
            gitignore = gitignore.or_else(|| verdict(&level?.gitignore, below, folder));
            exclude = exclude.or_else(|| verdict(&level?.exclude, below, folder));
            level = above.as_deref();
        }
        gitignore.or(exclude).unwrap_or(false)
    }
}

fn verdict(rules: &Gitignore, path: &Path, folder: bool) -> Option<bool> {
    match rules.matched(path, folder) {
        Match::None => None,
        Match::Ignore(_) => Some(true),
        Match::Whitelist(_) => Some(false),
    }
}

/// Lines that are no glob or no text are left out, as git does. The file is one of the rules, not one that is handed out, so
/// other names of it don't matter.
fn parse(at: BorrowedFd<'_>, name: &[u8]) -> Result<Gitignore, Skip> {
    let file = open::regular(at, name, true)?;
    let mut bytes = Vec::new();
    read::whole(&file, RULES_BYTES, &mut bytes)?;
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    // Paths are given relative to the folder of the rules.
    let mut rules = GitignoreBuilder::new(".");
    for line in bytes.split(|byte| *byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok()) {
        let _ = rules.add_line(None, line);
    }
    rules.build().map_err(|_| Skip::IgnoreFile)
}

#[cfg(test)]
mod tests {
    use std::{
        fs::{File, create_dir_all, write},
        os::unix::fs::symlink,
    };

    use super::*;

    const ALL: Present = Present { ignore: true, gitignore: true, exclude: true };

    fn level(dir: &Path, start: usize, above: Option<Arc<Level>>) -> (Option<Arc<Level>>, Vec<Skip>) {
        let mut skips = Vec::new();
        let level = Level::new(File::open(dir).unwrap().as_fd(), start, ALL, above, |skip| skips.push(skip));
        (level, skips)
    }

    #[test]
    fn the_nearest_rule_decides_and_ignore_comes_before_gitignore_before_exclude() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        create_dir_all(root.join(".git/info")).unwrap();
        create_dir_all(root.join("sub")).unwrap();
        write(root.join(".git/info/exclude"), "excluded\nboth\n").unwrap();
        write(root.join(".gitignore"), b"\xef\xbb\xbf*.log\n/top\nbuild/\n!both\n# comment\n{bad\n\xff").unwrap();
        write(root.join(".ignore"), "!keep.log\nsub/secret\n").unwrap();
        write(root.join("sub/.gitignore"), "!*.log\nkeep.log\ndeep/**\n").unwrap();
        let (outer, skips) = level(root, 0, None);
        let (inner, _) = level(&root.join("sub"), 4, outer.clone());
        assert!(skips.is_empty());
        let (outer, inner) = (outer.unwrap(), inner.unwrap());
        for (path, folder, ignored) in [
            ("a.log", false, true),
            ("keep.log", false, false),
            ("x/a.log", false, true),
            ("top", false, true),
            ("x/top", false, false),
            ("build", true, true),
            ("build", false, false),
            ("excluded", false, true),
            ("both", false, false),
            ("sub/secret", false, true),
            ("fine", false, false),
        ] {
            assert_eq!(outer.ignores(path.as_bytes(), folder), ignored, "{path}");
        }
        for (path, ignored) in
            [("sub/a.log", false), ("sub/keep.log", false), ("sub/deep/a", true), ("sub/secret", true)]
        {
            assert_eq!(inner.ignores(path.as_bytes(), false), ignored, "{path}");
        }
    }

    #[test]
    fn rules_behind_a_link_or_too_long_don_t_count() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path().join("rules"), "*\n").unwrap();
        symlink("rules", dir.path().join(".gitignore")).unwrap();
        assert!(matches!(level(dir.path(), 0, None), (None, skips) if skips.is_empty()));
        write(dir.path().join(".ignore"), "*\n".repeat(RULES_BYTES as usize)).unwrap();
        assert!(matches!(level(dir.path(), 0, None), (None, skips) if skips == [Skip::IgnoreFile]));
    }
}
