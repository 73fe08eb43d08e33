//! What one component may run, and what one call has of it.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    Fault, Place, Request, SandboxUse, Terminal, What,
    decider::{Escalation, EscalationKind, Isolation, Passed, Planned},
    layers,
    limits::{COMMAND_BYTES, WRITTEN_BYTES},
    process::{Status, Watch},
    quote,
    request::Decided,
    terminals::Terminals,
};
use serde::Deserialize;

use crate::{
    capability::{DecidedBy, Decision, EffectRecorder},
    grant::TerminalGrant,
    wit::latest::{Call, Context},
};

/// What a component may run.
#[derive(Clone, Debug)]
pub(crate) struct Commands {
    pub(crate) component: String,
    pub(crate) grant: TerminalGrant,
    pub(crate) place: Place,
    /// What its commands may ask for beyond their place.
    pub(crate) escalations: EscalationRules,
    pub(crate) terminals: Arc<Terminals>,
}

/// What commands may ask for beyond their place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EscalationRules {
    /// The network.
    pub network: EscalationRule,
    /// No confinement.
    pub unconfined: EscalationRule,
}

/// What becomes of a command that asks for less confinement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "toml::Value")]
pub enum EscalationRule {
    /// A person decides.
    #[default]
    Ask,
    /// It is given.
    Allow,
    /// It is refused.
    Never,
}

impl TryFrom<toml::Value> for EscalationRule {
    type Error = String;

    fn try_from(value: toml::Value) -> Result<Self, String> {
        match value.as_str() {
            Some("ask") => Ok(Self::Ask),
            Some("allow") => Ok(Self::Allow),
            Some("never") => Ok(Self::Never),
            _ => Err(format!("it is \"ask\", \"allow\" or \"never\", not {value}")),
        }
    }
}

impl Commands {
    /// Whether its commands may get more than their place gives.
    pub(crate) fn may_escalate(&self) -> bool {
        [self.escalations.network, self.escalations.unconfined].iter().any(|rule| *rule != EscalationRule::Never)
    }

    /// Whether both allow the same.
    pub(crate) fn grants_as(&self, other: &Self) -> bool {
        let of = |it: &Self| (it.component.clone(), it.grant.clone(), it.place.clone(), it.escalations);
        of(self) == of(other)
    }
}

/// What one call has of the terminal.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    commands: Arc<Commands>,
    tool: String,
    call: String,
    task: Option<String>,
    session: Option<String>,
    /// The task's name in the terminals.
    name: String,
    /// A check looks, and runs nothing.
    may_run: bool,
    effects: Option<EffectRecorder>,
}

/// Why a command does not run.
pub(crate) enum Refusal {
    /// It may not, by the grant or by a rule.
    Denied(String),
    /// Whoever decides said no.
    Decided(String, DecidedBy),
    /// It can't.
    Fault(Fault),
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl Caller {
    pub(crate) fn new(commands: Arc<Commands>, call: &Call, effects: Option<EffectRecorder>) -> Self {
        let Context { call_id, task_id, session_id } = &call.context;
        // A caller that names no task has its session for one: two agents must not share a directory.
        let name = commands
            .terminals
            .name_of(&commands.component, task_id.as_ref().or(session_id.as_ref()).map(String::as_str));
        let (task, session) = (task_id.clone(), session_id.clone());
        Self { commands, tool: call.name.clone(), call: call_id.clone(), task, session, name, may_run: true, effects }
    }

    /// What a check has of it.
    pub(crate) fn for_check(commands: Arc<Commands>) -> Self {
        let name = commands.terminals.name_of(&commands.component, None);
        let (tool, call) = (String::new(), String::new());
        Self { commands, tool, call, task: None, session: None, name, may_run: false, effects: None }
    }

    /// The task's name in the terminals.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn terminals(&self) -> &Terminals {
        &self.commands.terminals
    }

    /// Whether commands could run at all, as far as that can be told at once.
    pub(crate) fn can_run(&self) -> Result<(), Fault> {
        match self.commands.place {
            Place::Sandbox { .. } => layers::held(&self.commands.terminals.launcher).map(drop),
            Place::Local | Place::Ssh(_) => Ok(()),
        }
    }

