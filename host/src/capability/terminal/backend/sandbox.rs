//! Commands on this machine that write nowhere but in the workspace, read no keys and reach the network only if they may.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::{
    super::{
        Child, Fault, Launcher, Outcome, Request,
        environment::{self, Variables},
        launch::{Confinement, support},
        task::Task,
    },
    Answer, Backend, Local, keys,
};

/// The folder for temporary files in a task's own.
const TEMPORARY: &str = "tmp";

/// Confined commands on this machine.
#[derive(Debug)]
pub struct Sandbox {
    local: Local,
    workspace: PathBuf,
    hidden: Vec<PathBuf>,
    network: bool,
}

impl Sandbox {
    /// Commands that begin in this folder and write nowhere else. Refuses where it could not hold that.
    pub fn new(
        launcher: Launcher,
        workspace: &Path,
        home: Option<&Path>,
        hidden: &[PathBuf],
        network: bool,
    ) -> Result<Self, Fault> {
        support().map_err(Fault::NoSandbox)?;
        let workspace = fs::canonicalize(workspace).map_err(Fault::machine("find the workspace"))?;
        let mut hidden = keys::places(home, hidden);
        // Whoever may write in a folder may write everywhere in it.
        if let Some(key) = hidden.iter().find(|key| key.starts_with(&workspace) || workspace.starts_with(key)) {
            let (workspace, key) = (workspace.display(), key.display());
            return Err(Fault::NoSandbox(format!(
                "the workspace '{workspace}' and the hidden '{key}' lie in each other: choose a folder of its own as workspace"
            )));
        }
        let variables = environment::base(|name| std::env::var_os(name));
        let local = Local::with(launcher, &workspace, variables).map_err(Fault::machine("find the workspace"))?;
        hidden.push(fs::canonicalize(local.tasks().rooms()).map_err(Fault::machine("find the tasks' folders"))?);
        Ok(Self { local, workspace, hidden, network })
    }

    fn confinement(&self, task: &Task) -> Result<Confinement, Fault> {
        let temporary = task.room().join(TEMPORARY);
        match fs::create_dir(&temporary) {
            Err(why) if why.kind() != io::ErrorKind::AlreadyExists => {
                return Err(Fault::Machine { what: "make a folder for temporary files", why });
            }
            _ => task.set_variable("TMPDIR", temporary),
        }
        let writable = vec![self.workspace.clone(), task.room().to_owned()];
        Ok(Confinement { writable, hidden: self.hidden.clone(), network: self.network })
    }
}

impl Backend for Sandbox {
    fn name(&self) -> &'static str {
        "sandbox"
    }

    fn execute<'a>(&'a self, task: &'a str, request: Request) -> Answer<'a, Result<Outcome, Fault>> {
        Box::pin(async move {
            let task = self.local.task(task)?;
            self.local.execute_in(&task, request, Some(self.confinement(&task)?)).await
        })
    }

    fn spawn<'a>(&'a self, task: &'a str, request: Request) -> Answer<'a, Result<Child, Fault>> {
        Box::pin(async move {
            let task = self.local.task(task)?;
            self.local.spawn_in(&task, &request, Some(self.confinement(&task)?))
        })
    }

    fn cwd(&self, task: &str) -> PathBuf {
        self.local.tasks().cwd(task)
    }

    fn exported(&self, task: &str) -> Variables {
        self.local.tasks().exported(task)
    }

    fn cleanup<'a>(&'a self, task: &'a str) -> Answer<'a, ()> {
        self.local.cleanup(task)
    }
}
