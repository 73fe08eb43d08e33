//! Words: quotes, escapes and the expansions inside them.

use super::{
    cursor::{Fault, Parser},
    tree::{Part, Program, Word},
};

/// Where a word stands, which decides what ends it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// An argument: blanks and operators end it.
    Command,
    /// Inside `[[ ]]`: only blanks and `;` end it.
    Test,
    /// Inside `${…}`: the brace ends it.
    Brace,
    /// Inside `${x/…/…}`: a slash ends it too.
    Pattern,
    /// The text between two known places: nothing ends it, and quotes are text. For arithmetic and here-documents.
    Text,
}

impl Place {
    fn ends(self, byte: u8) -> bool {
        match self {
            Self::Command => matches!(byte, b' ' | b'\t' | b'\n' | b'|' | b'&' | b';' | b'(' | b')' | b'<' | b'>'),
            Self::Test => matches!(byte, b' ' | b'\t' | b'\n' | b';'),
            Self::Brace => byte == b'}',
            Self::Pattern => matches!(byte, b'}' | b'/'),
            Self::Text => false,
        }
    }
}

/// Collects the parts of a word, joining neighbours.
#[derive(Default)]
struct Parts(Vec<Part>);

impl Parts {
    fn bare(&mut self, found: char) {
        match self.0.last_mut() {
            Some(Part::Bare(text)) => text.push(found),
            _ => self.0.push(Part::Bare(found.into())),
        }
    }

    fn quoted(&mut self, found: &str) {
        match self.0.last_mut() {
            Some(Part::Quoted(text)) => text.push_str(found),
            _ => self.0.push(Part::Quoted(found.into())),
        }
    }
}

