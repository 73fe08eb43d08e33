//! What one component may run, and what one call has of it.

use std::{
    collections::HashMap,
    ffi::OsString,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use super::{
    Fault, Place, Terminal, What,
    decider::{Passed, Planned},
    limits::{COMMAND_BYTES, WRITTEN_LINE_BYTES},
    quote,
    terminals::Terminals,
};
use crate::grant::TerminalGrant;

/// What a component may run.
#[derive(Clone, Debug)]
pub(crate) struct Commands {
    pub(crate) component: String,
    pub(crate) grant: TerminalGrant,
    pub(crate) place: Place,
    pub(crate) terminals: Arc<Terminals>,
}

impl Commands {
    /// Whether both allow the same.
    pub(crate) fn grants_as(&self, other: &Self) -> bool {
        self.component == other.component && self.grant == other.grant && self.place == other.place
    }
}

/// What one call has of the terminal.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    commands: Arc<Commands>,
    tool: String,
    task: Option<String>,
    session: Option<String>,
    /// The task's name in the terminals.
    name: String,
    /// A check looks, and runs nothing.
    may_run: bool,
}

/// Why a command does not run.
pub(crate) enum Refusal {
    /// It may not.
    Denied(String),
    /// It can't.
    Fault(Fault),
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl Caller {
    pub(crate) fn new(commands: Arc<Commands>, tool: String, task: Option<String>, session: Option<String>) -> Self {
        let name = commands.terminals.name_of(&commands.component, task.as_deref());
        Self { commands, tool, task, session, name, may_run: true }
    }

    /// What a check has of it.
    pub(crate) fn for_check(commands: Arc<Commands>) -> Self {
        Self { may_run: false, ..Self::new(commands, String::new(), None, None) }
    }

    fn may_run(&self) -> Result<(), Refusal> {
        if self.may_run { Ok(()) } else { Err(Refusal::Denied("a check runs nothing".into())) }
    }

    /// The task's name in the terminals.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn terminals(&self) -> &Terminals {
        &self.commands.terminals
    }

    pub(crate) async fn terminal(&self) -> Result<Arc<Terminal>, Fault> {
        self.commands.terminals.at(&self.commands.place).await
    }

    /// Puts a command before the grant and then before whoever decides. What passes is what is run: a program without a path becomes the
    /// one that the host itself would find, whatever the task exported.
    pub(crate) async fn admit(
        &self,
        what: What,
        workdir: Option<&Path>,
        input: Option<&[u8]>,
    ) -> Result<(What, Passed), Refusal> {
        self.may_run()?;
        let grant = &self.commands.grant;
        let (text, what, is_granted) = match what {
            What::Shell(command) if grant.shell => (command.clone(), What::Shell(command), false),
            What::Shell(_) => return Err(self.not_granted("command lines", "--shell")),
            What::Exec { program, arguments } => {
                if !grant.allows(&program, &arguments) {
                    let shown = line(&program, &arguments);
                    return Err(self.not_granted(&format!("`{shown}`"), &format!("--exec '{shown}'")));
                }
                let text = line(&program, &arguments);
                (text, What::Exec { program: found(&program)?, arguments }, true)
            }
        };
        let terminal = self.terminal().await?;
        let directory = terminal.cwd(&self.name);
        let directory = workdir.map_or_else(|| directory.clone(), |workdir| directory.join(workdir));
        let passed = self.pass(&terminal, &text, input, &directory, is_granted).await?;
        Ok((what, passed))
    }

