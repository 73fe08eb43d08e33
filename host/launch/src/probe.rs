//! What this kernel can hold, found by trying it.

use std::{
    convert::Infallible,
    fs::File,
    io::{self, Read, Write},
    os::{fd::OwnedFd, unix::net::UnixStream},
    process::{Command, Stdio, exit},
};

use rustix::process::geteuid;
use serde::{Deserialize, Serialize};

use crate::{
    COMMAND, Confinement, Failure, INIT, Launch, LaunchMessage, Mount, MountAccess, NOT_RUN, Namespaces, Network,
    Report, Stage, cgroup,
    landlock::{self, LandlockSupport},
    namespace,
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
    namespace::enter(user, false)?;
    let system = ["/usr", "/bin", "/lib", "/lib64"].into_iter().filter_map(|path| std::fs::canonicalize(path).ok());
    let confinement = Confinement {
        mounts: system.map(|path| Mount::at(path, MountAccess::Read)).collect(),
        symlinks: Vec::new(),
        hidden: Vec::new(),
        network: Network::None,
        namespaces: Some(Namespaces { user, root: std::env::temp_dir() }),
    };
    let stage = Stage { pty: false, confinement: Some(confinement), limits: Default::default() };
    // It is given no program: it is confined, and then has nothing to start.
    let launch = Launch { words: Vec::new(), variables: Vec::new(), cwd: "/".into(), stage };
    let (reports, output) = launched(&launch).map_err(|why| why.to_string())?;
    match reports.lines().any(|line| Report::read(line) == Some(Report::Ready)) {
        true => Ok(()),
        false => Err(output.trim().to_owned()),
    }
}

/// What the init stage reports about a launch, and what it prints.
fn launched(launch: &Launch) -> io::Result<(String, String)> {
    let (mut line, its) = UnixStream::pair()?;
    let mut init = Command::new("/proc/self/exe");
    init.args([COMMAND, INIT]).stdin(OwnedFd::from(its)).stdout(Stdio::null()).stderr(Stdio::null());
    let mut init_process = init.spawn()?;
    drop(init);
    let (mut output, writes) = io::pipe()?;
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    LaunchMessage::new(launch, nothing.into(), writes.into())?.send(&line)?;
    let (mut reports, mut printed) = (String::new(), String::new());
    line.read_to_string(&mut reports)?;
    output.read_to_string(&mut printed)?;
    init_process.wait()?;
    Ok((reports, printed))
}
