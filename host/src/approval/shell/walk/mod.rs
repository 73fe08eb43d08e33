//! The walk over a parsed text: in the order in which a shell would run it, with what each command would see.

mod builtin;
mod call;
mod carried;
mod compound;
mod flow;
mod output;
mod redirect;
mod shells;
mod unwrap;
mod wrappers;

use std::{
    collections::{HashMap, HashSet},
    rc::Rc,
};

pub(crate) use flow::Flow;

use super::{
    Category, Effect, EffectKind, Parsed, Reason, Surroundings, Verdict,
    limits::{COMMANDS, DOUBTS, EFFECTS, UNWRAPPING},
    resolve::{Scope, UNKNOWN},
    syntax::{self, Program, Word},
};

/// One thing found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) verdict: Verdict,
    pub(crate) reason: Reason,
    /// Whether its effect lies inside the workspace, where the sandbox does not hold it.
    pub(crate) in_workspace: bool,
}

/// The state of one walk.
pub(crate) struct Walker {
    pub(crate) scope: Scope,
    pub(crate) findings: Vec<Finding>,
    /// What keeps the text from being understood in full. Only an unconfined command is held by them.
    pub(crate) doubts: Vec<Finding>,
    pub(crate) effects: Vec<Effect>,
    /// Whether a confined command could send data out.
    pub(crate) sends_out: bool,
    pub(crate) commands: Vec<Parsed>,
    /// The wrappers around the command at hand.
    pub(super) through: Vec<String>,
    /// Files that the text itself makes, by absolute path.
    pub(crate) made: HashSet<String>,
    /// Files into which the text itself writes secrets, by absolute path, with what they hold.
    pub(crate) held: HashMap<String, String>,
    /// Where the redirections of the command at hand write to.
    pub(super) written: Vec<String>,
    /// The secret that a substitution of the text took up: from then on a variable or an argument may hold it.
    pub(crate) taken: Option<String>,
    /// What the last process substitution gives.
    pub(super) process_flow: Flow,
    /// Whether the last command was one that somebody knows.
    claimed: bool,
    /// Whether the command at hand only may run.
    probing: bool,
    /// Whether the body of a function is walked at its definition, before its arguments are known.
    defining: bool,
    documents: Rc<Vec<Word>>,
    nesting: usize,
    unwrapping: usize,
    budget: usize,
}

impl Walker {
    pub(crate) fn new(surroundings: &Surroundings) -> Self {
        Self {
            scope: Scope::new(surroundings),
            findings: Vec::new(),
            doubts: Vec::new(),
            effects: Vec::new(),
            sends_out: surroundings.is_confined && surroundings.has_network,
            commands: Vec::new(),
            through: Vec::new(),
            made: HashSet::new(),
            held: HashMap::new(),
            written: Vec::new(),
            taken: None,
            process_flow: Flow::default(),
            claimed: false,
            probing: false,
            defining: false,
            documents: Rc::default(),
            nesting: 0,
            unwrapping: 0,
            budget: COMMANDS,
        }
    }

    /// Notes something that needs a person.
    pub(crate) fn ask(&mut self, category: Category, detail: impl Into<String>) {
        self.find(Verdict::Ask, category, detail.into(), false);
    }

    /// Notes something that needs a person, with the path that it changes.
    pub(crate) fn ask_at(&mut self, category: Category, detail: impl Into<String>, path: &str) {
        let in_workspace = self.scope.places.meets_workspace(path);
        self.find(Verdict::Ask, category, detail.into(), in_workspace);
    }

    /// Notes something that needs a person and changes the workspace itself, where `in_workspace` says so.
    pub(crate) fn ask_inside(&mut self, category: Category, detail: impl Into<String>, in_workspace: bool) {
        self.find(Verdict::Ask, category, detail.into(), in_workspace);
    }

    /// Notes something that no approval can buy.
    pub(crate) fn never(&mut self, category: Category, detail: impl Into<String>) {
        self.find(Verdict::Never, category, detail.into(), false);
    }

