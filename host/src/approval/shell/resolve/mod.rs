//! What words become before a command sees them, as far as that is known without running anything.

mod arg;
mod braces;
mod expand;
mod glob;
mod parameter;
mod path;
mod scope;

pub(crate) use arg::{Arg, Sure, UNKNOWN};
pub(crate) use glob::matches;
pub(crate) use path::{Places, below};
pub(crate) use scope::{Function, Scope, Value};
