//! Commands on this machine, as the host's own user.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    super::{
        Child, Fault, Launcher, Outcome, Request, What,
        environment::{self, Variables},
        launch::{Confinement, Launch, Stage},
        note, state,
        task::{Began, Task, Tasks},
    },
    Answer, Backend, foreground,
};

/// The shells that command lines are read by, the first that is there.
const SHELLS: [&str; 2] = ["/bin/bash", "/bin/sh"];

/// Commands on this machine.
#[derive(Debug)]
pub struct Local {
    launcher: Launcher,
    shell: OsString,
    tasks: Tasks,
}

/// A command that is ready to start, and where it will leave its state.
struct Prepared {
    launch: Launch,
    began: Began,
    left: Option<PathBuf>,
}

impl Local {
    /// Commands that begin in this folder.
    pub fn new(launcher: Launcher, workspace: &Path) -> io::Result<Self> {
        Self::with(launcher, workspace, environment::base(|name| std::env::var_os(name)))
    }

    pub(super) fn with(launcher: Launcher, workspace: &Path, variables: Variables) -> io::Result<Self> {
        let shell = SHELLS.into_iter().find(|shell| Path::new(shell).exists()).unwrap_or("sh").into();
        Ok(Self { launcher, shell, tasks: Tasks::new(fs::canonicalize(workspace)?, variables)? })
    }

    pub(super) fn task(&self, name: &str) -> Result<Arc<Task>, Fault> {
        self.tasks.get(name).map_err(Fault::machine("make a folder for the task"))
    }

    pub(super) async fn execute_in(
        &self,
        task: &Task,
        request: Request,
        confinement: Option<Confinement>,
    ) -> Result<Outcome, Fault> {
        let timeout = foreground::timeout(&request)?;
        let request = Request { input: request.input.closed_if_open(), ..request };
        let mut prepared = self.prepare(task, &request, confinement)?;
        if let What::Shell(command) = &request.what {
            let file = task.new_file();
            prepared.launch.words = vec![self.shell.clone(), "-c".into(), state::script(command, &file)];
            prepared.left = Some(file);
        }
        let child = self.start(&prepared.launch, &request)?;
        let (finished, output) = foreground::to_the_end(child, &request, timeout).await?;
        if let Some(file) = prepared.left {
            if let Some(left) = state::read(&file) {
                task.take(&prepared.began, left);
            }
            // There is none if the shell was ended.
            let _ = fs::remove_file(file);
        }
        let note = note::of(&command_line(&request.what), finished.ended);
        Ok(Outcome { ended: finished.ended, output, note, left: finished.left, cwd: task.cwd() })
    }

    pub(super) fn spawn_in(
        &self,
        task: &Task,
        request: &Request,
        confinement: Option<Confinement>,
    ) -> Result<Child, Fault> {
        self.start(&self.prepare(task, request, confinement)?.launch, request)
    }

    fn start(&self, launch: &Launch, request: &Request) -> Result<Child, Fault> {
        self.launcher.spawn(launch, &request.input).map_err(Fault::machine("start the command"))
    }

    fn prepare(&self, task: &Task, request: &Request, confinement: Option<Confinement>) -> Result<Prepared, Fault> {
        foreground::check(request)?;
        if request.decided.as_ref().is_some_and(|decided| !task.is_as(decided)) {
            return Err(Fault::Moved);
        }
        let here = task.cwd();
        let cwd = match &request.workdir {
            Some(workdir) => here.join(workdir),
            None => here.clone(),
        };
        if !cwd.is_dir() {
            if request.workdir.is_none() {
                // The next command must not fail for the same reason.
                task.reset_cwd(self.tasks.start().to_owned());
            }
            return Err(Fault::NoDirectory(cwd));
        }
        let mut variables = task.variables();
        environment::add_terminal(&mut variables, request.pty);
        let words = match &request.what {
            What::Shell(command) => vec![self.shell.clone(), "-c".into(), command.into()],
            What::Exec { program, arguments } => [program].into_iter().chain(arguments).cloned().collect(),
        };
        let stage = Stage { pty: request.pty, confinement };
        let launch = Launch { words, variables: variables.clone().into_iter().collect(), cwd, stage };
        let began = Began { variables, cwd: request.workdir.is_none().then_some(here) };
        Ok(Prepared { launch, began, left: None })
    }

    pub(super) fn tasks(&self) -> &Tasks {
        &self.tasks
    }
}

/// A request as one would type it, to tell what its exit code means.
pub(crate) fn command_line(what: &What) -> String {
    match what {
        What::Shell(command) => command.clone(),
        What::Exec { program, .. } => program.to_string_lossy().into_owned(),
    }
}

impl Backend for Local {
    fn name(&self) -> &'static str {
        "local"
    }

    fn execute<'a>(&'a self, task: &'a str, request: Request) -> Answer<'a, Result<Outcome, Fault>> {
        Box::pin(async move {
            let task = self.task(task)?;
            self.execute_in(&task, request, None).await
        })
    }

    fn spawn<'a>(&'a self, task: &'a str, request: Request) -> Answer<'a, Result<Child, Fault>> {
        Box::pin(async move { self.spawn_in(&*self.task(task)?, &request, None) })
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
