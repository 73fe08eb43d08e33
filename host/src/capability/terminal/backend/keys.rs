//! Where keys and tokens lie: what a confined command can't read.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// In the home folder.
const AT_HOME: &[&str] = &[
    ".ssh",
    ".aws",
    ".azure",
    ".gnupg",
    ".kube",
    ".docker",
    ".hermes",
    ".password-store",
    ".local/share/keyrings",
    ".config/gh",
    ".config/gcloud",
    ".config/op",
    ".config/hub",
    ".config/git/credentials",
    ".config/google-chrome",
    ".config/chromium",
    ".mozilla",
    ".netrc",
    ".pgpass",
    ".my.cnf",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".git-credentials",
    ".vault-token",
    ".env",
    ".envrc",
    ".bash_history",
    ".zsh_history",
    ".python_history",
    ".psql_history",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".terraform.d/credentials.tfrc.json",
];

/// Elsewhere, where root reads them.
const ELSEWHERE: &[&str] = &[
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssl/private",
    "/run/secrets",
    "/root",
];

/// The keys of this machine's host.
const HOST_KEYS: (&str, &str, &str) = ("/etc/ssh", "ssh_host_", "_key");

/// Every place that is hidden, by its own name and by where a link at it leads.
pub(super) fn places(home: Option<&Path>, more: &[PathBuf]) -> Vec<PathBuf> {
    let home = home.map(|home| fs::canonicalize(home).unwrap_or_else(|_| home.to_owned()));
    let at_home = home.iter().flat_map(|home| AT_HOME.iter().map(move |name| home.join(name)));
    let own = |place: &PathBuf| home.as_ref().is_some_and(|home| home.starts_with(place));
    // Root's own home is somebody's home too: then its keys are hidden, and not all of it.
    let elsewhere = ELSEWHERE.iter().map(PathBuf::from).filter(|place| !own(place));
    let named: Vec<PathBuf> = at_home.chain(elsewhere).chain(host_keys()).chain(more.iter().cloned()).collect();
    let real: Vec<PathBuf> = named.iter().filter_map(|place| fs::canonicalize(place).ok()).collect();
    [named, real].concat()
}

fn host_keys() -> impl Iterator<Item = PathBuf> {
    let (folder, start, end) = HOST_KEYS;
    fs::read_dir(folder).into_iter().flatten().flatten().filter_map(move |entry| {
        let name = entry.file_name();
        let name = name.to_str()?;
        (name.starts_with(start) && name.ends_with(end)).then(|| entry.path())
    })
}
