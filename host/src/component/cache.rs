//! What was compiled before: artifacts and what components answered about themselves, by digest and engine.
//!
//! Two files for each component: `DIGEST-ENGINE.json` says what the component offers or why it can't be used, and
//! `DIGEST-ENGINE.bin` is the machine code, read when the component is first called. Both are written to a temporary file and
//! renamed, so a reader sees a whole one or none.

use std::{
    collections::hash_map::DefaultHasher,
    fs::{self, DirBuilder, File},
    hash::{Hash, Hasher},
    io::{self, Read, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use rustix::fs::OFlags;
use serde::{
    Deserialize, Serialize,
    de::{DeserializeOwned, IgnoredAny},
};
use wasmtime::Engine;

use super::{Digest, Inspection};

/// Part of every file's name. To be raised whenever what is kept, or the rules that an answer was checked by, change: what is
/// kept under the old number is not read any more.
const FORMAT: u32 = 2;

/// The directory can't be used.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// It can't be made or read.
    #[error("failed to use the cache directory {}: {why}", dir.display())]
    Io {
        /// The directory.
        dir: PathBuf,
        /// Why not.
        why: io::Error,
    },
    /// Somebody else could write machine code into it.
    #[error("refused to use {}: {why}; compiled code is loaded from there. Run: chmod go-w {}", dir.display(), dir.display())]
    Unsafe {
        /// The directory.
        dir: PathBuf,
        /// Who could.
        why: &'static str,
    },
}

/// What is known about a component with a certain digest.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Known<O> {
    /// It works.
    Ready(Ready<O>),
    /// It can't be used, and trying again gives the same.
    Failed(String),
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Ready<O> {
    pub(super) inspection: Inspection,
    /// What it answered when it was asked what it offers.
    pub(super) offer: O,
    /// Whose it is: a file under another name is not taken for another component's.
    component: Digest,
    /// The hash of the artifact.
    artifact: Digest,
}

/// Machine code whose origin was checked. See [`super::artifact::load`].
pub(super) struct VerifiedArtifact(Vec<u8>);

impl VerifiedArtifact {
    /// What our own worker just wrote.
    pub(super) fn from_worker(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// The directory of compiled components.
#[derive(Clone, Debug)]
pub struct Cache {
    dir: PathBuf,
    engine: String,
}

impl Cache {
    /// Opens the directory, made with mode 0700 where it is missing. Refused where anybody else could write to it or its parent.
    pub fn open(dir: &Path, engine: &Engine) -> Result<Self, CacheError> {
        let io = |why| CacheError::Io { dir: dir.into(), why };
        DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(io)?;
        let dir = fs::canonicalize(dir).map_err(io)?;
        check_owner(&dir)?;
        if let Some(parent) = dir.parent() {
            check_parent(parent)?;
        }
        let mut hasher = DefaultHasher::new();
        engine.precompile_compatibility_hash().hash(&mut hasher);
        (FORMAT, env!("CARGO_PKG_VERSION")).hash(&mut hasher);
        Ok(Self { dir, engine: format!("{:016x}", hasher.finish()) })
    }

    fn path(&self, digest: &Digest, extension: &str) -> PathBuf {
        self.dir.join(format!("{}-{}.{extension}", digest.hex(), self.engine))
    }

    /// The file that holds what is known; deleting it makes the host try again.
    pub(super) fn known_path(&self, digest: &Digest) -> PathBuf {
        self.path(digest, "json")
    }

    /// What is known. Anything unreadable, or another kind of component's, counts as nothing: it is made anew.
    pub(super) fn known<O: DeserializeOwned>(&self, digest: &Digest) -> Option<Known<O>> {
        let known = serde_json::from_slice(&read_own(&self.known_path(digest)).ok()?).ok()?;
        match &known {
            Known::Ready(ready) if ready.component != *digest || !self.path(digest, "bin").exists() => None,
            _ => Some(known),
        }
    }

    /// The machine code, if it is whole.
    pub(super) fn artifact(&self, digest: &Digest) -> Option<VerifiedArtifact> {
        let Some(Known::Ready(ready)) = self.known::<IgnoredAny>(digest) else { return None };
        let bytes = read_own(&self.path(digest, "bin")).ok()?;
        (Digest::of(&bytes) == ready.artifact).then_some(VerifiedArtifact(bytes))
    }

    /// Keeps a component that works. The artifact first: what is known to be ready must be there.
    pub(super) fn keep<O: Serialize>(
        &self,
        digest: &Digest,
        inspection: &Inspection,
        offer: &O,
        artifact: &VerifiedArtifact,
    ) -> io::Result<()> {
        let ready =
            Ready { inspection: inspection.clone(), offer, component: *digest, artifact: Digest::of(artifact.bytes()) };
        self.write(&self.path(digest, "bin"), artifact.bytes())?;
        self.write(&self.known_path(digest), &serde_json::to_vec(&Known::Ready(ready))?)
    }

    /// Remembers that a component can't be used.
    pub(super) fn remember_failure(&self, digest: &Digest, reason: &str) -> io::Result<()> {
        self.write(&self.known_path(digest), &serde_json::to_vec(&Known::<()>::Failed(reason.into()))?)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        // NamedTempFile has mode 0600.
        let mut file = tempfile::NamedTempFile::new_in(&self.dir)?;
        file.write_all(bytes)?;
        file.persist(path).map_err(|why| why.error)?;
        Ok(())
    }
}

fn check_owner(dir: &Path) -> Result<(), CacheError> {
    let metadata = fs::metadata(dir).map_err(|why| CacheError::Io { dir: dir.into(), why })?;
    let refuse = |why| Err(CacheError::Unsafe { dir: dir.into(), why });
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return refuse("it belongs to another user");
    }
    if metadata.mode() & 0o022 != 0 {
        return refuse("other users can write to it");
    }
    Ok(())
}

/// A parent that others can write lets them swap the directory, unless it is sticky as /tmp is.
fn check_parent(dir: &Path) -> Result<(), CacheError> {
    let metadata = fs::metadata(dir).map_err(|why| CacheError::Io { dir: dir.into(), why })?;
    let owner = metadata.uid();
    if owner != 0 && owner != rustix::process::geteuid().as_raw() {
        return Err(CacheError::Unsafe { dir: dir.into(), why: "it belongs to another user" });
    }
    let sticky = metadata.mode() & 0o1000 != 0;
    if metadata.mode() & 0o022 != 0 && !sticky {
        return Err(CacheError::Unsafe { dir: dir.into(), why: "other users can write to it" });
    }
    Ok(())
}

/// A file that this user owns, that nobody else can write, and that is no link.
fn read_own(path: &Path) -> io::Result<Vec<u8>> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC).bits() as i32;
    let mut file = File::options().read(true).custom_flags(flags).open(path)?;
    let metadata = file.metadata()?;
    let own = metadata.uid() == rustix::process::geteuid().as_raw() && metadata.mode() & 0o022 == 0;
    if !metadata.is_file() || !own {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let mut bytes = Vec::with_capacity(metadata.len() as usize);
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}
