//! One process in the background: a task of the runtime sees it to its end, others look and write.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{self, Notify, watch},
    task::AbortHandle,
    time::{Instant, timeout},
};

use super::{
    super::{
        Child, Ended, Fault, Request,
        backend::{command_line, joined},
        child::{Event, Inlet, finish},
        limits::{POLL_BYTES, WRITE_WAIT},
        note,
        output::{Excerpt, Lines, Log},
    },
    Listener, News, Notice, Slot, Watch,
    watch::{Throttle, Watcher},
};

/// How a process stands.
#[derive(Clone, Debug)]
pub struct Status {
    /// Its name.
    pub id: String,
    /// What it runs.
    pub command: String,
    /// Its number in the system, once it has one.
    pub pid: Option<u32>,
    /// How it ended; nothing while it runs.
    pub ended: Option<Ended>,
    /// What its exit code means, where that is not what one would think, and what its sandbox has to say of its end.
    pub note: Option<String>,
    /// Names of processes that it left and that were ended with it.
    pub left: Vec<String>,
    /// How long it ran, or has run.
    pub ran: Duration,
    /// The last of what it printed.
    pub tail: String,
    /// Bytes printed so far.
    pub printed: u64,
}

#[derive(Clone, Debug, Default)]
struct State {
    pid: Option<u32>,
    over: Option<Over>,
}

#[derive(Clone, Debug)]
struct Over {
    ended: Ended,
    note: Option<String>,
    left: Vec<String>,
    at: Instant,
}

/// One process. When it is dropped, all that came of it is ended.
#[derive(Debug)]
pub(crate) struct Background {
    pub(super) task: String,
    id: String,
    command: String,
    started: Instant,
    shared: Arc<Shared>,
    driver: AbortHandle,
}

#[derive(Debug)]
struct Shared {
    log: Mutex<Log>,
    state: watch::Sender<State>,
    inlet: sync::Mutex<Option<Inlet>>,
    stop: Notify,
}

/// Whom a process tells what.
pub(super) struct Ears {
    pub(super) listener: Option<Listener>,
    pub(super) throttle: Arc<Throttle>,
    pub(super) watch: Watch,
}

impl Background {
    /// Sees a child to its end from now on.
    pub(super) fn new(task: &str, id: String, request: &Request, mut child: Child, slot: Slot, ears: Ears) -> Self {
        let watcher = Watcher::new(&ears.watch.patterns);
        let shared = Arc::new(Shared {
            log: Mutex::default(),
            state: watch::Sender::default(),
            inlet: sync::Mutex::new(child.inlet.take()),
            stop: Notify::new(),
        });
        let command = command_line(&request.what);
        let named = Named { task: task.to_owned(), id: id.clone(), command: command.clone() };
        let driver = tokio::spawn(drive(named, child, Arc::clone(&shared), watcher, ears, slot)).abort_handle();
        Self { task: task.to_owned(), id, command, started: Instant::now(), shared, driver }
    }

    /// How it stands.
    pub(crate) fn status(&self) -> Status {
        let state = self.shared.state.borrow().clone();
        let log = self.shared.log.lock().unwrap_or_else(PoisonError::into_inner);
        let (ended, note, left, until) = match state.over {
            Some(over) => (Some(over.ended), over.note, over.left, over.at),
            None => (None, None, Vec::new(), Instant::now()),
        };
        Status {
            id: self.id.clone(),
            command: self.command.clone(),
            pid: state.pid,
            ended,
            note,
            left,
            ran: until - self.started,
            tail: log.tail(POLL_BYTES),
            printed: log.printed(),
        }
    }

    /// When it ended, if it did.
    pub(crate) fn ended_at(&self) -> Option<Instant> {
        self.shared.state.borrow().over.as_ref().map(|over| over.at)
    }

    /// Lines of what it printed.
    pub(crate) fn log(&self, from: Option<u64>, limit: usize) -> Excerpt {
        self.shared.log.lock().unwrap_or_else(PoisonError::into_inner).lines(from, limit)
    }

    /// Waits for its end, for so long.
    pub(crate) async fn wait(&self, patience: Duration) {
        let mut state = self.shared.state.subscribe();
        // Whoever waits learns from the status whether it came.
        let _ = timeout(patience, state.wait_for(|state| state.over.is_some())).await;
    }

    /// Writes to it.
    pub(crate) async fn write(&self, bytes: &[u8]) -> Result<(), Fault> {
        let mut inlet = self.shared.inlet.lock().await;
        let Some(open) = inlet.as_mut() else { return Err(self.no_input()) };
        match timeout(WRITE_WAIT, open.write(bytes)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => {
                *inlet = None;
                Err(self.no_input())
            }
            Err(_) => Err(Fault::InputFull(self.id.clone())),
        }
    }

    /// Tells it that nothing more will be written.
    pub(crate) async fn close(&self) -> Result<(), Fault> {
        let Some(inlet) = self.shared.inlet.lock().await.take() else { return Err(self.no_input()) };
        match timeout(WRITE_WAIT, inlet.close()).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(self.no_input()),
            Err(_) => Err(Fault::InputFull(self.id.clone())),
        }
    }

    fn no_input(&self) -> Fault {
        match self.ended_at() {
            Some(_) => Fault::Over(self.id.clone()),
            None => Fault::InputClosed(self.id.clone()),
        }
    }

    /// Ends it, with all that came of it. Its end is to be waited for.
    pub(crate) fn stop(&self) {
        self.shared.stop.notify_one();
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

/// What a process is told apart by.
struct Named {
    task: String,
    id: String,
    command: String,
}

async fn drive(named: Named, mut child: Child, shared: Arc<Shared>, mut watcher: Watcher, ears: Ears, slot: Slot) {
    let tell = |news| {
        if let Some(listener) = &ears.listener {
            listener(Notice { task: named.task.clone(), process: named.id.clone(), news });
        }
    };
    let remarks = child.remarks.take();
    let mut lines = Lines::default();
    let mut look = |line: &[u8]| watcher.look(line, Instant::now(), &ears.throttle).into_iter().for_each(&tell);
    let finished = finish(child, shared.stop.notified(), |event| match event {
        Event::Started(pid) => {
            shared.state.send_modify(|state| state.pid = Some(pid));
        }
        Event::Printed(bytes) => {
            shared.log.lock().unwrap_or_else(PoisonError::into_inner).push(bytes);
            lines.push(bytes, &mut look);
        }
    });
    let (ended, left) = match finished.await {
        Ok(finished) => (finished.ended, finished.left),
        Err(why) => {
            shared.log.lock().unwrap_or_else(PoisonError::into_inner).push(why.to_string().as_bytes());
            (Ended::Lost, Vec::new())
        }
    };
    lines.finish(&mut look);
    let at = Instant::now();
    let tail = shared.log.lock().unwrap_or_else(PoisonError::into_inner).tail(POLL_BYTES);
    let remark = match remarks {
        Some(remarks) => remarks.of(ended, &tail).await,
        None => None,
    };
    let note = joined([note::of(&named.command, ended), remark]);
    // Its permit is free before its end is told.
    drop(slot);
    shared.state.send_modify(|state| state.over = Some(Over { ended, note, left, at }));
    if ears.watch.end {
        tell(News::Ended { ended, tail });
    }
}
