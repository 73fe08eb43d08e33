//! A parser of the shell's grammar that reads every byte once and recurses to a fixed depth.
//!
//! It is stricter than a shell: what it does not know is a fault, and a fault means that a person is asked. It never has to
//! agree with the shell on what is an error, only on what is not.

mod ansi;
mod command;
mod compound;
mod cursor;
mod parameter;
mod redirect;
mod tree;
mod word;

pub(crate) use cursor::Fault;
use cursor::Parser;
pub(crate) use tree::{
    Assignment, Chain, Change, Command, List, Parameter, Part, Pipeline, Program, Redirect, Stage, Target, Word,
};

/// The text without the ends of lines that a backslash joins, if one of them is not plainly between two words.
pub(crate) fn joined_lines(text: &str) -> Option<String> {
    let mut joined = String::new();
    let mut is_inside_word = false;
    let mut rest = text;
    while let Some(at) = rest.find("\\\n") {
        let (before, after) = rest.split_at(at);
        let escapes = before.bytes().rev().take_while(|byte| *byte == b'\\').count();
        joined.push_str(before);
        if escapes % 2 == 1 {
            // The backslash is escaped itself.
            joined.push_str("\\\n");
        } else {
            is_inside_word |= !before.is_empty() && !before.ends_with([' ', '\t', '\n']);
        }
        rest = after.get(2..).unwrap_or("");
    }
    joined.push_str(rest);
    is_inside_word.then_some(joined)
}

/// Parses a whole text. `depth` is how deep it is already nested in others.
pub(crate) fn parse(text: &str, depth: usize) -> Result<Program, Fault> {
    let mut parser = Parser::new(text, depth);
    let program = parser.program(None)?;
    match parser.peek() {
        None => Ok(program),
        Some(byte) => Err(parser.fault(format!("unexpected `{}`", byte as char))),
    }
}
