//! One tool, as the macros describe it and the exports use it.

use serde::{Deserialize, de::DeserializeOwned};

pub use crate::bindings::hermes::tool::types::Context;
use crate::bindings::hermes::tool::types::{self, Definition};
use crate::{Arguments, Content, Error, Output, Result, Schema};

/// A tool: what `#[tool]` makes of a function, found as `function_name::TOOL`.
#[derive(Clone, Copy)]
#[allow(missing_docs, reason = "the fields are those of wit/types.wit")]
pub struct Tool {
    pub name: &'static str,
    pub description: &'static str,
    pub emoji: Option<&'static str>,
    pub required_env: &'static [&'static str],
    pub max_result_size: Option<u64>,
    pub hints: Hints,
    pub check: Option<fn() -> Result<(), String>>,
    pub parameters: fn() -> String,
    pub output: fn() -> Option<String>,
    pub handle: fn(&str) -> Result<Vec<Content>>,
}

/// What a tool says of itself. Claims, not permissions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are those of wit/types.wit")]
pub struct Hints {
    pub read_only: bool,
    pub destructive: bool,
    pub idempotent: bool,
    pub open_world: bool,
    pub parallel_safe: bool,
}

/// The arguments of a tool that takes none.
#[derive(Debug, Deserialize)]
pub struct NoArgs {}

impl Arguments for NoArgs {}

impl Schema for NoArgs {
    fn keywords(out: &mut String) {
        out.push_str(r#""type":"object","properties":{}"#);
    }
}

impl Tool {
    /// What `register` answers for this tool.
    pub(crate) fn definition(&self, toolset: &str) -> Definition {
        Definition {
            name: self.name.to_owned(),
            toolset: toolset.to_owned(),
            description: self.description.to_owned(),
            parameters: (self.parameters)(),
            output: (self.output)(),
            emoji: self.emoji.map(str::to_owned),
            required_env: self.required_env.iter().map(|name| (*name).to_owned()).collect(),
            max_result_size: self.max_result_size,
            hints: self.hints.flags(),
        }
    }
}

impl Hints {
    fn flags(self) -> types::Hints {
        [
            (self.read_only, types::Hints::READ_ONLY),
            (self.destructive, types::Hints::DESTRUCTIVE),
            (self.idempotent, types::Hints::IDEMPOTENT),
            (self.open_world, types::Hints::OPEN_WORLD),
            (self.parallel_safe, types::Hints::PARALLEL_SAFE),
        ]
        .into_iter()
        .filter(|(set, _)| *set)
        .fold(types::Hints::empty(), |flags, (_, flag)| flags | flag)
    }
}

/// The output schema of a function's result type.
pub const fn output_of<A, O: Output>(_: fn(A) -> Result<O>) -> fn() -> Option<String> {
    O::schema
}

/// Calls the function with arguments that come as text.
pub fn handle<A: DeserializeOwned, O: Output>(function: fn(A) -> Result<O>, arguments: &str) -> Result<Vec<Content>> {
    let arguments = serde_json::from_str(arguments).map_err(bad_arguments)?;
    function(arguments)?.into_content()
}

/// For text that is not what the function asks for. Inlined, it costs a component 200 bytes less.
#[inline]
pub(crate) fn bad_arguments(why: serde_json::Error) -> Error {
    Error::invalid(format!("bad arguments: {why}"))
}
