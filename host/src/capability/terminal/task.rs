//! What a task carries from one command to the next.

use std::{
    collections::HashMap,
    ffi::{OsStr, OsString},
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use tempfile::TempDir;
use tokio::time::Instant;

use super::{
    environment::{self, Variables},
    limits::TASKS,
    request::Decided,
    scratch::ScratchDir,
    state::Left,
};

/// The folder for the state of shells in a task's own.
const STATE: &str = "state";

/// The folder beside those of the tasks at which the root of a confined command is mounted, in its own mount namespace.
const MOUNT_POINT: &str = "root";

/// One task: where its next command runs, with what, and a folder of its own.
#[derive(Debug)]
pub(crate) struct Task {
    state: Mutex<State>,
    /// Removed with the task.
    folder: TempDir,
    state_folder: PathBuf,
    files: AtomicU64,
}

#[derive(Clone, Debug)]
struct State {
    cwd: PathBuf,
    variables: Variables,
    /// Those that the host gave it.
    given: Variables,
}

impl Task {
    fn new(cwd: PathBuf, variables: Variables, scratch: &Path) -> io::Result<Self> {
        let folder = TempDir::new_in(scratch)?;
        let state_folder = folder.path().join(STATE);
        fs::create_dir(&state_folder)?;
        Ok(Self {
            state: Mutex::new(State { cwd, given: variables.clone(), variables }),
            folder,
            state_folder,
            files: AtomicU64::new(0),
        })
    }

    /// Where the next command runs.
    pub(crate) fn cwd(&self) -> PathBuf {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).cwd.clone()
    }

    /// With what it runs.
    pub(crate) fn variables(&self) -> Variables {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).variables.clone()
    }

    /// What its commands changed of the variables that the host gave it. One that is gone is empty here: a shell reads both alike.
    pub(crate) fn exported(&self) -> Variables {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = state.variables.iter().filter(|(name, value)| state.given.get(*name) != Some(*value));
        let gone = state.given.keys().filter(|name| !state.variables.contains_key(*name));
        let mut exported: Variables = changed.map(|(name, value)| (name.clone(), value.clone())).collect();
        exported.extend(gone.map(|name| (name.clone(), OsString::new())));
        exported
    }

    /// Whether it has what a command was decided about in.
    pub(crate) fn is_as(&self, decided: &Decided) -> bool {
        self.cwd() == decided.cwd && self.exported() == decided.exported
    }

    /// The task's own folder.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The folder in it to which shells write what they leave.
    pub(crate) fn state_folder(&self) -> &Path {
        &self.state_folder
    }

    /// A new name for a file in the state folder.
    pub(crate) fn new_state_name(&self) -> String {
        format!("left-{}", self.files.fetch_add(1, Ordering::Relaxed))
    }

    /// Goes back to where the task began: the directory it was in has gone.
    pub(crate) fn reset_cwd(&self, cwd: PathBuf) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).cwd = cwd;
    }

    /// Notes that these are the machine's own, as the first command found them there.
    pub(crate) fn find(&self, names: &[&str]) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { variables, given, .. } = &mut *state;
        for (name, value) in names.iter().filter_map(|name| variables.get_key_value(OsStr::new(name))) {
            given.entry(name.clone()).or_insert_with(|| value.clone());
        }
    }

    /// Takes what a command left, as far as it differs from what the command began with.
    pub(crate) fn take(&self, began: &Began, left: Left) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        environment::carry(&mut state.variables, &began.variables, left.variables);
        if began.cwd.as_ref().is_some_and(|cwd| *cwd != left.cwd) && left.cwd.is_absolute() {
            state.cwd = left.cwd;
        }
    }
}

/// What a command began with.
#[derive(Debug)]
pub(crate) struct Began {
    pub(crate) variables: Variables,
    /// The task's directory, unless the call named another: that is for itself alone, wherever it goes from there.
    pub(crate) cwd: Option<PathBuf>,
}

/// The tasks of a backend.
#[derive(Debug)]
pub(crate) struct Tasks {
    tasks: Mutex<HashMap<String, (Arc<Task>, Instant)>>,
    cwd: PathBuf,
    variables: Variables,
    /// Holds the folders of all tasks, and is removed after them.
    scratch: ScratchDir,
}

impl Tasks {
    /// Every task begins here, with these.
    pub(crate) fn new(cwd: PathBuf, variables: Variables) -> io::Result<Self> {
        let scratch = ScratchDir::new(&cwd)?;
        fs::create_dir(scratch.path().join(MOUNT_POINT))?;
        Ok(Self { tasks: Mutex::default(), cwd, variables, scratch })
    }

    /// Where the tasks have their folders. No task is to look into another's.
    fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// An empty folder at which the root of a confined command is mounted.
    pub(crate) fn mount_point(&self) -> PathBuf {
        self.scratch().join(MOUNT_POINT)
    }

    /// A task, from now on if it is new.
    pub(crate) fn get(&self, name: &str) -> io::Result<Arc<Task>> {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((task, used)) = tasks.get_mut(name) {
            *used = Instant::now();
            return Ok(Arc::clone(task));
        }
        while tasks.len() >= TASKS {
            let Some(idle) = tasks.iter().min_by_key(|(_, (_, used))| *used).map(|(name, _)| name.clone()) else {
                break;
            };
            tasks.remove(&idle);
        }
        let task = Arc::new(Task::new(self.cwd.clone(), self.variables.clone(), self.scratch())?);
        tasks.insert(name.to_owned(), (Arc::clone(&task), Instant::now()));
        Ok(task)
    }

    /// Where a task's next command runs. Asking makes no task.
    pub(crate) fn cwd(&self, name: &str) -> PathBuf {
        let tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.get(name).map_or_else(|| self.cwd.clone(), |(task, _)| task.cwd())
    }

    /// What a task's commands exported. Asking makes no task.
    pub(crate) fn exported(&self, name: &str) -> Variables {
        let tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.get(name).map(|(task, _)| task.exported()).unwrap_or_default()
    }

    /// Where every task begins.
    pub(crate) fn start(&self) -> &Path {
        &self.cwd
    }

    /// Forgets a task. Its folder goes with the last command that uses it.
    pub(crate) fn forget(&self, name: &str) {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
    }
}
