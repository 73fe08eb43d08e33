//! Compound commands: groups, branches, loops and functions.

use super::{
    cursor::{Fault, Parser},
    tree::{Assignment, Command, List, Redirect, Stage, Word},
    word::Place,
};

impl Parser<'_> {
    /// A compound command, if one starts here.
    pub(super) fn compound(&mut self) -> Result<Option<Command>, Fault> {
        let command = match self.peek() {
            Some(b'(') if self.peek_at(1) == Some(b'(') && self.arithmetic_end(2).is_some() => {
                self.at += 2;
                Command::Arithmetic(self.arithmetic()?)
            }
            Some(b'(') => {
                self.at += 1;
                let list = self.list()?;
                self.expect(")")?;
                Command::Subshell(list)
            }
            Some(b'{') if self.take_keyword("{") => {
                let list = self.list()?;
                self.keyword("}")?;
                Command::Group(list)
            }
            Some(b'[') if self.take_keyword("[[") => self.test()?,
            Some(b'i') if self.take_keyword("if") => self.branches()?,
            Some(b'w') if self.take_keyword("while") => self.repeat()?,
            Some(b'u') if self.take_keyword("until") => self.repeat()?,
            Some(b'c') if self.take_keyword("case") => self.case()?,
            Some(b'c') if self.at_keyword("coproc") => return Err(self.fault("`coproc`")),
            Some(b'f') if self.take_keyword("for") => self.each()?,
            Some(b's') if self.take_keyword("select") => self.each()?,
            Some(b'f') if self.take_keyword("function") => self.named_function()?,
            _ => return Ok(None),
        };
        Ok(Some(command))
    }

    fn keyword(&mut self, word: &str) -> Result<(), Fault> {
        self.lines()?;
        if self.take_keyword(word) { Ok(()) } else { Err(self.fault(format!("expected `{word}`"))) }
    }

    fn branches(&mut self) -> Result<Command, Fault> {
        let mut lists = vec![self.list()?];
        self.keyword("then")?;
        lists.push(self.list()?);
        loop {
            if self.take_keyword("elif") {
                lists.push(self.list()?);
                self.keyword("then")?;
            } else if !self.take_keyword("else") {
                break;
            }
            lists.push(self.list()?);
        }
        self.keyword("fi")?;
        Ok(Command::Branches { lists, words: vec![], repeats: false })
    }

    fn repeat(&mut self) -> Result<Command, Fault> {
        let condition = self.list()?;
        let body = self.body()?;
        Ok(Command::Branches { lists: vec![condition, body], words: vec![], repeats: true })
    }

    fn body(&mut self) -> Result<List, Fault> {
        self.lines()?;
        if self.take_keyword("{") {
            let list = self.list()?;
            self.keyword("}")?;
            return Ok(list);
        }
        self.keyword("do")?;
        let list = self.list()?;
        self.keyword("done")?;
        Ok(list)
    }

    fn each(&mut self) -> Result<Command, Fault> {
        self.blanks();
        if self.rest().starts_with("((") {
            if self.arithmetic_end(2).is_none() {
                return Err(self.fault("unterminated arithmetic"));
            }
            self.at += 2;
            let arithmetic = self.arithmetic()?;
            self.blanks();
            self.take_if(";");
            let body = self.body()?;
            return Ok(Command::Counted { arithmetic, body });
        }
        let name = self.name().ok_or_else(|| self.fault("a loop without a variable"))?;
        self.lines()?;
        let mut values = None;
        if self.take_keyword("in") {
            let mut words = Vec::new();
            loop {
                self.blanks();
                let word = self.word(Place::Command, false)?;
                if word.0.is_empty() {
                    break;
                }
                words.push(word);
            }
            values = Some(words);
        }
        self.blanks();
        self.take_if(";");
        let body = self.body()?;
        Ok(Command::For { name, values, body })
    }

    fn case(&mut self) -> Result<Command, Fault> {
        self.blanks();
        let mut words = vec![self.word(Place::Command, false)?];
        self.keyword("in")?;
        let mut lists = Vec::new();
        loop {
            self.lines()?;
            if self.take_keyword("esac") {
                return Ok(Command::Branches { lists, words, repeats: false });
            }
            self.take_if("(");
            loop {
                self.blanks();
                let pattern = self.word(Place::Command, false)?;
                if pattern.0.is_empty() {
                    return Err(self.fault("a pattern is missing"));
                }
                words.push(pattern);
                self.blanks();
                if !self.take_if("|") {
                    break;
                }
            }
            self.expect(")")?;
            lists.push(self.list()?);
            if !self.take_if(";;&") && !self.take_if(";;") && !self.take_if(";&") {
                self.keyword("esac")?;
                return Ok(Command::Branches { lists, words, repeats: false });
            }
        }
    }

    fn test(&mut self) -> Result<Command, Fault> {
        let mut words = Vec::new();
        loop {
            self.lines()?;
            if self.take_keyword("]]") {
                return Ok(Command::Test(words));
            }
            let word = self.word(Place::Test, false)?;
            if word.0.is_empty() {
                return Err(self.fault("unterminated `[[`"));
            }
            words.push(word);
        }
    }

    fn named_function(&mut self) -> Result<Command, Fault> {
        self.blanks();
        let word = self.word(Place::Command, false)?;
        let name = word.bare().ok_or_else(|| self.fault("a function without a plain name"))?.to_owned();
        self.blanks();
        if self.take_if("(") {
            self.blanks();
            self.expect(")")?;
        }
        self.function_body(name)
    }

    /// `name() …`: the parenthesis comes next.
    pub(super) fn function(
        &mut self,
        words: &[Word],
        assignments: &[Assignment],
        redirects: &[Redirect],
    ) -> Result<Stage, Fault> {
        self.blanks();
        let ([word], [], []) = (words, assignments, redirects) else { return Err(self.fault("unexpected `(`")) };
        let name = word.bare().ok_or_else(|| self.fault("unexpected `(`"))?.to_owned();
        self.expect("(")?;
        self.blanks();
        self.expect(")")?;
        Ok(Stage { command: self.function_body(name)?, redirects: vec![] })
    }

    fn function_body(&mut self, name: String) -> Result<Command, Fault> {
        self.lines()?;
        let command = self.deeper(Self::compound)?.ok_or_else(|| self.fault("a function without a body"))?;
        let mut redirects = Vec::new();
        loop {
            self.blanks();
            match self.redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => break,
            }
        }
        Ok(Command::Function { name, body: Box::new(Stage { command, redirects }) })
    }
}
