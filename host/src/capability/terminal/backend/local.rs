//! Commands on this machine, as the host's own user, in a sandbox where the request says so.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    super::{
        Child, Fault, Launcher, Outcome, Request, SandboxUse, What,
        environment::{self, Variables},
        limits, note, state,
        task::{Began, Task, Tasks},
    },
    Answer, Backend, Sandbox, foreground,
    remarks::{SandboxRemarks, joined},
};
use hermes_launch::{Launch, Stage};

/// The shells that command lines are read by, the first that is there.
const SHELLS: [&str; 2] = ["/bin/bash", "/bin/sh"];

/// Commands on this machine.
#[derive(Debug)]
pub struct Local {
    launcher: Launcher,
    shell: OsString,
    tasks: Tasks,
    /// The sandbox of requests that name none.
    sandbox: Option<SandboxUse>,
}

/// A command that is ready to start.
struct Prepared {
    launch: Launch,
    began: Began,
    /// The folder for its state, as the command sees it.
    state: PathBuf,
    /// What its sandbox has to say at its end.
    remarks: Option<SandboxRemarks>,
}

impl Local {
    /// Commands that begin in this folder.
    pub fn new(launcher: Launcher, workspace: &Path) -> io::Result<Self> {
        let shell = SHELLS.into_iter().find(|shell| Path::new(shell).exists()).unwrap_or("sh").into();
        let variables = environment::base(|name| std::env::var_os(name));
        Ok(Self { launcher, shell, tasks: Tasks::new(fs::canonicalize(workspace)?, variables)?, sandbox: None })
    }

    /// Confines requests that name no sandbox of their own.
    pub fn confined(self, sandbox: Arc<Sandbox>, network: bool) -> Self {
        Self { sandbox: Some(SandboxUse { sandbox, network }), ..self }
    }

    fn task(&self, name: &str) -> Result<Arc<Task>, Fault> {
        self.tasks.get(name).map_err(Fault::machine("make a folder for the task"))
    }

    async fn execute_in(&self, task: &Task, request: Request) -> Result<Outcome, Fault> {
        let timeout = foreground::timeout(&request)?;
        let request = Request { input: request.input.closed_if_open(), ..request };
        let mut prepared = self.prepare(task, &request)?;
        let name = task.new_state_name();
        if let What::Shell(command) = &request.what {
            let script = state::script(command, &prepared.state.join(&name));
            prepared.launch.words = vec![self.shell.clone(), "-c".into(), script];
        }
        let child = self.start(&prepared.launch, &request)?;
        let (finished, output) = foreground::to_the_end(child, &request, timeout).await?;
        let file = task.state_folder().join(name);
        if let Some(left) = state::read(&file) {
            task.take(&prepared.began, left);
        }
        // There is none if the shell was ended, or there was no shell.
        let _ = fs::remove_file(file);
        let meaning = note::of(&command_line(&request.what), finished.ended);
        let remark = match prepared.remarks {
            Some(remarks) => remarks.of(finished.ended, &output.text).await,
            None => None,
        };
        let note = joined([meaning, remark]);
        Ok(Outcome { ended: finished.ended, output, note, left: finished.left, cwd: task.cwd() })
    }

    fn start(&self, launch: &Launch, request: &Request) -> Result<Child, Fault> {
        self.launcher.spawn(launch, &request.input).map_err(Fault::machine("start the command"))
    }

    fn prepare(&self, task: &Task, request: &Request) -> Result<Prepared, Fault> {
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
        let mut state = task.state_folder().to_owned();
        let (mut confinement, mut remarks) = (None, None);
        if let Some(SandboxUse { sandbox, network }) = request.sandbox.as_ref().or(self.sandbox.as_ref()) {
            let confined = sandbox.confine(task, &self.tasks.mount_point(), *network)?;
            let used = SandboxUse { sandbox: Arc::clone(sandbox), network: *network };
            remarks = Some(SandboxRemarks { used, obeyed: confined.obeyed });
            let exported = task.exported();
            variables.extend(confined.variables.into_iter().filter(|(name, _)| !exported.contains_key(name)));
            state = confined.state;
            confinement = Some(confined.confinement);
        }
        let stage = Stage { pty: request.pty, confinement, limits: limits::resources() };
        let launch = Launch { words, variables: variables.clone().into_iter().collect(), cwd, stage };
        let began = Began { variables, cwd: request.workdir.is_none().then_some(here) };
        Ok(Prepared { launch, began, state, remarks })
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
            self.execute_in(&task, request).await
        })
    }

    fn spawn<'a>(&'a self, task: &'a str, request: Request) -> Answer<'a, Result<Child, Fault>> {
        Box::pin(async move {
            let prepared = self.prepare(&*self.task(task)?, &request)?;
            let mut child = self.start(&prepared.launch, &request)?;
            child.remarks = prepared.remarks;
            Ok(child)
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
