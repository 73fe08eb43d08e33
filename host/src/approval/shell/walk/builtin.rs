//! Commands of the shell that change what later ones mean.

use super::{Flow, Walker, output::ENVIRONMENT};
use crate::approval::shell::{
    Category,
    resolve::{Arg, Value},
    rules::environment,
};

impl Walker {
    /// Follows a builtin. `None` if the name is none.
    pub(super) fn builtin(&mut self, name: &str, args: &[Arg], input: &Flow) -> Option<Flow> {
        if evaluates(name) && args.iter().any(|arg| arg.text.contains('[') && arg.text.contains(['$', '`'])) {
            self.ask(Category::UnknownCommand, format!("`{name}` with an index that may run a command"));
        }
        match name {
            "cd" => self.change_directory(args),
            "pushd" | "popd" => {
                self.change_directory(args);
                if name == "popd" || !args.iter().any(|arg| !arg.is_option()) {
                    self.scope.places.directory = None;
                }
            }
            "export" | "declare" | "typeset" | "local" | "readonly" => self.declare(args, name == "export"),
            "unset" => {
                for arg in args.iter().filter(|arg| !arg.is_option()) {
                    self.scope.unset(&arg.text);
                }
            }
            "read" | "mapfile" | "readarray" | "getopts" | "let" => {
                if let Some(callback) = args.iter().position(|arg| arg.text == "-C").and_then(|at| args.get(at + 1)) {
                    let text = callback.text.clone();
                    self.program_text(name, &text);
                }
                for arg in args.iter().filter(|arg| !arg.is_option()) {
                    let name = arg.text.split('=').next().unwrap_or("");
                    self.scope.set(name, Value::Unknown);
                }
            }
            "alias" => self.define_aliases(args),
            "unalias" => self.scope.aliases.clear(),
            "set" => self.set_options(args),
            "shift" => self.scope.positional = None,
            "printf" if args.first().is_some_and(|arg| arg.text.starts_with("-v")) => {
                let name = args.first().map_or("", |arg| arg.text.trim_start_matches("-v"));
                let name = if name.is_empty() { args.get(1).map_or("", |arg| arg.text.as_str()) } else { name };
                self.scope.set(name, Value::Unknown);
            }
            "eval" => return Some(self.eval(args, input)),
            "trap" => return Some(self.trap(args)),
            "source" | "." => return Some(self.source(args, input)),
            "fc" if !args.iter().any(|arg| arg.text.starts_with("-l")) => {
                self.ask(Category::UnknownCommand, "`fc` runs what was run before");
            }
            "enable" | "bind" | "complete" | "compgen" | "shopt" | "hash" => {
                let words = ["-f", "-x", "-C", "-W", "-F", "-p", "extglob", "expand_aliases", "lastpipe"];
                if args.iter().any(|arg| words.contains(&arg.text.as_str())) {
                    self.ask(Category::Environment, format!("`{name}` changes what later text means"));
                }
            }
            _ => return None,
        }
        let shows = matches!(name, "set" | "export" | "declare" | "typeset" | "readonly" | "local")
            && args.iter().all(|arg| matches!(arg.text.as_str(), "-p" | "-x" | "-px" | "-xp"));
        Some(Flow { secret: shows.then(|| ENVIRONMENT.into()), ..Flow::default() })
    }

    fn change_directory(&mut self, args: &[Arg]) {
        let target = args.iter().find(|arg| !arg.is_option() && arg.text != "--");
        // An absolute path leads to the same place from everywhere.
        if target.is_none_or(|arg| arg.is_known() && arg.text.starts_with('/')) {
            self.scope.places.is_doubtful = false;
        }
        self.scope.places.directory = match target {
            None => Some(self.scope.places.home.clone()),
            Some(arg) if arg.glob || arg.text == "-" => None,
            Some(arg) => self.scope.places.absolute(arg),
        };
    }

    fn declare(&mut self, args: &[Arg], exported: bool) {
        let options = args.iter().filter(|arg| arg.is_option()).map(|arg| arg.text.as_str()).collect::<String>();
        let exported = exported || options.contains('x');
        for arg in args.iter().filter(|arg| !arg.is_option()) {
            let Some((name, text)) = arg.text.split_once('=') else {
                // A new local variable is empty, and a reference is another one.
                if options.contains('n') || !(exported || options.contains('p')) {
                    self.scope.set(&arg.text, Value::Unknown);
                }
                continue;
            };
            // An integer, a reference or another case is not the text that is written.
            let plain =
                arg.is_known() && !options.contains(['i', 'n', 'l', 'u', 'c', 'A', 'a']) && !name.ends_with('+');
            let value = if plain { Value::Known(text.into()) } else { Value::Guess(text.into()) };
            let name = name.trim_end_matches('+');
            environment::assignment(self, name, &value);
            if exported {
                self.carried_by(name, &value);
            }
            self.scope.set(name, value);
        }
    }

    fn define_aliases(&mut self, args: &[Arg]) {
        for arg in args {
            let Some((name, text)) = arg.text.split_once('=') else { continue };
            if !arg.is_known() {
                self.ask(Category::UnknownCommand, format!("an alias whose text is not known: {}", arg.shown()));
            }
            // It outlives this line, so its text is judged now.
            let text = text.to_owned();
            self.inside("alias", |walker| walker.aside(|walker| walker.shell_text(&text, &Flow::inherited())));
            self.scope.aliases.insert(name.to_owned(), text);
        }
    }

    fn set_options(&mut self, args: &[Arg]) {
        let first = args.iter().position(|arg| arg.text == "--").map(|at| at + 1);
        let plain = args.iter().position(|arg| !arg.text.starts_with(['-', '+']) && arg.text != "pipefail");
        if let Some(from) = first.or(plain) {
            self.scope.positional = Some(args.get(from..).unwrap_or(&[]).to_vec());
        }
    }

    fn eval(&mut self, args: &[Arg], input: &Flow) -> Flow {
        let known = args.iter().all(Arg::is_known);
        let text =
            args.iter().filter(|arg| arg.text != "--").map(|arg| arg.text.as_str()).collect::<Vec<_>>().join(" ");
        if !known {
            self.ask(Category::UnknownCommand, "`eval` of text that is only known when it runs");
        }
        self.inside("eval", |walker| walker.shell_text(&text, input))
    }

    fn trap(&mut self, args: &[Arg]) -> Flow {
        let action = args.iter().find(|arg| !arg.is_option());
        if let Some(action) = action.filter(|_| args.len() > 1) {
            if !action.is_known() {
                self.ask(Category::UnknownCommand, "`trap` with text that is only known when it runs");
            }
            let text = action.text.clone();
            self.inside("trap", |walker| walker.aside(|walker| walker.shell_text(&text, &Flow::inherited())));
        }
        Flow::default()
    }

    fn source(&mut self, args: &[Arg], input: &Flow) -> Flow {
        let Some(file) = args.first() else { return Flow::default() };
        self.script(file, input);
        // What the file sets is not known.
        self.scope.positional = None;
        Flow::unknown()
    }
}

/// Builtins that take the name of a variable and run what stands in its index.
fn evaluates(name: &str) -> bool {
    matches!(
        name,
        "printf"
            | "read"
            | "unset"
            | "test"
            | "["
            | "let"
            | "declare"
            | "typeset"
            | "local"
            | "export"
            | "readonly"
            | "getopts"
            | "wait"
    )
}