    async fn pass(
        &self,
        terminal: &Terminal,
        text: &str,
        input: Option<&[u8]>,
        directory: &Path,
        is_granted: bool,
    ) -> Result<Passed, Refusal> {
        if text.len() > COMMAND_BYTES {
            return Err(Fault::Command(text.len()).into());
        }
        let commands = &*self.commands;
        let (start, variables) = (terminal.cwd(&self.name), terminal.variables(&self.name));
        let planned = Planned {
            component: &commands.component,
            tool: &self.tool,
            task: self.task.as_deref(),
            session: self.session.as_deref(),
            text,
            input,
            directory,
            variables: &variables,
            here: commands.terminals.here(&commands.place),
            is_granted,
        };
        let passed = commands.terminals.decider.decide(planned).await.map_err(Refusal::Denied)?;
        // Whoever decided, decided about a command in its place.
        if terminal.cwd(&self.name) != start || terminal.variables(&self.name) != variables {
            let why = "another command of this task changed its directory or variables meanwhile; try again";
            return Err(Refusal::Denied(why.into()));
        }
        Ok(passed)
    }

    /// Writes to a process. If it runs what it reads, that is put before whoever decides: a line as a whole, however many writes bring it.
    pub(crate) async fn write(&self, id: &str, bytes: &[u8]) -> Result<(), Refusal> {
        self.may_run()?;
        let terminal = self.terminal().await?;
        let readers = &self.commands.terminals.readers;
        let Some(begun) = readers.begun(&self.name, id) else {
            return Ok(terminal.write(&self.name, id, bytes).await?);
        };
        // One after the other: a line that two writers make together is nobody's.
        let _turn = readers.turn.lock().await;
        let text = [&*begun, bytes].concat();
        if text.len() > WRITTEN_LINE_BYTES {
            return Err(Refusal::Denied(format!("a line of more than {WRITTEN_LINE_BYTES} bytes can't be judged")));
        }
        let shown = String::from_utf8_lossy(&text);
        self.pass(&terminal, &shown, None, &terminal.cwd(&self.name), false).await?;
        readers.wrote(&self.name, id, &text);
        Ok(terminal.write(&self.name, id, bytes).await?)
    }

    /// Remembers that a process runs what is written to it.
    pub(crate) fn note_reader(&self, id: &str) {
        self.commands.terminals.readers.add(&self.name, id);
    }

    fn not_granted(&self, what: &str, flag: &str) -> Refusal {
        let component = &self.commands.component;
        Refusal::Denied(format!(
            "{component} was not granted {what}; the operator can change that with hermes-host grant {component} {flag}"
        ))
    }
}

/// The processes that run what is written to them, with the line that was begun.
#[derive(Debug, Default)]
pub(crate) struct Readers {
    begun: Mutex<HashMap<(String, String), Vec<u8>>>,
    turn: tokio::sync::Mutex<()>,
}

impl Readers {
    fn add(&self, task: &str, id: &str) {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner).insert((task.into(), id.into()), Vec::new());
    }

    fn begun(&self, task: &str, id: &str) -> Option<Vec<u8>> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner).get(&(task.into(), id.into())).cloned()
    }

    fn wrote(&self, task: &str, id: &str, text: &[u8]) {
        let begun = text.rsplit(|byte| matches!(byte, b'\n' | b'\r')).next().unwrap_or_default();
        self.begun.lock().unwrap_or_else(PoisonError::into_inner).insert((task.into(), id.into()), begun.to_vec());
    }

    /// Forgets those of a task.
    pub(crate) fn forget(&self, task: &str) {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner).retain(|(of, _), _| of != task);
    }
}

/// A program and its arguments as a shell would read them.
fn line(program: &OsString, arguments: &[OsString]) -> String {
    let words = [program].into_iter().chain(arguments).map(|word| {
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./=:,@%+".contains(byte);
        match word.as_encoded_bytes() {
            bytes if !bytes.is_empty() && bytes.iter().all(plain) => word.to_string_lossy().into_owned(),
            _ => String::from_utf8_lossy(&quote::word(word)).into_owned(),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Where the host itself would find a program.
fn found(program: &OsString) -> Result<OsString, Refusal> {
    if program.as_encoded_bytes().contains(&b'/') {
        return Ok(program.clone());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&path).filter(|place| place.is_absolute()).map(|place| place.join(program));
    places
        .find(|place: &PathBuf| place.is_file())
        .map(PathBuf::into_os_string)
        .ok_or_else(|| Refusal::Denied(format!("there is no program {} on this machine", program.to_string_lossy())))
}
