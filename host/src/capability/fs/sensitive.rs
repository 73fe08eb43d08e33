//! Files that no grant of a folder covers: keys and credentials, and what other programs obey. A grant that names such a file itself
//! covers it. Which they are is in the tables of [`crate::paths`].

use std::path::Path;

use crate::paths::{
    credentials,
    obeyed::{self, ObeyedRow},
};

/// What is not simply done with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guarded {
    /// It is neither read nor written.
    Hidden,
    /// It is read, but not written just so: a program obeys it.
    Obeyed(&'static ObeyedRow),
}

/// What must not simply be done with a path from a granted folder, which is given by its real path. What the folder itself is, and lies
/// in, was the operator's choice.
pub(crate) fn guarded(granted: &Path, path: &Path, home: Option<&Path>) -> Option<Guarded> {
    let whole = granted.join(path);
    let beyond = granted.iter().count().saturating_sub(1);
    if credentials::at(&whole, home, beyond).is_some() {
        return Some(Guarded::Hidden);
    }
    obeyed::for_tools(&whole, home, beyond).map(Guarded::Obeyed)
}

#[cfg(test)]
mod tests {
    use std::iter;

    use proptest::prelude::*;

    use super::*;
    use crate::paths::obeyed::ToolChange;

    fn guarded(path: &Path) -> Option<Guarded> {
        super::guarded(Path::new("/p"), path, None)
    }

    #[test]
    fn keys_and_credentials_are_hidden_wherever_they_lie_and_however_they_are_spelt() {
        for path in [
            ".env",
            "app/.env.production",
            "APP/.ENV",
            ".envrc",
            ".ssh/config",
            "home/.ssh/id_ed25519",
            "id_rsa",
            "deploy/server.key",
            "tls/private.pem",
            ".aws/credentials",
            "x/.docker/config.json",
            ".netrc",
            "a/.config/gh/hosts.yml",
            "store.kdbx",
            "x/.cargo/credentials.toml",
            ".codex/auth.json",
            ".m2/settings.xml",
        ] {
            assert_eq!(guarded(Path::new(path)), Some(Guarded::Hidden), "{path}");
        }
    }

    #[test]
    fn what_others_run_is_read_but_not_written_unasked() {
        for (path, tools) in [
            (".git/config", ToolChange::Refused),
            ("sub/.git/hooks/pre-commit", ToolChange::Refused),
            (".git/commondir", ToolChange::Refused),
            (".git/modules/a/config", ToolChange::Refused),
            ("a/.GIT", ToolChange::Refused),
            (".bashrc", ToolChange::Asked),
            (".vscode/tasks.json", ToolChange::Asked),
        ] {
            let found = guarded(Path::new(path));
            assert!(matches!(found, Some(Guarded::Obeyed(row)) if row.tools == tools), "{path} {found:?}");
        }
    }

    #[test]
    fn ordinary_files_are_left_alone() {
        for path in [
            "",
            "src/main.rs",
            ".env.example",
            "id_rsa.pub",
            "cert.pem",
            "docs/keys.md",
            "key",
            ".key",
            "monkey.txt",
            ".gitignore",
            "environment.env.rs",
            ".github/workflows/ci.yml",
            "config.json",
            "package.json",
        ] {
            assert_eq!(guarded(Path::new(path)), None, "{path}");
        }
    }

    #[test]
    fn what_was_granted_by_its_name_is_the_operators_choice() {
        let granted =
            |folder: &str, path: &str| super::guarded(Path::new(folder), Path::new(path), Some(Path::new("/home/ada")));
        assert_eq!(granted("/p/.ssh", "known_hosts"), None);
        assert_eq!(granted("/home/ada/.docker", "daemon.json"), None);
        assert_eq!(granted("/p/.vscode", "tasks.json"), None);
        assert_eq!(granted("/home/ada", ".docker/daemon.json"), Some(Guarded::Hidden));
        assert_eq!(granted("/home/ada/.docker", "config.json"), Some(Guarded::Hidden));
        assert!(matches!(granted("/p/.git", "hooks/pre-commit"), Some(Guarded::Obeyed(_))));
    }

    proptest! {
        #[test]
        fn asking_on_the_way_down_hides_what_the_path_would(
            names in prop::collection::vec("\\.(config|docker|ssh|env|cargo)|gh|config\\.json|credentials|id_rsa|a|\\.tmp", 1..5),
        ) {
            let above = iter::once("").chain(names.iter().map(String::as_str));
            let on_the_way =
                above.zip(&names).any(|(above, name)| credentials::is_entry(above.as_bytes(), name.as_bytes()));
            let whole = names.join("/");
            let hidden = guarded(Path::new(&whole)) == Some(Guarded::Hidden);
            prop_assert_eq!(on_the_way, hidden);
        }
    }
}
