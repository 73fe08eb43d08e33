//! Lists, pipelines, branches, loops and functions.

use std::rc::Rc;

use super::{Flow, Walker};
use crate::approval::shell::{
    Category,
    limits::{LOOP_VALUES, NESTING},
    resolve::{Arg, Function, Scope, Sure, Value},
    rules,
    syntax::{Chain, Command, List, Pipeline, Stage, Word},
    understood,
};

impl Walker {
    pub(super) fn list(&mut self, list: &List, input: &Flow) -> Flow {
        let mut out: Option<Flow> = None;
        for chain in &list.0 {
            let flow = self.chain(chain, input);
            match &mut out {
                None => out = Some(flow),
                Some(out) => out.join(flow),
            }
        }
        out.unwrap_or_default()
    }

    fn chain(&mut self, chain: &Chain, input: &Flow) -> Flow {
        if chain.background {
            return self.aside(|walker| walker.pipelines(chain, input));
        }
        self.pipelines(chain, input)
    }

    fn pipelines(&mut self, chain: &Chain, input: &Flow) -> Flow {
        let Some((first, rest)) = chain.pipelines.split_first() else { return Flow::default() };
        let start = self.scope.places.directory.clone();
        let mut out = self.pipeline(first, input);
        let mut after: Vec<Scope> = Vec::new();
        for (pipeline, after_success) in rest.iter().zip(chain.after_success.iter().skip(1)) {
            after.push(self.scope.clone());
            // A `cd` that failed is followed by the command in the directory before.
            self.scope.places.is_doubtful |= !after_success && self.scope.places.directory != start;
            let flow = self.pipeline(pipeline, input);
            out.join(flow);
        }
        for scope in &after {
            self.scope.merge(scope);
        }
        self.scope.places.is_doubtful |= self.scope.places.directory != start;
        out
    }

    fn pipeline(&mut self, pipeline: &Pipeline, input: &Flow) -> Flow {
        let [stage] = pipeline.0.as_slice() else {
            let mut flow = input.clone();
            for stage in &pipeline.0 {
                flow = self.aside(|walker| walker.stage(stage, &flow));
                flow.fed = true;
            }
            return flow;
        };
        self.stage(stage, input)
    }

    pub(super) fn stage(&mut self, stage: &Stage, input: &Flow) -> Flow {
        if self.nesting > NESTING * 2 {
            self.ask(Category::Limit, "commands nested too deep to follow");
            return Flow::unknown();
        }
        if !self.spend() {
            return Flow::unknown();
        }
        self.nesting += 1;
        let redirected = self.redirects(&stage.redirects);
        let written = std::mem::take(&mut self.written);
        let input = redirected.as_ref().unwrap_or(input);
        let nothing = matches!(&stage.command, Command::Simple { words, .. }
            if words.first().is_none_or(|word| matches!(word.bare(), Some(":" | "true"))));
        for path in written.iter().filter(|_| nothing) {
            rules::write::empties(self, &Arg::known(path.as_str()));
        }
        let flow = self.command(&stage.command, input);
        if let Some(secret) = &flow.secret {
            self.held.extend(written.into_iter().map(|path| (path, secret.clone())));
        }
        self.nesting -= 1;
        flow
    }

    fn command(&mut self, command: &Command, input: &Flow) -> Flow {
        match command {
            Command::Simple { assignments, words } => self.simple(assignments, words, input),
            Command::Group(list) => self.list(list, input),
            Command::Subshell(list) => self.aside(|walker| walker.list(list, input)),
            Command::Branches { lists, words, repeats } => {
                for word in words {
                    self.text(word);
                }
                if *repeats {
                    // A loop's second round sees what the first has set.
                    self.branches(lists, input);
                }
                self.branches(lists, input)
            }
            Command::Counted { arithmetic, body } => {
                let value = self.text(arithmetic);
                understood::number(self, &value);
                let body = std::slice::from_ref(body);
                self.branches(body, input);
                self.branches(body, input)
            }
            Command::For { name, values, body } => self.each(name, values.as_deref(), body, input),
            Command::Function { name, body } => self.define(name, body),
            Command::Arithmetic(word) => {
                let value = self.text(word);
                understood::number(self, &value);
                Flow::default()
            }
            Command::Test(words) => {
                self.test_words(words);
                Flow::default()
            }
        }
    }