    fn find(&mut self, verdict: Verdict, category: Category, detail: String, in_workspace: bool) {
        let finding = Finding { verdict, reason: Reason { category, detail }, in_workspace };
        if !self.findings.contains(&finding) {
            self.findings.push(finding);
        }
    }

    /// Notes something that is not understood. What only may run, or is not called yet, is looked at when it is.
    pub(crate) fn doubt(&mut self, category: Category, detail: impl Into<String>) {
        if self.probing || self.defining {
            return;
        }
        let reason = Reason { category, detail: detail.into() };
        let doubt = Finding { verdict: Verdict::Ask, reason, in_workspace: false };
        if self.doubts.len() < DOUBTS && !self.doubts.contains(&doubt) {
            self.doubts.push(doubt);
        }
    }

    /// Notes what a command would do.
    pub(crate) fn effect(&mut self, kind: EffectKind, target: impl Into<String>) {
        if self.probing || self.defining {
            return;
        }
        let effect = Effect { kind, target: target.into().replace(UNKNOWN, "…") };
        if self.effects.len() < EFFECTS && !self.effects.contains(&effect) {
            self.effects.push(effect);
        }
    }

    /// Whether the command at hand gets its operands from a list of names.
    pub(crate) fn is_fed_names(&self) -> bool {
        let name = |wrapper: &String| {
            wrapper.split_whitespace().next().and_then(|word| word.rsplit('/').next().map(str::to_owned))
        };
        self.through.iter().filter_map(name).any(|name| matches!(name.as_str(), "xargs" | "parallel" | "fd" | "fdfind"))
    }

    /// Judges shell text that is known: the command line itself, `sh -c`, `eval`, an alias.
    pub(crate) fn shell_text(&mut self, text: &str, input: &Flow) -> Flow {
        if self.unwrapping >= UNWRAPPING {
            self.ask(Category::Limit, format!("shell text inside shell text more than {UNWRAPPING} times"));
            return Flow::unknown();
        }
        // A backslash at the end of a line joins it to the next before anything else is read, even inside a word or an operator. The
        // parser follows that between words; elsewhere both readings are judged, and neither is trusted.
        if let Some(joined) = syntax::joined_lines(text) {
            self.doubt(Category::UnknownCommand, "a backslash joins two lines inside a word");
            self.aside(|walker| walker.parsed(&joined, input));
        }
        self.parsed(text, input)
    }

    fn parsed(&mut self, text: &str, input: &Flow) -> Flow {
        match syntax::parse(text, 0) {
            Ok(program) => {
                self.unwrapping += 1;
                let flow = self.program(&program, input);
                self.unwrapping -= 1;
                flow
            }
            Err(fault) => {
                let category = if fault.limit { Category::Limit } else { Category::Unparsed };
                self.ask(category, fault.message);
                Flow::unknown()
            }
        }
    }

    pub(crate) fn program(&mut self, program: &Program, input: &Flow) -> Flow {
        self.with_documents(Rc::new(program.documents.clone()), |walker| walker.list(&program.list, input))
    }

    fn with_documents<T>(&mut self, documents: Rc<Vec<Word>>, walk: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.documents, documents);
        let result = walk(self);
        self.documents = before;
        result
    }

    /// Walks what runs in a process of its own: what it sets is gone afterwards.
    pub(crate) fn aside<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.scope.clone();
        let result = walk(self);
        self.scope = before;
        result
    }

    pub(crate) fn process(&mut self, program: &Program, reads: bool) -> Flow {
        let input = if reads { Flow::inherited() } else { Flow::unknown() };
        self.aside(|walker| walker.program(program, &input))
    }

    pub(crate) fn note_process(&mut self, flow: Flow) {
        self.process_flow = flow;
    }

    /// Takes one command or redirection off the budget; false when it is used up.
    fn spend(&mut self) -> bool {
        if self.budget == 0 {
            self.ask(Category::Limit, format!("more than {COMMANDS} commands and redirections"));
            return false;
        }
        self.budget -= 1;
        true
    }
}
