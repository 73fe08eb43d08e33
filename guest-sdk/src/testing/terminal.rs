//! The fake host's terminal: each thread's own, and nothing is ever run. A test says what a command gives and what becomes of a
//! process; what was asked for is kept.

mod process;

use std::cell::RefCell;
use std::collections::HashMap;

use self::process::Process;
use super::FakeHost;
pub(crate) use crate::bindings::hermes::tool::terminal::Fault;
use crate::terminal::{
    self, Command, Ended, Escalation, Excerpt, News, Notice, Options, Outcome, Program, Reason, Status, Watch,
};

thread_local! {
    static TERMINAL: RefCell<Terminal> = RefCell::default();
}

#[derive(Default)]
struct Terminal {
    denied: bool,
    answers: HashMap<String, Result<Outcome, terminal::Fault>>,
    asked: Vec<Asked>,
    processes: Vec<Process>,
    notices: Vec<Notice>,
}

/// A command that a tool wanted to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// What.
    pub command: Command,
    /// Where and how.
    pub options: Options,
    /// For how many seconds.
    pub timeout: Option<u32>,
    /// What it was to read.
    pub input: Option<Vec<u8>>,
    /// What to be told of it; nothing where it was to run to its end.
    pub watch: Option<Watch>,
    /// What it asked for beyond the sandbox.
    pub escalation: Option<Escalation>,
}

/// The outcome of a command that ended by itself with this code.
pub fn ran(code: i32, output: &str) -> Outcome {
    Outcome {
        ended: Ended::Exit(code),
        code,
        output: output.into(),
        omitted: 0,
        note: None,
        left: Vec::new(),
        directory: "/workspace".into(),
        approval: None,
    }
}

impl FakeHost {
    /// With this answer to a command. A program with its arguments is known by their words with a space between them. An error
    /// is also the answer where the command is to be started in the background; else that always works.
    pub fn command(self, line: &str, answer: Result<Outcome, terminal::Fault>) -> Self {
        TERMINAL.with_borrow_mut(|terminal| terminal.answers.insert(line.to_owned(), answer));
        self
    }

    /// With this command running in the background.
    pub fn process(self, id: &str, command: &str) -> Self {
        TERMINAL.with_borrow_mut(|terminal| terminal.processes.push(Process::new(id, command)));
        self
    }

    /// The process prints this.
    ///
    /// # Panics
    ///
    /// If there is no such process.
    pub fn prints(self, id: &str, text: &str) -> Self {
        scripted(id, |process| process.print(text));
        self
    }

    /// The process ends.
    ///
    /// # Panics
    ///
    /// If there is no such process.
    pub fn ends(self, id: &str, ended: Ended) -> Self {
        scripted(id, |process| process.end(ended));
        self
    }

    /// With this to be told of a process.
    pub fn notice(self, process: &str, news: News) -> Self {
        TERMINAL.with_borrow_mut(|terminal| terminal.notices.push(Notice { process: process.to_owned(), news }));
        self
    }

    /// Without any grant: everything that touches the terminal is denied.
    pub fn without_terminal(self) -> Self {
        TERMINAL.with_borrow_mut(|terminal| terminal.denied = true);
        self
    }

    /// The commands that were asked for since this host was made, refused ones too.
    pub fn asked(&self) -> Vec<Asked> {
        TERMINAL.with_borrow(|terminal| terminal.asked.clone())
    }

    /// What was written to a process; nothing where there is none.
    pub fn typed(&self, id: &str) -> Option<String> {
        TERMINAL.with_borrow(|terminal| {
            let process = terminal.processes.iter().find(|process| process.is(id))?;
            Some(String::from_utf8_lossy(process.typed()).into_owned())
        })
    }
}

fn scripted(id: &str, change: impl FnOnce(&mut Process)) {
    let known = with_process(id, change).is_ok();
    assert!(known, "the fake host has no process {id}: make one with FakeHost::process");
}

/// As it is on a new host.
pub(super) fn clear() {
    TERMINAL.take();
}

