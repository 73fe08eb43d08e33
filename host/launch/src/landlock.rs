//! Landlock: what a confined command may open, connect to and signal.

use std::{
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};

use crate::{Confinement, MountAccess, Network, beneath, carve, namespace::root::DEVICES};

/// The oldest Landlock that keeps the promise. Before it (Linux 6.2) files could be emptied from anywhere.
const NEEDED: ABI = ABI::V3;

/// The newest that this code knows. What the kernel lacks of it is left out.
const KNOWN: ABI = ABI::V9;

/// What a command may read beside its mounts.
const KERNEL_FILES: [&str; 1] = ["/proc"];

/// Terminals and shared memory of the command's own, where it has namespaces.
const OWN_DEVICES: [&str; 2] = ["/dev/pts", "/dev/shm"];

/// What this kernel's Landlock adds to what is needed, or nothing if it lacks that.
pub(crate) fn support() -> Option<LandlockSupport> {
    let has = |ruleset: Result<Ruleset, RulesetError>| ruleset.and_then(Ruleset::create).is_ok();
    let strict = || Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    has(strict().handle_access(AccessFs::from_all(NEEDED))).then(|| LandlockSupport {
        tcp: has(strict().handle_access(AccessNet::from_all(ABI::V4))),
        signals: has(strict().scope(Scope::Signal)),
    })
}

/// What the kernel's Landlock adds to what is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct LandlockSupport {
    /// TCP can be refused (Linux 6.7). Seccomp or the network namespace refuses it in any case.
    pub tcp: bool,
    /// Signals to processes outside can be refused (Linux 6.12). The pid namespace refuses them in any case.
    pub signals: bool,
}

/// Confines this thread and all that comes of it, for ever.
pub(crate) fn restrict(confinement: &Confinement) -> Result<(), String> {
    let rules = rules(confinement).map_err(|why| why.to_string())?;
    let status = rules.restrict_self().map_err(|why| why.to_string())?;
    if status.ruleset == RulesetStatus::NotEnforced || !status.no_new_privs {
        return Err("the kernel did not take the rules of Landlock".into());
    }
    Ok(())
}

fn rules(confinement: &Confinement) -> Result<RulesetCreated, RulesetError> {
    let is_namespaced = confinement.namespaces.is_some();
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(NEEDED))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(KNOWN))?
        .scope(Scope::from_all(KNOWN))?;
    // A network namespace leads nowhere: its loopback stays usable.
    if confinement.network == Network::None && !is_namespaced {
        rules = rules.handle_access(AccessNet::from_all(KNOWN))?;
    }
    let read: BitFlags<AccessFs> = AccessFs::from_read(KNOWN);
    let device = read | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
    let readable = paths(confinement, MountAccess::Read);
    // With namespaces a hidden path is covered by a mount. Landlock only ever allows, so without them it is cut out.
    let readable = match is_namespaced {
        true => readable,
        false => readable.iter().flat_map(|path| carve::without(path, &confinement.hidden)).collect(),
    };
    let devices = DEVICES.iter().map(|name| Path::new("/dev").join(name));
    let own = OWN_DEVICES.iter().filter(|_| is_namespaced);
    rules
        .create()?
        .add_rules(rules_beneath(readable, read))?
        .add_rules(rules_beneath(KERNEL_FILES, read))?
        .add_rules(rules_beneath(devices, device))?
        .add_rules(rules_beneath(own, AccessFs::from_all(KNOWN)))?
        .add_rules(rules_beneath(paths(confinement, MountAccess::Write), AccessFs::from_all(KNOWN)))
}

/// Rules for what lies at these paths. A path that is gone, or that a symlink leads away from, gets none.
fn rules_beneath(
    paths: impl IntoIterator<Item = impl AsRef<Path>>,
    access: BitFlags<AccessFs>,
) -> impl Iterator<Item = Result<PathBeneath<OwnedFd>, RulesetError>> {
    paths.into_iter().filter_map(move |path| {
        let place = beneath::open_absolute(path.as_ref()).ok()?;
        let access = if beneath::is_directory(&place).ok()? { access } else { access & AccessFs::from_file(KNOWN) };
        Some(Ok(PathBeneath::new(place, access)))
    })
}

/// Where the command finds what it may read, or write.
fn paths(confinement: &Confinement, access: MountAccess) -> Vec<PathBuf> {
    let place = |mount: &crate::Mount| match confinement.namespaces {
        Some(_) => mount.target.clone(),
        None => mount.source.clone(),
    };
    confinement.mounts.iter().filter(|mount| mount.access == access).map(place).collect()
}
