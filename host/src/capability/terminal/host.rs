//! The interface as guests call it: every call is counted, the grant is asked and whoever decides, and the call's own clock stands still while
//! the host waits for a command or a person, which have bounds of their own.

use std::{path::PathBuf, sync::Arc, time::Duration};

use wasmtime::component::{HasSelf, Linker};

use super::{
    Caller, Ended, Fault, Input, Request, Sink, What,
    commands::{Admitted, EscalationWish, Refusal},
    decider::EscalationKind,
    live,
    process::{self, Watch},
};
use crate::{
    capability::{Capability, DecidedBy, Decision, fs},
    sandbox::{CallState, Kill},
    wit::latest::terminal::{
        self as wit, Command, Ending, Excerpt, Match, News, Notice, Options, Outcome, Reason, Status,
    },
};

pub(in super::super) fn link(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    wit::add_to_linker::<_, HasSelf<CallState>>(linker, |state| state)
}

/// What the functions return: outside the kill of the call, inside what the guest hears.
type Answer<T> = wasmtime::Result<Result<T, wit::Fault>>;

impl CallState {
    /// Counts a call, and gives what the call has of the terminal. A check only looks whether there is one.
    fn caller(&mut self, looks: bool) -> Result<Result<Caller, wit::Fault>, Kill> {
        self.count_host_call(Capability::Terminal)?;
        Ok(match self.held.commands.clone() {
            Some(caller) if caller.is_check() && !looks => Err(denied("a check runs nothing".into())),
            Some(caller) => Ok(caller),
            None => {
                let why = "no command was granted; the operator can change that with hermes-host grant NAME --shell";
                Err(denied(self.held.ungranted(why)))
            }
        })
    }
}

/// Gives the guest its fault, or goes on.
macro_rules! caller {
    ($state:expr) => {
        caller!($state, false)
    };
    ($state:expr, $looks:expr) => {
        match $state.caller($looks)? {
            Ok(caller) => caller,
            Err(fault) => return Ok(Err(fault)),
        }
    };
}

impl wit::Host for CallState {
    async fn run(
        &mut self,
        command: Command,
        options: Options,
        timeout: Option<u32>,
        input: Option<Vec<u8>>,
    ) -> Answer<Outcome> {
        self.run_with(command, options, timeout, input, None).await
    }

    async fn start(&mut self, command: Command, options: Options, watch: wit::Watch) -> Answer<Status> {
        self.start_with(command, options, watch, None).await
    }

    async fn run_escalated(
        &mut self,
        command: Command,
        options: Options,
        timeout: Option<u32>,
        input: Option<Vec<u8>>,
        escalation: wit::Escalation,
    ) -> Answer<Outcome> {
        self.run_with(command, options, timeout, input, Some(wish(escalation))).await
    }

    async fn start_escalated(
        &mut self,
        command: Command,
        options: Options,
        watch: wit::Watch,
        escalation: wit::Escalation,
    ) -> Answer<Status> {
        self.start_with(command, options, watch, Some(wish(escalation))).await
    }

    async fn processes(&mut self) -> Answer<Vec<Status>> {
        let caller = caller!(self, true);
        if caller.is_check() {
            return Ok(caller.can_run().map(|()| Vec::new()).map_err(|why| fault(why.into())));
        }
        Ok(on_terminal(&caller).await.map(|terminal| terminal.list(caller.name()).into_iter().map(status).collect()))
    }

    async fn poll(&mut self, id: String) -> Answer<Status> {
        let caller = caller!(self);
        Ok(on_terminal(&caller)
            .await
            .and_then(|terminal| terminal.poll(caller.name(), &id).map(status).map_err(|why| fault(why.into()))))
    }

    async fn log(&mut self, id: String, from: Option<u64>, limit: Option<u32>) -> Answer<Excerpt> {
        let caller = caller!(self);
        let limit = limit.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(on_terminal(&caller).await.and_then(|terminal| {
            let excerpt = terminal.log(caller.name(), &id, from, limit).map_err(|why| fault(why.into()))?;
            Ok(Excerpt {
                text: excerpt.text,
                first: excerpt.first,
                lines: u32::try_from(excerpt.lines).unwrap_or(u32::MAX),
                oldest: excerpt.oldest,
                total: excerpt.total,
            })
        }))
    }

