//! Packages: the system's, and those that come from an address.

use super::Call;
use crate::approval::shell::{Category, walk::Walker};

/// Words that change what is installed.
const CHANGES: [&str; 11] = [
    "install",
    "remove",
    "purge",
    "upgrade",
    "dist-upgrade",
    "full-upgrade",
    "autoremove",
    "erase",
    "uninstall",
    "reinstall",
    "add",
];

pub(super) fn rule(walker: &mut Walker, call: &Call<'_>) -> bool {
    let first = call.operand(0);
    match call.name {
        "apt" | "apt-get" | "aptitude" | "yum" | "dnf" | "zypper" | "apk" | "brew" | "snap" | "flatpak" | "port"
        | "emerge" | "microdnf" | "pkg" | "xbps-install" | "choco" | "winget" | "scoop" => {
            let looks = matches!(
                first,
                "" | "update"
                    | "list"
                    | "search"
                    | "show"
                    | "info"
                    | "policy"
                    | "check-update"
                    | "repolist"
                    | "outdated"
                    | "provides"
                    | "deps"
                    | "depends"
                    | "rdepends"
                    | "cat"
                    | "home"
                    | "doctor"
                    | "config"
                    | "changelog"
                    | "leaves"
                    | "--prefix"
                    | "query"
            );
            if !looks || call.commands_are(&CHANGES) {
                walker.ask(Category::Packages, call.shown());
            }
        }
        "pacman" | "dpkg" | "rpm" | "yay" | "paru" => {
            let looks = call.options().any(|arg| {
                arg.text.starts_with("-Q")
                    || arg.text.starts_with("-Ss")
                    || arg.text.starts_with("-q")
                    || matches!(
                        arg.text.as_str(),
                        "-l" | "-L" | "-s" | "-S" | "--list" | "--status" | "-Si" | "--print-architecture"
                    )
            });
            if !looks {
                walker.ask(Category::Packages, call.shown());
            }
        }
        "dpkg-reconfigure"
        | "add-apt-repository"
        | "apt-key"
        | "update-alternatives"
        | "nix-env"
        | "softwareupdate" => {
            walker.ask(Category::Packages, call.shown());
        }
        "pip" | "pip3" | "pipx" | "uv" | "poetry" | "npm" | "pnpm" | "yarn" | "bun" | "gem" | "go" | "conda"
        | "mamba" | "npx" | "uvx" | "bunx" | "pnpx" => language(walker, call),
        "python" | "python3" if call.says(&["pip"]) => {
            language(walker, call);
            return false;
        }
        _ => return false,
    }
    true
}

fn language(walker: &mut Walker, call: &Call<'_>) {
    let settings = call.commands_then("config", &["set", "edit"])
        || (call.name == "npm" && call.commands_are(&["set"]))
        || (call.name == "go" && call.commands_are(&["env"]) && call.has('w', ""));
    if settings {
        walker.ask(Category::Persistence, format!("settings of later calls: {}", call.shown()));
    }
    let publishes = call.leading(1).any(|word| matches!(word, "publish" | "unpublish" | "deprecate" | "yank" | "push"));
    if publishes && !call.says(&["--dry-run"]) {
        return walker.ask(Category::Packages, format!("publishes: {}", call.shown()));
    }
    let installs = call
        .leading(2)
        .any(|word| matches!(word, "install" | "add" | "i" | "create" | "exec" | "dlx" | "init" | "get"))
        || matches!(call.name, "npx" | "uvx" | "bunx" | "pnpx");
    if !installs {
        return;
    }
    let address = call.operands().any(|arg| {
        arg.text.contains("://")
            || arg.text.starts_with("git+")
            || arg.text.starts_with("github:")
            || arg.text.starts_with("git@")
    });
    let index = call.options().any(|arg| {
        ["--index-url", "--extra-index-url", "--registry", "--trusted-host", "--find-links"]
            .iter()
            .any(|name| arg.text.starts_with(name))
    });
    if address || index {
        walker.ask(Category::DownloadedCode, format!("a package from an address: {}", call.shown()));
    }
    let everywhere = call.says(&["-g", "--global", "global", "--system", "--break-system-packages"]);
    if everywhere {
        walker.ask(Category::Packages, format!("for the whole system: {}", call.shown()));
    }
}
