//! Packages: the system's, and those that come from an address.

use super::Call;
use crate::approval::shell::{Category, walk::Walker};

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
            if !looks {
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
    let publishes = call
        .operands()
        .take(2)
        .any(|arg| matches!(arg.text.as_str(), "publish" | "unpublish" | "deprecate" | "yank" | "push"));
    if publishes && !call.says(&["--dry-run"]) {
        return walker.ask(Category::Packages, format!("publishes: {}", call.shown()));
    }
    let installs =
        call.operands().take(3).any(|arg| {
            matches!(arg.text.as_str(), "install" | "add" | "i" | "create" | "exec" | "dlx" | "init" | "get")
        }) || matches!(call.name, "npx" | "uvx" | "bunx" | "pnpx");
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
