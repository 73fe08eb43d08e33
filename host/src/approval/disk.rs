//! The paths of a judged command on the disk: a symlink may lead a write out of the workspace, and the judge sees text alone.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::shell::{Category, EffectKind, Judgement, Reason, Surroundings, Verdict, judge, limits::EFFECTS};

/// Folders beside the workspace in which a symlink may end when something is only read.
const READABLE: [&str; 10] =
    ["/tmp", "/var/tmp", "/usr", "/etc", "/opt", "/var/lib", "/var/log", "/run/systemd/resolve", "/bin", "/lib"];

/// Judges a command line by its text, and an allowed unconfined one by where its paths lead on this machine, too.
pub fn judge_on_disk(command: &str, surroundings: &Surroundings) -> Judgement {
    let mut judgement = judge(command, surroundings);
    let Some(workspace) = surroundings.workspace.as_deref().map(Path::new) else { return judgement };
    if surroundings.is_confined || judgement.verdict != Verdict::Allow {
        return judgement;
    }
    let reason = |detail: String| Reason { category: Category::UnknownTarget, detail };
    if judgement.effects.len() >= EFFECTS {
        judgement.reasons.push(reason(format!("it has {EFFECTS} effects or more")));
    }
    let effects = judgement.effects.iter();
    let strays = effects.filter_map(|effect| strays(effect.kind, Path::new(&effect.target), workspace));
    let strays: Vec<Reason> = strays.map(reason).collect();
    judgement.reasons.extend(strays);
    if !judgement.reasons.is_empty() {
        judgement.verdict = Verdict::Ask;
    }
    judgement
}

/// Why a path is not where its text says.
fn strays(kind: EffectKind, path: &Path, workspace: &Path) -> Option<String> {
    if !path.is_absolute() || path.starts_with("/dev") || path.starts_with("/proc") {
        return None;
    }
    let real_workspace = real(workspace);
    let expected = path.strip_prefix(workspace).map_or_else(|_| path.to_owned(), |below| join(&real_workspace, below));
    match kind {
        EffectKind::Runs | EffectKind::Network => None,
        // The symlink itself is removed, and a folder on the way to it may be one.
        EffectKind::Deletes => differs(path.parent()?, expected.parent()?),
        EffectKind::Writes => differs(path, &expected),
        EffectKind::Reads => {
            let is_open = |real: &Path| {
                real.starts_with(&real_workspace) || READABLE.iter().any(|folder| real.starts_with(folder))
            };
            named(path)?.into_iter().find(|path| !is_open(&real(path))).map(|path| leads(&path))
        }
    }
}

fn differs(path: &Path, expected: &Path) -> Option<String> {
    (real(path) != expected && real(path) != real_parents(expected)).then(|| leads(path))
}

/// A temporary folder may itself be a symlink of the system.
fn real_parents(path: &Path) -> PathBuf {
    match path.components().nth(1).map(|first| Path::new("/").join(first)) {
        Some(first) => path.strip_prefix(&first).map_or_else(|_| path.to_owned(), |below| join(&real(&first), below)),
        None => path.to_owned(),
    }
}

fn leads(path: &Path) -> String {
    format!("{} leads to {}", path.display(), real(path).display())
}

/// What a path with wildcards in its last name matches, or the path itself. Nothing is known of wildcards before that.
fn named(path: &Path) -> Option<Vec<PathBuf>> {
    let has_wildcard = |path: &Path| path.as_os_str().as_encoded_bytes().iter().any(|byte| b"*?[".contains(byte));
    if !has_wildcard(path) {
        return Some(vec![path.to_owned()]);
    }
    let folder = path.parent()?;
    if has_wildcard(folder) {
        return Some(vec![PathBuf::from("/")]);
    }
    // Only symlinks lead elsewhere.
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let links = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()));
    Some(links.map(|entry| entry.path()).chain([folder.to_owned()]).collect())
}

/// Where a path leads, as far as it exists.
fn real(path: &Path) -> PathBuf {
    let mut missing = Vec::new();
    for ancestor in path.ancestors() {
        match fs::canonicalize(ancestor) {
            Ok(found) => return missing.iter().rev().fold(found, |found, name| found.join(name)),
            // A symlink without a target: where a write would make one.
            Err(_) => match fs::read_link(ancestor) {
                Ok(target) => {
                    let found = ancestor.parent().unwrap_or(ancestor).join(target);
                    return missing.iter().rev().fold(found, |found, name| found.join(name));
                }
                Err(_) => missing.extend(ancestor.file_name()),
            },
        }
    }
    path.to_owned()
}

fn join(folder: &Path, below: &Path) -> PathBuf {
    if below.as_os_str().is_empty() { folder.to_owned() } else { folder.join(below) }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_symlink_that_leaves_the_workspace_is_asked_about() {
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["work/src", "outside"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        for (link, target) in [
            ("work/out", "../outside"),
            ("work/gone", "../outside/new"),
            ("work/key", "/root/.ssh/id_rsa"),
            ("work/inner", "src"),
        ] {
            symlink(target, root.join(link)).unwrap();
        }
        fs::write(root.join("work/a"), "").unwrap();
        symlink(root.join("work"), root.join("by-link")).unwrap();
        for workspace in ["work", "by-link"].map(|name| root.join(name).display().to_string()) {
            let around = Surroundings {
                directory: Some(workspace.clone()),
                workspace: Some(workspace),
                ..Surroundings::default()
            };
            let verdict = |command: &str| judge_on_disk(command, &around).verdict;
            for command in [
                "echo x > gone",
                "echo x > out/x",
                "cp a out/x",
                "rm out/x",
                "mkdir out/new",
                "cd out && touch x",
                "cat key",
                "cat k*",
                "echo x > inner/x",
            ] {
                assert_eq!(verdict(command), Verdict::Ask, "{command}");
            }
            for command in
                ["echo x > a", "echo x > src/new", "rm a", "rm key", "cat a", "cat inner/x", "echo x > /tmp/x", "ls"]
            {
                assert_eq!(
                    verdict(command),
                    Verdict::Allow,
                    "{command}: {:?}",
                    judge_on_disk(command, &around).reasons
                );
            }
        }
    }
}
