//! Where keys and tokens lie: the rows of `credentials.toml`.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use serde::Deserialize;

use super::pattern::{Anchor, PathPattern, names_of};

/// How many entries of a folder are looked at for a name with a wildcard. The one folder of such a row, `/etc/ssh`, has a dozen.
const FOLDER_ENTRIES: usize = 1_000;

/// One row of the table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CredentialRow {
    /// What lies there.
    what: String,
    paths: Vec<PathPattern>,
    /// Names that are no credentials though they fit.
    #[serde(default)]
    except: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CredentialTable {
    credential: Vec<CredentialRow>,
}

#[allow(clippy::expect_used, reason = "the text is constant, and a test parses it")]
static TABLE: LazyLock<CredentialTable> =
    LazyLock::new(|| toml::from_str(include_str!("credentials.toml")).expect("credentials.toml is valid"));

impl CredentialRow {
    fn excepts(&self, name: &[u8]) -> bool {
        self.except.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
    }
}

/// What credentials a path names or lies among, `None` if none. It is a whole path without links; what lies at most `beyond` names
/// deep is not asked about.
pub(crate) fn at(path: &Path, home: Option<&Path>, beyond: usize) -> Option<&'static str> {
    let (names, home) = (names_of(path), home.map(names_of));
    let is_one = |row: &&CredentialRow| {
        let excepted = names.last().is_some_and(|name| row.excepts(name));
        !excepted && row.paths.iter().any(|pattern| pattern.covers(&names, home.as_deref(), beyond))
    };
    TABLE.credential.iter().find(is_one).map(|row| row.what.as_str())
}

/// Whether an entry of a folder is one in any folder, by its own name and that of the folder. A walk that asks this of every entry on
/// its way down knows all rows that begin with `**`.
pub(crate) fn is_entry(above: &[u8], name: &[u8]) -> bool {
    let is_one =
        |row: &CredentialRow| row.paths.iter().any(|pattern| pattern.is_entry(above, name)) && !row.excepts(name);
    TABLE.credential.iter().any(is_one)
}

/// Whether a path below a home, given from there, names credentials or lies among them.
pub(crate) fn in_home(below: &str) -> bool {
    let name = below.rsplit('/').next().unwrap_or_default();
    let is_one = |row: &CredentialRow| {
        row.paths.iter().any(|pattern| pattern.covers_in_home(below)) && !row.excepts(name.as_bytes())
    };
    TABLE.credential.iter().any(is_one)
}

/// Whether a path from the root names credentials of the system or lies among them.
pub(crate) fn from_root(path: &str) -> bool {
    let names = names_of(Path::new(path));
    of_root().any(|pattern| pattern.covers(&names, None, 0))
}

/// Paths of credentials from the root. A wildcard is given as a name that fits it.
pub(crate) fn paths_from_root() -> impl Iterator<Item = String> {
    of_root().map(|pattern| format!("/{}", pattern.below().replace(['*', '?'], "x")))
}

fn of_root() -> impl Iterator<Item = &'static PathPattern> {
    TABLE.credential.iter().flat_map(|row| &row.paths).filter(|pattern| pattern.anchor() == Anchor::Root)
}

/// The literal paths of credentials in a home, from there.
pub(crate) fn paths_in_home() -> impl Iterator<Item = &'static str> {
    let patterns = TABLE.credential.iter().flat_map(|row| &row.paths);
    patterns.filter(|pattern| pattern.anchor() != Anchor::Root && pattern.is_literal()).map(PathPattern::below)
}

/// Every place of credentials on this machine that can be named: in this home and elsewhere, whether or not something is there. A
/// name with a wildcard becomes the entries of its folder that fit.
pub(crate) fn credential_paths(home: Option<&Path>) -> Vec<PathBuf> {
    credential_paths_below(Path::new("/"), home)
}

/// Those of them that lie below a folder.
pub(crate) fn credential_paths_below(folder: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let at_home = home.into_iter().flat_map(|home| paths_in_home().map(|below| home.join(below)));
    let is_below = |pattern: &&PathPattern| Path::new("/").join(pattern.below()).starts_with(folder);
    let from_root = of_root().filter(is_below).flat_map(expanded);
    at_home.filter(|path| path.starts_with(folder)).chain(from_root).collect()
}

