//! `$name` and `${…}`.

use super::{
    cursor::{Fault, Parser},
    tree::{Change, Parameter, Part, Word},
    word::Place,
};

fn starts_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

impl Parser<'_> {
    /// A name of letters, digits and `_`.
    pub(super) fn name(&mut self) -> Option<String> {
        if !self.peek().is_some_and(starts_name) {
            return None;
        }
        let end = self.rest().find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest().len());
        let name = self.rest().get(..end)?.to_owned();
        self.at += end;
        Some(name)
    }

    /// The parameter after a `$` without braces.
    pub(super) fn simple_name(&mut self) -> Option<Parameter> {
        let name = match self.peek()? {
            byte if starts_name(byte) => self.name()?,
            byte @ (b'0'..=b'9' | b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!') => {
                self.at += 1;
                (byte as char).into()
            }
            _ => return None,
        };
        Some(Parameter { name, change: Change::None, braced: false })
    }

    /// The inside of `${`, up to and with the brace.
    pub(super) fn braced(&mut self, quoted: bool) -> Result<Parameter, Fault> {
        let parameter = self.braced_inside(quoted)?;
        self.expect("}")?;
        Ok(parameter)
    }

    fn braced_inside(&mut self, quoted: bool) -> Result<Parameter, Fault> {
        let odd = matches!((self.peek(), self.peek_at(1)), (Some(b'!' | b'#'), Some(next)) if next != b'}');
        let indirect = odd && self.peek() == Some(b'!');
        if odd {
            self.at += 1;
        }
        let name = if self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            let end = self.rest().find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest().len());
            let name = self.rest().get(..end).unwrap_or("").to_owned();
            self.at += end;
            name
        } else if let Some(parameter) = self.simple_name() {
            parameter.name
        } else {
            return Err(self.fault("`${` without a name"));
        };
        if self.peek() == Some(b'[') && !indirect {
            return self.indexed(name, quoted);
        }
        if indirect {
            let change = Change::Indirect(self.word(Place::Brace, quoted)?);
            return Ok(Parameter { name, change, braced: true });
        }
        let change = self.change(quoted)?;
        // `${#x}` with more behind it is a length or a trimming, which shells tell apart by more than the first characters.
        let change = if odd { Change::Other(Word(vec![])) } else { change };
        Ok(Parameter { name, change, braced: true })
    }

    /// An element of an array: the index is expanded, the value is unknown.
    fn indexed(&mut self, name: String, quoted: bool) -> Result<Parameter, Fault> {
        let rest = self.word(Place::Brace, quoted)?;
        Ok(Parameter { name, change: Change::Index(rest), braced: true })
    }

    fn change(&mut self, quoted: bool) -> Result<Change, Fault> {
        let Some(byte) = self.peek() else { return Err(self.fault("unterminated `${`")) };
        if byte == b'}' {
            return Ok(Change::None);
        }
        let colon = byte == b':';
        let operator = if colon { self.peek_at(1) } else { Some(byte) };
        match operator {
            Some(kind @ (b'-' | b'=' | b'+' | b'?')) => {
                self.at += 1 + usize::from(colon);
                let word = self.word(Place::Brace, quoted)?;
                Ok(match kind {
                    b'-' => Change::Default { word, assign: false },
                    b'=' => Change::Default { word, assign: true },
                    b'+' => Change::Alternative(word),
                    _ => Change::Other(word),
                })
            }
            _ if colon => {
                self.at += 1;
                Ok(Change::Slice(self.word(Place::Brace, quoted)?))
            }
            Some(kind @ (b'#' | b'%')) => {
                self.at += 1;
                if self.peek() == Some(kind) {
                    self.at += 1;
                }
                Ok(Change::Trim { pattern: self.word(Place::Brace, false)?, start: kind == b'#' })
            }
            Some(b'/') => {
                self.at += 1;
                let all = self.take_if("/");
                let pattern = self.word(Place::Pattern, false)?;
                let with = if self.take_if("/") { self.word(Place::Brace, false)? } else { Word(vec![]) };
                Ok(Change::Replace { pattern, with, all })
            }
            Some(b'@') => Ok(Change::Transform(self.word(Place::Brace, quoted)?)),
            Some(b'^' | b',') => Ok(Change::Other(self.word(Place::Brace, quoted)?)),
            _ => Err(self.fault("an expansion that is not known")),
        }
    }
}

impl Word {
    /// The text of a word without quotes and expansions.
    pub(crate) fn bare(&self) -> Option<&str> {
        match self.0.as_slice() {
            [Part::Bare(text)] => Some(text),
            _ => None,
        }
    }
}
