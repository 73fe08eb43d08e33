//! What a confined command may reach.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The port on the loopback of a command's own network at which the proxy of the host listens. The network is new and empty, so
/// every port is free.
pub const PROXY_PORT: u16 = 3128;

/// What a confined command may reach.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// The files of the command, parents before children.
    pub mounts: Vec<Mount>,
    /// Symlinks that the command sees: target and place.
    pub symlinks: Vec<(PathBuf, PathBuf)>,
    /// What it may not even read, though it lies in a folder of [`mounts`](Self::mounts).
    pub hidden: Vec<PathBuf>,
    /// What it reaches of the network.
    pub network: Network,
    /// The namespaces that hold it. Without them Landlock and seccomp hold it alone.
    pub namespaces: Option<Namespaces>,
}

/// A file or folder that a command sees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mount {
    /// Its path on this machine, canonical.
    pub source: PathBuf,
    /// Its path for the command. Without namespaces the command finds it at its source.
    pub target: PathBuf,
    /// What the command may do with it.
    pub access: MountAccess,
    /// Whether it is a mount of its own, though the mount that it lies in shows it already: a mount point can't be renamed or removed.
    pub is_pinned: bool,
    /// Whether the command runs without it, if it is gone or a symlink stands in its way.
    pub is_optional: bool,
}

/// What a command may do with a file or folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MountAccess {
    /// Read and execute.
    Read,
    /// Everything.
    Write,
}

/// What a command reaches of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Network {
    /// Its own loopback at most.
    None,
    /// Its own loopback, and on it a proxy of the host at [`PROXY_PORT`]. Needs namespaces.
    Proxy,
    /// The network of this machine, loopback included: only where there are no namespaces.
    Shared,
}

/// The namespaces that hold a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Namespaces {
    /// Whether a user namespace comes first: a user other than root needs it to make the others.
    pub user: bool,
    /// An empty folder at which the command's root is mounted.
    pub root: PathBuf,
}

impl Mount {
    /// A path that the command finds where it lies on this machine.
    pub fn at(path: impl Into<PathBuf>, access: MountAccess) -> Self {
        let source = path.into();
        Self { target: source.clone(), source, access, is_pinned: false, is_optional: false }
    }

    /// The same, as a mount of its own in any case.
    pub fn pinned(self) -> Self {
        Self { is_pinned: true, ..self }
    }

    /// The same, left out if it is gone.
    pub fn optional(self) -> Self {
        Self { is_optional: true, ..self }
    }
}
