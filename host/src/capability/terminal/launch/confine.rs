//! What a confined command may reach: Landlock for files, TCP and signals, a filter for other sockets, and no new privileges.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};
use rustix::thread::{CapabilitySet, remove_capability_from_bounding_set};
use serde::{Deserialize, Serialize};

use super::{carve, sockets};

/// The oldest Landlock that keeps the promise. Before it (Linux 6.2) files could be emptied from anywhere.
const NEEDED: ABI = ABI::V3;

/// The newest that this code knows. What the kernel lacks of it is left out.
const KNOWN: ABI = ABI::V9;

/// Devices that every program expects to write to.
const DEVICES: [&str; 6] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/// The terminals of everybody. A command has its own already open: from another one it could read what is typed there, or put a question
/// there that nobody asked.
const TERMINALS: &str = "/dev/pts";

/// What a command may reach.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// Folders in which it may do anything.
    pub writable: Vec<PathBuf>,
    /// What it may not even read, though it may read everything else.
    pub hidden: Vec<PathBuf>,
    /// Whether it may use the network.
    pub network: bool,
}

/// What this kernel adds to what is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Support {
    /// TCP is refused by Landlock too (Linux 6.7). The filter refuses it in any case.
    pub tcp: bool,
    /// A command can't send signals to processes outside, its supervisor among them (Linux 6.12).
    pub signals: bool,
}

/// What the sandbox can promise on this kernel, or why there is none.
pub fn support() -> Result<Support, String> {
    let asked = |ruleset: Result<Ruleset, RulesetError>| ruleset.and_then(Ruleset::create).is_ok();
    let strict = || Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    if !asked(strict().handle_access(AccessFs::from_all(NEEDED))) {
        return Err(
            "this kernel has no Landlock of version 3 or later (Linux 6.2, with 'landlock' in its list of security \
                    modules); choose the backend 'local' to run commands unconfined"
                .into(),
        );
    }
    Ok(Support {
        tcp: asked(strict().handle_access(AccessNet::from_all(ABI::V4))),
        signals: asked(strict().scope(Scope::Signal)),
    })
}

impl Confinement {
    /// Confines this thread and all that comes of it, for ever.
    pub(super) fn apply(&self) -> Result<(), String> {
        drop_privileges();
        let rules = self.rules().map_err(|why| why.to_string())?;
        let status = rules.restrict_self().map_err(|why| why.to_string())?;
        if status.ruleset == RulesetStatus::NotEnforced || !status.no_new_privs {
            return Err("the kernel did not take the rules".into());
        }
        sockets::restrict(self.network).map_err(|why| why.to_string())
    }

    fn rules(&self) -> Result<RulesetCreated, RulesetError> {
        let mut rules = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_all(NEEDED))?
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(KNOWN))?
            .scope(Scope::from_all(KNOWN))?;
        if !self.network {
            rules = rules.handle_access(AccessNet::from_all(KNOWN))?;
        }
        let hidden: Vec<PathBuf> = self.hidden.iter().cloned().chain([TERMINALS.into()]).collect();
        let read: BitFlags<AccessFs> = AccessFs::from_read(KNOWN);
        let device = read | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
        rules
            .create()?
            .add_rules(path_beneath_rules(carve::without(Path::new("/"), &hidden), read))?
            .add_rules(path_beneath_rules(DEVICES, device))?
            .add_rules(path_beneath_rules(&self.writable, AccessFs::from_all(KNOWN)))
    }
}

/// Root without its powers, where the host is root. Others have none to lose.
fn drop_privileges() {
    for capability in CapabilitySet::all().iter() {
        // The kernel may not know the newest of them.
        let _ = remove_capability_from_bounding_set(capability);
    }
}
