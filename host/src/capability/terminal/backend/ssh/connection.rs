//! One connection to another machine, shared by all commands: a master whose own session is the sentry.

use std::{
    ffi::OsString,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{mpsc, oneshot},
    time::{sleep, timeout},
};

use super::{
    super::super::{
        Afterwards, Child, Fault, Input, Launcher,
        child::{Event, Inlet, finish},
        environment,
        output::Lines,
        scratch::ScratchDir,
    },
    Target, remote,
};
use hermes_launch::{Launch, Stage};

/// How long a connection may take to stand: what the client has for it, and a slow login.
const CONNECTING: Duration = Duration::from_secs(20);

/// How long the sentry may take to end a command.
const SWEEPING: Duration = Duration::from_secs(10);

/// Words of the other side that are kept for an error.
const COMPLAINT_LINES: usize = 10;

/// A connection that stands. When it is dropped, everything that runs there is ended.
#[derive(Debug)]
pub(super) struct Connection {
    launcher: Launcher,
    target: Target,
    /// Holds the master's socket.
    socket: ScratchDir,
    name: String,
    /// The folder there for what commands leave.
    room: PathBuf,
    /// Where one is after logging in.
    pub(super) home: PathBuf,
    orders: mpsc::UnboundedSender<Order>,
    calls: AtomicU64,
    /// The client is ended some time after this is gone, if it did not end by itself.
    _wanted: oneshot::Sender<()>,
}

/// Ends the processes with this mark, and says so.
type Order = (String, Option<oneshot::Sender<()>>);

impl Connection {
    pub(super) async fn open(launcher: Launcher, target: Target) -> Result<Self, Fault> {
        let socket = ScratchDir::in_temporary().map_err(Fault::machine("make a folder for the connection"))?;
        // The folder's random name is one for the connection, too.
        let name = socket
            .path()
            .file_name()
            .map(|name| name.to_string_lossy().replace(|c: char| !c.is_ascii_alphanumeric(), ""))
            .unwrap_or_default();
        let path = socket.path().join("s").into_os_string();
        let options = ["-T", "-M", "-o", "ControlPersist=no", "-S"].map(OsString::from).into_iter().chain([path]);
        let mut words = target.words(&options.collect::<Vec<_>>());
        words.push(remote::sentry(&name));
        let refused = |why: String| Fault::Remote { host: target.host.clone(), why };
        let mut child = spawn(&launcher, words, false, &Input::Open)?;
        let inlet = child.inlet.take().ok_or_else(|| refused("no input".into()))?;
        let (said, mut lines) = mpsc::unbounded_channel();
        let (wanted, unwanted) = oneshot::channel::<()>();
        let stop = async {
            let _ = unwanted.await;
            // The sentry has its work to do, and then the client goes with it.
            sleep(SWEEPING).await;
        };
        tokio::spawn(async move {
            let mut whole = Lines::default();
            let heard = |event: Event<'_>| {
                if let Event::Printed(bytes) = event {
                    // Nobody listens to a connection that was given up.
                    whole.push(bytes, |line| drop(said.send(String::from_utf8_lossy(line).into_owned())));
                }
            };
            finish(child, stop, heard).await
        });
        let greeting = timeout(CONNECTING, greeting(&mut lines, &name)).await;
        let (room, home) = greeting.map_err(|_| refused("no answer in time".into()))?.map_err(refused)?;
        let (orders, received) = mpsc::unbounded_channel();
        tokio::spawn(relay(received, inlet, lines));
        Ok(Self { launcher, target, socket, name, room, home, orders, calls: AtomicU64::new(0), _wanted: wanted })
    }

    /// Whether it still stands.
    pub(super) fn is_open(&self) -> bool {
        !self.orders.is_closed()
    }

    /// A number for a command, and the mark of its processes.
    pub(super) fn new_call(&self) -> (u64, String) {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        // Nothing in it means anything to `grep`, and no mark is the beginning of another.
        (number, format!("{}-{number}-", self.name))
    }

    /// Where a command leaves its state.
    pub(super) fn file(&self, number: u64) -> PathBuf {
        self.room.join(format!("left-{number}"))
    }

    /// Starts a text there.
    pub(super) fn spawn(&self, text: OsString, pty: bool, input: &Input) -> Result<Child, Fault> {
        let path = self.socket.path().join("s").into_os_string();
        // Without the master there is no sentry: then nothing must be run.
        let options = ["-o", "ControlMaster=no", "-o", "ProxyCommand=false", if pty { "-tt" } else { "-T" }, "-S"];
        let options: Vec<OsString> = options.map(OsString::from).into_iter().chain([path]).collect();
        let mut words = self.target.words(&options);
        words.push(text);
        spawn(&self.launcher, words, pty, input)
    }

    /// Ends what has this mark, and waits until it has gone.
    pub(super) async fn sweep(&self, mark: String) {
        let (done, heard) = oneshot::channel();
        if self.orders.send((mark, Some(done))).is_ok() {
            // The sentry ends it later, if not now.
            let _ = timeout(SWEEPING, heard).await;
        }
    }

    /// What ends a command there when its child here is dropped.
    pub(super) fn sweeper(self: &Arc<Self>, mark: String) -> Box<dyn Afterwards> {
        Box::new(Sweeper { connection: Arc::clone(self), mark })
    }
}

