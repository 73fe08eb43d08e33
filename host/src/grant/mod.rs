//! What the operator says about components: `hermes.toml`.
//!
//! Typed, and unknown keys are errors: a misspelt limit must not pass for none. Only a file that the operator named or that
//! lies in the host's home is read, never one that happens to be in the current directory.

use std::{
    collections::BTreeMap,
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::Deserialize;

use crate::{
    component::Digest,
    sandbox::{
        Limits,
        limits::{KIB, MEMORY_CEILING, MIB, WALL_CEILING},
    },
};

/// Bytes of the file. A grant is a few lines.
const FILE_BYTES: u64 = 1 << 20;

/// The whole file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grants {
    #[serde(default)]
    tools: BTreeMap<String, Grant>,
}

/// What one component gets. Known by its file's stem, and bound to its bytes where a digest is given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    /// Other bytes under the same name get nothing.
    pub digest: Option<Digest>,
    /// Its limits, where they differ.
    #[serde(default)]
    limits: Overrides,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Overrides {
    #[serde(default, deserialize_with = "memory")]
    memory: Option<usize>,
    #[serde(default, deserialize_with = "timeout")]
    timeout: Option<Duration>,
    fuel: Option<u64>,
}

/// The file can't be used.
#[derive(Debug, thiserror::Error)]
pub enum GrantsError {
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
}

impl Grants {
    /// Reads a file. A missing one means no grants, unless the operator named it.
    pub fn read(path: &Path, named: bool) -> Result<Self, GrantsError> {
        let text = match read_own(path) {
            Ok(text) => text,
            Err(why) if why.kind() == io::ErrorKind::NotFound && !named => return Ok(Self::default()),
            Err(why) => return Err(GrantsError::Read { path: path.into(), why }),
        };
        toml::from_str(&text).map_err(|why| GrantsError::Parse { path: path.into(), why: Box::new(why) })
    }

    /// The grant of a component with these bytes, if there is one.
    pub fn of(&self, name: &str, digest: &Digest) -> Option<&Grant> {
        self.tools.get(name).filter(|grant| grant.digest.is_none_or(|pinned| pinned == *digest))
    }

    /// Whether a grant exists for the name but is bound to other bytes.
    pub fn is_pinned_elsewhere(&self, name: &str, digest: &Digest) -> bool {
        self.tools.contains_key(name) && self.of(name, digest).is_none()
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

impl Grant {
    /// The limits of the component's calls.
    pub fn limits(&self) -> Limits {
        let standard = Limits::HANDLE;
        Limits {
            memory: self.limits.memory.unwrap_or(standard.memory),
            wall: self.limits.timeout.unwrap_or(standard.wall),
            fuel: self.limits.fuel.unwrap_or(standard.fuel),
            ..standard
        }
    }
}

fn memory<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let parsed = text
        .strip_suffix("MiB")
        .map(|number| (number, MIB))
        .or_else(|| text.strip_suffix("KiB").map(|number| (number, KIB)))
        .and_then(|(number, unit)| number.trim().parse::<usize>().ok()?.checked_mul(unit));
    match parsed {
        Some(bytes) if (1..=MEMORY_CEILING).contains(&bytes) => Ok(Some(bytes)),
        Some(_) => Err(serde::de::Error::custom(format!("memory is at most {}MiB", MEMORY_CEILING / MIB))),
        None => Err(serde::de::Error::custom(format!("{text:?} is no size; write it like \"128MiB\""))),
    }
}

fn timeout<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let parsed = text.strip_suffix('s').and_then(|number| number.trim().parse::<u64>().ok()).map(Duration::from_secs);
    match parsed {
        Some(wall) if !wall.is_zero() && wall <= WALL_CEILING => Ok(Some(wall)),
        Some(_) => Err(serde::de::Error::custom(format!("timeout is 1s to {}s", WALL_CEILING.as_secs()))),
        None => Err(serde::de::Error::custom(format!("{text:?} is no time; write it like \"60s\""))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Grants, toml::de::Error> {
        toml::from_str(text)
    }

    #[test]
    fn limits_are_read_and_bounded() {
        let grants = parse("[tools.a]\nlimits = { memory = \"128MiB\", timeout = \"60s\" }").unwrap();
        let limits = grants.of("a", &Digest::of(b"x")).unwrap().limits();
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
    }

    #[test]
    fn a_pinned_grant_is_for_those_bytes_only() {
        let (mine, other) = (Digest::of(b"mine"), Digest::of(b"other"));
        let grants = parse(&format!("[tools.a]\ndigest = \"{mine}\"")).unwrap();
        assert!(grants.of("a", &mine).is_some());
        assert!(grants.of("a", &other).is_none());
        assert!(grants.is_pinned_elsewhere("a", &other));
    }
}
