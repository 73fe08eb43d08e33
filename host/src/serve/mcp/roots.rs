//! The folder that a client works on. A client on stdio before 2026-07-28 may say it by its roots. It is asked where the operator lists
//! folders for that, and the first of its roots that the list has becomes the workspace; the host does not take a client's word alone.

use std::{path::PathBuf, time::Duration};

use rmcp::{RoleServer, model::ClientCapabilities, service::Peer};
use tokio::sync::watch;
use url::Url;

use super::limits::{ROOTS, ROOTS_WAIT};
use crate::Host;

/// Whether it is settled which folder calls work in.
pub(super) struct Roots(watch::Sender<bool>);

impl Default for Roots {
    fn default() -> Self {
        Self(watch::Sender::new(true))
    }
}

impl Roots {
    /// Makes calls wait, where this client is to be asked.
    pub(super) fn expect(&self, host: &Host, capabilities: &ClientCapabilities) {
        if capabilities.roots.is_some() && host.lets_client_choose_workspace() {
            self.0.send_replace(false);
        }
    }

    /// Asks, and lets the calls go on.
    pub(super) async fn ask(&self, host: &Host, peer: &Peer<RoleServer>) {
        if *self.0.borrow() {
            return;
        }
        match tokio::time::timeout(ROOTS_WAIT, peer.list_roots()).await {
            Ok(Ok(answer)) => {
                let folders = answer.roots.iter().take(ROOTS).filter_map(|root| folder(&root.uri)).collect();
                choose(host, folders).await;
            }
            Ok(Err(why)) => tracing::warn!("the client did not say which folder it works on: {why}"),
            Err(_) => tracing::warn!("the client did not say within {} s which folder it works on", seconds()),
        }
        self.0.send_replace(true);
    }

    /// Waits until the client was asked. One that never says that it is ready is not waited for longer than for its answer.
    pub(super) async fn settled(&self) {
        let mut settled = self.0.subscribe();
        let _ = tokio::time::timeout(ROOTS_WAIT + GRACE, settled.wait_for(|settled| *settled)).await;
    }
}

/// For the answer to be acted on, beyond the time that it may take to come.
const GRACE: Duration = Duration::from_secs(5);

fn seconds() -> u64 {
    ROOTS_WAIT.as_secs()
}

async fn choose(host: &Host, folders: Vec<PathBuf>) {
    let host = host.clone();
    // It looks at the disk, and loads the components on their new terms.
    let chosen = tokio::task::spawn_blocking(move || host.choose_workspace(&folders)).await;
    match chosen {
        Ok(Ok(())) => {}
        Ok(Err(why)) => tracing::warn!("{why}"),
        Err(why) => tracing::error!("failed to choose the workspace: {why}"),
    }
}

/// The folder of a `file:` URI.
fn folder(uri: &str) -> Option<PathBuf> {
    Url::parse(uri).ok().filter(|uri| uri.scheme() == "file")?.to_file_path().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_a_file_uri_on_this_machine() {
        for (uri, path) in [
            ("file:///home/ada/a%20b", Some("/home/ada/a b")),
            ("file://localhost/srv", Some("/srv")),
            ("file:///a/../b", Some("/b")),
            ("file://other/srv", None),
            ("https://example.com/srv", None),
            ("/srv", None),
            ("", None),
        ] {
            assert_eq!(folder(uri), path.map(PathBuf::from), "{uri}");
        }
    }
}
