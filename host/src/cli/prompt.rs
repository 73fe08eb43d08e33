//! Asking the person at the terminal.

use std::{
    fs::{File, OpenOptions},
    io::{BufRead, BufReader, IsTerminal, Write},
    sync::Arc,
    thread,
};

use futures_util::future::BoxFuture;
use hermes_host::approval::{Answer, Approver, Question};
use tokio::sync::{Mutex, oneshot};

/// The terminal that this process belongs to, whatever became of its streams.
const TERMINAL: &str = "/dev/tty";

/// Somebody at the terminal. One question at a time.
pub(super) struct Prompt(Mutex<()>);

impl Prompt {
    /// Nobody, where there is no terminal or nobody looks at it.
    pub(super) fn if_there() -> Option<Arc<Self>> {
        (std::io::stderr().is_terminal() && open().is_some()).then(|| Arc::new(Self(Mutex::new(()))))
    }
}

impl Approver for Prompt {
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let _turn = self.0.lock().await;
            let (said, answer) = oneshot::channel();
            let (text, choices) = (question.shown().prompt(), question.choices());
            // A thread of its own: reading from a terminal can't be given up, and the question can.
            let asked = thread::Builder::new().name("hermes-prompt".into()).spawn(move || {
                // Nobody waits for it any more where this fails.
                let _ = said.send(ask(&text, &choices));
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

/// Asks until a word is understood. An empty line is none.
fn ask(text: &str, choices: &[&'static str]) -> Option<Answer> {
    let mut terminal = open()?;
    let mut lines = BufReader::new(terminal.try_clone().ok()?).lines();
    writeln!(terminal, "\n{text}").ok()?;
    loop {
        write!(terminal, "{}? ", choices.join(" / ")).ok()?;
        terminal.flush().ok()?;
        let line = lines.next()?.ok()?;
        match line.trim().parse::<Answer>() {
            Ok(answer) if choices.contains(&line.trim()) => return Some(answer),
            _ => writeln!(terminal, "please type one of these words").ok()?,
        }
    }
}
