//! Files that no grant of a folder covers: keys and credentials, and what would let a tool run code as its user. A grant that
//! names such a file itself covers it.

use std::{ffi::OsStr, os::unix::ffi::OsStrExt, path::Path};

/// What is not done with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guarded {
    /// It is neither read nor written.
    Hidden,
    /// It is read, but not written.
    Fixed,
}

/// Folders of keys and tokens, by the last names of their path.
const HIDDEN_FOLDERS: &[&[&str]] = &[
    &[".ssh"],
    &[".aws"],
    &[".gnupg"],
    &[".kube"],
    &[".azure"],
    &[".password-store"],
    &[".config", "gh"],
    &[".config", "gcloud"],
    &[".config", "op"],
];

/// Files of keys and tokens in folders whose name starts with a dot, or whose own name does.
const HIDDEN_DOT_FILES: &[&[&str]] = &[
    &[".env"],
    &[".envrc"],
    &[".netrc"],
    &[".pgpass"],
    &[".my.cnf"],
    &[".npmrc"],
    &[".yarnrc.yml"],
    &[".pypirc"],
    &[".git-credentials"],
    &[".htpasswd"],
    &[".vault-token"],
    &[".docker", "config.json"],
    &[".cargo", "credentials"],
    &[".cargo", "credentials.toml"],
    &[".terraform.d", "credentials.tfrc.json"],
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
const FIXED: &[&[&str]] = &[
    &[".git", "config"],
    &[".git", "hooks"],
    &[".bashrc"],
    &[".bash_profile"],
    &[".bash_login"],
    &[".bash_logout"],
    &[".profile"],
    &[".zshrc"],
    &[".zshenv"],
    &[".zprofile"],
    &[".zlogin"],
    &[".gitconfig"],
    &[".config", "git"],
    &[".config", "fish"],
    &[".config", "autostart"],
    &[".config", "systemd"],
];

/// What must not be done with a path, whatever its spelling: names are compared without their case, as some disks do.
pub(crate) fn guarded(path: &Path) -> Option<Guarded> {
    let file = path.file_name()?;
    let is_file = |name: &&str| file.as_bytes().eq_ignore_ascii_case(name.as_bytes());
    if HIDDEN_FILES.iter().any(is_file) || hidden_by_its_form(&file.to_string_lossy()) {
        return Some(Guarded::Hidden);
    }
    // Everything else that is guarded has a name with a dot in front: nearly all paths are done here.
    if !path.iter().any(|name| name.as_bytes().starts_with(b".")) {
        return None;
    }
    let in_one = |folders: &[&[&str]]| path.ancestors().any(|above| any_ends(folders, above));
    if in_one(HIDDEN_FOLDERS) || any_ends(HIDDEN_DOT_FILES, path) {
        return Some(Guarded::Hidden);
    }
    in_one(FIXED).then_some(Guarded::Fixed)
}

/// Whether the path ends with one of these.
fn any_ends(endings: &[&[&str]], path: &Path) -> bool {
    let same = |(name, wanted): (&OsStr, &&str)| name.as_bytes().eq_ignore_ascii_case(wanted.as_bytes());
    endings.iter().any(|ending| {
        let mut names = path.iter().rev();
        ending.iter().rev().all(|wanted| names.next().is_some_and(|name| same((name, wanted))))
    })
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
    use super::*;

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
        for path in [".git/config", ".git/hooks/pre-commit", "sub/.git/hooks", ".bashrc"] {
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
            ".git/HEAD",
            "environment.env.rs",
            ".github/workflows/ci.yml",
            "config.json",
            "package.json",
        ] {
            assert_eq!(guarded(Path::new(path)), None, "{path}");
        }
    }
}
