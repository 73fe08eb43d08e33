//! Lists, pipelines, branches, loops and functions.

use std::rc::Rc;

use super::{Flow, Walker};
use crate::approval::shell::{
    Category,
    limits::{LOOP_VALUES, NESTING},
    resolve::{Arg, Function, Scope, Sure, Value},
    rules,
    syntax::{Chain, Command, List, Pipeline, Stage, Word},
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
        let mut out = self.pipeline(first, input);
        let mut after: Vec<Scope> = Vec::new();
        for pipeline in rest {
            after.push(self.scope.clone());
            let flow = self.pipeline(pipeline, input);
            out.join(flow);
        }
        for scope in &after {
            self.scope.merge(scope);
        }
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
            Command::For { name, values, body } => self.each(name, values.as_deref(), body, input),
            Command::Function { name, body } => self.define(name, body),
            Command::Words(words) => {
                for word in words {
                    self.text(word);
                }
                Flow::default()
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
        let args = match values {
            Some(words) => Some(self.expand_all(words)),
            None => self.scope.positional.clone(),
        };
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
        let function = Function { body: Rc::new(body.clone()), documents: Rc::clone(&self.documents) };
        // A body that only the caller's arguments make dangerous is judged again at each call.
        self.aside(|walker| {
            walker.scope.positional = None;
            walker.stage(body, &Flow::unknown());
        });
        // Nobody will run it, so nobody follows it: it has no end.
        if !is_bomb {
            self.scope.functions.insert(name.to_owned(), function);
        }
        Flow::default()
    }

    /// Runs a function's body with its arguments.
    pub(super) fn run_function(&mut self, function: &Function, args: &[Arg], input: &Flow) -> Flow {
        let positional = self.scope.positional.replace(args.to_vec());
        let body = Rc::clone(&function.body);
        let flow = self.with_documents(Rc::clone(&function.documents), |walker| walker.stage(&body, input));
        self.scope.positional = positional;
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
                    Command::For { body, .. } => calls(name, body, count),
                    Command::Function { .. } | Command::Words(_) => {}
                }
            }
        }
    }
    let list = List(vec![Chain { pipelines: vec![Pipeline(vec![body.clone()])], background: false }]);
    let mut count = 0;
    calls(name, &list, &mut count);
    count >= 2
}