impl Parser<'_> {
    /// Reads a word. Empty if what stands here starts none.
    pub(super) fn word(&mut self, place: Place, in_quotes: bool) -> Result<Word, Fault> {
        let mut parts = Parts::default();
        while let Some(byte) = self.peek() {
            match byte {
                b'<' | b'>' if self.peek_at(1) == Some(b'(') && place != Place::Text && !in_quotes => {
                    parts.0.push(self.process()?);
                }
                byte if place.ends(byte) => break,
                b'\\' => self.backslash(&mut parts, place, in_quotes),
                b'\'' if place != Place::Text && !in_quotes => {
                    self.at += 1;
                    let end = self.rest().find('\'').ok_or_else(|| self.fault("unterminated `'`"))?;
                    parts.quoted(self.rest().get(..end).unwrap_or(""));
                    self.at += end + 1;
                }
                b'"' if place != Place::Text => {
                    self.at += 1;
                    self.deeper(|parser| parser.double(&mut parts))?;
                }
                // Versions of bash differ in whether this is a quote.
                b'$' if in_quotes && matches!(self.peek_at(1), Some(b'\'' | b'"' | b'\\')) => {
                    return Err(self.fault("a quote after `$` in a quoted expansion"));
                }
                b'$' => self.dollar(&mut parts, in_quotes || place == Place::Text)?,
                b'`' => {
                    let program = self.backticks(in_quotes)?;
                    parts.0.push(Part::Substitution { program, quoted: in_quotes || place == Place::Text });
                }
                _ => {
                    // A byte was seen, so there is a character.
                    let Some(found) = self.take_char() else { break };
                    if in_quotes { parts.quoted(found.encode_utf8(&mut [0; 4])) } else { parts.bare(found) }
                }
            }
        }
        Ok(Word(parts.0))
    }

    fn backslash(&mut self, parts: &mut Parts, place: Place, in_quotes: bool) {
        self.at += 1;
        match self.take_char() {
            Some('\n') => {}
            Some(found) if place == Place::Text || in_quotes => {
                if !(matches!(found, '$' | '`' | '\\') || in_quotes && matches!(found, '"' | '}')) {
                    parts.quoted("\\");
                }
                parts.quoted(found.encode_utf8(&mut [0; 4]));
            }
            Some(found) => parts.quoted(found.encode_utf8(&mut [0; 4])),
            None => parts.quoted("\\"),
        }
    }

    /// The inside of double quotes, up to and with the closing one.
    fn double(&mut self, parts: &mut Parts) -> Result<(), Fault> {
        parts.quoted("");
        loop {
            match self.peek() {
                None => return Err(self.fault("unterminated `\"`")),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => {
                    self.at += 1;
                    match self.take_char() {
                        Some('\n') => {}
                        Some(found @ ('$' | '`' | '"' | '\\')) => parts.quoted(found.encode_utf8(&mut [0; 4])),
                        Some(found) => {
                            parts.quoted("\\");
                            parts.quoted(found.encode_utf8(&mut [0; 4]));
                        }
                        None => return Err(self.fault("unterminated `\"`")),
                    }
                }
                Some(b'$') => self.dollar(parts, true)?,
                Some(b'`') => {
                    let program = self.backticks(true)?;
                    parts.0.push(Part::Substitution { program, quoted: true });
                }
                Some(_) => {
                    let run = self.rest().find(['"', '\\', '$', '`']).unwrap_or(self.rest().len());
                    parts.quoted(self.rest().get(..run).unwrap_or(""));
                    self.at += run;
                }
            }
        }
    }

    fn dollar(&mut self, parts: &mut Parts, quoted: bool) -> Result<(), Fault> {
        match self.peek_at(1) {
            Some(b'(') if self.peek_at(2) == Some(b'(') && self.arithmetic_end(3).is_some() => {
                self.at += 3;
                let inside = self.arithmetic()?;
                parts.0.push(Part::Arithmetic(inside));
            }
            Some(b'(') => {
                self.at += 2;
                let program = self.substitution()?;
                parts.0.push(Part::Substitution { program: Box::new(program), quoted });
            }
            Some(b'{') => {
                self.at += 2;
                let parameter = self.deeper(|parser| parser.braced(quoted))?;
                parts.0.push(Part::Parameter { parameter, quoted });
            }
            Some(b'[') => return Err(self.fault("the old arithmetic `$[`")),
            Some(b'\'') if !quoted => {
                self.at += 2;
                let text = self.ansi()?;
                parts.quoted(&text);
            }
            // A translated string: the quotes are what matters.
            Some(b'"') if !quoted => self.at += 1,
            _ => {
                self.at += 1;
                match self.simple_name() {
                    Some(parameter) => parts.0.push(Part::Parameter { parameter, quoted }),
                    None if quoted => parts.quoted("$"),
                    None => parts.bare('$'),
                }
            }
        }
        Ok(())
    }

    /// The commands of `$(`, up to and with the parenthesis.
    pub(super) fn substitution(&mut self) -> Result<Program, Fault> {
        let pending = std::mem::take(&mut self.pending);
        let held = self.held;
        self.held |= !pending.is_empty();
        let program = self.deeper(|parser| parser.program(Some(b')')))?;
        self.expect(")")?;
        self.pending = pending;
        self.held = held;
        Ok(program)
    }

    fn process(&mut self) -> Result<Part, Fault> {
        let reads = self.peek() == Some(b'<');
        self.at += 2;
        let program = self.substitution()?;
        Ok(Part::Process { program: Box::new(program), reads })
    }

    fn backticks(&mut self, in_quotes: bool) -> Result<Box<Program>, Fault> {
        self.at += 1;
        let mut inside = String::new();
        loop {
            match self.take_char() {
                None => return Err(self.fault("unterminated backtick")),
                Some('`') => break,
                Some('\\') => match self.take_char() {
                    Some(found @ ('`' | '\\' | '$')) => inside.push(found),
                    Some('"') if in_quotes => inside.push('"'),
                    Some(found) => inside.extend(['\\', found]),
                    None => return Err(self.fault("unterminated backtick")),
                },
                Some(found) => inside.push(found),
            }
        }
        self.deeper(|parser| super::parse(&inside, parser.depth)).map(Box::new)
    }

    /// Where arithmetic that starts `ahead` ends, if it is arithmetic and not a group inside a group.
    pub(super) fn arithmetic_end(&self, ahead: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let start = self.at + ahead;
        let mut open = 0usize;
        let mut quote = None;
        let mut at = start;
        while let Some(&byte) = bytes.get(at) {
            match (byte, quote) {
                (b'\\', None | Some(b'"')) => at += 1,
                (b'\'' | b'"', None) => quote = Some(byte),
                (byte, Some(mark)) if byte == mark => quote = None,
                (_, Some(_)) => {}
                (b'(', None) => open += 1,
                (b')', None) if open > 0 => open -= 1,
                (b')', None) => return (bytes.get(at + 1) == Some(&b')')).then_some(at),
                _ => {}
            }
            at += 1;
        }
        None
    }

    /// The inside of `((`, up to and with `))`. Its end was seen by [`Self::arithmetic_end`].
    pub(super) fn arithmetic(&mut self) -> Result<Word, Fault> {
        let end = self.arithmetic_end(0).ok_or_else(|| self.fault("unterminated arithmetic"))?;
        let inside = self.text.get(self.at..end).unwrap_or("");
        let word = self.deeper(|parser| parser.text_word(inside))?;
        self.at = end + 2;
        Ok(word)
    }

    /// Reads text in which only expansions mean something.
    pub(super) fn text_word(&self, text: &str) -> Result<Word, Fault> {
        let mut inner = Parser::new(text, self.depth);
        inner.word(Place::Text, false)
    }
}
