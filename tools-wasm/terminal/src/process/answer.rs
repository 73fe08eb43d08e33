//! What `process` answers: for every action the members that belong to it.

use hermes_tool::output;
use hermes_tool::terminal::{Excerpt, Status};

use crate::notices::{self, Notice};
use crate::plain::{plain, tail};

/// Characters of the output in an answer about one process.
const PREVIEW: usize = 1_000;

/// Characters of each process's output in a list: enough to tell one from another.
const LISTED: usize = 200;

#[output]
#[derive(Default)]
pub(crate) struct Answer {
    /// The oldest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    processes: Option<Vec<Listed>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<State>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code_meaning: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uptime_seconds: Option<u64>,
    /// The last of what it printed.
    #[schema(content_media_type = "text/plain")]
    #[serde(skip_serializing_if = "Option::is_none")]
    output_preview: Option<String>,
    /// What it printed.
    #[schema(content_media_type = "text/plain")]
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    /// Lines printed so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_lines: Option<u64>,
    /// Which lines are given.
    #[serde(skip_serializing_if = "Option::is_none")]
    showing: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout_note: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes_written: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// What happened in the background since the last answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    notices: Option<Vec<Notice>>,
}

#[output]
struct Listed {
    session_id: String,
    command: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    status: State,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    uptime_seconds: u64,
    /// The last of what it printed.
    output_preview: String,
}

#[output]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
    Running,
    Exited,
    /// It did not end in the time that was waited.
    Timeout,
    Killed,
    /// It had ended before it could be killed.
    AlreadyExited,
    /// It was written to.
    Ok,
}

impl Answer {
    pub(super) fn list(processes: Vec<Status>) -> Self {
        Self { processes: Some(processes.into_iter().map(Listed::from).collect()), ..Self::default() }
    }

    pub(super) fn poll(status: Status) -> Self {
        Self {
            status: Some(State::of(&status)),
            command: Some(status.command),
            exit_code_meaning: status.note,
            pid: status.pid,
            uptime_seconds: Some(seconds(status.ran)),
            output_preview: Some(tail(&status.tail, PREVIEW)),
            exit_code: status.code,
            ..Self::about(status.id)
        }
    }

    pub(super) fn log(status: Status, excerpt: Excerpt) -> Self {
        let state = State::of(&status);
        Self {
            status: Some(state),
            exit_code: status.code,
            output: Some(plain(&excerpt.text)),
            total_lines: Some(excerpt.total),
            showing: Some(showing(&excerpt)),
            ..Self::about(status.id)
        }
    }

    pub(super) fn waited(status: Status, asked: u32, patience: u32) -> Self {
        let running = status.ended.is_none();
        let note = if asked > patience {
            format!("waited {patience} s, which is the most for one call: wait again, or do something else meanwhile")
        } else {
            format!("still running after {patience} s: wait again, or do something else meanwhile")
        };
        Self {
            status: Some(if running { State::Timeout } else { State::Exited }),
            exit_code: status.code,
            exit_code_meaning: status.note,
            output: Some(tail(&status.tail, PREVIEW)),
            timeout_note: running.then_some(note),
            ..Self::about(status.id)
        }
    }

    /// `done` holds where it has ended.
    pub(super) fn killed(status: Status, done: State) -> Self {
        let running = status.ended.is_none();
        let message = "it was told to end and has not yet: poll it".to_owned();
        Self {
            status: Some(if running { State::Running } else { done }),
            exit_code: status.code,
            message: running.then_some(message),
            ..Self::about(status.id)
        }
    }

    pub(super) fn wrote(id: &str, bytes: usize) -> Self {
        Self { status: Some(State::Ok), bytes_written: Some(bytes as u64), ..Self::about(id.to_owned()) }
    }

    pub(super) fn closed(id: &str) -> Self {
        let message = Some("its input is closed: it will read nothing more".into());
        Self { status: Some(State::Ok), message, ..Self::about(id.to_owned()) }
    }

    fn about(id: String) -> Self {
        Self { session_id: Some(id), ..Self::default() }
    }

    /// With what happened in the background.
    pub(super) fn with_notices(self) -> Self {
        Self { notices: notices::take(), ..self }
    }
}

impl State {
    fn of(status: &Status) -> Self {
        if status.ended.is_none() { Self::Running } else { Self::Exited }
    }
}

impl From<Status> for Listed {
    fn from(status: Status) -> Self {
        Self {
            status: State::of(&status),
            session_id: status.id,
            command: status.command,
            pid: status.pid,
            exit_code: status.code,
            uptime_seconds: seconds(status.ran),
            output_preview: tail(&status.tail, LISTED),
        }
    }
}

fn seconds(milliseconds: u64) -> u64 {
    milliseconds / 1_000
}

/// `lines 1-200 of 950`, counted from 1 as people do, and what can't be had any more.
fn showing(excerpt: &Excerpt) -> String {
    let Excerpt { first, lines, oldest, total, .. } = excerpt;
    let gone = if *oldest > 0 { format!("; the first {oldest} are no longer kept") } else { String::new() };
    match lines {
        0 => format!("no lines of {total}{gone}"),
        lines => format!("lines {}-{} of {total}{gone}", first + 1, first + u64::from(*lines)),
    }
}
