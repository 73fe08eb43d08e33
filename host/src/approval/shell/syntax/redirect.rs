//! Redirections and here-documents.

use super::{
    cursor::{Fault, Parser, Pending},
    tree::{Part, Redirect, Target, Word},
    word::Place,
};

impl Parser<'_> {
    /// A redirection, if one starts here.
    pub(super) fn redirect(&mut self) -> Result<Option<Redirect>, Fault> {
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        let start = self.at;
        match self.peek_at(digits) {
            Some(b'<' | b'>') if self.peek_at(digits + 1) != Some(b'(') => {}
            Some(b'&') if digits == 0 && self.peek_at(1) == Some(b'>') => {}
            _ => return Ok(None),
        }
        let descriptor = self.rest().get(..digits).and_then(|text| text.parse().ok());
        self.at = start + digits;
        let target = self.target()?;
        Ok(Some(Redirect { descriptor, target }))
    }

    fn target(&mut self) -> Result<Target, Fault> {
        for (operator, make) in OPERATORS {
            if self.take_if(operator) {
                return Ok(make(self.operand()?));
            }
        }
        let tabs = self.take_if("<<-");
        if tabs || self.take_if("<<") {
            return self.document(tabs);
        }
        self.expect("<")?;
        Ok(Target::Read(self.operand()?))
    }

    fn operand(&mut self) -> Result<Word, Fault> {
        self.blanks();
        let word = self.word(Place::Command, false)?;
        if word.0.is_empty() { Err(self.fault("a redirection without a target")) } else { Ok(word) }
    }

    fn document(&mut self, tabs: bool) -> Result<Target, Fault> {
        let word = self.operand()?;
        let mut tag = String::new();
        let mut literal = false;
        for part in &word.0 {
            match part {
                Part::Bare(text) => tag.push_str(text),
                Part::Quoted(text) => {
                    literal = true;
                    tag.push_str(text);
                }
                _ => return Err(self.fault("a here-document's tag that is not plain")),
            }
        }
        if tag.contains('\n') {
            return Err(self.fault("a here-document's tag of more than one line"));
        }
        let number = self.documents.len();
        self.documents.push(Word(vec![]));
        self.pending.push(Pending { number, tag, literal, tabs });
        Ok(Target::Document(number))
    }

    /// Reads the bodies that wait. Called where a line has just ended.
    pub(super) fn bodies(&mut self) -> Result<(), Fault> {
        for pending in std::mem::take(&mut self.pending) {
            let mut body = String::new();
            loop {
                let rest = self.rest();
                if rest.is_empty() {
                    return Err(self.fault(format!("here-document without its end `{}`", pending.tag)));
                }
                let end = rest.find('\n').unwrap_or(rest.len());
                let line = rest.get(..end).unwrap_or("");
                self.at += (end + 1).min(rest.len());
                let line = if pending.tabs { line.trim_start_matches('\t') } else { line };
                if line == pending.tag {
                    break;
                }
                // Joined lines could hide the end from one of two readers.
                if !pending.literal && line.ends_with('\\') && self.rest().lines().next() == Some(&pending.tag) {
                    return Err(self.fault("a joined line before a here-document's end"));
                }
                body.push_str(line);
                body.push('\n');
            }
            let word = if pending.literal {
                Word(vec![Part::Quoted(body)])
            } else {
                self.deeper(|parser| parser.text_word(&body))?
            };
            // The place was made when the tag was read.
            if let Some(place) = self.documents.get_mut(pending.number) {
                *place = word;
            }
        }
        Ok(())
    }
}

type Make = fn(Word) -> Target;

/// Longest first: each would be taken for a shorter one.
const OPERATORS: [(&str, Make); 9] = [
    ("&>>", Target::Write),
    ("&>", Target::Write),
    ("<<<", Target::Text),
    ("<&", Target::Duplicate),
    ("<>", Target::Write),
    (">>", Target::Write),
    (">&", Target::Duplicate),
    (">|", Target::Write),
    (">", Target::Write),
];
