//! A launch on its way to the launcher: the words and variables that the launcher is started with.

use std::{
    env,
    ffi::{OsStr, OsString},
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::PathBuf,
};

use serde::{Deserialize, Serialize};

use crate::{Confinement, Failure, NOT_RUN, ResourceLimits};

/// The variable that carries [`Stage`].
const STAGE: &str = "STAGE";

/// The prefix of the command's own variables. No loader obeys names with it.
const OWN: &[u8] = b"OWN_";

/// A program that is to be started.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program and its arguments.
    pub words: Vec<OsString>,
    /// Every variable it gets.
    pub variables: Vec<(OsString, OsString)>,
    /// Where it starts.
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

impl Stage {
    /// The stage that this process was started with.
    pub(crate) fn received() -> Result<Self, Failure> {
        let text = env::var(STAGE).map_err(|_| (NOT_RUN, format!("the variable {STAGE} is missing")))?;
        serde_json::from_str(&text).map_err(|why| (NOT_RUN, format!("the variable {STAGE} can't be read: {why}")))
    }
}

impl Launch {
    /// The variables of the launcher.
    pub fn disguised(&self) -> Result<Vec<(OsString, OsString)>, serde_json::Error> {
        let stage = serde_json::to_string(&self.stage)?;
        let own = self.variables.iter().map(|(name, value)| (disguise(name), value.clone()));
        Ok(own.chain([(STAGE.into(), stage.into())]).collect())
    }
}

/// The command's variables, as this launcher received them.
pub(crate) fn own_variables() -> impl Iterator<Item = (OsString, OsString)> {
    env::vars_os().filter_map(|(name, value)| {
        let name = name.as_bytes().strip_prefix(OWN)?;
        Some((OsString::from_vec(name.to_vec()), value))
    })
}

fn disguise(name: &OsStr) -> OsString {
    OsString::from_vec([OWN, name.as_bytes()].concat())
}