pub(crate) fn run(
    command: &Command,
    options: &Options,
    timeout: Option<u32>,
    input: Option<&[u8]>,
) -> Result<Outcome, Fault> {
    run_with(command, options, timeout, input, None)
}

pub(crate) fn run_escalated(
    command: &Command,
    options: &Options,
    timeout: Option<u32>,
    input: Option<&[u8]>,
    escalation: &Escalation,
) -> Result<Outcome, Fault> {
    run_with(command, options, timeout, input, Some(escalation.clone()))
}

fn run_with(
    command: &Command,
    options: &Options,
    timeout: Option<u32>,
    input: Option<&[u8]>,
    escalation: Option<Escalation>,
) -> Result<Outcome, Fault> {
    let (command, options, input) = (command.clone(), options.clone(), input.map(<[u8]>::to_vec));
    let answer = ask(Asked { command, options, timeout, input, watch: None, escalation })?;
    answer.ok_or_else(|| {
        fault(Reason::Failed, "this fake host runs nothing: give it an answer with FakeHost::command".into())
    })
}

pub(crate) fn start(command: &Command, options: &Options, watch: &Watch) -> Result<Status, Fault> {
    start_with(command, options, watch, None)
}

pub(crate) fn start_escalated(
    command: &Command,
    options: &Options,
    watch: &Watch,
    escalation: &Escalation,
) -> Result<Status, Fault> {
    start_with(command, options, watch, Some(escalation.clone()))
}

fn start_with(
    command: &Command,
    options: &Options,
    watch: &Watch,
    escalation: Option<Escalation>,
) -> Result<Status, Fault> {
    let asked = Asked {
        escalation,
        command: command.clone(),
        options: options.clone(),
        timeout: None,
        input: None,
        watch: Some(watch.clone()),
    };
    ask(asked)?;
    TERMINAL.with_borrow_mut(|terminal| {
        let process = Process::new(&format!("proc_{}", terminal.processes.len() + 1), &line(command));
        let status = process.status();
        terminal.processes.push(process);
        Ok(status)
    })
}

/// What the test answers to a command, if it says anything.
fn ask(asked: Asked) -> Result<Option<Outcome>, Fault> {
    TERMINAL.with_borrow_mut(|terminal| {
        terminal.permit()?;
        let answer = terminal.answers.get(&line(&asked.command)).cloned();
        terminal.asked.push(asked);
        Ok(answer.transpose()?)
    })
}

fn line(command: &Command) -> String {
    match command {
        Command::Shell(line) => line.clone(),
        Command::Exec(Program { name, arguments }) => {
            arguments.iter().fold(name.clone(), |line, argument| line + " " + argument)
        }
    }
}

pub(crate) fn processes() -> Result<Vec<Status>, Fault> {
    TERMINAL.with_borrow(|terminal| {
        terminal.permit()?;
        Ok(terminal.processes.iter().map(Process::status).collect())
    })
}

pub(crate) fn poll(id: &str) -> Result<Status, Fault> {
    with_process(id, |process| process.status())
}

pub(crate) fn log(id: &str, from: Option<u64>, limit: Option<u32>) -> Result<Excerpt, Fault> {
    with_process(id, |process| process.log(from, limit))
}

/// No time passes here: a process ends when the test says so.
pub(crate) fn wait(id: &str, _: Option<u32>) -> Result<Status, Fault> {
    poll(id)
}

pub(crate) fn write(id: &str, bytes: &[u8]) -> Result<(), Fault> {
    with_process(id, |process| process.write(bytes))?
}

pub(crate) fn submit(id: &str, line: &str) -> Result<(), Fault> {
    write(id, format!("{line}\n").as_bytes())
}

pub(crate) fn close(id: &str) -> Result<(), Fault> {
    with_process(id, Process::close)?
}

pub(crate) fn kill(id: &str) -> Result<Status, Fault> {
    with_process(id, |process| {
        process.end(Ended::Signal(process::TERMINATED));
        process.status()
    })
}

