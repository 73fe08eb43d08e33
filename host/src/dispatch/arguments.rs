//! Arguments as a model wrote them become arguments that a tool can rely on.

use serde_json::Value;

use super::{CallError, ErrorKind, coerce::coerce};
use crate::{registry::Entry, sandbox::limits::MIB, text::one_line};

/// Bytes of arguments. A whole file to write fits; more is no argument but a transfer.
const ARGUMENT_BYTES: usize = 4 * MIB;

/// Faults that are told at once: enough to mend a call, not enough to flood the model.
const FAULTS: usize = 5;

/// Parses, coerces and validates. Empty text counts as no arguments.
pub(crate) fn prepare(entry: &Entry, text: &str) -> Result<String, CallError> {
    let name = &entry.definition.name;
    let invalid = |why: String| CallError::new(ErrorKind::InvalidArguments, &why);
    if text.len() > ARGUMENT_BYTES {
        return Err(invalid(format!("the arguments have {} bytes; the limit is {ARGUMENT_BYTES}", text.len())));
    }
    let text = if text.trim().is_empty() { "{}" } else { text };
    let value: Value =
        serde_json::from_str(text).map_err(|why| invalid(format!("the arguments are not JSON: {why}")))?;
    if !value.is_object() {
        return Err(invalid(format!("the arguments must be a JSON object, not {}", kind(&value))));
    }
    let value = coerce(value, &entry.definition.parameters);
    let validator = entry.validator().map_err(|why| CallError::new(ErrorKind::Failed, &why))?;
    if validator.is_valid(&value) {
        return Ok(value.to_string());
    }
    let faults: Vec<String> = validator
        .iter_errors(&value)
        .take(FAULTS)
        .map(|fault| match fault.instance_path().as_str().trim_start_matches('/') {
            "" => one_line(&fault.to_string(), 300),
            place => format!("argument {}: {}", place.replace('/', "."), one_line(&fault.to_string(), 300)),
        })
        .collect();
    Err(invalid(format!("{name}: {}", faults.join("; "))))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
