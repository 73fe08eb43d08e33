//! Another machine, and how to get there.

use std::{ffi::OsString, path::PathBuf};

use serde::Deserialize;

/// Options of every connection: nobody is there to answer a question, and nothing but commands goes through.
const OPTIONS: [&str; 8] = [
    "BatchMode=yes",
    "StrictHostKeyChecking=accept-new",
    "ConnectTimeout=10",
    "ServerAliveInterval=15",
    "ServerAliveCountMax=3",
    "ClearAllForwardings=yes",
    "ForwardAgent=no",
    "PermitLocalCommand=no",
];

/// Another machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Its name or address, or an alias in the client's configuration.
    pub host: String,
    /// Who to be there.
    pub user: Option<String>,
    /// Where it listens.
    pub port: Option<u16>,
    /// The private key to show.
    pub identity: Option<PathBuf>,
    /// The client's configuration, instead of the user's own.
    pub config: Option<PathBuf>,
    /// The folder that commands begin in, instead of the home folder there.
    pub workdir: Option<PathBuf>,
}

impl Target {
    /// The client's words up to the command.
    pub(super) fn words(&self, more: &[OsString]) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec!["ssh".into()];
        if let Some(config) = &self.config {
            words.extend(["-F".into(), config.into()]);
        }
        if let Some(port) = self.port {
            words.extend(["-p".into(), port.to_string().into()]);
        }
        if let Some(user) = &self.user {
            words.extend(["-l".into(), user.into()]);
        }
        if let Some(identity) = &self.identity {
            words.extend(["-i".into(), identity.into()]);
        }
        for option in OPTIONS {
            words.extend(["-o".into(), option.into()]);
        }
        words.extend_from_slice(more);
        // A host whose name begins with a dash is no option.
        words.extend(["--".into(), self.host.clone().into()]);
        words
    }
}
