//! Asking the person at the terminal.

use std::{
    fs::{File, OpenOptions},
    io::{IsTerminal, Read, Write},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use futures_util::future::BoxFuture;
use hermes_host::{
    approval::{Answer, Approver, Question},
    capability::DecidedBy,
};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    termios::{QueueSelector, tcflush, tcgetwinsize},
};
use tokio::sync::{Mutex, oneshot};

/// The terminal that this process belongs to, whatever became of its streams.
const TERMINAL: &str = "/dev/tty";

/// How often a prompt looks whether its question still stands.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// As much of a line is looked at. The longest answer has 16 letters.
const LINE_BYTES: usize = 256;

/// Columns of a terminal that does not say.
const COLUMNS: u16 = 80;

/// Somebody at the terminal. One question at a time.
pub(super) struct Prompt(Mutex<()>);

impl Prompt {
    /// Nobody, where there is no terminal or nobody looks at it.
    pub(super) fn if_there() -> Option<Arc<Self>> {
        (std::io::stderr().is_terminal() && open().is_some()).then(|| Arc::new(Self(Mutex::new(()))))
    }
}

/// Dropped, it gives the question up.
struct Standing(Arc<AtomicBool>);

impl Drop for Standing {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl Approver for Prompt {
    fn place(&self) -> DecidedBy {
        DecidedBy::Terminal
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let _turn = self.0.lock().await;
            let (said, answer) = oneshot::channel();
            let (shown, choices) = (question.shown(), question.titled_choices());
            let stands = Arc::new(AtomicBool::new(true));
            let _standing = Standing(Arc::clone(&stands));
            // A thread of its own: a terminal is read by waiting for it.
            let asked = thread::Builder::new().name("hermes-prompt".into()).spawn(move || {
                let text = |columns| shown.prompt(columns);
                // Nobody waits for it any more where this fails.
                let _ = said.send(ask(text, &choices, &stands));
            });
            match asked {
                Ok(_) => {
                    answer.await.ok().flatten().unwrap_or_else(|| Answer::refuse("nobody answered at the terminal"))
                }
                Err(why) => Answer::refuse(&format!("nobody could be asked: {why}")),
            }
        })
    }
}

fn open() -> Option<File> {
    OpenOptions::new().read(true).write(true).open(TERMINAL).ok()
}

/// Asks until a word is understood or the question no longer stands. An empty line is no word, and what was typed before the question is
/// no answer to it.
fn ask(
    text: impl Fn(usize) -> String,
    choices: &[(&'static str, &'static str)],
    stands: &AtomicBool,
) -> Option<Answer> {
    let mut terminal = open()?;
    let columns =
        tcgetwinsize(&terminal).ok().map(|size| size.ws_col).filter(|columns| *columns > 0).unwrap_or(COLUMNS);
    tcflush(&terminal, QueueSelector::IFlush).ok()?;
    writeln!(terminal, "\n{}", text(columns.into())).ok()?;
    for (word, title) in choices {
        writeln!(terminal, "  {}  {title} ({word})", letter(word)).ok()?;
    }
    let letters: Vec<&str> = choices.iter().map(|(word, _)| letter(word)).collect();
    loop {
        write!(terminal, "{}? ", letters.join("/")).ok()?;
        terminal.flush().ok()?;
        let line = line(&mut terminal, stands)?;
        let typed = line.trim();
        match choices.iter().find(|(word, _)| typed == *word || typed == letter(word)) {
            Some((word, _)) => return word.parse().ok(),
            None => writeln!(terminal, "please type one of these letters or words").ok()?,
        }
    }
}

/// The letter for a word.
fn letter(word: &str) -> &'static str {
    match word {
        "once" => "y",
        "session" => "s",
        "always" => "a",
        "session-category" => "k",
        "always-category" => "g",
        _ => "n",
    }
}

/// A line, unless the question is given up before it comes.
fn line(terminal: &mut File, stands: &AtomicBool) -> Option<String> {
    let mut typed = Vec::new();
    loop {
        let ready = poll(&mut [PollFd::new(&*terminal, PollFlags::IN)], Some(&LOOK)).ok()?;
        if !stands.load(Ordering::Acquire) {
            writeln!(terminal, "\n(the question is withdrawn)").ok()?;
            return None;
        }
        if ready > 0 {
            let mut piece = [0; 64];
            let length = terminal.read(&mut piece).ok().filter(|length| *length > 0)?;
            typed.extend_from_slice(piece.get(..length)?);
            if typed.ends_with(b"\n") {
                // No answer is that long, and the end of another line is none.
                typed.truncate(LINE_BYTES);
                return Some(String::from_utf8_lossy(&typed).into_owned());
            }
        }
    }
}
