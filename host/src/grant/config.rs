//! The operator's file: where it may lie, who may write it, and what it may say.

use std::{
    collections::BTreeMap,
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use super::{Grant, HookGrant};
use crate::{
    component::Digest,
    dispatch::Thresholds,
    registry::{ToolSearch, Toolset, Toolsets},
};

/// Bytes of the file. A grant is a few lines.
const FILE_BYTES: u64 = 1 << 20;

/// The whole file.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    #[serde(default)]
    tools: BTreeMap<String, Grant>,
    #[serde(default)]
    hooks: BTreeMap<String, HookGrant>,
    #[serde(default)]
    toolsets: BTreeMap<String, Toolset>,
    /// When a task that goes round in circles is warned and stopped.
    #[serde(default)]
    pub guardrails: Thresholds,
    /// When tools are searched for instead of listed.
    #[serde(default)]
    pub tool_search: ToolSearch,
    /// Tokens of the model's context window. Smaller windows get smaller results.
    pub context_window: Option<u64>,
}

/// The file can't be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// It can't be read.
    #[error("failed to read {}: {why}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: io::Error,
    },
    /// It says something that is not understood.
    #[error("{} is not a valid configuration: {why}", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// Where and why.
        why: Box<toml::de::Error>,
    },
    /// A toolset in it can't be made.
    #[error("{} has a toolset that can't be used: {why}", path.display())]
    Toolset {
        /// The file.
        path: PathBuf,
        /// Which and why.
        why: crate::registry::ToolsetError,
    },
}

impl Config {
    /// Reads a file. A missing one says nothing, unless the operator named it.
    pub fn read(path: &Path, named: bool) -> Result<Self, ConfigError> {
        let text = match read_own(path) {
            Ok(text) => text,
            Err(why) if why.kind() == io::ErrorKind::NotFound && !named => return Ok(Self::default()),
            Err(why) => return Err(ConfigError::Read { path: path.into(), why }),
        };
        let config: Self =
            toml::from_str(&text).map_err(|why| ConfigError::Parse { path: path.into(), why: Box::new(why) })?;
        config.toolsets().map_err(|why| ConfigError::Toolset { path: path.into(), why })?;
        Ok(config)
    }

    /// The grant of a component with these bytes, if there is one.
    pub fn of(&self, name: &str, digest: &Digest) -> Option<&Grant> {
        self.tools.get(name).filter(|grant| grant.digest.is_none_or(|pinned| pinned == *digest))
    }

    /// Whether a grant exists for the name but is bound to other bytes.
    pub fn is_pinned_elsewhere(&self, name: &str, digest: &Digest) -> bool {
        self.tools.contains_key(name) && self.of(name, digest).is_none()
    }

    /// What is said about a hook.
    pub fn hook(&self, name: &str) -> HookGrant {
        self.hooks.get(name).copied().unwrap_or_default()
    }

    /// All hooks that something is said about.
    pub fn hooks(&self) -> impl Iterator<Item = (&String, &HookGrant)> {
        self.hooks.iter()
    }

    /// The presets and the operator's own toolsets.
    pub fn toolsets(&self) -> Result<Toolsets, crate::registry::ToolsetError> {
        let mut toolsets = Toolsets::default();
        for (name, toolset) in &self.toolsets {
            toolsets.add(name, toolset.clone())?;
        }
        Ok(toolsets)
    }
}

/// The text of a regular file that nobody else can write: it decides what strangers' code may do.
fn read_own(path: &Path) -> io::Result<String> {
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    if metadata.mode() & 0o022 != 0 {
        return Err(io::Error::other("other users can write to it; run chmod go-w on it"));
    }
    if metadata.len() > FILE_BYTES {
        return Err(io::Error::other(format!("it has {} bytes; the limit is {FILE_BYTES}", metadata.len())));
    }
    std::fs::read_to_string(path)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{dispatch::OnFailure, sandbox::limits::MIB};

    fn parse(text: &str) -> Result<Config, toml::de::Error> {
        toml::from_str(text)
    }

    #[test]
    fn limits_are_read_and_bounded() {
        let config = parse("[tools.a]\nlimits = { memory = \"128MiB\", timeout = \"60s\" }").unwrap();
        let limits = config.of("a", &Digest::of(b"x")).unwrap().limits();
        assert_eq!((limits.memory, limits.wall), (128 * MIB, Duration::from_secs(60)));
        for bad in
            ["memory = \"5\"", "memory = \"2048MiB\"", "timeout = \"0s\"", "timeout = \"1h\"", "memori = \"1MiB\""]
        {
            assert!(parse(&format!("[tools.a]\nlimits = {{ {bad} }}")).is_err(), "{bad}");
        }
    }

    #[test]
    fn unknown_keys_are_errors() {
        assert!(parse("[tool.a]\n").is_err());
        assert!(parse("[tools.a]\nhtpp = []").is_err());
        assert!(parse("[hooks.a]\non_failures = \"allow\"").is_err());
        assert!(parse("[hooks.a]\nlimits = { result_chars = 1 }").is_err());
        assert!(parse("[tool_search]\nenable = \"on\"").is_err());
    }

    #[test]
    fn a_pinned_grant_is_for_those_bytes_only() {
        let (mine, other) = (Digest::of(b"mine"), Digest::of(b"other"));
        let config = parse(&format!("[tools.a]\ndigest = \"{mine}\"\noverride = [\"t\"]")).unwrap();
        assert!(config.of("a", &mine).unwrap().overrides("t"));
        assert!(config.of("a", &other).is_none());
        assert!(config.is_pinned_elsewhere("a", &other));
    }

    #[test]
    fn a_hook_that_nobody_mentions_blocks_when_it_fails() {
        let config = parse("[hooks.watch]\non_failure = \"allow\"").unwrap();
        assert_eq!(config.hook("watch").on_failure, OnFailure::Allow);
        assert_eq!(config.hook("other").on_failure, OnFailure::Block);
    }
}