    async fn wait(&mut self, id: String, seconds: Option<u32>) -> Answer<Status> {
        let caller = caller!(self);
        let clock = Arc::clone(&self.clock);
        let _still = clock.stand_still();
        let patience = seconds.map(|seconds| Duration::from_secs(seconds.into()));
        Ok(match on_terminal(&caller).await {
            Ok(terminal) => {
                terminal.wait(caller.name(), &id, patience).await.map(status).map_err(|why| fault(why.into()))
            }
            Err(fault) => Err(fault),
        })
    }

    async fn write(&mut self, id: String, bytes: Vec<u8>) -> Answer<()> {
        let caller = caller!(self);
        let clock = Arc::clone(&self.clock);
        let _still = clock.stand_still();
        Ok(caller.write(&id, &bytes).await.map_err(fault))
    }

    async fn submit(&mut self, id: String, line: String) -> Answer<()> {
        let caller = caller!(self);
        let clock = Arc::clone(&self.clock);
        let _still = clock.stand_still();
        Ok(caller.write(&id, format!("{line}\n").as_bytes()).await.map_err(fault))
    }

    async fn close(&mut self, id: String) -> Answer<()> {
        let caller = caller!(self);
        Ok(match on_terminal(&caller).await {
            Ok(terminal) => terminal.close(caller.name(), &id).await.map_err(|why| fault(why.into())),
            Err(fault) => Err(fault),
        })
    }

    async fn kill(&mut self, id: String) -> Answer<Status> {
        let caller = caller!(self);
        let clock = Arc::clone(&self.clock);
        let _still = clock.stand_still();
        Ok(match on_terminal(&caller).await {
            Ok(terminal) => terminal.kill(caller.name(), &id).await.map(status).map_err(|why| fault(why.into())),
            Err(fault) => Err(fault),
        })
    }

    async fn notices(&mut self) -> Answer<Vec<Notice>> {
        let caller = caller!(self);
        Ok(Ok(caller.terminals().notices().take(caller.name()).into_iter().map(notice).collect()))
    }
}

impl CallState {
    async fn run_with(
        &mut self,
        command: Command,
        options: Options,
        timeout: Option<u32>,
        input: Option<Vec<u8>>,
        wish: Option<EscalationWish>,
    ) -> Answer<Outcome> {
        let caller = caller!(self);
        let clock = Arc::clone(&self.clock);
        let _still = clock.stand_still();
        let sink = self.listener().map(live::told);
        let answer = run(&caller, command, options, timeout, input, wish, sink).await;
        let (answer, decided) = told_apart(answer);
        self.note(decided);
        Ok(answer.map_err(fault))
    }

    async fn start_with(
        &mut self,
        command: Command,
        options: Options,
        watch: wit::Watch,
        wish: Option<EscalationWish>,
    ) -> Answer<Status> {
        let caller = caller!(self);
        let clock = Arc::clone(&self.clock);
        let _still = clock.stand_still();
        let answer = start(&caller, command, options, watch, wish).await;
        let (answer, decided) = told_apart(answer);
        self.note(decided);
        Ok(answer.map_err(fault))
    }
}

fn wish(escalation: wit::Escalation) -> EscalationWish {
    let to = match escalation.to {
        wit::EscalationKind::Network => EscalationKind::Network,
        wit::EscalationKind::Unconfined => EscalationKind::Unconfined,
    };
    EscalationWish { to, reason: escalation.reason }
}

/// What the guest is told, and what the audit says of a decision, where there was one.
fn told_apart<T>(answer: Result<(T, Option<DecidedBy>), Refusal>) -> (Result<T, Refusal>, Option<Decision>) {
    match answer {
        Ok((done, by)) => (Ok(done), by.map(Decision::approved)),
        Err(Refusal::Decided(why, by)) => (Err(Refusal::Decided(why, by)), Some(Decision::refused(by))),
        Err(why) => (Err(why), None),
    }
}

async fn on_terminal(caller: &Caller) -> Result<Arc<super::Terminal>, wit::Fault> {
    caller.terminal().await.map_err(|why| fault(why.into()))
}

