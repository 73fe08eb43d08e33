//! How a launch travels: as the words and variables that the launcher is started with.

use std::{
    env,
    ffi::{OsStr, OsString},
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::PathBuf,
};

use serde::{Deserialize, Serialize};

use super::{Confinement, Failure, NOT_RUN};

/// The argument that makes this process a launcher.
pub(crate) const COMMAND: &str = "__launch";

/// The first stage.
pub(crate) const SUPERVISE: &str = "supervise";

/// The variable that carries [`Stage`].
const STAGE: &str = "STAGE";

/// Before the name of each of the command's own variables: no loader knows such names.
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
    /// What the command stage does to itself.
    pub stage: Stage,
}

/// What the command stage does to itself before it becomes the command.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Stage {
    /// Whether its descriptors are a terminal, to be its own.
    pub pty: bool,
    /// What it may reach. Everything, if nothing is said.
    pub confinement: Option<Confinement>,
}

impl Stage {
    /// The second stage.
    pub(super) const RUN: &'static str = "run";

    /// What this process was told.
    pub(super) fn told() -> Result<Self, Failure> {
        let text = env::var(STAGE).map_err(|_| (NOT_RUN, "the launcher was told nothing".to_owned()))?;
        serde_json::from_str(&text).map_err(|why| (NOT_RUN, format!("the launcher was told nonsense: {why}")))
    }
}

impl Launch {
    /// The variables of the launcher.
    pub(crate) fn disguised(&self) -> Result<Vec<(OsString, OsString)>, serde_json::Error> {
        let stage = serde_json::to_string(&self.stage)?;
        let own = self.variables.iter().map(|(name, value)| (disguise(name), value.clone()));
        Ok(own.chain([(STAGE.into(), stage.into())]).collect())
    }
}

/// The command's variables, as this launcher was given them.
pub(super) fn own_variables() -> impl Iterator<Item = (OsString, OsString)> {
    env::vars_os().filter_map(|(name, value)| {
        let name = name.as_bytes().strip_prefix(OWN)?;
        Some((OsString::from_vec(name.to_vec()), value))
    })
}

fn disguise(name: &OsStr) -> OsString {
    OsString::from_vec([OWN, name.as_bytes()].concat())
}
