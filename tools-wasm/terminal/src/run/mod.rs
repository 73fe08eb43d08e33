//! The tool `terminal`.

mod answer;
mod foreground;
mod servers;
#[cfg(test)]
mod tests;
mod words;

use hermes_tool::terminal::{self as host, Command, Escalation, EscalationKind, Fault, Options, Reason, Watch};
use hermes_tool::{Error, Json, Result, args, tool};

use self::answer::Answer;
use crate::available::available;

/// How long a command in the foreground runs if nobody says: long enough for a build of middle size. The schema repeats it.
const TIMEOUT: u32 = 180;

/// The longest that a command in the foreground may ask for. What takes longer belongs in the background, where it can be watched.
const TIMEOUT_MAX: u32 = 600;

#[args]
pub(crate) struct Terminal {
    /// The command line, read by a shell.
    command: String,
    /// Start it and return at once: for servers, watchers and whatever takes long. Without `&` or nohup.
    #[schema(default = false)]
    background: Option<bool>,
    /// Seconds after which a command in the foreground is ended, 600 at most. It returns as soon as it is done, so be generous.
    #[schema(minimum = 1, default = 180)]
    timeout: Option<u32>,
    /// The directory for this command alone: absolute, or relative to the working directory.
    workdir: Option<String>,
    /// Run it in a pseudo-terminal: for programs that behave differently without one.
    #[schema(default = false)]
    pty: Option<bool>,
    /// In the background: be told when it ended, with a later answer of this tool or of process.
    #[schema(default = false)]
    notify_on_complete: Option<bool>,
    /// In the background: be told when it prints a line with one of these texts in it. For rare events, such as "listening on".
    watch_patterns: Option<Vec<String>>,
    /// Ask for more than the sandbox gives, for this command alone: the network, or no sandbox. A person may have to decide.
    escalate: Option<Escalate>,
    /// With escalate: why this command needs it, in one sentence. It is shown to the person who decides.
    reason: Option<String>,
}

#[args]
#[derive(Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Escalate {
    Network,
    Unconfined,
}

impl From<Escalate> for EscalationKind {
    fn from(escalate: Escalate) -> Self {
        match escalate {
            Escalate::Network => Self::Network,
            Escalate::Unconfined => Self::Unconfined,
        }
    }
}

/// Runs a command in a shell: builds, tests, git, package managers, scripts. The working directory and exported variables persist
/// from call to call; other variables, functions and aliases do not.
///
/// Commands may be confined to a sandbox: they write in the workspace and /tmp, read the workspace, the system and toolchains, and
/// have no network. A command that needs more fails first; then ask with escalate and a reason.
///
/// For files use read_file, write_file, patch and search_files instead of cat, echo, sed, grep and find. A command in the
/// foreground is answered as soon as it ends and can't be typed into: pass flags such as -y. What does not end by itself is started
/// with background=true, and then polled, read, written to and killed with process.
#[tool(emoji = "💻", destructive, max_result_size = 100_000, check = available)]
pub(crate) fn terminal(args: Terminal) -> Result<Json<Answer>> {
    if args.command.trim().is_empty() {
        return Err(Error::invalid("command is empty: pass the command line to run"));
    }
    let pty = args.pty.unwrap_or(false);
    let escalation = escalation(args.escalate, args.reason)?;
    let options = Options { workdir: args.workdir.filter(|workdir| !workdir.is_empty()), pty };
    let answer = if args.background.unwrap_or(false) {
        let watch =
            Watch { end: args.notify_on_complete.unwrap_or(false), patterns: args.watch_patterns.unwrap_or_default() };
        let command = Command::Shell(args.command);
        let started = match &escalation {
            Some(escalation) => host::start_escalated(&command, &options, &watch, escalation),
            None => host::start(&command, &options, &watch),
        };
        started.map(Answer::started)
    } else {
        let timeout = args.timeout.unwrap_or(TIMEOUT);
        if timeout > TIMEOUT_MAX {
            return Err(Error::invalid(format!(
                "a timeout of {timeout} s is more than the {TIMEOUT_MAX} s that a command in the foreground may take: start it \
                 with background=true and notify_on_complete=true, or pass a shorter timeout"
            )));
        }
        if let Some(why) = foreground::refusal(&args.command) {
            return Err(Error::invalid(why));
        }
        let command = Command::Shell(args.command);
        let outcome = match &escalation {
            Some(escalation) => host::run_escalated(&command, &options, Some(timeout), None, escalation),
            None => host::run(&command, &options, Some(timeout), None),
        };
        outcome.map(|outcome| Answer::ended(outcome, timeout, pty))
    };
    answer.or_else(not_run).map(Answer::with_notices).map(Json)
}

/// What is asked for beyond the sandbox. A reason alone is none.
fn escalation(escalate: Option<Escalate>, reason: Option<String>) -> Result<Option<Escalation>> {
    let Some(to) = escalate else { return Ok(None) };
    match reason.filter(|reason| !reason.trim().is_empty()) {
        Some(reason) => Ok(Some(Escalation { to: to.into(), reason })),
        None => Err(Error::invalid("escalate needs a reason: the person who decides reads it")),
    }
}

/// A command that was not run: what a shell would show for that, or the tool's error.
fn not_run(fault: Fault) -> Result<Answer> {
    match fault.reason {
        Reason::Denied => Ok(Answer::blocked(fault.message)),
        Reason::NotFound => Ok(Answer::nowhere(fault.message)),
        Reason::Busy => Err(Error::failed(format!("{}; process with action list shows them", fault.message))),
        _ => Err(fault.into()),
    }
}
