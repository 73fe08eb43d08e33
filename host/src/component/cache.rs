//! What was compiled before: artifacts by digest and engine, and what components answered about themselves, by digest.
//!
//! Three files for each component. `DIGEST-FORMAT.json` is its registration: what its type says and what it offers.
//! `DIGEST-ENGINE.bin` is the machine code, read when the component is first called. `DIGEST-ENGINE.json` says whose code that is,
//! or why the component can't be used. All are written to a temporary file and renamed, so a reader sees a whole one or none.
//! A registration outlives the engine: a host of a new version lists the tool before its code is compiled again.
//!
//! While a component is compiled, `DIGEST-ENGINE.lock` is locked: hosts that share a home compile each component once.

use std::{
    collections::hash_map::DefaultHasher,
    fs::{self, DirBuilder, File, TryLockError},
    hash::{Hash, Hasher},
    io::{self, Read, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use rustix::fs::OFlags;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use wasmtime::Engine;

use super::{Digest, Inspection};

/// Part of every file's name. To be raised whenever what is kept, or the rules that an answer was checked by, change: what is
/// kept under the old number is not read any more.
const FORMAT: u32 = 3;

/// How often a compile lock that another process holds is tried.
const LOCK_POLL: Duration = Duration::from_millis(20);

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
#[derive(Debug)]
pub(super) enum Known<O> {
    /// It works.
    Ready(Registration<O>),
    /// It can't be used, and trying again gives the same.
    Failed(String),
}

/// What a component said of itself.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Registration<O> {
    pub(super) inspection: Inspection,
    /// What it answered when it was asked what it offers.
    pub(super) offer: O,
    /// Whose it is: a file under another name is not taken for another component's.
    component: Digest,
}

/// What came of compiling a component for one engine.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum CompileRecord {
    /// There is an artifact.
    Ready {
        /// Whose it is.
        component: Digest,
        /// Its hash.
        artifact: Digest,
    },
    /// Compiling or registering failed, and trying again gives the same.
    Failed(String),
}

/// The lock on the compilation of one component, held against all processes that use the same cache. The kernel releases it when its
/// process ends, however that happens.
#[derive(Debug)]
pub(super) struct CompileLock {
    path: PathBuf,
    /// Closing it releases the lock.
    _file: File,
}

impl Drop for CompileLock {
    /// The file goes first: a process that opened it before and locks it afterwards sees that it is no longer the one at its path.
    fn drop(&mut self) {
        if let Err(why) = fs::remove_file(&self.path) {
            tracing::warn!("failed to remove {}: {why}", self.path.display());
        }
    }
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

    fn registration_path(&self, digest: &Digest) -> PathBuf {
        self.dir.join(format!("{}-{FORMAT}.json", digest.hex()))
    }

    /// The file that holds what is known; deleting it makes the host try again.
    pub(super) fn known_path(&self, digest: &Digest) -> PathBuf {
        self.path(digest, "json")
    }

    /// What is known. Anything unreadable, or another kind of component's, counts as nothing: it is made anew.
    pub(super) fn known<O: DeserializeOwned>(&self, digest: &Digest) -> Option<Known<O>> {
        match self.record(digest)? {
            CompileRecord::Failed(reason) => Some(Known::Failed(reason)),
            CompileRecord::Ready { .. } if !self.path(digest, "bin").exists() => None,
            CompileRecord::Ready { .. } => self.registration(digest).map(Known::Ready),
        }
    }

    /// What the component said of itself when it was last compiled, for this engine or another.
    pub(super) fn registration<O: DeserializeOwned>(&self, digest: &Digest) -> Option<Registration<O>> {
        let read = read_own(&self.registration_path(digest)).ok()?;
        let registration: Registration<O> = serde_json::from_slice(&read).ok()?;
        (registration.component == *digest).then_some(registration)
    }

    /// What came of compiling these bytes for this engine.
    fn record(&self, digest: &Digest) -> Option<CompileRecord> {
        let record = serde_json::from_slice(&read_own(&self.known_path(digest)).ok()?).ok()?;
        match &record {
            CompileRecord::Ready { component, .. } if component != digest => None,
            _ => Some(record),
        }
    }

    /// The machine code, if it is whole.
    pub(super) fn artifact(&self, digest: &Digest) -> Option<VerifiedArtifact> {
        let Some(CompileRecord::Ready { artifact, .. }) = self.record(digest) else { return None };
        let bytes = read_own(&self.path(digest, "bin")).ok()?;
        (Digest::of(&bytes) == artifact).then_some(VerifiedArtifact(bytes))
    }

    /// Keeps a component that works. The record comes last: what is known to be ready must be there.
    pub(super) fn keep<O: Serialize>(
        &self,
        digest: &Digest,
        inspection: &Inspection,
        offer: &O,
        artifact: &VerifiedArtifact,
    ) -> io::Result<()> {
        let registration = Registration { inspection: inspection.clone(), offer, component: *digest };
        let record = CompileRecord::Ready { component: *digest, artifact: Digest::of(artifact.bytes()) };
        self.write(&self.path(digest, "bin"), artifact.bytes())?;
        self.write(&self.registration_path(digest), &serde_json::to_vec(&registration)?)?;
        self.write(&self.known_path(digest), &serde_json::to_vec(&record)?)
    }

    /// Remembers that a component can't be used.
    pub(super) fn remember_failure(&self, digest: &Digest, reason: &str) -> io::Result<()> {
        self.write(&self.known_path(digest), &serde_json::to_vec(&CompileRecord::Failed(reason.into()))?)
    }

    /// Locks the compilation of a component, and waits at most this long while another thread or process has it locked. Nothing where
    /// that was not enough: a process that stands still must not keep others from working.
    pub(super) fn lock(&self, digest: &Digest, patience: Duration) -> io::Result<Option<CompileLock>> {
        let (path, until) = (self.path(digest, "lock"), Instant::now() + patience);
        loop {
            let flags = (OFlags::NOFOLLOW | OFlags::CLOEXEC).bits() as i32;
            let file =
                File::options().write(true).create(true).truncate(false).mode(0o600).custom_flags(flags).open(&path)?;
            match file.try_lock() {
                Ok(()) if is_at(&file, &path)? => return Ok(Some(CompileLock { path, _file: file })),
                // Its last holder removed it after it was opened here.
                Ok(()) => continue,
                Err(TryLockError::Error(why)) => return Err(why),
                Err(TryLockError::WouldBlock) if Instant::now() >= until => return Ok(None),
                Err(TryLockError::WouldBlock) => thread::sleep(LOCK_POLL),
            }
        }
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        // NamedTempFile has mode 0600.
        let mut file = tempfile::NamedTempFile::new_in(&self.dir)?;
        file.write_all(bytes)?;
        file.persist(path).map_err(|why| why.error)?;
        Ok(())
    }
}

/// Whether this open file is the one at a path.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let opened = file.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(there) => Ok((there.dev(), there.ino()) == (opened.dev(), opened.ino())),
        Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(why) => Err(why),
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
