//! The tool `process`.

mod answer;
#[cfg(test)]
mod tests;

use hermes_tool::{Error, Json, Result, args, terminal, tool};

use self::answer::{Answer, State};
use crate::available::available;

/// How long to wait if nobody says, in seconds.
const PATIENCE: u32 = 180;

/// The longest that one call waits: as long as a command in the foreground may take.
const PATIENCE_MAX: u32 = 600;

/// Lines of a log if nobody says. The schema repeats it.
const LOG_LINES: u32 = 200;

#[args]
pub(crate) struct Process {
    /// list: all of them. poll: how one stands, and the last of its output. log: lines of its output. wait: for its end. kill: end
    /// it. write: send data as it is. submit: send data and a line end. close: end its input.
    action: Action,
    /// What terminal answered when it started the process. For every action but list.
    session_id: Option<String>,
    /// What to send, for write and submit.
    data: Option<String>,
    /// For wait: seconds, 600 at most.
    #[schema(minimum = 1, default = 180)]
    timeout: Option<u32>,
    /// For log: lines to leave out at the start. Without it, the last lines are given.
    offset: Option<u64>,
    /// For log: how many lines to give.
    #[schema(minimum = 1, default = 200)]
    limit: Option<u32>,
}

#[args]
#[derive(Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Action {
    List,
    Poll,
    Log,
    Wait,
    Kill,
    Write,
    Submit,
    Close,
}

/// Looks after what terminal started with background=true: lists it, reads its output, waits for its end, writes to it, kills it.
///
/// Wait instead of polling again and again. Answer a question that a program asks with submit.
#[tool(emoji = "⚙️", destructive, max_result_size = 100_000, check = available)]
pub(crate) fn process(args: Process) -> Result<Json<Answer>> {
    let answer = match (args.action, args.session_id.as_deref().filter(|id| !id.is_empty())) {
        (Action::List, _) => Answer::list(terminal::processes()?),
        (action, None) => return Err(without("session_id", action)),
        (Action::Poll, Some(id)) => Answer::poll(terminal::poll(id)?),
        (Action::Log, Some(id)) => {
            // Asked for first: what has ended by now will print nothing that the log lacks.
            let status = terminal::poll(id)?;
            Answer::log(status, terminal::log(id, args.offset, Some(args.limit.unwrap_or(LOG_LINES)))?)
        }
        (Action::Wait, Some(id)) => {
            let asked = args.timeout.unwrap_or(PATIENCE);
            let patience = asked.min(PATIENCE_MAX);
            Answer::waited(terminal::wait(id, Some(patience))?, asked, patience)
        }
        (Action::Kill, Some(id)) => match terminal::poll(id)? {
            status if status.ended.is_some() => Answer::killed(status, State::AlreadyExited),
            _ => Answer::killed(terminal::kill(id)?, State::Killed),
        },
        (action @ Action::Write, Some(id)) => {
            let data = args.data.filter(|data| !data.is_empty()).ok_or_else(|| without("data", action))?;
            terminal::write(id, data.as_bytes())?;
            Answer::wrote(id, data.len())
        }
        (Action::Submit, Some(id)) => {
            let line = args.data.unwrap_or_default();
            terminal::submit(id, &line)?;
            // With the line end.
            Answer::wrote(id, line.len() + 1)
        }
        (Action::Close, Some(id)) => {
            terminal::close(id)?;
            Answer::closed(id)
        }
    };
    Ok(Json(answer.with_notices()))
}

fn without(argument: &str, action: Action) -> Error {
    let action = match action {
        Action::List => "list",
        Action::Poll => "poll",
        Action::Log => "log",
        Action::Wait => "wait",
        Action::Kill => "kill",
        Action::Write => "write",
        Action::Submit => "submit",
        Action::Close => "close",
    };
    let hint = if argument == "session_id" { ": action list shows the processes with theirs" } else { "" };
    Error::invalid(format!("{action} needs {argument}{hint}"))
}