pub(crate) fn notices() -> Result<Vec<Notice>, Fault> {
    TERMINAL.with_borrow_mut(|terminal| {
        terminal.permit()?;
        Ok(std::mem::take(&mut terminal.notices))
    })
}

fn with_process<T>(id: &str, look: impl FnOnce(&mut Process) -> T) -> Result<T, Fault> {
    TERMINAL.with_borrow_mut(|terminal| {
        terminal.permit()?;
        let process = terminal.processes.iter_mut().find(|process| process.is(id));
        let unknown = || fault(Reason::NotFound, format!("no process '{id}': list the processes of this task"));
        process.map(look).ok_or_else(unknown)
    })
}

fn fault(reason: Reason, message: String) -> Fault {
    Fault { reason, message }
}

impl From<terminal::Fault> for Fault {
    fn from(fault: terminal::Fault) -> Self {
        Self { reason: fault.reason, message: fault.message }
    }
}

impl Terminal {
    fn permit(&self) -> Result<(), Fault> {
        let why = "no terminal was granted; the operator can change that with hermes-host grant";
        if self.denied { Err(fault(Reason::Denied, why.into())) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_has_the_answer_of_the_test_and_is_remembered() {
        let host = FakeHost::new().command("git status", Ok(ran(1, "dirty")));
        let program = Command::Exec(Program { name: "git".into(), arguments: vec!["status".into()] });
        let outcome = terminal::run(&program, &Options::default(), Some(3), Some(b"y")).unwrap();
        assert_eq!((outcome.code, outcome.output.as_str()), (1, "dirty"));
        let asked = host.asked();
        assert_eq!(
            (&asked[0].command, asked[0].timeout, asked[0].input.as_deref()),
            (&program, Some(3), Some(&b"y"[..]))
        );
        let unknown = terminal::run(&Command::Shell("ls".into()), &Options::default(), None, None).unwrap_err();
        assert!(unknown.message.contains("FakeHost::command"), "{unknown:?}");
    }

    #[test]
    fn a_process_lives_until_it_is_ended() {
        let host = FakeHost::new();
        let watch = Watch { end: true, patterns: Vec::new() };
        let started = terminal::start(&Command::Shell("cat".into()), &Options::default(), &watch).unwrap();
        assert_eq!((started.id.as_str(), started.ended), ("proc_1", None));
        terminal::submit("proc_1", "one").unwrap();
        terminal::write("proc_1", b"two").unwrap();
        assert_eq!(host.typed("proc_1").unwrap(), "one\ntwo");
        terminal::close("proc_1").unwrap();
        assert_eq!(terminal::write("proc_1", b"x").unwrap_err().reason, Reason::Over);
        let host = host.prints("proc_1", "a\nb\n");
        assert_eq!(terminal::poll("proc_1").unwrap().tail, "a\nb\n");
        assert_eq!(terminal::kill("proc_1").unwrap().code, Some(143));
        assert_eq!(terminal::close("proc_1").unwrap_err().message, "process 'proc_1' has ended: read its log");
        assert_eq!((host.asked().len(), terminal::processes().unwrap().len()), (1, 1));
        assert_eq!(terminal::poll("proc_2").unwrap_err().reason, Reason::NotFound);
    }

    #[test]
    fn a_notice_is_told_once() {
        let _host = FakeHost::new().notice("proc_1", News::Unwatched(3));
        assert_eq!(terminal::notices().unwrap().len(), 1);
        assert!(terminal::notices().unwrap().is_empty());
    }

    #[test]
    fn without_a_grant_everything_is_denied() {
        let _host = FakeHost::new().process("proc_1", "cat").without_terminal();
        assert_eq!(terminal::processes().unwrap_err().reason, Reason::Denied);
        assert_eq!(terminal::poll("proc_1").unwrap_err().reason, Reason::Denied);
        let why = terminal::run(&Command::Shell("ls".into()), &Options::default(), None, None).unwrap_err();
        assert!(matches!(crate::Error::from(why), crate::Error::Denied(_)));
    }
}