#[derive(Debug)]
struct Sweeper {
    connection: Arc<Connection>,
    mark: String,
}

impl Afterwards for Sweeper {}

impl Drop for Sweeper {
    fn drop(&mut self) {
        // A connection that is lost has ended it already.
        let _ = self.connection.orders.send((std::mem::take(&mut self.mark), None));
    }
}

fn spawn(launcher: &Launcher, words: Vec<OsString>, pty: bool, input: &Input) -> Result<Child, Fault> {
    let mut variables = environment::base(|name| std::env::var_os(name));
    environment::add_terminal(&mut variables, pty);
    // The client is ours, and the agent is the operator's way to keep keys out of files. Nothing of it goes to the other side.
    variables.extend(std::env::var_os("SSH_AUTH_SOCK").map(|agent| ("SSH_AUTH_SOCK".into(), agent)));
    let stage = Stage { pty, ..Stage::default() };
    let launch = Launch { words, variables: variables.into_iter().collect(), cwd: "/".into(), stage };
    launcher.spawn(&launch, input).map_err(Fault::machine("start ssh"))
}

/// The sentry's first words. What comes before them is somebody else's welcome, or why there is none.
async fn greeting(lines: &mut mpsc::UnboundedReceiver<String>, name: &str) -> Result<(PathBuf, PathBuf), String> {
    let mut said = Vec::new();
    while let Some(line) = lines.recv().await {
        if line == format!("ready {name}") {
            let (room, home) = (lines.recv().await, lines.recv().await);
            return match (room, home) {
                (Some(room), Some(home)) => Ok((room.into(), home.into())),
                _ => Err("the connection was lost".into()),
            };
        }
        if said.len() < COMPLAINT_LINES {
            said.push(line);
        }
    }
    Err(said.join("; "))
}

/// Takes orders to the sentry, one at a time, for as long as the connection stands.
async fn relay(
    mut orders: mpsc::UnboundedReceiver<Order>,
    mut sentry: Inlet,
    mut lines: mpsc::UnboundedReceiver<String>,
) {
    loop {
        let (mark, done) = tokio::select! {
            order = orders.recv() => match order {
                Some(order) => order,
                None => return,
            },
            line = lines.recv() => match line {
                Some(_) => continue,
                None => return,
            },
        };
        if sentry.write(format!("{mark}\n").as_bytes()).await.is_err() {
            return;
        }
        let answer = format!("done {mark}");
        loop {
            match lines.recv().await {
                Some(line) if line == answer => break,
                Some(_) => {}
                None => return,
            }
        }
        if let Some(done) = done {
            // Whoever asked may have given up.
            let _ = done.send(());
        }
    }
}
