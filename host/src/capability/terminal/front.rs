//! The front of the room: everything that a guest can ask for, under the limits on what runs at once.

use std::{collections::BTreeMap, ffi::OsString, fmt, path::PathBuf, sync::Arc, time::Duration};

use super::{
    Backend, Fault, Input, Outcome, Request,
    limits::{GRACE, LOG_LINES, STUCK, TIMEOUT, TIMEOUT_MAX},
    output::Excerpt,
    process::{Listener, Slots, Status, Table, Watch},
};

/// How long ending a process takes at most: asking, insisting, and doing it without its supervisor.
const ENDING: Duration = Duration::from_secs(GRACE.as_secs() + 3 * STUCK.as_secs());

/// Commands of many tasks on one backend. When it is dropped, everything that runs is ended.
pub struct Terminal {
    backend: Arc<dyn Backend>,
    slots: Slots,
    table: Table,
}

impl fmt::Debug for Terminal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Terminal").field("backend", &self.backend).finish_non_exhaustive()
    }
}

impl Terminal {
    /// A terminal on this backend, whose background processes tell this listener.
    pub fn new(backend: Arc<dyn Backend>, listener: Option<Listener>) -> Self {
        Self { backend, slots: Slots::default(), table: Table::new(listener) }
    }

    /// Runs a command to its end. When this is dropped, the command is ended.
    pub async fn run(&self, task: &str, request: Request) -> Result<Outcome, Fault> {
        let _slot = self.slots.take(task)?;
        self.backend.execute(task, request).await
    }

    /// Starts a command in the background. What it reads can be written later.
    pub async fn start(&self, task: &str, mut request: Request, watch: Watch) -> Result<Status, Fault> {
        watch.check()?;
        let slot = self.slots.take(task)?;
        request.input = Input::Open;
        let child = self.backend.spawn(task, request.clone()).await?;
        Ok(self.table.add(task, &request, child, slot, watch))
    }

    /// A task's background processes, the oldest first.
    pub fn list(&self, task: &str) -> Vec<Status> {
        self.table.of(task).iter().map(|process| process.status()).collect()
    }

    /// How a process stands, with the last of what it printed.
    pub fn poll(&self, task: &str, id: &str) -> Result<Status, Fault> {
        Ok(self.table.get(task, id)?.status())
    }

    /// Lines that a process printed, from one on or the last ones.
    pub fn log(&self, task: &str, id: &str, from: Option<u64>, limit: Option<usize>) -> Result<Excerpt, Fault> {
        Ok(self.table.get(task, id)?.log(from, limit.unwrap_or(LOG_LINES)))
    }

    /// Waits for a process's end, no longer than a command in the foreground may take. The status tells whether it came.
    pub async fn wait(&self, task: &str, id: &str, patience: Option<Duration>) -> Result<Status, Fault> {
        let process = self.table.get(task, id)?;
        process.wait(patience.unwrap_or(TIMEOUT).min(TIMEOUT_MAX)).await;
        Ok(process.status())
    }

    /// Writes to a process.
    pub async fn write(&self, task: &str, id: &str, bytes: &[u8]) -> Result<(), Fault> {
        self.table.get(task, id)?.write(bytes).await
    }

    /// Writes a line to a process.
    pub async fn submit(&self, task: &str, id: &str, line: &str) -> Result<(), Fault> {
        self.write(task, id, format!("{line}\n").as_bytes()).await
    }

    /// Tells a process that nothing more will be written.
    pub async fn close(&self, task: &str, id: &str) -> Result<(), Fault> {
        self.table.get(task, id)?.close().await
    }

    /// Ends a process, with all that came of it.
    pub async fn kill(&self, task: &str, id: &str) -> Result<Status, Fault> {
        let process = self.table.get(task, id)?;
        process.stop();
        process.wait(ENDING).await;
        Ok(process.status())
    }

    /// Where a task's next command will run.
    pub fn cwd(&self, task: &str) -> PathBuf {
        self.backend.cwd(task)
    }

    /// What a task's commands exported.
    pub fn exported(&self, task: &str) -> BTreeMap<OsString, OsString> {
        self.backend.exported(task)
    }

    /// Ends everything that a task runs in the background, and forgets the task.
    pub async fn end_task(&self, task: &str) {
        let processes = self.table.of(task);
        processes.iter().for_each(|process| process.stop());
        for process in processes {
            process.wait(ENDING).await;
        }
        self.table.forget(task);
        self.backend.cleanup(task).await;
    }

    /// Ends everything that runs in the background.
    pub async fn shut_down(&self) {
        let processes = self.table.all();
        processes.iter().for_each(|process| process.stop());
        for process in processes {
            process.wait(ENDING).await;
        }
    }
}
