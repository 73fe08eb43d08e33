//! Lists, pipelines and simple commands.

use super::{
    cursor::{Fault, Parser},
    tree::{Assignment, Chain, Command, List, Part, Pipeline, Program, Stage, Word},
    word::Place,
};

/// Words that end a list where a command could start.
pub(super) const ENDS: [&str; 9] = ["then", "else", "elif", "fi", "do", "done", "esac", "}", ")"];

impl Parser<'_> {
    /// A text with its own here-documents, up to `end` or the end of the text.
    pub(super) fn program(&mut self, end: Option<u8>) -> Result<Program, Fault> {
        let documents = std::mem::take(&mut self.documents);
        let list = self.list()?;
        if !self.pending.is_empty() {
            return Err(self.fault("here-document without its body"));
        }
        if self.peek() != end {
            return Err(self.fault("unexpected end of a command"));
        }
        let documents = std::mem::replace(&mut self.documents, documents);
        Ok(Program { list, documents })
    }

    /// Commands until something that ends a list.
    pub(super) fn list(&mut self) -> Result<List, Fault> {
        let mut chains = Vec::new();
        loop {
            self.lines()?;
            if self.at_end_of_list() {
                return Ok(List(chains));
            }
            let mut chain = self.chain()?;
            self.blanks();
            match self.peek() {
                Some(b'&') if self.peek_at(1) != Some(b'&') => {
                    self.at += 1;
                    chain.background = true;
                }
                Some(b';') if self.peek_at(1) != Some(b';') => self.at += 1,
                Some(b'\n' | b'#') | None => {}
                _ if self.at_end_of_list() => {}
                Some(byte) => return Err(self.fault(format!("unexpected `{}`", byte as char))),
            }
            chains.push(chain);
        }
    }

    fn at_end_of_list(&self) -> bool {
        match self.peek() {
            None | Some(b')') => true,
            Some(b';') => self.peek_at(1) == Some(b';') || self.peek_at(1) == Some(b'&'),
            _ => ENDS.iter().any(|word| self.at_keyword(word)),
        }
    }

    /// Whether exactly this word stands here.
    pub(super) fn at_keyword(&self, word: &str) -> bool {
        self.rest()
            .strip_prefix(word)
            .is_some_and(|rest| rest.bytes().next().is_none_or(|byte| b" \t\n;&|()<>".contains(&byte)))
    }

    pub(super) fn take_keyword(&mut self, word: &str) -> bool {
        let found = self.at_keyword(word);
        if found {
            self.at += word.len();
        }
        found
    }

    fn chain(&mut self) -> Result<Chain, Fault> {
        let (first, mut negated) = self.pipeline()?;
        let mut pipelines = vec![first];
        let mut after_success = vec![true];
        loop {
            self.blanks();
            let and = self.take_if("&&");
            if !and && !self.take_if("||") {
                return Ok(Chain { pipelines, after_success, background: false });
            }
            after_success.push(and && !negated);
            self.lines()?;
            let (next, is_negated) = self.pipeline()?;
            negated = is_negated;
            pipelines.push(next);
        }
    }

    /// A pipeline, and whether its success is turned round.
    fn pipeline(&mut self) -> Result<(Pipeline, bool), Fault> {
        let mut negated = false;
        loop {
            self.blanks();
            let timed = self.take_keyword("time");
            if timed {
                self.blanks();
                self.take_keyword("-p");
            }
            if !timed && !self.take_keyword("!") {
                break;
            }
            negated |= !timed;
        }
        let mut stages = Vec::new();
        loop {
            let stage = self.deeper(Self::stage)?;
            stages.push(stage);
            self.blanks();
            let pipe = self.peek() == Some(b'|') && self.peek_at(1) != Some(b'|');
            if !pipe {
                return Ok((Pipeline(stages), negated));
            }
            self.at += 1;
            self.take_if("&");
            self.lines()?;
        }
    }

    fn stage(&mut self) -> Result<Stage, Fault> {
        if let Some(command) = self.compound()? {
            let mut redirects = Vec::new();
            loop {
                self.blanks();
                match self.redirect()? {
                    Some(redirect) => redirects.push(redirect),
                    None => return Ok(Stage { command, redirects }),
                }
            }
        }
        self.simple()
    }

    fn simple(&mut self) -> Result<Stage, Fault> {
        let mut assignments = Vec::new();
        let mut words: Vec<Word> = Vec::new();
        let mut redirects = Vec::new();
        loop {
            self.blanks();
            if self.peek() == Some(b'#') {
                self.comment();
            }
            if let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
                continue;
            }
            if words.is_empty()
                && let Some(assignment) = self.assignment()?
            {
                assignments.push(assignment);
                continue;
            }
            let word = self.argument()?;
            if word.0.is_empty() {
                break;
            }
            let names_descriptor =
                matches!(self.peek(), Some(b'<' | b'>')) && word.bare().is_some_and(is_descriptor_name);
            if !names_descriptor {
                words.push(word);
            }
            if self.after_blanks(b'(') {
                return self.function(&words, &assignments, &redirects);
            }
        }
        if words.is_empty() && assignments.is_empty() && redirects.is_empty() {
            return Err(self.fault("a command is missing"));
        }
        Ok(Stage { command: Command::Simple { assignments, words }, redirects })
    }

    fn after_blanks(&self, expected: u8) -> bool {
        self.rest().bytes().find(|byte| !matches!(byte, b' ' | b'\t')) == Some(expected)
    }

    /// A word, or `name=(…)`.
    fn argument(&mut self) -> Result<Word, Fault> {
        let mut word = self.word(Place::Command, false)?;
        let array = self.peek() == Some(b'(') && matches!(word.0.last(), Some(Part::Bare(text)) if text.ends_with('='));
        if array {
            word.0.push(self.array()?);
        }
        Ok(word)
    }

    fn array(&mut self) -> Result<Part, Fault> {
        self.at += 1;
        let mut words = Vec::new();
        loop {
            self.lines()?;
            if self.take_if(")") {
                return Ok(Part::Array(words));
            }
            let word = self.deeper(|parser| parser.word(Place::Command, false))?;
            if word.0.is_empty() {
                return Err(self.fault("unterminated array"));
            }
            words.push(word);
        }
    }

    /// `name=value`, `name+=value` or `name[index]=value`, if one starts here.
    fn assignment(&mut self) -> Result<Option<Assignment>, Fault> {
        let start = self.at;
        let Some(name) = self.name() else { return Ok(None) };
        let mut index = None;
        if self.peek() == Some(b'[') {
            let line = self.rest().as_bytes();
            let length = line.iter().take(INDEX_BYTES).position(|byte| *byte == b']');
            let plain = length.and_then(|length| self.rest().get(..length)).is_some_and(plain_index);
            let (Some(length), true) = (length, plain) else { return Err(self.fault("an index that is not plain")) };
            index = self.rest().get(..=length).map(str::to_owned);
            self.at += length + 1;
        }
        let append = self.take_if("+=");
        if !append && !self.take_if("=") {
            self.at = start;
            return Ok(None);
        }
        let value =
            if self.peek() == Some(b'(') { Word(vec![self.array()?]) } else { self.word(Place::Command, false)? };
        Ok(Some(Assignment { name, append, index, value }))
    }
}

/// `{name}` before a redirection: the shell puts the descriptor's number there.
fn is_descriptor_name(text: &str) -> bool {
    text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).is_some_and(|name| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// The longest index of an array that is looked at. Real ones are a number or a short key.
const INDEX_BYTES: usize = 64;

/// An index that runs nothing.
fn plain_index(text: &str) -> bool {
    !text.contains(['$', '`', '"', '\'', '\\', ' ', '\n', '(', ';', '&', '|', '<', '>'])
}
