//! A question as people see it. An agent wrote most of its text, so none of it may obey, hide or reorder anything on a screen.

use serde::Serialize;

use super::{
    question::{Question, Subject},
    shell::Judgement,
};
use crate::text::is_hidden;

/// The longest command that a person is asked about, in bytes as it is shown. Every byte of a command is code, so one that can't
/// be shown whole is not asked about at all. 32 KiB is some 400 full lines: more than anybody reads, enough for a script in a
/// here-document.
pub(super) const COMMAND_BYTES: usize = 32 * 1024;

/// How much of a call's arguments is shown, in bytes. They are data for a named tool, often whole files; what is left out is said.
pub(super) const ARGUMENTS_BYTES: usize = 16 * 1024;

/// The longest name, id or directory. Paths are at most 4,096 bytes on Linux.
const NAME_BYTES: usize = 4_096;

/// The longest single reason.
const REASON_BYTES: usize = 500;

/// How many reasons are shown. A command can have thousands; the worst come first.
const REASONS: usize = 20;

/// A question made safe to print, to send and to put on a page as text. It still has to be escaped for HTML.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[schema(as = Question)]
pub struct Shown {
    /// Names the question in an answer.
    pub id: String,
    /// The tool that asks.
    pub tool: String,
    /// The component it is from.
    pub component: String,
    /// The task, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The session, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// `command` or `call`.
    pub kind: &'static str,
    /// The command, or the call's arguments as JSON. Line ends and tabs are kept, all else that is not seen is escaped.
    pub text: String,
    /// Bytes of the text that are not shown. Always 0 for a command.
    pub omitted: usize,
    /// Where the command would run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// Why it is asked, worst first, one line each.
    pub reasons: Vec<String>,
    /// Reasons that are not shown.
    pub more_reasons: usize,
    /// What a reviewer said before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The answers that are possible.
    pub choices: Vec<&'static str>,
    /// When it was put, in milliseconds of Unix time.
    pub asked_at: u64,
    /// When it counts as refused.
    pub expires_at: u64,
}

impl Shown {
    pub(super) fn of(question: &Question) -> Self {
        let asker = question.asker();
        let (kind, (text, omitted), directory, reasons) = match question.subject() {
            Subject::Command { command, directory, judgement, .. } => {
                let reasons: Vec<String> =
                    judgement.reasons.iter().map(|reason| format!("{}: {}", reason.category, reason.detail)).collect();
                ("command", cut(lines(command), COMMAND_BYTES), directory.as_deref().map(name), reasons)
            }
            Subject::Call { arguments, reasons, .. } => {
                ("call", cut(lines(arguments), ARGUMENTS_BYTES), None, reasons.clone())
            }
        };
        Self {
            id: question.id().as_str().to_owned(),
            tool: name(&asker.tool),
            component: name(&asker.component),
            task: asker.task.as_deref().map(name),
            session: asker.session.as_deref().map(name),
            kind,
            text,
            omitted,
            directory,
            more_reasons: reasons.len().saturating_sub(REASONS),
            reasons: reasons.iter().take(REASONS).map(|reason| one_line(reason, REASON_BYTES)).collect(),
            note: question.note().map(|note| one_line(note, REASON_BYTES)),
            choices: question.choices(),
            asked_at: question.asked_at(),
            expires_at: question.expires_at(),
        }
    }

