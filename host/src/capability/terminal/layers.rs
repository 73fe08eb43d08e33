//! What holds confined commands on this machine, found once by trying it.

use std::sync::OnceLock;

use hermes_launch::{ConfinementLayers, NamespaceSupport};

use super::{Fault, Launcher};

/// The layers that hold confined commands here, or why there is no sandbox.
pub fn held(launcher: &Launcher) -> Result<&'static ConfinementLayers, Fault> {
    static LAYERS: OnceLock<Result<ConfinementLayers, String>> = OnceLock::new();
    let layers = LAYERS.get_or_init(|| {
        let layers = launcher.probe()?;
        match layers.landlock {
            Some(_) => Ok(layers),
            None => Err("this kernel has no Landlock of version 3 or later (Linux 6.2, with 'landlock' in its list of security \
                         modules); to run commands unconfined, set backend = \"local\" in [terminal]"
                .into()),
        }
    });
    layers.as_ref().map_err(|why| Fault::NoSandbox(why.clone()))
}

/// One line for the operator: what holds commands, and what is missing.
pub fn described(layers: &ConfinementLayers) -> String {
    match &layers.namespaces {
        NamespaceSupport::Held { user: true } => "user namespaces, Landlock and seccomp".into(),
        NamespaceSupport::Held { user: false } => "namespaces, Landlock and seccomp".into(),
        NamespaceSupport::Refused { why } => format!(
            "Landlock and seccomp alone, without namespaces ({why}): processes outside can be seen, /tmp is not private, a network \
             that is given includes this machine's loopback"
        ),
    }
}
