//! The operator's file: where it may lie, who may write it, and what it may say.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use serde::Deserialize;

use super::{Grant, HookGrant, Standing, TerminalConfig, Workspaces, file::read_own};
use crate::{
    approval::Approval,
    audit::AuditConfig,
    component::{Digest, Identity},
    dispatch::{ResultForm, Thresholds},
    policy::ToolPolicy,
    registry::{ToolSearch, Toolset, Toolsets},
};

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
    /// Who decides about what is dangerous.
    #[serde(default)]
    pub approval: Approval,
    /// What happens to calls, by tool, arguments and client.
    #[serde(default)]
    pub policy: ToolPolicy,
    /// What the audit keeps, and when a new log begins.
    #[serde(default)]
    pub audit: AuditConfig,
    /// Where commands run.
    #[serde(default)]
    pub terminal: TerminalConfig,
    /// How clients of MCP are served.
    #[serde(default)]
    pub mcp: McpConfig,
    /// Folders that a client may choose as the workspace.
    #[serde(default)]
    pub workspaces: Workspaces,
    /// Tokens of the model's context window. Smaller windows get smaller results.
    pub context_window: Option<u64>,
}

/// How clients of MCP are served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct McpConfig {
    /// How results of tools reach them.
    pub results: ResultForm,
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
    /// What it says about approval can't be done.
    #[error("{} can't be used: {why}", path.display())]
    Approval {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: crate::approval::SmartWithoutReviewer,
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
        Self::parse(path, &text)
    }

    /// Reads the text of a file.
    pub(super) fn parse(path: &Path, text: &str) -> Result<Self, ConfigError> {
        let config: Self =
            toml::from_str(text).map_err(|why| ConfigError::Parse { path: path.into(), why: Box::new(why) })?;
        config.approval.check().map_err(|why| ConfigError::Approval { path: path.into(), why })?;
        config.toolsets().map_err(|why| ConfigError::Toolset { path: path.into(), why })?;
        Ok(config)
    }

    /// What the grant of a component's name comes to for it. Files and commands are granted to bytes: without a digest only a
    /// bundled component has them, since the host knows it by its bytes.
    pub fn standing(&self, component: Identity<'_>) -> Standing<'_> {
        match self.tools.get(component.name) {
            None => Standing::Nothing,
            Some(grant) => grant.standing(component),
        }
    }

    /// The grant of this component, if there is one that holds.
    pub fn of(&self, component: Identity<'_>) -> Option<&Grant> {
        match self.standing(component) {
            Standing::Holds(grant) => Some(grant),
            Standing::Nothing | Standing::Stale(_) => None,
        }
    }

    /// Whether a grant exists for the name but does not hold for this component.
    pub fn is_pinned_elsewhere(&self, component: Identity<'_>) -> bool {
        matches!(self.standing(component), Standing::Stale(_))
    }

    /// What is written for a name, whatever bytes it is for.
    pub fn tool(&self, name: &str) -> Option<&Grant> {
        self.tools.get(name)
    }

    /// All names that something is written for.
    pub fn tools(&self) -> impl Iterator<Item = (&str, &Grant)> {
        self.tools.iter().map(|(name, grant)| (name.as_str(), grant))
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

/// Whether these are the bytes of a component that is embedded in this binary.
pub(super) fn is_bundled(digest: &Digest) -> bool {
    static DIGESTS: LazyLock<Vec<Digest>> =
        LazyLock::new(|| crate::BUNDLED.iter().map(|(_, bytes)| Digest::of(bytes)).collect());
    DIGESTS.contains(digest)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::component::Origin;
    use crate::grant::{Access, FolderGrant, Stale};
    use crate::{dispatch::OnFailure, sandbox::limits::MIB};

    /// A component of this name with these bytes.
    fn file<'a>(name: &'a str, digest: &'a Digest) -> Identity<'a> {
        Identity { name, digest, origin: &Origin::Registered }
    }

    fn parse(text: &str) -> Result<Config, toml::de::Error> {
        toml::from_str(text)
    }

    #[test]
    fn limits_are_read_and_bounded() {
        let config = parse("[tools.a]\nlimits = { memory = \"128MiB\", timeout = \"60s\" }").unwrap();
        let limits = config.of(file("a", &Digest::of(b"x"))).unwrap().limits();
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
        assert!(parse("[tools.a]\nfs = [{ path = \"a\", acces = \"read\" }]").is_err());
        assert!(parse("[hooks.a]\non_failures = \"allow\"").is_err());
        assert!(parse("[hooks.a]\nlimits = { result_chars = 1 }").is_err());
        assert!(parse("[tool_search]\nenable = \"on\"").is_err());
        assert!(parse("[mcp]\nresult = \"text\"").is_err());
        assert!(parse("[mcp]\nresults = \"xml\"").is_err());
    }

    #[test]
    fn a_pinned_grant_is_for_those_bytes_only() {
        let (mine, other) = (Digest::of(b"mine"), Digest::of(b"other"));
        let config = parse(&format!("[tools.a]\ndigest = \"{mine}\"\noverride = [\"t\"]")).unwrap();
        assert!(config.of(file("a", &mine)).unwrap().overrides("t"));
        assert!(config.of(file("a", &other)).is_none());
        assert!(config.is_pinned_elsewhere(file("a", &other)));
    }

    #[test]
    fn files_without_a_digest_are_for_the_bundled_components_alone() {
        let fs = "fs = [{ path = \"~/notes\", access = \"read\" }]";
        let stranger = Digest::of(b"stranger");
        let config = parse(&format!("[tools.a]\n{fs}")).unwrap();
        assert_eq!(config.standing(file("a", &stranger)), Standing::Stale(Stale::NoDigest));
        assert!(config.of(file("a", &stranger)).is_none());
        assert!(config.is_pinned_elsewhere(file("a", &stranger)));
        assert_eq!(config.standing(file("b", &stranger)), Standing::Nothing);
        let (_, bundled) = crate::BUNDLED.first().expect("run make tools");
        assert_eq!(config.of(file("a", &Digest::of(bundled))).unwrap().folders().len(), 1);
        let pinned = parse(&format!("[tools.a]\ndigest = \"{stranger}\"\n{fs}")).unwrap();
        assert_eq!(pinned.of(file("a", &stranger)).unwrap().folders(), [FolderGrant::new("~/notes", Access::Read)]);
        assert_eq!(pinned.standing(file("a", &Digest::of(bundled))), Standing::Stale(Stale::OtherBytes));
        // What is no file is granted to a name, as it ever was.
        let limits = parse("[tools.a]\nlimits = { fuel = 1 }\nfs = []").unwrap();
        assert_eq!(limits.of(file("a", &stranger)).unwrap().limits().fuel, 1);
    }

    #[test]
    fn a_dev_grant_is_for_one_file_whatever_its_bytes() {
        let fs = "fs = [{ path = \"~/notes\", access = \"read\" }]";
        let config = parse(&format!("[tools.a]\ndev = \"/work/a.wasm\"\n{fs}")).unwrap();
        let standing = |origin: Origin, bytes: &[u8]| {
            let digest = Digest::of(bytes);
            matches!(config.standing(Identity { name: "a", digest: &digest, origin: &origin }), Standing::Holds(_))
        };
        let file = |path: &str| Origin::File(path.into());
        assert!(standing(file("/work/a.wasm"), b"one") && standing(file("/work/a.wasm"), b"two"));
        assert!(!standing(file("/tools/a.wasm"), b"one"));
        assert!(!standing(Origin::Registered, b"one") && !standing(Origin::Bundled, b"one"));
        let digest = Digest::of(b"one");
        let both = parse(&format!("[tools.a]\ndigest = \"{digest}\"\ndev = \"/work/a.wasm\"\n{fs}")).unwrap();
        let origin = file("/work/a.wasm");
        let standing = both.standing(Identity { name: "a", digest: &digest, origin: &origin });
        assert_eq!(standing, Standing::Stale(Stale::TwoPins));
    }

    #[test]
    fn a_hook_that_nobody_mentions_blocks_when_it_fails() {
        let config = parse("[hooks.watch]\non_failure = \"allow\"").unwrap();
        assert_eq!(config.hook("watch").on_failure, OnFailure::Allow);
        assert_eq!(config.hook("other").on_failure, OnFailure::Block);
    }
}
