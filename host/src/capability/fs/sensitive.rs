//! Files that no grant of a folder covers: keys and credentials, and what would let a tool run code as its user. A grant that
//! names such a file itself covers it.

use std::{iter, os::unix::ffi::OsStrExt, path::Path};

/// What is not done with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guarded {
    /// It is neither read nor written.
    Hidden,
    /// It is read, but not written.
    Fixed,
}

/// A name that is guarded in a folder of a certain name, or in any where that is empty. One of the two starts with a dot.
type Name = (&'static str, &'static str);

/// Folders of keys and tokens.
const HIDDEN_FOLDERS: &[Name] = &[
    ("", ".ssh"),
    ("", ".aws"),
    ("", ".gnupg"),
    ("", ".kube"),
    ("", ".azure"),
    ("", ".password-store"),
    (".config", "gh"),
    (".config", "gcloud"),
    (".config", "op"),
];

/// Files of keys and tokens in folders whose name starts with a dot, or whose own name does.
const HIDDEN_DOT_FILES: &[Name] = &[
    ("", ".env"),
    ("", ".envrc"),
    ("", ".netrc"),
    ("", ".pgpass"),
    ("", ".my.cnf"),
    ("", ".npmrc"),
    ("", ".yarnrc.yml"),
    ("", ".pypirc"),
    ("", ".git-credentials"),
    ("", ".htpasswd"),
    ("", ".vault-token"),
    (".docker", "config.json"),
    (".cargo", "credentials"),
    (".cargo", "credentials.toml"),
    (".terraform.d", "credentials.tfrc.json"),
];

/// Files of keys and tokens, wherever they lie.
const HIDDEN_FILES: &[&str] = &[
    "_netrc",
    "credentials.json",
    "client_secret.json",
    "service-account.json",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_ecdsa_sk",
    "id_ed25519_sk",
];

/// Endings of files that hold keys.
const HIDDEN_ENDINGS: &[&str] = &["key", "p12", "pfx", "jks", "keystore", "kdbx", "ppk"];

/// `.env.production` is one, `.env.example` is for everybody.
const ENV_FOR_EVERYBODY: &[&str] = &["example", "sample", "template", "dist", "defaults"];

/// What git, a shell or a login runs or obeys.
const FIXED: &[Name] = &[
    // All of it: besides these two, a dozen files in there lead to others that are obeyed. These also where it was granted by its name.
    ("", ".git"),
    (".git", "config"),
    (".git", "hooks"),
    ("", ".bashrc"),
    ("", ".bash_profile"),
    ("", ".bash_login"),
    ("", ".bash_logout"),
    ("", ".profile"),
    ("", ".zshrc"),
    ("", ".zshenv"),
    ("", ".zprofile"),
    ("", ".zlogin"),
    ("", ".gitconfig"),
    (".config", "git"),
    (".config", "fish"),
    (".config", "autostart"),
    (".config", "systemd"),
];

/// What must not be done with a path from a granted folder, given by its own name. Names are compared without their case, as some
/// disks do. What the folder itself is, and lies in, was the operator's choice.
pub(crate) fn guarded(folder: &[u8], path: &Path) -> Option<Guarded> {
    let names = path.iter().map(OsStrExt::as_bytes);
    let mut steps = iter::once(folder).chain(names.clone()).zip(names);
    let (above, name) = steps.clone().last()?;
    if hidden(above, name) || steps.clone().any(|(above, name)| is_one_of(HIDDEN_FOLDERS, above, name)) {
        return Some(Guarded::Hidden);
    }
    steps.any(|(above, name)| is_one_of(FIXED, above, name)).then_some(Guarded::Fixed)
}

/// Whether something is hidden by its own name and that of the folder it is in. A walk asks this of every entry on its way down,
/// which is as good as [`guarded`] and takes no look at the whole path.
pub(crate) fn hidden(above: &[u8], name: &[u8]) -> bool {
    HIDDEN_FILES.iter().any(|file| name.eq_ignore_ascii_case(file.as_bytes()))
        || hidden_by_its_form(&String::from_utf8_lossy(name))
        || is_one_of(HIDDEN_FOLDERS, above, name)
        || is_one_of(HIDDEN_DOT_FILES, above, name)
}

fn is_one_of(names: &[Name], above: &[u8], name: &[u8]) -> bool {
    // Nearly all are done here.
    if !name.starts_with(b".") && !above.starts_with(b".") {
        return false;
    }
    let same = |known: &str, name: &[u8]| name.eq_ignore_ascii_case(known.as_bytes());
    names.iter().any(|(folder, known)| same(known, name) && (folder.is_empty() || same(folder, above)))
}

fn hidden_by_its_form(file: &str) -> bool {
    let is_one_of = |names: &[&str], name: &str| names.iter().any(|known| known.eq_ignore_ascii_case(name));
    if file.get(..5).is_some_and(|start| start.eq_ignore_ascii_case(".env.")) {
        return !is_one_of(ENV_FOR_EVERYBODY, &file[5..]);
    }
    let Some((stem, ending)) = file.rsplit_once('.') else { return false };
    if ending.eq_ignore_ascii_case("pem") {
        let stem = stem.to_ascii_lowercase();
        return stem.contains("key") || stem.contains("priv");
    }
    !stem.is_empty() && is_one_of(HIDDEN_ENDINGS, ending)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn guarded(path: &Path) -> Option<Guarded> {
        super::guarded(b"", path)
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
        ] {
            assert_eq!(guarded(Path::new(path)), Some(Guarded::Hidden), "{path}");
        }
    }

    #[test]
    fn what_others_run_is_read_but_not_written() {
        for path in
            [".git/config", "sub/.git/hooks/pre-commit", ".git/commondir", ".git/modules/a/config", "a/.GIT", ".bashrc"]
        {
            assert_eq!(guarded(Path::new(path)), Some(Guarded::Fixed), "{path}");
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
    fn every_name_with_a_folder_or_without_has_the_dot_that_is_looked_for_first() {
        for (above, name) in [HIDDEN_FOLDERS, HIDDEN_DOT_FILES, FIXED].concat() {
            assert!(if above.is_empty() { name } else { above }.starts_with('.'), "{above}/{name}");
        }
    }

    proptest! {
        #[test]
        fn a_folder_that_is_not_guarded_leaves_only_its_name_to_look_at(
            above in prop::collection::vec("\\.config|\\.git|\\.tmp|\\.docker|home|a", 1..4),
            below in prop::collection::vec("\\.ssh|\\.git|config|hooks|gh|git|config\\.json|id_rsa|a", 0..4),
        ) {
            let (folder, rest) = (above.join("/"), below.join("/"));
            prop_assume!(guarded(Path::new(&folder)).is_none());
            let name = above.last().unwrap().as_bytes();
            prop_assert_eq!(super::guarded(name, Path::new(&rest)), guarded(&Path::new(&folder).join(&rest)));
        }

        #[test]
        fn asking_on_the_way_down_hides_what_the_path_would(
            names in prop::collection::vec("\\.(config|docker|ssh|env|cargo)|gh|config\\.json|credentials|id_rsa|a|\\.tmp", 1..5),
        ) {
            let above = iter::once("").chain(names.iter().map(String::as_str));
            let on_the_way = above.zip(&names).any(|(above, name)| hidden(above.as_bytes(), name.as_bytes()));
            let whole = names.join("/");
            let paths = Path::new(&whole).ancestors();
            prop_assert_eq!(on_the_way, paths.into_iter().any(|path| guarded(path) == Some(Guarded::Hidden)));
        }
    }
}
