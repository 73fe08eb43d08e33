//! What the commands so far have set: variables, the directory, functions and aliases.

use std::{collections::HashMap, rc::Rc};

use super::{Arg, Places};
use crate::approval::shell::{
    Surroundings,
    syntax::{Stage, Word},
};

/// What is known about a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// Its text.
    Known(String),
    /// A text that it may have.
    Guess(String),
    /// Nothing.
    Unknown,
}

/// A function with the here-documents of the text that it stands in.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) body: Rc<Stage>,
    pub(crate) documents: Rc<Vec<Word>>,
    /// Whether the name means this function for sure: no other branch may have left another one, or none.
    pub(crate) is_certain: bool,
}

/// What is set at one place of the text.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    variables: HashMap<String, Value>,
    pub(crate) functions: HashMap<String, Function>,
    pub(crate) aliases: HashMap<String, String>,
    /// `$1` and the rest; `None` if they are not known.
    pub(crate) positional: Option<Vec<Arg>>,
    pub(crate) places: Places,
}

impl Scope {
    pub(crate) fn new(surroundings: &Surroundings) -> Self {
        let known = |(name, text): (&String, &String)| (name.clone(), Value::Known(text.clone()));
        Self {
            variables: surroundings.variables.iter().map(known).collect(),
            functions: HashMap::new(),
            aliases: surroundings.aliases.iter().map(|(name, text)| (name.clone(), text.clone())).collect(),
            positional: Some(Vec::new()),
            places: Places::of(surroundings),
        }
    }

    pub(crate) fn get(&self, name: &str) -> Value {
        if let Some(value) = self.variables.get(name) {
            return value.clone();
        }
        match name {
            "HOME" => Value::Known(self.places.home.clone()),
            "PWD" => match &self.places.directory {
                Some(directory) if !self.places.is_doubtful => Value::Known(directory.clone()),
                Some(directory) => Value::Guess(directory.clone()),
                None => Value::Unknown,
            },
            "IFS" => Value::Known(" \t\n".into()),
            "TMPDIR" => Value::Guess("/tmp".into()),
            "SHELL" => Value::Guess("/bin/bash".into()),
            "BASH" => Value::Known("/bin/bash".into()),
            _ => Value::Unknown,
        }
    }

    pub(crate) fn set(&mut self, name: &str, value: Value) {
        if name == "HOME"
            && let Value::Known(home) = &value
        {
            self.places.home.clone_from(home);
        }
        self.variables.insert(name.to_owned(), value);
    }

    pub(crate) fn unset(&mut self, name: &str) {
        self.variables.insert(name.to_owned(), Value::Known(String::new()));
        self.functions.remove(name);
    }

    /// Keeps only the variables that have the same value here and there.
    pub(crate) fn forget_changed_variables(&mut self, other: &Self) {
        for (name, value) in &mut self.variables {
            if other.variables.get(name) != Some(value) {
                *value = Value::Unknown;
            }
        }
        for name in other.variables.keys() {
            self.variables.entry(name.clone()).or_insert(Value::Unknown);
        }
    }

    /// Keeps only what is the same here and there: one of the two happened, and which is not known.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.forget_changed_variables(other);
        if self.positional != other.positional {
            self.positional = None;
        }
        for (name, function) in &mut self.functions {
            let same = other.functions.get(name).is_some_and(|other| Rc::ptr_eq(&other.body, &function.body));
            function.is_certain &= same;
        }
        for (name, function) in &other.functions {
            let uncertain = || Function { is_certain: false, ..function.clone() };
            self.functions.entry(name.clone()).or_insert_with(uncertain);
        }
        self.places.is_doubtful |= other.places.is_doubtful;
        if self.places.directory != other.places.directory {
            self.places.directory = None;
        }
    }
}
