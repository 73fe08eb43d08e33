//! What `terminal` answers.

use hermes_tool::terminal::{Ended, Outcome, Status};
use hermes_tool::{Schema, output};
use serde::Serialize;

use crate::notices::{self, Notice};
use crate::plain::plain;

/// The code of a command that was not allowed to run: none that a program could end with.
const NOT_RUN: i32 = -1;

/// The code that a shell shows where a command could not be started; here, for want of its directory.
const CANNOT_RUN: i32 = 126;

#[output]
#[derive(Default)]
pub(crate) struct Answer {
    /// What the command printed on both streams: head and tail of it where that is much.
    #[schema(content_media_type = "text/plain")]
    output: String,
    exit_code: i32,
    /// Why the command was not run. Null also where it ran and failed: then the exit code tells.
    error: Nullable,
    /// What the exit code means, where that is not what one would think.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code_meaning: Option<String>,
    /// Who approved the command and for how long, where somebody had to.
    #[serde(skip_serializing_if = "Option::is_none")]
    approval: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<State>,
    /// What process knows the background process by.
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pty_note: Option<String>,
    /// Where the next command will run.
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
    /// What happened in the background since the last answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    notices: Option<Vec<Notice>>,
}

#[output]
#[serde(rename_all = "lowercase")]
enum State {
    Blocked,
    Running,
    Exited,
}

/// A text, or null: the member is there either way.
#[derive(Default, Serialize)]
struct Nullable(Option<String>);

impl Schema for Nullable {
    fn keywords(out: &mut String) {
        out.push_str(r#""type":["string","null"]"#);
    }
}

impl Answer {
    /// A command that ran to its end or to its deadline.
    pub(super) fn ended(outcome: Outcome, timeout: u32, pty: bool) -> Self {
        let mut output = plain(&outcome.output);
        if !outcome.left.is_empty() {
            let left = outcome.left.join(", ");
            remark(
                &mut output,
                &format!("[Left running, and ended with the command: {left}; background=true keeps it]"),
            );
        }
        if outcome.ended == Ended::Timeout {
            remark(&mut output, &format!("[Command timed out after {timeout}s]"));
        }
        let pty_note =
            "nothing can be typed into a command in the foreground: use background=true and process for that";
        Self {
            output,
            exit_code: outcome.code,
            exit_code_meaning: outcome.note,
            approval: outcome.approval,
            pty_note: pty.then(|| pty_note.into()),
            cwd: Some(outcome.directory).filter(|directory| !directory.is_empty()),
            ..Self::default()
        }
    }

    /// A command that runs in the background from now on.
    pub(super) fn started(status: Status) -> Self {
        Self {
            output: "Background process started".into(),
            approval: status.approval,
            status: Some(if status.ended.is_none() { State::Running } else { State::Exited }),
            session_id: Some(status.id),
            pid: status.pid,
            ..Self::default()
        }
    }

    /// A command that was refused.
    pub(super) fn blocked(why: String) -> Self {
        Self { exit_code: NOT_RUN, error: Nullable(Some(why)), status: Some(State::Blocked), ..Self::default() }
    }

    /// A command whose directory does not exist.
    pub(super) fn nowhere(why: String) -> Self {
        Self { exit_code: CANNOT_RUN, error: Nullable(Some(why)), ..Self::default() }
    }

    /// With what happened in the background.
    pub(super) fn with_notices(self) -> Self {
        Self { notices: notices::take(), ..self }
    }
}

/// On a line of its own, after what was printed.
fn remark(output: &mut String, remark: &str) {
    if !output.is_empty() && !output.ends_with('\n') {
        output.push('\n');
    }
    output.push_str(remark);
}
