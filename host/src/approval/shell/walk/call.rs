//! One simple command: assignments, aliases, functions, wrappers, and at last the rules.

use super::{Flow, Walker, carried};
use crate::approval::shell::{
    Category, Parsed,
    limits::UNWRAPPING,
    resolve::{Arg, UNKNOWN, Value},
    rules::{self, Call, environment},
    syntax::{Assignment, Part, Word},
    understood,
};

impl Walker {
    pub(super) fn simple(&mut self, assignments: &[Assignment], words: &[Word], input: &Flow) -> Flow {
        if assignments.is_empty() {
            let argv = self.expand_all(words);
            return self.call(argv, input);
        }
        let argv = self.expand_all(words);
        let mut values = Vec::new();
        for assignment in assignments {
            let value = self.assigned(assignment);
            environment::assignment(self, &assignment.name, &value);
            self.understood_assignment(assignment, argv.first());
            if words.is_empty() {
                self.scope.set(&assignment.name, value);
            } else {
                self.carried_by(&assignment.name, &value);
                values.push((&assignment.name, value));
            }
        }
        if argv.is_empty() {
            return Flow::default();
        }
        let before = self.scope.clone();
        for (name, value) in values {
            self.scope.set(name, value);
        }
        let flow = self.call(argv, input);
        // The command may be a function or a builtin that changes more than this; what it set is then not known.
        self.scope.merge(&before);
        flow
    }

    /// Looks at whether what an assignment changes is understood.
    fn understood_assignment(&mut self, assignment: &Assignment, program: Option<&Arg>) {
        if let Some(index) = &assignment.index {
            understood::index(self, &Value::Known(index.clone()));
        }
        match program {
            None => understood::assigned(self, &assignment.name),
            Some(program) => understood::exported(self, &assignment.name, &program.text),
        }
    }

    fn assigned(&mut self, assignment: &Assignment) -> Value {
        let value = self.text(&assignment.value);
        if assignment.index.is_some() || matches!(assignment.value.0.as_slice(), [Part::Array(_)]) {
            return Value::Unknown;
        }
        if !assignment.append {
            return value;
        }
        match (self.scope.get(&assignment.name), value) {
            (Value::Known(before), Value::Known(after)) => bounded(before + &after),
            _ => Value::Unknown,
        }
    }

    /// Runs `walk` for a command that was inside a wrapper.
    pub(crate) fn inside(&mut self, wrapper: &str, walk: impl FnOnce(&mut Self) -> Flow) -> Flow {
        if self.unwrapping >= UNWRAPPING {
            self.ask(Category::Limit, format!("more than {UNWRAPPING} commands inside each other"));
            return Flow::unknown();
        }
        self.unwrapping += 1;
        self.through.push(wrapper.to_owned());
        let flow = walk(self);
        self.through.pop();
        self.unwrapping -= 1;
        flow
    }

    /// Judges a command with its arguments.
    pub(crate) fn call(&mut self, argv: Vec<Arg>, input: &Flow) -> Flow {
        let mut argv = argv.into_iter();
        let Some(word) = argv.next() else { return Flow::default() };
        let args: Vec<Arg> = argv.collect();
        if !word.is_known() || word.glob {
            self.ask(Category::UnknownCommand, format!("the command `{}` is only known when it runs", word.shown()));
        }
        let program: String = word.text.chars().filter(|found| *found != UNKNOWN).collect();
        if self.scope.aliases.contains_key(&program) && !self.through.contains(&alias_mark(&program)) {
            self.alias(&program, &args, input);
        }
        let mut flow = None;
        let doubts = self.doubts.len();
        let function = self.scope.functions.get(&program).cloned();
        if !function.as_ref().is_some_and(|function| function.is_certain && word.is_known() && !program.contains('/')) {
            understood::command(self, &word, &args);
        }
        if let Some(function) = function {
            let ran = self.inside(&program, |walker| walker.run_function(&function, &args, input));
            flow = Some(ran);
        }
        // zsh finds the program after `=` in its search path.
        let name = program.trim_start_matches('=').rsplit('/').next().unwrap_or("").to_lowercase();
        let name = name.strip_suffix(".exe").unwrap_or(&name).to_owned();
        self.commands.push(Parsed {
            program: word.shown(),
            arguments: args.iter().map(Arg::shown).collect(),
            through: self.through.clone(),
        });
        if word.text.contains('/') && self.is_made(&word) {
            self.ask(Category::WrittenCode, format!("runs {}, which the same line makes", word.shown()));
        }
        if let Some(flow) = self.builtin(&name, &args, input).or_else(|| self.unwrap(&name, &args, input)) {
            self.claimed = true;
            return flow;
        }
        let call = Call { name: &name, args: &args, input };
        let findings = self.findings.len();
        let claimed = rules::apply(self, &call);
        // A rule asks about this very command: that it is not modelled says nothing more.
        if self.findings.len() > findings {
            self.doubts.truncate(doubts);
        }
        self.carried(&name, &args);
        self.claimed = claimed || carried::reads(&name);
        flow.unwrap_or_else(|| self.output(&call))
    }

    fn alias(&mut self, name: &str, args: &[Arg], input: &Flow) {
        let Some(mut text) = self.scope.aliases.get(name).cloned() else { return };
        for arg in args {
            text.push(' ');
            text.push_str(&quote(&arg.text));
        }
        self.inside(&alias_mark(name), |walker| walker.shell_text(&text, input));
    }

    /// Whether the text itself writes a secret into this file. Who reads it learns nothing that the text does not have.
    pub(crate) fn is_held(&self, arg: &Arg) -> bool {
        self.scope.places.absolute(arg).is_some_and(|path| self.held.contains_key(&path))
    }

    /// Whether the text itself makes this file.
    pub(crate) fn is_made(&self, arg: &Arg) -> bool {
        self.scope.places.absolute(arg).is_some_and(|path| self.made.contains(&path))
    }
}

fn alias_mark(name: &str) -> String {
    format!("alias {name}")
}

pub(super) fn bounded(text: String) -> Value {
    if text.len() > crate::approval::shell::limits::VALUE_BYTES { Value::Unknown } else { Value::Known(text) }
}

/// A text as one word of shell text. What is not known stays outside the quotes, where it may become several.
pub(super) fn quote(text: &str) -> String {
    let mut out = String::from("'");
    for found in text.chars() {
        match found {
            '\'' => out.push_str("'\\''"),
            UNKNOWN => out.extend(['\'', UNKNOWN, '\'']),
            found => out.push(found),
        }
    }
    out.push('\'');
    out
}
