//! A command as the rules see it.

use crate::approval::shell::{
    resolve::{Arg, Sure},
    walk::Flow,
};

/// A program with its arguments and its input.
pub(crate) struct Call<'a> {
    /// The program's name without its folder, in lower case.
    pub(crate) name: &'a str,
    pub(crate) args: &'a [Arg],
    pub(crate) input: &'a Flow,
}

impl<'a> Call<'a> {
    /// Whether an option is given: a letter alone or among others, or a long name or the start of one.
    pub(super) fn has(&self, letter: char, long: &str) -> bool {
        self.options().any(|arg| match arg.text.strip_prefix("--") {
            Some(name) => {
                let name = name.split('=').next().unwrap_or("");
                !name.is_empty() && !long.is_empty() && long.starts_with(name)
            }
            None => letter != '\0' && arg.text.contains(letter),
        })
    }

    /// Whether one of these very arguments is given.
    pub(crate) fn says(&self, texts: &[&str]) -> bool {
        self.args.iter().any(|arg| texts.contains(&arg.text.as_str()))
    }

    /// The options, as far as they come before `--`.
    pub(super) fn options(&self) -> impl Iterator<Item = &'a Arg> {
        self.args.iter().take_while(|arg| arg.text != "--").filter(|arg| arg.is_option())
    }

    /// What is no option.
    pub(super) fn operands(&self) -> impl Iterator<Item = &'a Arg> {
        let end = self.args.iter().position(|arg| arg.text == "--").unwrap_or(self.args.len());
        let (before, after) = self.args.split_at(end);
        before.iter().filter(|arg| !arg.is_option()).chain(after.iter().skip(1))
    }

    /// The operands that may be the subcommand. Nobody knows which options take a value, so an operand right after an option may
    /// be its value, and the next one is then the subcommand.
    pub(crate) fn commands(&self) -> impl Iterator<Item = &'a str> {
        let mut after_option = false;
        let mut found = Vec::new();
        for arg in self.args {
            let option = arg.is_option() && !arg.text.contains('=') && arg.text != "--";
            if !arg.is_option() {
                found.push(arg.text.as_str());
                if !after_option {
                    break;
                }
            }
            after_option = option;
        }
        found.into_iter()
    }

    /// Whether one of these words may be the subcommand.
    pub(super) fn commands_are(&self, words: &[&str]) -> bool {
        self.commands().any(|word| words.contains(&word))
    }

    /// Whether `first second` may be the subcommand and its own.
    pub(super) fn commands_then(&self, first: &str, second: &[&str]) -> bool {
        self.commands_are(&[first])
            && self
                .args
                .iter()
                .enumerate()
                .filter(|(_, arg)| arg.text == first)
                .any(|(at, _)| self.args.get(at + 1..).is_some_and(|args| Call { args, ..*self }.commands_are(second)))
    }

    /// The first operands: those that may be the subcommand, and some after them.
    pub(super) fn leading(&self, after: usize) -> impl Iterator<Item = &'a str> {
        self.operands().map(|arg| arg.text.as_str()).take(self.commands().count() + after)
    }

    /// The operand at a place.
    pub(super) fn operand(&self, at: usize) -> &'a str {
        self.operands().nth(at).map_or("", |arg| arg.text.as_str())
    }

    /// The values of an option written `-o value`, `-ovalue`, `--long value` or `--long=value`.
    pub(super) fn values(&self, short: &str, long: &str) -> Vec<Arg> {
        let mut found = Vec::new();
        for (at, arg) in self.args.iter().enumerate() {
            let text = arg.text.as_str();
            if (!short.is_empty() && text == short) || (!long.is_empty() && text == long) {
                found.extend(self.args.get(at + 1).cloned());
                continue;
            }
            let attached = text.strip_prefix(long).and_then(|rest| rest.strip_prefix('=')).filter(|_| !long.is_empty());
            let close = text.strip_prefix(short).filter(|_| !short.is_empty() && !text.starts_with("--"));
            if let Some(text) = attached.or(close) {
                found.push(Arg { text: text.into(), ..arg.clone() });
            }
        }
        found
    }

    /// The values of a letter among others: `-fsSLo file`.
    pub(crate) fn clustered(&self, letter: char) -> Vec<Arg> {
        let mut found = Vec::new();
        for (at, arg) in self.args.iter().enumerate() {
            let Some(letters) = arg.text.strip_prefix('-').filter(|letters| !letters.starts_with('-')) else {
                continue;
            };
            match letters.split_once(letter) {
                Some((_, "")) => found.extend(self.args.get(at + 1).cloned()),
                Some((before, rest)) if before.bytes().all(|byte| byte.is_ascii_alphabetic()) => {
                    found.push(Arg { text: rest.into(), ..arg.clone() });
                }
                _ => {}
            }
        }
        found
    }

    /// The values of a long option, which may be cut short: `--checkpoint-a=x`.
    pub(crate) fn long_values(&self, long: &str) -> Vec<Arg> {
        let mut found = Vec::new();
        for (at, arg) in self.args.iter().enumerate() {
            let (name, value) =
                arg.text.split_once('=').map_or((arg.text.as_str(), None), |(name, value)| (name, Some(value)));
            if name.len() < SHORTEST || !long.starts_with(name) {
                continue;
            }
            match value {
                Some(value) => found.push(Arg { text: value.into(), ..arg.clone() }),
                None => found.extend(self.args.get(at + 1).cloned()),
            }
        }
        found
    }

    /// Whether an argument may become options that nobody can see yet.
    pub(super) fn may_hide_options(&self) -> bool {
        self.args.iter().any(|arg| arg.sure == Sure::Split)
    }

    /// For a person: the command on one line, cut short.
    pub(super) fn shown(&self) -> String {
        let mut text = self.name.to_owned();
        for arg in self.args {
            text.push(' ');
            text.push_str(&arg.shown());
            if text.len() > SHOWN {
                let end = text.char_indices().map(|(at, _)| at).take_while(|at| *at <= SHOWN).last().unwrap_or(0);
                text.truncate(end);
                text.push('…');
                break;
            }
        }
        text
    }
}

/// How much of a command a reason repeats. The person sees the whole command anyway.
const SHOWN: usize = 120;

/// The shortest beginning of a long option that is taken for it: two dashes and two letters.
const SHORTEST: usize = 4;
