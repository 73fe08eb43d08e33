//! Commands on another machine, by the OpenSSH client.

mod connection;
mod remote;
mod target;

use std::{path::PathBuf, sync::Arc};

use tokio::sync::Mutex;

pub use target::Target;

use self::{
    connection::Connection,
    remote::{Call, MARK},
};
use super::{
    super::{
        Child, Ended, Fault, Input, Launcher, Outcome, Request, What,
        environment::{self, Variables},
        note, quote, state,
        task::{Began, Tasks},
    },
    Answer, Backend, foreground,
    local::command_line,
};

/// What the client exits with if it failed itself.
const OF_THE_CLIENT: i32 = 255;

/// Commands on another machine.
#[derive(Debug)]
pub struct Ssh {
    launcher: Launcher,
    target: Target,
    connection: Mutex<Arc<Connection>>,
    tasks: Tasks,
}

impl Ssh {
    /// Connects. A connection that is lost later is made again by the next command.
    pub async fn connect(launcher: Launcher, target: Target) -> Result<Self, Fault> {
        let connection = Connection::open(launcher.clone(), target.clone()).await?;
        let start = connection.home.join(target.workdir.as_deref().unwrap_or("".as_ref()));
        let tasks = Tasks::new(start, Variables::new()).map_err(Fault::machine("make a folder for the tasks"))?;
        Ok(Self { launcher, target, connection: Mutex::new(Arc::new(connection)), tasks })
    }

    async fn connection(&self) -> Result<Arc<Connection>, Fault> {
        let mut connection = self.connection.lock().await;
        if !connection.is_open() {
            *connection = Arc::new(Connection::open(self.launcher.clone(), self.target.clone()).await?);
        }
        Ok(Arc::clone(&connection))
    }

    fn start(&self, task: &str, request: &Request, connection: &Arc<Connection>) -> Result<Started, Fault> {
        foreground::check(request)?;
        let task = self.tasks.get(task).map_err(Fault::machine("make a folder for the task"))?;
        let (number, mark) = connection.new_call();
        if request.decided.as_ref().is_some_and(|decided| !task.is_as(decided)) {
            return Err(Fault::Moved);
        }
        let here = task.cwd();
        let cwd = match &request.workdir {
            Some(workdir) => here.join(workdir),
            None => here.clone(),
        };
        let mut variables = task.variables();
        environment::add_terminal(&mut variables, request.pty);
        variables.insert(MARK.into(), mark.clone().into());
        let left = connection.file(number);
        let command = match &request.what {
            What::Shell(command) if request.input == Input::Open => {
                [b"\"$shell\" -c ", &*quote::word(command)].concat()
            }
            What::Shell(command) => [b"\"$shell\" -c ", &*quote::word(state::script(command, &left))].concat(),
            What::Exec { program, arguments } => {
                let words = [program].into_iter().chain(arguments).map(quote::word);
                words.collect::<Vec<_>>().join(&b' ')
            }
        };
        let text = Call { mark: &mark, cwd: &cwd, variables: &variables, command }.text();
        let mut child = connection.spawn(text, request.pty, &request.input)?;
        child.afterwards = Some(connection.sweeper(mark.clone()));
        let began = Began { variables, cwd: request.workdir.is_none().then_some(here) };
        Ok(Started { child, mark, left, began })
    }

    /// What a command line left there.
    async fn left(&self, connection: &Connection, file: &std::path::Path) -> Option<state::Left> {
        let child = connection.spawn(remote::take(file), false, &Input::Closed).ok()?;
        state::parse(&foreground::bytes_of(child).await?)
    }
}

struct Started {
    child: Child,
    mark: String,
    left: PathBuf,
    began: Began,
}

impl Backend for Ssh {
    fn name(&self) -> &'static str {
        "ssh"
    }

    fn execute<'a>(&'a self, task: &'a str, request: Request) -> Answer<'a, Result<Outcome, Fault>> {
        Box::pin(async move {
            let timeout = foreground::timeout(&request)?;
            let request = Request { input: request.input.closed_if_open(), ..request };
            let connection = self.connection().await?;
            let started = self.start(task, &request, &connection)?;
            let (finished, output) = foreground::to_the_end(started.child, &request, timeout).await?;
            if finished.ended == Ended::Exit(OF_THE_CLIENT) && !connection.is_open() {
                return Err(Fault::Remote { host: self.target.host.clone(), why: "the connection was lost".into() });
            }
            if finished.stopped {
                // Only the client was ended. A command that ends by itself has taken all of its own along.
                connection.sweep(started.mark).await;
            }
            let task = self.tasks.get(task).map_err(Fault::machine("make a folder for the task"))?;
            if matches!(request.what, What::Shell(_))
                && let Some(left) = self.left(&connection, &started.left).await
            {
                task.take(&started.began, left);
                task.find(remote::OWN);
            }
            let note = note::of(&command_line(&request.what), finished.ended);
            Ok(Outcome { ended: finished.ended, output, note, left: Vec::new(), cwd: task.cwd() })
        })
    }

    fn spawn<'a>(&'a self, task: &'a str, request: Request) -> Answer<'a, Result<Child, Fault>> {
        Box::pin(async move {
            let request = Request { input: Input::Open, ..request };
            Ok(self.start(task, &request, &self.connection().await?)?.child)
        })
    }

    fn cwd(&self, task: &str) -> PathBuf {
        self.tasks.cwd(task)
    }

    fn exported(&self, task: &str) -> Variables {
        self.tasks.exported(task)
    }

    fn cleanup<'a>(&'a self, task: &'a str) -> Answer<'a, ()> {
        Box::pin(async move { self.tasks.forget(task) })
    }
}