async fn run(
    caller: &Caller,
    command: Command,
    options: Options,
    timeout: Option<u32>,
    input: Option<Vec<u8>>,
    wish: Option<EscalationWish>,
    sink: Option<Sink>,
) -> Result<(Outcome, Option<DecidedBy>), Refusal> {
    let workdir = options.workdir.map(PathBuf::from);
    let Admitted { what, passed, decided, sandbox } =
        caller.admit(what(command), workdir.as_deref(), input.as_deref(), wish).await?;
    let request = Request {
        sandbox,
        workdir,
        timeout: timeout.map(|seconds| Duration::from_secs(seconds.into())),
        pty: options.pty,
        input: input.map_or(Input::Closed, Input::Bytes),
        decided: Some(decided),
        sink,
        ..Request::new(what)
    };
    let outcome = caller.terminal().await?.run(caller.name(), request).await?;
    let done = Outcome {
        ended: ended(outcome.ended),
        code: outcome.ended.code(),
        output: masked(outcome.output.text),
        omitted: outcome.output.omitted,
        note: outcome.note,
        left: outcome.left,
        directory: outcome.cwd.to_string_lossy().into_owned(),
        approval: passed.by,
    };
    Ok((done, passed.decided))
}

async fn start(
    caller: &Caller,
    command: Command,
    options: Options,
    watch: wit::Watch,
    wish: Option<EscalationWish>,
) -> Result<(Status, Option<DecidedBy>), Refusal> {
    let workdir = options.workdir.map(PathBuf::from);
    let Admitted { what, passed, decided, sandbox } =
        caller.admit(what(command), workdir.as_deref(), None, wish).await?;
    let request = Request { workdir, pty: options.pty, decided: Some(decided), sandbox, ..Request::new(what) };
    let watch = Watch { end: watch.end, patterns: watch.patterns };
    // A program with a terminal may offer a shell at any key.
    let started = caller.start(request, watch, passed.reads_code || options.pty).await?;
    Ok((Status { approval: passed.by, ..status(started) }, passed.decided))
}

fn what(command: Command) -> What {
    match command {
        Command::Shell(command) => What::Shell(command),
        Command::Exec(program) => What::Exec {
            program: program.name.into(),
            arguments: program.arguments.into_iter().map(Into::into).collect(),
        },
    }
}

/// What is printed is masked as what is read from files is: neither lines nor lengths change.
fn masked(text: String) -> String {
    let mut bytes = text.into_bytes();
    fs::mask(&mut bytes);
    // Masking keeps text valid.
    String::from_utf8(bytes).unwrap_or_default()
}

fn ended(ended: Ended) -> wit::Ended {
    match ended {
        Ended::Exit(code) => wit::Ended::Exit(code),
        Ended::Signal(number) => wit::Ended::Signal(number),
        Ended::Timeout => wit::Ended::Timeout,
        Ended::Lost => wit::Ended::Lost,
    }
}

fn status(status: process::Status) -> Status {
    Status {
        id: status.id,
        command: status.command,
        pid: status.pid,
        ended: status.ended.map(ended),
        code: status.ended.map(Ended::code),
        note: status.note,
        ran: u64::try_from(status.ran.as_millis()).unwrap_or(u64::MAX),
        tail: status.tail,
        printed: status.printed,
        approval: None,
    }
}

fn notice(notice: process::Notice) -> Notice {
    let news = match notice.news {
        process::News::Ended { ended: how, tail } => News::Ended(Ending { ended: ended(how), code: how.code(), tail }),
        process::News::Matched { pattern, line, untold } => {
            News::Matched(Match { pattern, line: live::shown(line.as_bytes()), untold })
        }
        process::News::Unwatched { untold } => News::Unwatched(untold),
    };
    Notice { process: notice.process, news }
}

fn denied(message: String) -> wit::Fault {
    wit::Fault { reason: Reason::Denied, message }
}

fn fault(refusal: Refusal) -> wit::Fault {
    let fault = match refusal {
        Refusal::Denied(message) | Refusal::Decided(message, _) => return denied(message),
        Refusal::Fault(fault) => fault,
    };
    let reason = match &fault {
        Fault::NoDirectory(_) | Fault::Unknown(_) => Reason::NotFound,
        Fault::Timeout(_) | Fault::Command(_) | Fault::Nul | Fault::Watch(_) => Reason::Invalid,
        Fault::Busy(_) | Fault::Moved => Reason::Busy,
        Fault::Over(_) | Fault::InputClosed(_) => Reason::Over,
        Fault::NoSandbox(_) => Reason::Denied,
        Fault::InputFull(_) | Fault::Machine { .. } | Fault::Remote { .. } => Reason::Failed,
    };
    wit::Fault { reason, message: fault.to_string() }
}