    /// Whether this is a check, which only looks.
    pub(crate) fn is_check(&self) -> bool {
        !self.may_run
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
        wish: Option<EscalationWish>,
    ) -> Result<Admitted, Refusal> {
        let grant = &self.commands.grant;
        let (place, escalation) = self.escalated(wish)?;
        let (text, what, is_granted) = match what {
            What::Shell(command) if grant.shell => (command.clone(), What::Shell(command), false),
            What::Shell(_) => return Err(self.not_granted("command lines", "--shell")),
            What::Exec { program, arguments } => {
                if !grant.allows(&program, &arguments) {
                    let shown = line(&program, &arguments);
                    let is_plain = !shown.contains(['\'', '*']);
                    let flag = if is_plain { format!("--exec '{shown}'") } else { "--exec COMMAND".into() };
                    return Err(self.not_granted(&format!("`{shown}`"), &flag));
                }
                let text = line(&program, &arguments);
                // Another machine finds its programs itself.
                let program = if matches!(self.commands.place, Place::Ssh(_)) { program } else { found(&program)? };
                (text, What::Exec { program, arguments }, true)
            }
        };
        let terminal = self.terminal().await?;
        let sandbox = self.commands.terminals.sandbox(&place)?;
        let isolation = place.isolation();
        let asked =
            Asked { input, workdir, is_granted, isolation, escalation: escalation.as_ref(), ..self.about(&text) };
        let (passed, decided) = self.pass(&terminal, asked).await?;
        Ok(Admitted { what, passed, decided, sandbox })
    }

    /// The place that a command asks for, and what has to be decided for that. What it has already needs no decision.
    fn escalated(&self, wish: Option<EscalationWish>) -> Result<(Place, Option<Escalation>), Refusal> {
        let Commands { place, escalations, .. } = &*self.commands;
        let (Some(wish), Place::Sandbox { network, policy }) = (wish, place) else { return Ok((place.clone(), None)) };
        let (rule, wished) = match wish.to {
            EscalationKind::Network if *network => return Ok((place.clone(), None)),
            EscalationKind::Network => (escalations.network, Place::Sandbox { network: true, policy: policy.clone() }),
            EscalationKind::Unconfined => (escalations.unconfined, Place::Local),
        };
        if rule == EscalationRule::Never {
            let to = wish.to;
            let why = format!(
                "the operator never gives {to} to commands of {}; do it within the sandbox",
                self.commands.component
            );
            return Err(Refusal::Denied(why));
        }
        if wish.reason.trim().is_empty() {
            return Err(Refusal::Denied("an escalation needs a reason: the person who decides reads it".into()));
        }
        let is_allowed = rule == EscalationRule::Allow;
        Ok((wished, Some(Escalation { to: wish.to, reason: wish.reason, is_allowed })))
    }