    /// `[[ … ]]`: the sides of `-eq` and its kin are arithmetic, and `-v` evaluates the index of its name.
    fn test_words(&mut self, words: &[Word]) {
        let values: Vec<Value> = words.iter().map(|word| self.text(word)).collect();
        let is = |value: &Value, test: fn(&str) -> bool| matches!(value, Value::Known(text) if test(text));
        for (at, value) in values.iter().enumerate() {
            let sides = [at.checked_sub(1), Some(at + 1)].map(|at| at.and_then(|at| values.get(at)));
            if is(value, understood::is_arithmetic_operator) {
                sides.into_iter().flatten().for_each(|side| understood::number(self, side));
            }
            let named = |text: &str| matches!(text, "-v" | "-R");
            if is(value, named) && !sides[1].is_some_and(|name| is(name, understood::is_name)) {
                self.doubt(Category::UnknownCommand, "`[[ -v` of a name that is not plain");
            }
        }
    }

    fn branches(&mut self, lists: &[List], input: &Flow) -> Flow {
        let mut out = Flow::unknown();
        for list in lists {
            let before = self.scope.clone();
            let flow = self.list(list, input);
            out.join(flow);
            self.scope.merge(&before);
        }
        out
    }

    fn each(&mut self, name: &str, values: Option<&[Word]>, body: &List, input: &Flow) -> Flow {
        understood::assigned(self, name);
        let args = match values {
            Some(words) => Some(self.expand_all(words)),
            None => self.scope.positional.clone(),
        };
        if args.iter().flatten().any(|arg| arg.glob) {
            self.doubt(Category::UnknownTarget, "a loop over the files that match a pattern");
        }
        let mut out = Flow::unknown();
        let before = self.scope.clone();
        match args {
            Some(args) if args.len() <= LOOP_VALUES && args.iter().all(|arg| arg.sure != Sure::Split) => {
                for arg in args {
                    let value = if arg.is_known() { Value::Known(arg.text) } else { Value::Guess(arg.text) };
                    self.scope.set(name, value);
                    out.join(self.list(body, input));
                }
            }
            _ => {
                for _ in 0..2 {
                    self.scope.set(name, Value::Unknown);
                    out.join(self.list(body, input));
                }
            }
        }
        self.scope.merge(&before);
        out
    }

    fn define(&mut self, name: &str, body: &Stage) -> Flow {
        let is_bomb = bomb(name, body);
        if is_bomb {
            self.never(Category::ForkBomb, format!("`{name}` starts itself more than once"));
        }
        let function =
            Function { body: Rc::new(body.clone()), documents: Rc::clone(&self.documents), is_certain: true };
        // A body that only the caller's arguments make dangerous is judged again at each call.
        let defining = std::mem::replace(&mut self.defining, true);
        self.aside(|walker| {
            walker.scope.positional = None;
            walker.stage(body, &Flow::unknown());
        });
        self.defining = defining;
        // Nobody will run it, so nobody follows it: it has no end.
        if !is_bomb {
            self.scope.functions.insert(name.to_owned(), function);
        }
        Flow::default()
    }

    /// Runs a function's body with its arguments.
    pub(super) fn run_function(&mut self, function: &Function, args: &[Arg], input: &Flow) -> Flow {
        let positional = self.scope.positional.replace(args.to_vec());
        let before = self.scope.clone();
        let body = Rc::clone(&function.body);
        let flow = self.with_documents(Rc::clone(&function.documents), |walker| walker.stage(&body, input));
        self.scope.positional = positional;
        // A local variable ends with the function, and the one before is there again.
        self.scope.forget_changed_variables(&before);
        flow
    }
}

/// Whether a function's body starts the function at least twice, or once in the background.
fn bomb(name: &str, body: &Stage) -> bool {
    fn calls(name: &str, list: &List, count: &mut usize) {
        for chain in &list.0 {
            for stage in chain.pipelines.iter().flat_map(|pipeline| &pipeline.0) {
                match &stage.command {
                    Command::Simple { words, .. } => {
                        if words.first().and_then(Word::bare) == Some(name) {
                            *count += 1 + usize::from(chain.background);
                        }
                    }
                    Command::Group(list) | Command::Subshell(list) => calls(name, list, count),
                    Command::Branches { lists, .. } => lists.iter().for_each(|list| calls(name, list, count)),
                    Command::For { body, .. } | Command::Counted { body, .. } => calls(name, body, count),
                    Command::Function { .. } | Command::Test(_) | Command::Arithmetic(_) => {}
                }
            }
        }
    }
    let list = List(vec![Chain {
        pipelines: vec![Pipeline(vec![body.clone()])],
        after_success: vec![true],
        background: false,
    }]);
    let mut count = 0;
    calls(name, &list, &mut count);
    count >= 2
}
