//! Files that other programs obey without being asked: the rows of `obeyed.toml`.

use std::{
    collections::HashSet,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use serde::Deserialize;

use super::pattern::{Anchor, PathPattern, names_of};

/// How deep below the workspace folders are looked at. Packages of a monorepo lie two or three deep, their settings one deeper.
const WALK_DEPTH: usize = 5;

/// How many folders are looked at. Reading 2,000 takes some 20 ms; in a larger tree those that lie deepest are left out.
const WALK_FOLDERS: usize = 2_000;

/// How many paths are found at most: each becomes a mount of a confined command.
const WALK_FOUND: usize = 500;

/// Folders that hold packages and build outputs. Nobody opens an editor in them.
const PASSED_OVER: [&str; 8] = ["node_modules", "target", "vendor", "dist", "build", ".venv", "venv", "__pycache__"];

/// What the file tools do about a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ToolChange {
    /// A person is asked.
    #[default]
    Asked,
    /// They change it in no case. Commands write it as they work, so neither the judge nor the sandbox cares.
    Refused,
}

/// One row of the table.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ObeyedRow {
    /// What obeys the files.
    pub(crate) program: String,
    /// When, and what it does then.
    pub(crate) why: String,
    /// What the file tools do about them.
    #[serde(default)]
    pub(crate) tools: ToolChange,
    /// The files.
    pub(crate) paths: Vec<PathPattern>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ObeyedTable {
    obeyed: Vec<ObeyedRow>,
}

#[allow(clippy::expect_used, reason = "the text is constant, and a test parses it")]
static TABLE: LazyLock<ObeyedTable> =
    LazyLock::new(|| toml::from_str(include_str!("obeyed.toml")).expect("obeyed.toml is valid"));

/// The rows of which a file tool has to know, those that refuse first.
fn rows(tools: ToolChange) -> impl Iterator<Item = &'static ObeyedRow> {
    TABLE.obeyed.iter().filter(move |row| row.tools == tools)
}

/// What obeys a file that a tool would change, `None` if nothing does. It is a whole path without links; what lies at most `beyond` names
/// deep was granted by its own name and is not asked about.
pub(crate) fn for_tools(path: &Path, home: Option<&Path>, beyond: usize) -> Option<&'static ObeyedRow> {
    let (names, home) = (names_of(path), home.map(names_of));
    let covers = |row: &&ObeyedRow| row.paths.iter().any(|pattern| pattern.covers(&names, home.as_deref(), beyond));
    rows(ToolChange::Refused).chain(rows(ToolChange::Asked)).find(covers)
}

/// What obeys a file that a command would write, by its whole path; `None` if nothing does.
pub(crate) fn for_commands(path: &str) -> Option<&'static ObeyedRow> {
    let names = names_of(Path::new(path));
    rows(ToolChange::Asked).find(|row| row.paths.iter().any(|pattern| pattern.covers(&names, None, 0)))
}

/// The same for a path below a home, given from there.
pub(crate) fn in_home(below: &str) -> Option<&'static ObeyedRow> {
    rows(ToolChange::Asked).find(|row| row.paths.iter().any(|pattern| pattern.covers_in_home(below)))
}

/// The literal paths of obeyed files, from a home and from any folder.
pub(crate) fn literal_paths() -> impl Iterator<Item = &'static str> {
    let patterns = rows(ToolChange::Asked).flat_map(|row| &row.paths);
    patterns.filter(|pattern| pattern.anchor() != Anchor::Root && pattern.is_literal()).map(PathPattern::below)
}

/// The obeyed files and folders that exist in a workspace: what a confined command must not change. Those at its top are all found;
/// deeper ones as far as a bounded walk comes, nearest first. What is below a found folder is not listed again.
pub(crate) fn in_workspace(workspace: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let exists = |path: &PathBuf| fs::symlink_metadata(path).is_ok();
    let patterns = || rows(ToolChange::Asked).flat_map(|row| &row.paths).filter(|pattern| pattern.is_literal());
    let of = |anchor: Anchor, base: &Path| -> Vec<PathBuf> {
        patterns().filter(|it| it.anchor() == anchor).map(|it| base.join(it.below())).collect()
    };
    // One look at the names there instead of one at each pattern.
    let entries = fs::read_dir(workspace).into_iter().flatten().flatten();
    let names: HashSet<OsString> = entries.map(|entry| entry.file_name()).collect();
    let mut found = of(Anchor::Anywhere, workspace);
    found.retain(|path| {
        let below = path.strip_prefix(workspace).ok().and_then(|below| below.iter().next());
        below.is_some_and(|name| names.contains(name))
    });
    let at_home = home.map(|home| of(Anchor::Home, home)).unwrap_or_default();
    found.extend(at_home.into_iter().filter(|path| path.starts_with(workspace) && path != workspace));
    found.retain(exists);
    walk(workspace, home, &mut found);
    found.sort();
    found.dedup();
    let mut kept: Vec<PathBuf> = Vec::new();
    for path in found {
        // Sorted by names, what lies below a folder follows it.
        if kept.last().is_none_or(|last| !path.starts_with(last)) {
            kept.push(path);
        }
    }
    kept
}

