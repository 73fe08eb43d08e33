//! The end of every privilege: a confined command has no capability and gains none, also if root starts it.

use rustix::{
    io,
    thread::{
        CapabilitySet, CapabilitySets, clear_ambient_capability_set, configure_capability_in_ambient_set,
        remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
    },
};

/// What the init stage needs in a user namespace until the command starts: mounts, the loopback interface, the end of privileges.
const SETUP: [CapabilitySet; 3] = [CapabilitySet::SYS_ADMIN, CapabilitySet::NET_ADMIN, CapabilitySet::SETPCAP];

/// Keeps the capabilities of setup over the start of the init stage: a user other than root loses all of them there otherwise.
pub(crate) fn keep_for_setup() -> io::Result<()> {
    let kept = SETUP.into_iter().collect::<CapabilitySet>();
    set_capabilities(None, CapabilitySets { effective: kept, permitted: kept, inheritable: kept })?;
    SETUP.into_iter().try_for_each(|capability| configure_capability_in_ambient_set(capability, true))
}

/// Gives up every capability: the ambient, bounding, inheritable, permitted and effective sets. Root keeps its number and the
/// files that are root's, and loses its powers.
pub(crate) fn drop_all() -> io::Result<()> {
    set_no_new_privs(true)?;
    clear_ambient_capability_set()?;
    for capability in CapabilitySet::all().iter() {
        // The kernel may not know the newest of them, and a process without CAP_SETPCAP has none to pass on.
        let _ = remove_capability_from_bounding_set(capability);
    }
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
}
