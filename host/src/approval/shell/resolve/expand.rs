//! Expansion of words into arguments. What is run on the way, in substitutions, is judged on the way.

use super::{
    Arg, Sure, UNKNOWN, Value,
    braces::{self, Atom},
};
use crate::approval::shell::{
    limits::VALUE_BYTES,
    syntax::{Change, Part, Program, Word},
    understood,
    walk::{Flow, Walker},
};

/// The arguments that a word becomes, while it is read.
#[derive(Default)]
struct Fields {
    done: Vec<Arg>,
    text: String,
    sure: Option<Sure>,
    glob: bool,
    bracket: bool,
    process: bool,
    /// Whether there is an argument even if its text is empty.
    present: bool,
}

impl Fields {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.present = true;
    }

    fn unknown(&mut self, sure: Sure) {
        self.text.push(UNKNOWN);
        self.doubt(sure);
    }

    fn doubt(&mut self, sure: Sure) {
        self.sure = self.sure.max(Some(sure));
        self.present = true;
    }

    fn end(&mut self) {
        if self.present || !self.text.is_empty() {
            let text = std::mem::take(&mut self.text);
            let sure = self.sure.take().unwrap_or(Sure::Known);
            self.done.push(Arg { text, sure, glob: self.glob, process: self.process });
        }
        (self.glob, self.bracket, self.process, self.present) = (false, false, false, false);
    }

    /// A character outside quotes. A lone `[` is a command, not a pattern.
    fn bare(&mut self, found: char) {
        self.bracket |= found == '[';
        self.glob |= matches!(found, '*' | '?') || (found == ']' && self.bracket);
        self.text.push(found);
    }

    /// Text from an unquoted expansion.
    fn split(&mut self, text: &str, separators: &str) {
        for found in text.chars() {
            if separators.contains(found) {
                self.end();
            } else {
                self.bare(found);
            }
        }
    }
}

impl Walker {
    /// The arguments of several words.
    pub(crate) fn expand_all(&mut self, words: &[Word]) -> Vec<Arg> {
        words.iter().flat_map(|word| self.expand(word)).collect()
    }

    /// The arguments that a word becomes.
    pub(crate) fn expand(&mut self, word: &Word) -> Vec<Arg> {
        if let Some(text) = word.bare()
            && !text.contains(['{', '~', '*', '?', '[', UNKNOWN])
        {
            return vec![Arg::known(text)];
        }
        let Some(words) = braces::expand(braces::atoms(&word.0)) else { return vec![Arg::unknown(Sure::Split)] };
        let odd = is_odd(word, words.len() > 1);
        let mut fields = Fields::default();
        for atoms in words {
            self.fields(&atoms, &mut fields);
            fields.end();
        }
        if odd {
            return vec![Arg::unknown(Sure::Split)];
        }
        match (all_positionals(word), fields.done.as_slice()) {
            (Some(alone), [arg]) if arg.text.is_empty() => {
                if alone {
                    vec![]
                } else {
                    vec![Arg::unknown(Sure::Split)]
                }
            }
            _ => fields.done,
        }
    }

