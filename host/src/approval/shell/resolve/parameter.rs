//! Parameters: their values and what an expansion does to them.

use super::Value;
use crate::approval::shell::{
    Category,
    limits::VALUE_BYTES,
    syntax::{Change, Parameter},
    understood,
    walk::Walker,
};

impl Walker {
    /// A parameter's value after its change.
    pub(super) fn parameter(&mut self, parameter: &Parameter) -> Value {
        let value = self.named(&parameter.name);
        match &parameter.change {
            Change::None => value,
            Change::Default { word, assign } => {
                let default = self.text(word);
                let value = match (value, default) {
                    (Value::Known(text), default) if text.is_empty() => default,
                    (Value::Unknown, Value::Known(text) | Value::Guess(text)) => Value::Guess(text),
                    (value, _) => value,
                };
                if *assign {
                    understood::assigned(self, &parameter.name);
                    self.scope.set(&parameter.name, value.clone());
                }
                value
            }
            Change::Alternative(word) => {
                let other = self.text(word);
                match (value, other) {
                    (Value::Known(text), _) if text.is_empty() => Value::Known(text),
                    (Value::Known(_), other) => other,
                    (_, Value::Known(text) | Value::Guess(text)) => Value::Guess(text),
                    (_, Value::Unknown) => Value::Unknown,
                }
            }
            Change::Trim { pattern, start } => match (value, self.text(pattern)) {
                (Value::Known(text), Value::Known(pattern)) if !pattern.contains(['*', '?', '[']) => {
                    let cut = if *start { text.strip_prefix(&pattern) } else { text.strip_suffix(&pattern) };
                    Value::Known(cut.unwrap_or(&text).into())
                }
                // A file's name with its extension changed stays where it was.
                (Value::Known(text) | Value::Guess(text), _) if !*start => Value::Guess(text),
                _ => Value::Unknown,
            },
            Change::Replace { pattern, with, all } => match (value, self.text(pattern), self.text(with)) {
                (Value::Known(text), Value::Known(pattern), Value::Known(with))
                    if !pattern.is_empty() && !pattern.contains(['*', '?', '[', '#', '%']) =>
                {
                    let text = if *all { text.replace(&pattern, &with) } else { text.replacen(&pattern, &with, 1) };
                    if text.len() > VALUE_BYTES { Value::Unknown } else { Value::Known(text) }
                }
                _ => Value::Unknown,
            },
            Change::Slice(word) => {
                let range = self.text(word);
                understood::number(self, &range);
                match (value, range) {
                    (Value::Known(text), Value::Known(range)) => {
                        slice(&text, &range).map_or(Value::Unknown, Value::Known)
                    }
                    _ => Value::Unknown,
                }
            }
            Change::Index(word) => {
                let index = self.text(word);
                understood::index(self, &index);
                Value::Unknown
            }
            Change::Indirect(word) => {
                self.text(word);
                self.doubt(Category::UnknownCommand, "the value of a variable whose name is only known when it runs");
                Value::Unknown
            }
            Change::Transform(word) => {
                let letter = self.text(word);
                understood::transform(self, &letter);
                Value::Unknown
            }
            Change::Other(word) => {
                self.text(word);
                Value::Unknown
            }
        }
    }

    fn named(&self, name: &str) -> Value {
        if let Ok(number) = name.parse::<usize>() {
            let Some(args) = &self.scope.positional else { return Value::Unknown };
            return match number.checked_sub(1).map(|at| args.get(at)) {
                // The name of the shell, or what stands after the text of `bash -c`.
                None => Value::Unknown,
                Some(None) => Value::Known(String::new()),
                Some(Some(arg)) if arg.is_known() => Value::Known(arg.text.clone()),
                Some(Some(arg)) => Value::Guess(arg.text.clone()),
            };
        }
        match name {
            "@" | "*" | "#" | "?" | "-" | "$" | "!" => Value::Unknown,
            name => self.scope.get(name),
        }
    }
}

/// `${x:from:length}` with plain numbers.
fn slice(text: &str, range: &str) -> Option<String> {
    let (from, length) = match range.split_once(':') {
        Some((from, length)) => (from, Some(length.trim().parse::<usize>().ok()?)),
        None => (range, None),
    };
    let from = from.trim().parse::<usize>().ok()?;
    Some(text.chars().skip(from).take(length.unwrap_or(usize::MAX)).collect())
}
