//! A component's bytes, read once: what is hashed is what is compiled.

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use bytes::Bytes;
use rustix::{
    fs::{Mode, OFlags},
    io::Errno,
};

use super::{Digest, Refusal};
use crate::{sandbox::limits::MIB, text::valid_name};

/// The largest file that is read. A Python tool made by componentize-py is about 20 MB, with numpy about 40. Checked before
/// reading, so a sparse file of terabytes costs nothing. Attack 28.
pub const COMPONENT_BYTES: u64 = 64 * MIB as u64;

/// Where a component came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Embedded in the host's binary.
    Bundled,
    /// Given to the host by the program that embeds it.
    Registered,
    /// A file in a folder.
    File(PathBuf),
}

impl Origin {
    /// For messages and lists.
    pub fn describe(&self) -> String {
        match self {
            Self::Bundled => "bundled".into(),
            Self::Registered => "registered by the program".into(),
            Self::File(path) => path.display().to_string(),
        }
    }
}

/// The bytes of one component and what they are known by.
#[derive(Clone, Debug)]
pub struct ComponentFile {
    /// The file's stem. Grants are given to it.
    pub name: String,
    /// Where it came from.
    pub origin: Origin,
    /// The bytes' digest.
    pub digest: Digest,
    /// The bytes.
    pub bytes: Bytes,
}

/// What a component is known by. Its terms follow from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity<'a> {
    /// The file's stem.
    pub name: &'a str,
    /// Where it came from.
    pub origin: &'a Origin,
    /// The bytes' digest.
    pub digest: &'a Digest,
}

impl ComponentFile {
    /// What these bytes are known by.
    pub fn identity(&self) -> Identity<'_> {
        Identity { name: &self.name, origin: &self.origin, digest: &self.digest }
    }

    /// Reads a file of a folder.
    pub fn open(path: &Path) -> Result<Self, Refusal> {
        let refuse = |reason: String| Refusal::new(&path.display().to_string(), &reason);
        let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        if !valid_name(name) {
            return Err(refuse("the file's name must be 1 to 64 of A-Z a-z 0-9 _ - before .wasm; rename it".into()));
        }
        let bytes = Bytes::from(read_regular(path).map_err(refuse)?);
        Ok(Self { name: name.into(), origin: Origin::File(path.into()), digest: Digest::of(&bytes), bytes })
    }

    /// A component that is in memory already.
    pub fn held(name: &str, origin: Origin, bytes: Bytes) -> Self {
        Self { name: name.into(), origin, digest: Digest::of(&bytes), bytes }
    }
}

/// Opened once, without following a link and without waiting for a FIFO's writer; everything else is asked of the open file.
fn read_regular(path: &Path) -> Result<Vec<u8>, String> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(descriptor) => File::from(descriptor),
        Err(Errno::LOOP) => return Err("is a symbolic link; links are not followed, put the file itself here".into()),
        Err(Errno::NXIO) => return Err("is not a regular file".into()),
        Err(why) => return Err(format!("failed to open: {why}")),
    };
    let metadata = file.metadata().map_err(|why| format!("failed to read: {why}"))?;
    if metadata.is_dir() {
        return Err("is a directory, not a component".into());
    }
    if !metadata.is_file() {
        return Err("is not a regular file".into());
    }
    let too_large = |size: u64| format!("has {size} bytes; the limit for a component is {COMPONENT_BYTES}");
    if metadata.len() > COMPONENT_BYTES {
        return Err(too_large(metadata.len()));
    }
    let mut bytes = Vec::with_capacity(metadata.len() as usize);
    // The file may grow while it is read.
    file.take(COMPONENT_BYTES + 1).read_to_end(&mut bytes).map_err(|why| format!("failed to read: {why}"))?;
    if bytes.len() as u64 > COMPONENT_BYTES {
        return Err(too_large(bytes.len() as u64));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_could_mislead_are_refused() {
        for name in ["", "../x", "a b", "a.b", "ünï", "x\u{202e}", &"a".repeat(65)] {
            assert!(!valid_name(name), "{name:?}");
        }
        assert!(valid_name("web_search-2"));
    }
}
