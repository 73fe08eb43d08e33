//! What the operator says about components: `hermes.toml`.
//!
//! Typed, and unknown keys are errors: a misspelt limit must not pass for none. Only a file that the operator named or that
//! lies in the host's home is read, never one that happens to be in the current directory.

mod config;
mod document;
mod edit;
mod file;
mod find;
mod folder;
mod place;
mod rows;
mod standing;
mod terminal;
mod units;
mod workspaces;

use std::{path::PathBuf, time::Duration};

use serde::Deserialize;

pub use config::{Config, ConfigError, McpConfig};
pub use edit::{EditError, GrantFile, Granted, Revoked, Taken, Unwanted, UnwantedCommands, Wanted};
pub use find::{FindError, Found, asks_for_answers, asks_for_commands, asks_for_files, find};
pub use folder::{Access, FolderGrant, Links, Secrets};
pub use place::{resolve, to_grant};
pub use standing::{Pin, Stale, Standing};
pub use terminal::{Backend, ExecGrant, TerminalConfig, TerminalGrant};
pub use units::{parse_memory, parse_timeout};
pub use workspaces::Workspaces;

use crate::{
    component::Digest,
    dispatch::OnFailure,
    sandbox::{Limits, limits::thousands},
};

/// What one component gets. Known by its file's stem, and bound to its bytes where a digest is given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    /// Other bytes under the same name get nothing.
    pub digest: Option<Digest>,
    /// For whoever writes the tool: a file whose bytes have the grant, whatever they are. In place of a digest.
    pub dev: Option<PathBuf>,
    /// Its limits, where they differ.
    #[serde(default)]
    limits: ToolLimits,
    /// Names of tools that it may take from components that come before it.
    #[serde(default, rename = "override")]
    overrides: Vec<String>,
    /// Its files. Third-party components have none but these, bundled ones the workspace too.
    #[serde(default)]
    fs: Vec<FolderGrant>,
    /// What it may run. Third-party components nothing but this, bundled ones command lines under approval too.
    #[serde(default)]
    terminal: TerminalGrant,
    /// Whether it may ask the person at the other end of a call.
    #[serde(default)]
    ask: bool,
}

/// What is said about one hook.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HookGrant {
    /// Other bytes under the same name are not taken for this hook.
    pub digest: Option<Digest>,
    /// What happens to a call when the hook fails.
    #[serde(default)]
    pub on_failure: OnFailure,
    #[serde(default)]
    limits: HookLimits,
}

/// Limits of a component's calls that differ from the standard ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolLimits {
    /// Bytes of memory.
    #[serde(default, deserialize_with = "units::memory")]
    pub memory: Option<usize>,
    /// Wall clock.
    #[serde(default, deserialize_with = "units::timeout")]
    pub timeout: Option<Duration>,
    /// Fuel.
    pub fuel: Option<u64>,
    /// Characters of a result that a model is shown.
    pub result_chars: Option<usize>,
}

impl ToolLimits {
    /// These limits where they are named, those where they are not.
    fn or(self, others: Self) -> Self {
        Self {
            memory: self.memory.or(others.memory),
            timeout: self.timeout.or(others.timeout),
            fuel: self.fuel.or(others.fuel),
            result_chars: self.result_chars.or(others.result_chars),
        }
    }
}

/// A hook's result is not shown to a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct HookLimits {
    #[serde(default, deserialize_with = "units::memory")]
    memory: Option<usize>,
    #[serde(default, deserialize_with = "units::timeout")]
    timeout: Option<Duration>,
    fuel: Option<u64>,
}

impl Grant {
    /// The limits of the component's calls.
    pub fn limits(&self) -> Limits {
        let (standard, own) = (Limits::HANDLE, self.limits);
        Limits {
            memory: own.memory.unwrap_or(standard.memory),
            wall: own.timeout.unwrap_or(standard.wall),
            fuel: own.fuel.unwrap_or(standard.fuel),
            shown: own.result_chars,
            ..standard
        }
    }

    /// The limits that differ from the standard ones, for people.
    pub fn own_limits(&self) -> Option<String> {
        let ToolLimits { memory, timeout, fuel, result_chars } = self.limits;
        let parts = [
            memory.map(|size| format!("memory {}", units::write_memory(size))),
            timeout.map(|wall| format!("timeout {}", units::write_timeout(wall))),
            fuel.map(|fuel| format!("fuel {}", thousands(fuel))),
            result_chars.map(|chars| format!("{} characters shown", thousands(chars as u64))),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    /// Whether it may take this tool's name from a component that comes before it.
    pub fn overrides(&self, tool: &str) -> bool {
        self.overrides.iter().any(|name| name == tool)
    }

    /// The names that it may take.
    pub fn overridden(&self) -> &[String] {
        &self.overrides
    }

    /// The folders, and single files, that it may use.
    pub fn folders(&self) -> &[FolderGrant] {
        &self.fs
    }

    /// The commands that it may run.
    pub fn terminal(&self) -> &TerminalGrant {
        &self.terminal
    }

    /// Whether it may ask the person at the other end of a call.
    pub fn ask(&self) -> bool {
        self.ask
    }

    /// Whether it holds something that is granted to bytes, not to a name.
    pub(crate) fn needs_digest(&self) -> bool {
        !self.fs.is_empty() || !self.terminal.is_empty() || self.ask
    }
}

impl HookGrant {
    /// The limits of the hook's runs.
    pub fn limits(&self) -> Limits {
        let (standard, own) = (Limits::HOOK, self.limits);
        Limits {
            memory: own.memory.unwrap_or(standard.memory),
            wall: own.timeout.unwrap_or(standard.wall),
            fuel: own.fuel.unwrap_or(standard.fuel),
            ..standard
        }
    }
}