    fn fields(&mut self, atoms: &[Atom<'_>], fields: &mut Fields) {
        let mut rest = atoms;
        if let [Atom::Char('~'), after @ ..] = atoms {
            rest = self.tilde(after, fields);
        }
        for atom in rest {
            match atom {
                Atom::Char(UNKNOWN) => fields.unknown(Sure::Split),
                Atom::Char(found) => {
                    fields.bare(*found);
                }
                Atom::Part(part) => self.part(part, fields),
            }
        }
    }

    fn tilde<'a, 'b>(&mut self, after: &'a [Atom<'b>], fields: &mut Fields) -> &'a [Atom<'b>] {
        let end = after.iter().position(|atom| matches!(atom, Atom::Char('/'))).unwrap_or(after.len());
        let name: Option<String> =
            after.iter().take(end).map(|atom| if let Atom::Char(found) = atom { Some(*found) } else { None }).collect();
        match name.as_deref() {
            Some("") => fields.push(&self.scope.places.home.clone()),
            Some("+") => match self.scope.places.directory.clone().filter(|_| !self.scope.places.is_doubtful) {
                Some(directory) => fields.push(&directory),
                None => fields.unknown(Sure::Part),
            },
            Some("root") => fields.push("/root"),
            // `~-` is the directory before, `~1` one of the stack.
            Some(name) if name.starts_with(['-', '+']) || name.starts_with(|c: char| c.is_ascii_digit()) => {
                fields.unknown(Sure::Part);
            }
            Some(name) if name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-') && name != "-" => {
                fields.push(&format!("/home/{name}"));
            }
            _ => {
                fields.push("~");
                return after;
            }
        }
        after.get(end..).unwrap_or(&[])
    }

    fn part(&mut self, part: &Part, fields: &mut Fields) {
        match part {
            Part::Bare(text) | Part::Quoted(text) => {
                if text.contains(UNKNOWN) {
                    fields.doubt(Sure::Part);
                }
                fields.push(text);
            }
            Part::Parameter { parameter, quoted } => match parameter.name.as_str() {
                "@" | "*" if matches!(parameter.change, Change::None) => self.positionals(fields, *quoted),
                _ => {
                    let value = self.parameter(parameter);
                    let many = matches!(
                        parameter.change,
                        Change::Other(_) | Change::Index(_) | Change::Indirect(_) | Change::Transform(_)
                    );
                    self.value(value, *quoted, many, fields);
                }
            },
            Part::Substitution { program, quoted } => {
                let flow = self.substitution(program);
                let value = flow.text.map_or(Value::Unknown, |text| Value::Known(text.trim_end_matches('\n').into()));
                self.value(value, *quoted, false, fields);
            }
            Part::Process { program, reads } => {
                let flow = self.process(program, *reads);
                self.note_process(flow);
                fields.push("/dev/fd/");
                fields.unknown(Sure::Part);
                fields.process = true;
            }
            Part::Arithmetic(word) => {
                let value = self.text(word);
                understood::number(self, &value);
                fields.unknown(Sure::Part);
            }
            Part::Array(words) => {
                for arg in self.expand_all(words) {
                    understood::array(self, &arg.text);
                }
                fields.unknown(Sure::Part);
            }
        }
    }

    fn positionals(&mut self, fields: &mut Fields, quoted: bool) {
        match self.scope.positional.clone() {
            None => fields.unknown(Sure::Split),
            Some(args) => {
                for (at, arg) in args.into_iter().enumerate() {
                    if at > 0 {
                        fields.end();
                    }
                    let separators = if quoted { "" } else { " \t\n" };
                    fields.split(&arg.text, separators);
                    fields.sure = fields.sure.max(Some(arg.sure));
                    fields.present |= quoted;
                }
            }
        }
    }

    fn value(&mut self, value: Value, quoted: bool, many: bool, fields: &mut Fields) {
        let doubt = if quoted && !many { Sure::Part } else { Sure::Split };
        let (text, known) = match value {
            Value::Known(text) => (text, true),
            Value::Guess(text) => (text, false),
            Value::Unknown => return fields.unknown(doubt),
        };
        if text.contains(UNKNOWN) || !known {
            fields.doubt(doubt);
        }
        if quoted {
            fields.push(&text);
        } else {
            let separators = match self.scope.get("IFS") {
                Value::Known(separators) => separators,
                _ => " \t\n".into(),
            };
            fields.split(&text, &separators);
        }
    }

    /// The text of a word that is not split: a value, a here-document, the inside of quotes.
    pub(crate) fn text(&mut self, word: &Word) -> Value {
        let mut fields = Fields::default();
        let atoms: Vec<Atom<'_>> = braces::atoms(&word.0);
        let plain = word.bare().is_none_or(|text| text.starts_with('~'));
        if plain {
            self.fields(&atoms, &mut fields);
        } else {
            fields.push(word.bare().unwrap_or(""));
        }
        fields.end();
        let mut text = String::new();
        let mut sure = Sure::Known;
        for (at, arg) in fields.done.iter().enumerate() {
            if at > 0 {
                text.push(' ');
            }
            text.push_str(&arg.text);
            sure = sure.max(arg.sure);
        }
        if text.len() > VALUE_BYTES {
            return Value::Unknown;
        }
        if sure == Sure::Known { Value::Known(text) } else { Value::Guess(text) }
    }

    /// Judges a substitution and says what it prints, if that is known.
    fn substitution(&mut self, program: &Program) -> Flow {
        let flow = self.aside(|walker| walker.program(program, &Flow::inherited()));
        if flow.secret.is_some() {
            self.taken.clone_from(&flow.secret);
        }
        flow
    }
}

/// Whether `"$@"` stands in a word, and whether it stands alone: without parameters it is then no argument at all.
fn all_positionals(word: &Word) -> Option<bool> {
    let is_all = |part: &Part| matches!(part, Part::Parameter { parameter, .. } if parameter.name == "@");
    let empty = |part: &Part| matches!(part, Part::Quoted(text) if text.is_empty());
    let found = word.0.iter().any(is_all);
    found.then(|| word.0.len() <= 2 && word.0.iter().all(|part| is_all(part) || empty(part)))
}

/// Whether a shell reads a word otherwise than part by part. Braces are expanded as text, so that `$x{a,b}` is `$xa $xb`; and
/// bash does not split a word in which a lone `$` stands beside an expansion.
fn is_odd(word: &Word, braces: bool) -> bool {
    let lone = word.0.iter().any(|part| matches!(part, Part::Bare(text) if text.contains('$')));
    word.0.iter().any(|part| match part {
        Part::Parameter { parameter, quoted: false } => lone || (braces && !parameter.braced),
        Part::Substitution { quoted: false, .. } => lone,
        _ => false,
    })
}