fn expanded(pattern: &PathPattern) -> Vec<PathBuf> {
    let path = Path::new("/").join(pattern.below());
    if pattern.is_literal() {
        return vec![path];
    }
    let entries = path.parent().and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten();
    let paths = entries.take(FOLDER_ENTRIES).flatten().map(|entry| entry.path());
    paths.filter(|path| pattern.covers(&names_of(path), None, 0)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// What the file tools, the judge and the sandbox each had in a list of their own before there was one table.
    const BEFORE: &[&str] = &[
        "~/.ssh/id",
        "~/.aws/credentials",
        "~/.aws/config",
        "~/.gnupg/x",
        "~/.kube/config",
        "~/.azure/accessTokens.json",
        "~/.password-store/x",
        "~/.config/gh/hosts.yml",
        "~/.config/op/x",
        "~/.config/hub",
        "~/.config/chromium/x",
        "~/.config/gcloud/application_default_credentials.json",
        "~/.config/gcloud/credentials.db",
        "~/.config/git/credentials",
        "~/.config/google-chrome/x",
        "~/.config/rclone/rclone.conf",
        "~/.env",
        "~/.envrc",
        "~/.netrc",
        "~/.pgpass",
        "~/.my.cnf",
        "~/.npmrc",
        "~/.yarnrc.yml",
        "~/.pypirc",
        "~/.git-credentials",
        "~/.htpasswd",
        "~/.vault-token",
        "~/.docker/config.json",
        "~/.docker/x",
        "~/.cargo/credentials",
        "~/.cargo/credentials.toml",
        "~/.terraform.d/credentials.tfrc.json",
        "~/.gem/credentials",
        "~/.hermes/.env",
        "~/.bash_history",
        "~/.zsh_history",
        "~/.python_history",
        "~/.psql_history",
        "~/.mysql_history",
        "~/.node_repl_history",
        "~/.local/share/keyrings/x",
        "~/.mozilla/x",
        "/p/.ssh/id",
        "/p/.aws/x",
        "/p/.gnupg/x",
        "/p/.kube/x",
        "/p/.azure/x",
        "/p/.password-store/x",
        "/p/.config/gh/x",
        "/p/.config/gcloud/x",
        "/p/.config/op/x",
        "/p/.env",
        "/p/.env.production",
        "/p/.envrc",
        "/p/.netrc",
        "/p/.pgpass",
        "/p/.my.cnf",
        "/p/.npmrc",
        "/p/.yarnrc.yml",
        "/p/.pypirc",
        "/p/.git-credentials",
        "/p/.htpasswd",
        "/p/.vault-token",
        "/p/.docker/config.json",
        "/p/.cargo/credentials",
        "/p/.cargo/credentials.toml",
        "/p/.terraform.d/credentials.tfrc.json",
        "/p/_netrc",
        "/p/credentials.json",
        "/p/client_secret.json",
        "/p/service-account.json",
        "/p/id_rsa",
        "/p/id_dsa",
        "/p/id_ecdsa",
        "/p/id_ed25519",
        "/p/id_ecdsa_sk",
        "/p/id_ed25519_sk",
        "/p/a.key",
        "/p/a.p12",
        "/p/a.pfx",
        "/p/a.jks",
        "/p/a.keystore",
        "/p/a.kdbx",
        "/p/a.ppk",
        "/p/my-key.pem",
        "/p/private.pem",
        "/etc/shadow",
        "/etc/shadow-",
        "/etc/gshadow",
        "/etc/gshadow-",
        "/etc/sudoers",
        "/etc/sudoers.d/x",
        "/etc/krb5.keytab",
        "/etc/master.passwd",
        "/etc/ssl/private/x",
        "/etc/ssh/ssh_host_rsa_key",
        "/proc/kcore",
        "/dev/mem",
        "/run/secrets/x",
    ];

    #[test]
    fn every_path_that_was_known_before_is_in_the_table() {
        let home = Path::new("/home/ada");
        for path in BEFORE {
            let whole = path.strip_prefix("~/").map_or_else(|| PathBuf::from(path), |below| home.join(below));
            assert!(at(&whole, Some(home), 0).is_some(), "{path}");
            if let Some(below) = path.strip_prefix("~/") {
                assert!(in_home(below), "{path}");
            }
        }
    }

    #[test]
    fn keys_of_agents_age_sops_s3cfg_and_maven_are_in_the_table() {
        for below in [
            ".claude/.credentials.json",
            ".claude.json",
            ".codex/auth.json",
            ".config/sops/age/keys.txt",
            ".age/key.txt",
            ".local/share/opencode/auth.json",
            ".s3cfg",
            ".m2/settings.xml",
            ".m2/settings-security.xml",
        ] {
            let home = Path::new("/home/ada");
            assert!(at(&home.join(below), Some(home), 0).is_some(), "{below}");
            let places = credential_paths(Some(home));
            assert!(places.iter().any(|place| home.join(below).starts_with(place)), "{below}");
        }
    }

    #[test]
    fn what_only_looks_like_a_credential_is_none() {
        for path in [
            "/p/.env.example",
            "/p/.ENV.Sample",
            "/p/id_rsa.pub",
            "/p/cert.pem",
            "/p/.key",
            "/p/key",
            "/p/monkey.txt",
            "/p/.claude/settings.json",
            "/p/.codex/config.toml",
            "/p/.docker/Dockerfile",
            "/p/settings.xml",
            "/etc/passwd",
            "/p/.config/nvim/init.lua",
            "/p/environment.env.rs",
            "/p/config.json",
            "/home/ada/.cargo/config.toml",
        ] {
            assert_eq!(at(Path::new(path), Some(Path::new("/home/ada")), 0), None, "{path}");
        }
    }

    #[test]
    fn the_table_is_whole_and_names_each_path_once() {
        let mut seen = BTreeSet::new();
        for row in &TABLE.credential {
            assert!(!row.what.is_empty() && !row.paths.is_empty(), "{row:?}");
            for pattern in &row.paths {
                let is_short = pattern.anchor() != Anchor::Anywhere || pattern.below().split('/').count() <= 2;
                assert!(is_short, "{}: a walk knows two names", pattern.below());
                assert!(seen.insert((pattern.below(), pattern.anchor() == Anchor::Root)), "{} twice", pattern.below());
            }
        }
    }

    #[test]
    fn wildcards_at_the_root_become_the_files_that_fit() {
        let places = credential_paths(None);
        assert!(places.contains(&PathBuf::from("/etc/shadow")));
        assert!(places.iter().all(|place| place.is_absolute() && !place.to_string_lossy().contains('*')));
    }
}
