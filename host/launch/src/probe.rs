//! What this kernel can hold, found by trying it.

use std::{
    convert::Infallible,
    io::{self, Write},
    process::{Command, Stdio, exit},
};

use rustix::process::geteuid;
use serde::{Deserialize, Serialize};

use crate::{
    COMMAND, Confinement, Failure, INIT, Mount, MountAccess, NOT_RUN, Namespaces, Network, Report, Stage, cgroup,
    landlock::{self, LandlockSupport},
    namespace,
    plan::Launch,
};

/// The layers that can hold a command on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfinementLayers {
    /// Landlock, if the kernel has what is needed of it.
    pub landlock: Option<LandlockSupport>,
    /// Namespaces, or why there are none.
    pub namespaces: NamespaceSupport,
}

impl ConfinementLayers {
    /// Whether namespaces hold a command.
    pub fn has_namespaces(&self) -> bool {
        matches!(self.namespaces, NamespaceSupport::Held { .. })
    }
}

/// Whether namespaces hold a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NamespaceSupport {
    /// They do.
    Held {
        /// Whether a user namespace comes first.
        user: bool,
    },
    /// They do not.
    Refused {
        /// What the kernel refused.
        why: String,
    },
}

/// Tells what this kernel can hold, as JSON, and exits.
pub(crate) fn run() -> Result<Infallible, Failure> {
    // A host looks once, before its first command.
    cgroup::sweep();
    let layers = ConfinementLayers { landlock: landlock::support(), namespaces: namespaces() };
    let text = serde_json::to_string(&layers).map_err(|why| (NOT_RUN, why.to_string()))?;
    io::stdout().write_all(text.as_bytes()).map_err(|why| (NOT_RUN, why.to_string()))?;
    exit(0)
}

/// Tries all of them in this process and a child of it, as a command would have them.
fn namespaces() -> NamespaceSupport {
    let user = !geteuid().is_root();
    match held(user) {
        Ok(()) => NamespaceSupport::Held { user },
        Err(why) => NamespaceSupport::Refused { why },
    }
}

fn held(user: bool) -> Result<(), String> {
    let namespaces = Namespaces { user, root: std::env::temp_dir() };
    namespace::enter(&namespaces, Network::None)?;
    let system = ["/usr", "/bin", "/lib", "/lib64"].into_iter().filter_map(|path| std::fs::canonicalize(path).ok());
    let confinement = Confinement {
        mounts: system.map(|path| Mount::at(path, MountAccess::Read)).collect(),
        symlinks: Vec::new(),
        hidden: Vec::new(),
        network: Network::None,
        namespaces: Some(namespaces),
    };
    let stage = Stage { pty: false, confinement: Some(confinement), limits: Default::default() };
    let launch = Launch { words: Vec::new(), variables: Vec::new(), cwd: "/".into(), stage };
    let mut init = Command::new("/proc/self/exe");
    init.args([COMMAND, INIT]).env_clear().envs(launch.disguised().map_err(|why| why.to_string())?);
    init.current_dir("/").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = init.output().map_err(|why| why.to_string())?;
    // It was given no program: it is confined, and then has nothing to start.
    let is_ready =
        String::from_utf8_lossy(&output.stderr).lines().any(|line| Report::read(line) == Some(Report::Ready));
    match is_ready {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
    }
}
