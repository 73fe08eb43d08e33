//! All files but some: Landlock only ever allows, so what is hidden is cut out of what is allowed.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The largest places beneath `root` that hold nothing hidden. Links are no places: what they lead to is one of its own.
pub(super) fn without(root: &Path, hidden: &[PathBuf]) -> Vec<PathBuf> {
    let mut open = Vec::new();
    cut(root, hidden, &mut open);
    open
}

fn cut(place: &Path, hidden: &[PathBuf], open: &mut Vec<PathBuf>) {
    let inside = |hidden: &&PathBuf| hidden.starts_with(place);
    if hidden.iter().any(|hidden| hidden == place) {
        return;
    }
    if !hidden.iter().any(|hidden| inside(&hidden)) {
        open.push(place.to_owned());
        return;
    }
    // What can't be listed is not allowed either.
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
            cut(&entry.path(), hidden, open);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hidden_is_cut_out_and_all_else_stays() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        for folder in ["home/.ssh", "home/.config/gh", "home/.config/git", "usr"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        fs::write(at("home/.netrc"), "").unwrap();
        fs::write(at("home/notes"), "").unwrap();
        std::os::unix::fs::symlink(".ssh", at("home/link")).unwrap();
        let hidden = ["home/.ssh", "home/.config/gh", "home/.netrc", "home/.absent"].map(at);
        let mut open = without(dir.path(), &hidden);
        open.sort();
        assert_eq!(open, ["home/.config/git", "home/notes", "usr"].map(at));
    }

    #[test]
    fn with_nothing_hidden_the_whole_is_one_place() {
        assert_eq!(without(Path::new("/usr"), &["/home/a/.ssh".into()]), ["/usr"].map(PathBuf::from));
    }
}