/// Folder by folder, the nearest first.
fn walk(workspace: &Path, home: Option<&Path>, found: &mut Vec<PathBuf>) {
    let home = home.map(names_of);
    let beyond = names_of(workspace).len();
    let is_obeyed = |path: &Path| {
        let names = names_of(path);
        let covers = |pattern: &PathPattern| pattern.covers(&names, home.as_deref(), beyond);
        rows(ToolChange::Asked).any(|row| row.paths.iter().any(covers))
    };
    let mut level = vec![workspace.to_owned()];
    let mut looked_at = 0;
    for _ in 0..WALK_DEPTH {
        let mut next = Vec::new();
        for folder in level {
            looked_at += 1;
            if looked_at > WALK_FOLDERS || found.len() >= WALK_FOUND {
                return;
            }
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                let path = entry.path();
                if is_obeyed(&path) {
                    found.push(path);
                } else if is_folder && !PASSED_OVER.iter().any(|name| entry.file_name() == *name) {
                    next.push(path);
                }
            }
        }
        level = next;
    }
}

/// One path for every pattern that the judge asks about, as a shell in a project would write it.
#[cfg(test)]
pub(crate) fn shell_paths() -> impl Iterator<Item = String> {
    let patterns = rows(ToolChange::Asked).flat_map(|row| &row.paths);
    patterns.map(|pattern| {
        let start = match pattern.anchor() {
            Anchor::Anywhere => "",
            Anchor::Home => "~/",
            Anchor::Root => "/",
        };
        format!("{start}{}", pattern.below().replace(['*', '?'], "x").replace(' ', "\\ "))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn program(path: &str) -> Option<(&'static str, ToolChange)> {
        let row = for_tools(Path::new(path), Some(Path::new("/home/ada")), 0)?;
        Some((row.program.as_str(), row.tools))
    }

    #[test]
    fn the_table_is_whole_and_names_each_path_once() {
        let mut seen = BTreeSet::new();
        for row in &TABLE.obeyed {
            assert!(!row.program.is_empty() && !row.why.is_empty() && !row.paths.is_empty(), "{row:?}");
            for pattern in &row.paths {
                assert!(seen.insert((pattern.below(), pattern.anchor() == Anchor::Root)), "{} twice", pattern.below());
            }
        }
    }

    #[test]
    fn gits_own_files_are_refused_and_what_else_is_obeyed_is_asked_about() {
        for path in ["/p/.git", "/p/.git/hooks/pre-commit", "/p/.git/commondir", "/p/.GIT/config"] {
            assert_eq!(program(path), Some(("git", ToolChange::Refused)), "{path}");
        }
        for (path, by) in [
            ("/p/.mcp.json", "Claude Code"),
            ("/p/sub/.vscode/tasks.json", "VS Code"),
            ("/p/.husky/pre-commit", "husky"),
            ("/p/.devcontainer/devcontainer.json", "a dev container"),
            ("/p/.claude/settings.json", "Claude Code"),
            ("/p/.cursor/mcp.json", "Cursor"),
            ("/p/.codex/config.toml", "Codex"),
            ("/p/.cargo/config.toml", "cargo"),
            ("/home/ada/.bash_aliases", "a shell"),
            ("/home/ada/.config/environment.d/x.conf", "the login"),
            ("/home/ada/.local/bin/ls", "every shell"),
            ("/home/ada/.bashrc", "a shell"),
            ("/p/.Rprofile", "R"),
        ] {
            let found = program(path);
            assert!(matches!(found, Some((name, ToolChange::Asked)) if name.starts_with(by)), "{path} {found:?}");
        }
    }

    #[test]
    fn what_runs_only_when_asked_for_is_no_obeyed_file() {
        for path in [
            "/p/Makefile",
            "/p/package.json",
            "/p/build.rs",
            "/p/AGENTS.md",
            "/p/CLAUDE.md",
            "/p/.github/workflows/ci.yml",
            "/p/.gitignore",
            "/p/.gitattributes",
            "/p/.editorconfig",
            "/p/src/main.rs",
            "/p/Cargo.toml",
            "/p/bin/tool",
            "/p/.local/bin/x",
            "/p/config.toml",
            "/p/.cache/x",
            "/p/git/config",
            "/p/.config/app.toml",
        ] {
            assert_eq!(program(path), None, "{path}");
        }
    }

    #[test]
    fn commands_of_git_write_their_own_files_but_not_hooks_and_settings() {
        assert_eq!(for_commands("/p/.git/index"), None);
        assert_eq!(for_commands("/p/.git/objects/ab/cd"), None);
        for path in ["/p/.git/hooks/x", "/p/.git/config", "/p/.git/modules/lib/hooks/x", "/p/a/.vscode/tasks.json"] {
            assert!(for_commands(path).is_some(), "{path}");
        }
        assert!(in_home(".local/bin/ls").is_some() && in_home("p/.local/bin/ls").is_none());
    }

    #[test]
    fn a_workspace_lists_what_is_obeyed_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for file in [
            ".mcp.json",
            ".vscode/tasks.json",
            ".git/hooks/pre-commit",
            ".git/config",
            ".git/index",
            "src/main.rs",
            "packages/app/.vscode/settings.json",
            "packages/app/lefthook-local.yml",
            "node_modules/x/.vscode/a.json",
            "home/.local/bin/tool",
            "a/b/c/d/e/f/.mcp.json",
        ] {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let found = in_workspace(root, Some(&root.join("home")));
        let found: Vec<&str> = found.iter().map(|path| path.strip_prefix(root).unwrap().to_str().unwrap()).collect();
        let expected = [
            ".git/config",
            ".git/hooks",
            ".mcp.json",
            ".vscode",
            "home/.local/bin",
            "packages/app/.vscode",
            "packages/app/lefthook-local.yml",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_walk_of_a_large_workspace_ends() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..WALK_FOUND + 20 {
            fs::create_dir_all(folder.path().join(format!("p{number}/.vscode"))).unwrap();
        }
        let found = in_workspace(folder.path(), None);
        assert!((WALK_FOUND..WALK_FOUND + 20).contains(&found.len()), "{}", found.len());
    }
}
