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

/// Parses a whole text. `depth` is how deep it is already nested in others.
pub(crate) fn parse(text: &str, depth: usize) -> Result<Program, Fault> {
    let mut parser = Parser::new(text, depth);
    let program = parser.program(None)?;
    match parser.peek() {
        None => Ok(program),
        Some(byte) => Err(parser.fault(format!("unexpected `{}`", byte as char))),
    }
}