    /// The question for a terminal of so many columns. Each line of the agent's text begins with a bar and is broken before the
    /// terminal would break it, so that none can pass for the host's words.
    pub fn prompt(&self, columns: usize) -> String {
        let what = if self.kind == "command" { "run this command" } else { "make this call, with these arguments" };
        let mut lines = vec![format!("{} (component {}) wants to {what}:", self.tool, self.component)];
        let mut quote = |label: &str, text: &str| {
            let room = columns.saturating_sub(QUOTE_COLUMNS).max(QUOTE_COLUMNS);
            for piece in text.split('\n').flat_map(|line| broken(line, room)) {
                lines.push(format!("{label:3} | {piece}"));
            }
        };
        quote("", &self.text);
        self.directory.iter().for_each(|directory| quote("in", directory));
        self.reasons.iter().for_each(|reason| quote("why", reason));
        if self.omitted > 0 {
            lines.push(format!("{} bytes of the arguments are not shown", self.omitted));
        }
        if self.more_reasons > 0 {
            lines.push(format!("and {} more reasons", self.more_reasons));
        }
        lines.extend(self.note.iter().map(|note| format!("note: {note}")));
        let seconds = self.expires_at.saturating_sub(self.asked_at) / 1000;
        lines.push(format!("Without an answer within {seconds} s it counts as refused."));
        lines.join("\n")
    }
}

/// Columns of the label and the bar before a quoted line.
const QUOTE_COLUMNS: usize = 6;

/// A tab's most columns.
const TAB_COLUMNS: usize = 8;

/// A line in pieces of at most so many columns. What is not ASCII counts as wide: a piece that is too short does no harm.
fn broken(line: &str, columns: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut used = 0;
    for c in line.chars() {
        let wide = match c {
            '\t' => TAB_COLUMNS,
            c if c.is_ascii() => 1,
            _ => 2,
        };
        if used + wide > columns && used > 0 {
            pieces.push(String::new());
            used = 0;
        }
        used += wide;
        // There is always a piece: the list starts with one.
        if let Some(piece) = pieces.last_mut() {
            piece.push(c);
        }
    }
    pieces
}

/// Whether a command can be shown whole.
pub(super) fn fits(command: &str) -> bool {
    command.len() <= COMMAND_BYTES && lines(command).len() <= COMMAND_BYTES
}

/// How many reasons a model is told.
const FEW: usize = 4;

/// The reasons against something in one line for a model or a log: the first few.
pub(super) fn summary(subject: &Subject) -> String {
    match subject {
        Subject::Command { judgement, .. } => self::reasons(judgement),
        Subject::Call { reasons, .. } => few(reasons.iter().take(FEW).cloned().collect(), reasons.len()),
    }
}

/// The same of a judgement.
pub(super) fn reasons(judgement: &Judgement) -> String {
    let reasons = judgement.reasons.iter().take(FEW).map(|it| format!("{}: {}", it.category, it.detail));
    few(reasons.collect(), judgement.reasons.len())
}

fn few(mut few: Vec<String>, all: usize) -> String {
    for reason in &mut few {
        *reason = one_line(reason, REASON_BYTES);
    }
    if all > FEW {
        few.push(format!("and {} more", all - FEW));
    }
    few.join("; ")
}

/// One safe line of about `max` bytes, with its blanks and line ends made one blank each.
pub(super) fn one_line(text: &str, max: usize) -> String {
    // Cut first: the text may be large. Escaping can make what is left longer, so it is cut again.
    let text = &text[..text.floor_char_boundary(max.saturating_mul(2))];
    let line = escape(&text.split_whitespace().collect::<Vec<_>>().join(" "), |_| false);
    if line.len() <= max { line } else { format!("{}…", &line[..line.floor_char_boundary(max)]) }
}

/// A name, id or path as it is, on one line.
fn name(text: &str) -> String {
    let (shown, omitted) = cut(escape(text, |_| false), NAME_BYTES);
    if omitted == 0 { shown } else { format!("{shown}…") }
}

/// The text with everything escaped that is obeyed or unseen, but for what is kept.
fn escape(text: &str, kept: fn(char) -> bool) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hidden(c) && !kept(c) { safe.extend(c.escape_unicode()) } else { safe.push(c) }
    }
    safe
}

/// The same for a text of many lines.
fn lines(text: &str) -> String {
    escape(text, |c| matches!(c, '\n' | '\t'))
}

/// At most `max` bytes, and how many are missing at the end.
fn cut(mut text: String, max: usize) -> (String, usize) {
    let end = text.floor_char_boundary(max);
    let omitted = text.len() - end;
    text.truncate(end);
    (text, omitted)
}