    fn about<'a>(&self, text: &'a str) -> Asked<'a> {
        let isolation = self.commands.place.isolation();
        Asked { text, input: None, before: None, workdir: None, is_granted: false, isolation, escalation: None }
    }

    async fn pass(&self, terminal: &Terminal, asked: Asked<'_>) -> Result<(Passed, Decided), Refusal> {
        let Asked { text, input, before, workdir, is_granted, isolation, escalation } = asked;
        if text.len() > COMMAND_BYTES {
            return Err(Fault::Command(text.len()).into());
        }
        let commands = &*self.commands;
        let decided = Decided { cwd: terminal.cwd(&self.name), exported: terminal.exported(&self.name) };
        let directory = workdir.map_or_else(|| decided.cwd.clone(), |workdir| decided.cwd.join(workdir));
        let planned = Planned {
            component: &commands.component,
            tool: &self.tool,
            call: &self.call,
            task: self.task.as_deref(),
            session: self.session.as_deref(),
            text,
            input,
            before,
            // Nobody here knows where a process is by now.
            directory: before.is_none().then_some(&*directory),
            variables: &decided.exported,
            here: commands.terminals.here(&commands.place),
            is_granted,
            isolation,
            escalation,
        };
        let passed = commands.terminals.decider.decide(planned).await.map_err(|no| Refusal::Decided(no.why, no.by))?;
        // A command may end the host: the call has its line before.
        if let Some(effects) = &self.effects {
            let approval = passed.decided.map(Decision::approved);
            let denied =
                |why: String| Refusal::Denied(format!("it was not run, since it can't be put on record: {why}"));
            effects.record(approval).map_err(denied)?;
        }
        Ok((passed, decided))
    }

    /// Starts a command in the background. Nothing is written to it before it is known whether it runs what it reads.
    pub(crate) async fn start(&self, request: Request, watch: Watch, reads_code: bool) -> Result<Status, Refusal> {
        let terminal = self.terminal().await?;
        let isolation = match &request.sandbox {
            Some(SandboxUse { network, .. }) => Isolation::Confined { network: *network },
            None => Isolation::Unconfined,
        };
        let readers = &self.commands.terminals.readers;
        let _turn = readers.starting.write().await;
        let started = terminal.start(&self.name, request, watch).await?;
        if reads_code {
            readers.keep_only(&self.name, |id| terminal.poll(&self.name, id).is_ok());
            readers.add(&self.name, &started.id, isolation);
        }
        Ok(started)
    }

    /// Writes to a process. If it runs what it reads, that is put before whoever decides, with all that was written before.
    pub(crate) async fn write(&self, id: &str, bytes: &[u8]) -> Result<(), Refusal> {
        let terminal = self.terminal().await?;
        let readers = &self.commands.terminals.readers;
        let reader = {
            let _turn = readers.starting.read().await;
            readers.get(&self.name, id)
        };
        let text = String::from_utf8_lossy(bytes);
        let Some(reader) = reader else {
            // It is not known to run what it reads; what nobody may run is not for it either.
            self.pass(&terminal, Asked { is_granted: true, ..self.about(&text) }).await?;
            return Ok(terminal.write(&self.name, id, bytes).await?);
        };
        // One after the other: what two writers make together is nobody's.
        let mut written = reader.written.lock().await;
        let Some(before) = written.as_ref() else {
            let why = "an earlier write to this process was cut off, so what it reads next is not known; kill it and start it again";
            return Err(Refusal::Denied(why.into()));
        };
        if before.len() + bytes.len() > WRITTEN_BYTES {
            let why = format!("more than {WRITTEN_BYTES} bytes were written to this process; put the rest into a file");
            return Err(Refusal::Denied(why));
        }
        let before_text = String::from_utf8_lossy(before);
        let asked = Asked { before: Some(&before_text), isolation: reader.isolation, ..self.about(&text) };
        self.pass(&terminal, asked).await?;
        let whole = [before, bytes].concat();
        // Until it is written whole, nobody knows what was.
        *written = None;
        terminal.write(&self.name, id, bytes).await?;
        *written = Some(whole);
        Ok(())
    }

    fn not_granted(&self, what: &str, flag: &str) -> Refusal {
        let component = &self.commands.component;
        Refusal::Denied(format!(
            "{component} was not granted {what}; the operator can change that with hermes-host grant {component} {flag}"
        ))
    }
}

/// What whoever decides is asked.
#[derive(Clone, Copy)]
struct Asked<'a> {
    text: &'a str,
    input: Option<&'a [u8]>,
    before: Option<&'a str>,
    workdir: Option<&'a Path>,
    is_granted: bool,
    isolation: Isolation,
    escalation: Option<&'a Escalation>,
}

/// What a caller asks for beyond the sandbox.
#[derive(Clone, Debug)]
pub(crate) struct EscalationWish {
    pub(crate) to: EscalationKind,
    pub(crate) reason: String,
}

/// A command that may run, and what it runs in.
pub(crate) struct Admitted {
    pub(crate) what: What,
    pub(crate) passed: Passed,
    pub(crate) decided: Decided,
    pub(crate) sandbox: Option<SandboxUse>,
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
