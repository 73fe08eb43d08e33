//! Supervisors that are started before their command is known.
//!
//! Two processes, a cgroup and namespaces take longer than most commands. They do not depend on the command, so a host that runs more than
//! one keeps a supervisor prepared for the next.

use std::{
    collections::HashMap,
    io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    process::Stdio,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use hermes_launch::{COMMAND, Preparation, SUPERVISE, SUPERVISOR_NAME};
use tokio::{
    net::UnixStream,
    process::{Child, Command},
    task::spawn_blocking,
};

/// A supervisor that waits for its launch. It ends when its line does.
#[derive(Debug)]
pub(super) struct SupervisorProcess {
    pub(super) process: Child,
    pub(super) line: UnixStream,
}

impl SupervisorProcess {
    /// Starts one. It stands in the root folder until it has a launch, so that it keeps no folder busy.
    pub(super) fn start(program: &Path, preparation: &Preparation) -> io::Result<Self> {
        let (ours, its) = std::os::unix::net::UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let mut command = Command::new(program);
        command.arg0(SUPERVISOR_NAME).args([COMMAND, SUPERVISE]).arg(serde_json::to_string(preparation)?);
        command.env_clear().current_dir("/");
        command.stdin(Stdio::from(OwnedFd::from(its))).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(Self { process: command.spawn()?, line: UnixStream::from_std(ours)? })
    }
}

/// At most one prepared supervisor for each kind of preparation: confined, confined with the network, unconfined.
#[derive(Debug, Default)]
pub(super) struct SpareSupervisors(Mutex<HashMap<Preparation, SpareSlot>>);

/// The place of one spare.
#[derive(Debug, Default)]
struct SpareSlot {
    /// Whether a command was started with this preparation before: one that runs a single command needs no spare.
    is_repeated: bool,
    spare: Option<SupervisorProcess>,
}

impl SpareSupervisors {
    /// The spare of this preparation, if there is one.
    pub(super) fn take(&self, preparation: &Preparation) -> Option<SupervisorProcess> {
        self.slots().get_mut(preparation)?.spare.take()
    }

    /// Notes that a command was started, and prepares a spare for the next one from the second command on.
    pub(super) fn replenish(self: &Arc<Self>, program: &Path, preparation: Preparation) {
        let mut slots = self.slots();
        let slot = slots.entry(preparation.clone()).or_default();
        if !std::mem::replace(&mut slot.is_repeated, true) {
            return;
        }
        let (spares, program) = (Arc::downgrade(self), PathBuf::from(program));
        // Off the threads that serve. The launcher may be gone when the spare is there: then it ends at once.
        drop(spawn_blocking(move || match SupervisorProcess::start(&program, &preparation) {
            Ok(spare) => {
                if let Some(spares) = spares.upgrade() {
                    spares.slots().entry(preparation).or_default().spare.get_or_insert(spare);
                }
            }
            // The next command starts its own, and says what is wrong.
            Err(why) => tracing::debug!(%why, "no supervisor could be prepared"),
        }));
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<Preparation, SpareSlot>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
