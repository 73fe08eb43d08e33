//! Where the parser stands in the text, and what it has to remember between lines.

use super::tree::Word;
use crate::approval::shell::limits::NESTING;

/// Why a text could not be parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// What was met, and where.
    pub(crate) message: String,
    /// Whether a limit was met, not the grammar.
    pub(crate) limit: bool,
}

/// A here-document whose body has not been reached.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) number: usize,
    pub(super) tag: String,
    /// Whether the body is text only.
    pub(super) literal: bool,
    pub(super) tabs: bool,
}

/// The state of one parse.
pub(super) struct Parser<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    pub(super) depth: usize,
    pub(super) documents: Vec<Word>,
    pub(super) pending: Vec<Pending>,
    /// Whether here-documents of an enclosing command wait: then a line can't end in here.
    pub(super) held: bool,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str, depth: usize) -> Self {
        Self { text, at: 0, depth, documents: Vec::new(), pending: Vec::new(), held: false }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    /// The text from here on. Empty if the place is inside a character, which no caller leaves it in.
    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    /// Takes the whole character that starts here.
    pub(super) fn take_char(&mut self) -> Option<char> {
        let found = self.rest().chars().next()?;
        self.at += found.len_utf8();
        Some(found)
    }

    pub(super) fn take_if(&mut self, expected: &str) -> bool {
        let found = self.rest().starts_with(expected);
        if found {
            self.at += expected.len();
        }
        found
    }

    pub(super) fn expect(&mut self, expected: &str) -> Result<(), Fault> {
        if self.take_if(expected) { Ok(()) } else { Err(self.fault(format!("expected `{expected}`"))) }
    }

    pub(super) fn fault(&self, what: impl std::fmt::Display) -> Fault {
        Fault { message: format!("{what} at byte {}", self.at), limit: false }
    }

    /// Runs a part of the grammar one level deeper.
    pub(super) fn deeper<T>(&mut self, part: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        if self.depth >= NESTING {
            return Err(Fault { message: format!("nested deeper than {NESTING} levels"), limit: true });
        }
        self.depth += 1;
        let result = part(self);
        self.depth -= 1;
        result
    }

    /// Skips blanks and joined lines.
    pub(super) fn blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t') => self.at += 1,
                Some(b'\\') if self.peek_at(1) == Some(b'\n') => self.at += 2,
                _ => return,
            }
        }
    }

    /// Skips blanks, comments and ends of lines. An end of line is where the bodies of here-documents start.
    pub(super) fn lines(&mut self) -> Result<(), Fault> {
        loop {
            self.blanks();
            match self.peek() {
                Some(b'#') => self.comment(),
                Some(b'\n') => self.newline()?,
                _ => return Ok(()),
            }
        }
    }

    pub(super) fn comment(&mut self) {
        self.at += self.rest().find('\n').unwrap_or(self.rest().len());
    }

    pub(super) fn newline(&mut self) -> Result<(), Fault> {
        if self.held {
            return Err(self.fault("a line ends inside a substitution before a here-document"));
        }
        self.at += 1;
        self.bodies()
    }
}
