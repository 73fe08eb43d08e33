//! What the judge still asks about where the sandbox confines a command.
//!
//! The sandbox holds everything outside the workspace: files, keys, processes, devices, other users' rights, and the network
//! unless it was given. What is left are effects inside the workspace, and data that leaves by a network that was given. Text
//! that can't be read runs: the sandbox holds what it does, and destruction inside the workspace that is not plain from the text
//! is the price of running everything else without a question.

use super::{Category, Surroundings, Verdict, walk::Finding};

/// What the sandbox does about a category.
enum SandboxHold {
    /// Nothing of it reaches beyond the sandbox.
    Always,
    /// Its effect is held unless it lies inside the workspace.
    OutsideWorkspace,
    /// Its effect is held unless the command has the network.
    Offline,
    /// It asks to leave the sandbox.
    Never,
}

impl Category {
    /// Every category is named, so that a new one has to be decided on.
    fn sandbox_hold(self) -> SandboxHold {
        match self {
            // Destruction inside the workspace, the host's own files, and files that other programs obey.
            Self::RecursiveDelete
            | Self::Overwrite
            | Self::Git
            | Self::Persistence
            | Self::CredentialWrite
            | Self::Host => SandboxHold::OutsideWorkspace,
            Self::Exfiltration | Self::ReverseShell => SandboxHold::Offline,
            Self::Escalation => SandboxHold::Never,
            Self::SystemDelete
            | Self::Delete
            | Self::Disk
            | Self::Power
            | Self::ForkBomb
            | Self::KillAll
            | Self::Kill
            | Self::Permissions
            | Self::SystemWrite
            | Self::ProjectSettings
            | Self::CredentialRead
            | Self::DownloadedCode
            | Self::DecodedCode
            | Self::InlineCode
            | Self::WrittenCode
            | Self::PipedCode
            | Self::UnknownCommand
            | Self::UnknownTarget
            | Self::Privilege
            | Self::Environment
            | Self::Service
            | Self::Sql
            | Self::Container
            | Self::Cloud
            | Self::Schedule
            | Self::Packages
            | Self::Accounts
            | Self::SystemState
            | Self::Windows
            | Self::Obscured
            | Self::Unparsed
            | Self::Limit => SandboxHold::Always,
        }
    }
}

/// Whether a finding still stands where the sandbox confines the command. A verdict of `Never` always stands.
pub(super) fn stands(finding: &Finding, surroundings: &Surroundings) -> bool {
    finding.verdict == Verdict::Never
        || match finding.reason.category.sandbox_hold() {
            SandboxHold::Always => false,
            SandboxHold::OutsideWorkspace => finding.in_workspace,
            SandboxHold::Offline => surroundings.has_network,
            SandboxHold::Never => true,
        }
}

/// Folders that a build makes again: deleting them loses nothing. Names that are as often those of sources (`bin`, `out`, `site`) are
/// not among them.
const BUILD_OUTPUTS: [&str; 33] = [
    ".angular",
    ".cache",
    ".dart_tool",
    ".eggs",
    ".gradle",
    ".mypy_cache",
    ".next",
    ".nox",
    ".nuxt",
    ".nyc_output",
    ".parcel-cache",
    ".pytest_cache",
    ".ruff_cache",
    ".svelte-kit",
    ".terraform",
    ".tox",
    ".turbo",
    ".venv",
    ".vite",
    "DerivedData",
    "__pycache__",
    "_build",
    "bazel-out",
    "build",
    "cmake-build-debug",
    "cmake-build-release",
    "coverage",
    "dist",
    "htmlcov",
    "node_modules",
    "obj",
    "target",
    "venv",
];

/// Whether a path inside the workspace is a build output or lies in one.
pub(crate) fn is_build_output(path_in_workspace: &str) -> bool {
    path_in_workspace.split('/').any(|part| BUILD_OUTPUTS.binary_search(&part).is_ok() || part.ends_with(".egg-info"))
}

#[cfg(test)]
mod tests {
    use super::{BUILD_OUTPUTS, is_build_output};

    #[test]
    fn build_outputs_are_sorted_and_found_at_any_depth() {
        assert!(BUILD_OUTPUTS.is_sorted());
        assert!(
            is_build_output("target/debug") && is_build_output("web/node_modules") && is_build_output("x.egg-info")
        );
        assert!(!is_build_output("src") && !is_build_output("targets"));
    }
}
