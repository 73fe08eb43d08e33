//! A launch: what a supervisor prepares before it knows its command, and the command itself.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{CgroupLimits, Confinement, Network, ResourceLimits};

/// A program that is to be started.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Launch {
    /// The program and its arguments.
    pub words: Vec<OsString>,
    /// Every variable it gets.
    pub variables: Vec<(OsString, OsString)>,
    /// Where it starts.
    #[serde(with = "any_path")]
    pub cwd: PathBuf,
    /// What the launcher does before the command starts.
    pub stage: Stage,
}

/// What the launcher does before the command starts.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Stage {
    /// Whether the descriptors are a terminal, which becomes the command's controlling terminal.
    pub pty: bool,
    /// What the command may reach. Everything, if nothing is said.
    pub confinement: Option<Confinement>,
    /// What the command may use up.
    pub limits: ResourceLimits,
}

/// What a supervisor does before it knows its command. One that was prepared alike serves any command that needs this.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Preparation {
    /// The namespaces to enter, if any: whether a user namespace comes first.
    pub namespaces: Option<bool>,
    /// Whether a proxy of the host listens on the loopback of the new network.
    pub has_proxy: bool,
    /// The limits of a cgroup for the command.
    pub cgroup: Option<CgroupLimits>,
}

impl Launch {
    /// What the supervisor of this launch prepares.
    pub fn preparation(&self) -> Preparation {
        let confinement = self.stage.confinement.as_ref();
        Preparation {
            namespaces: confinement.and_then(|it| it.namespaces.as_ref()).map(|namespaces| namespaces.user),
            has_proxy: confinement.is_some_and(|it| it.network == Network::Proxy),
            cgroup: self.stage.limits.cgroup.clone(),
        }
    }
}

/// A path of any bytes. Serde writes paths as text alone.
mod any_path {
    use serde::{Deserializer, Serializer};

    use super::{Deserialize, OsStr, OsString, Path, PathBuf, Serialize};

    pub(super) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        OsStr::serialize(path.as_os_str(), to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        OsString::deserialize(from).map(PathBuf::from)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    #[test]
    fn bytes_that_are_no_text_arrive_as_they_are() {
        let odd = || OsString::from_vec(vec![b'/', 0xff, b'a']);
        let launch = Launch {
            words: vec![odd()],
            variables: vec![("LD_PRELOAD".into(), odd())],
            cwd: odd().into(),
            stage: Stage::default(),
        };
        let read: Launch = serde_json::from_slice(&serde_json::to_vec(&launch).unwrap()).unwrap();
        assert_eq!((read.words, read.variables, read.cwd), (launch.words, launch.variables, launch.cwd));
    }
}
