//! `sed`: scripts that run commands or write files.

use super::{Call, write};
use crate::approval::shell::{
    Category,
    resolve::{Arg, UNKNOWN},
    walk::Walker,
};

pub(super) fn rule(walker: &mut Walker, call: &Call<'_>) {
    let mut scripts = call.values("-e", "--expression");
    let files = call.values("-f", "--file");
    for file in &files {
        walker.foreign_script(call.name, file, call.input);
    }
    let file = !files.is_empty();
    if scripts.is_empty() && !file {
        scripts.extend(call.operands().next().cloned());
    }
    for script in scripts {
        if script.text.starts_with(UNKNOWN) {
            walker.ask(
                Category::InlineCode,
                format!("a script of sed that is only known when it runs: {}", call.shown()),
            );
        }
        let mut reader = Reader { text: &script.text, at: 0 };
        while let Some(effect) = reader.next_effect() {
            match effect {
                Effect::Run(text) if text.is_empty() => {
                    walker.ask(Category::InlineCode, format!("sed runs what it finds: {}", call.shown()));
                }
                Effect::Run(text) => {
                    walker.ask(Category::InlineCode, format!("sed runs: {text}"));
                    walker.program_text("sed", &text);
                }
                Effect::Write(path) => write::file(walker, &Arg::known(path), "sed writes"),
            }
        }
    }
}

enum Effect {
    Run(String),
    Write(String),
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at..)?.chars().next()
    }

    fn take(&mut self) -> Option<char> {
        let found = self.peek()?;
        self.at += found.len_utf8();
        Some(found)
    }

    fn line(&mut self) -> String {
        let rest = self.text.get(self.at..).unwrap_or("");
        let end = rest.find('\n').unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or("").trim().to_owned()
    }

    /// Skips up to and with an unescaped delimiter.
    fn skip_to(&mut self, delimiter: char) {
        while let Some(found) = self.take() {
            if found == '\\' {
                self.take();
            } else if found == delimiter {
                return;
            }
        }
    }

    /// Reads on to the next thing that a script runs or writes.
    fn next_effect(&mut self) -> Option<Effect> {
        loop {
            match self.take()? {
                '/' => self.skip_to('/'),
                '\\' => {
                    let delimiter = self.take()?;
                    self.skip_to(delimiter);
                }
                '#' | 'a' | 'i' | 'c' | 'r' | 'R' => {
                    self.line();
                }
                'b' | 't' | 'T' | ':' => {
                    while self.peek().is_some_and(|found| !matches!(found, ';' | '\n' | '}')) {
                        self.take();
                    }
                }
                'e' => return Some(Effect::Run(self.line())),
                'w' | 'W' => return Some(Effect::Write(self.line())),
                'y' => {
                    let delimiter = self.take()?;
                    self.skip_to(delimiter);
                    self.skip_to(delimiter);
                }
                's' => {
                    let delimiter = self.take()?;
                    self.skip_to(delimiter);
                    self.skip_to(delimiter);
                    while let Some(flag) = self.peek().filter(|flag| flag.is_ascii_alphanumeric()) {
                        self.take();
                        match flag {
                            'e' => return Some(Effect::Run(String::new())),
                            'w' => return Some(Effect::Write(self.line())),
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
    }
}
