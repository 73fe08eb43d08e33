//! Arguments as a model wrote them become arguments that a tool can rely on.

use hermes_coerce::{ARGUMENT_VALUES, coerce, values};
use jsonschema::ValidationError;
use serde_json::Value;

use super::{
    CallError, ErrorKind,
    fault::{kind, tell},
    validation::{INLINE_STEPS, OFFLOADED},
};
use crate::{
    pattern_cost::STEPS,
    registry::{Checker, Entry},
    sandbox::limits::{MIB, thousands},
};

/// Bytes of arguments. A whole file to write fits; more is no argument but a transfer.
const ARGUMENT_BYTES: usize = 4 * MIB;

/// Bytes of arguments up to which several faults are looked for at once.
const SMALL: usize = 64 << 10;

/// Faults that are told at once: enough to mend a call, not enough to flood the model.
const FAULTS: usize = 5;

/// The rows of the documented table of limits that are held here.
pub(super) fn limits() -> Vec<(&'static str, String)> {
    vec![
        ("arguments of one call", format!("{} MiB", ARGUMENT_BYTES / MIB)),
        ("values in them, nested ones too", thousands(ARGUMENT_VALUES as u64)),
        ("steps of checking them on the caller's thread", thousands(INLINE_STEPS)),
        ("steps of one match of a pattern, and visits of values by a schema", thousands(STEPS)),
        ("checks on threads of their own at the same time", OFFLOADED.to_string()),
    ]
}

/// Whether the text is small enough to be looked at. Asked before anything parses it.
pub(crate) fn check_size(text: &str) -> Result<(), CallError> {
    if text.len() > ARGUMENT_BYTES {
        return Err(invalid(format!("the arguments have {} bytes; the limit is {ARGUMENT_BYTES}", text.len())));
    }
    if values(text) > ARGUMENT_VALUES {
        return Err(invalid(format!("the arguments have more than {ARGUMENT_VALUES} values")));
    }
    Ok(())
}

/// Parses, coerces and validates what [`check_size`] let pass. Empty text counts as no arguments. Without an entry there is no
/// schema to hold them against.
pub(crate) fn prepare(entry: Option<&Entry>, text: &str) -> Result<String, CallError> {
    let text = if text.trim().is_empty() { "{}" } else { text };
    let parse = || serde_json::from_str(text).map_err(|why| invalid(format!("the arguments are not JSON: {why}")));
    let given: Value = parse()?;
    if !given.is_object() {
        return Err(invalid(format!("the arguments must be a JSON object, not {}", kind(&given))));
    }
    let text_of = |value: &Value| serde_json::to_string(value).map_err(|why| invalid(why.to_string()));
    let Some(entry) = entry else { return text_of(&given) };
    let name = &entry.definition.name;
    let checker = entry.checker().map_err(|why| CallError::new(ErrorKind::Failed, &why))?;
    let value = coerce(given, &entry.definition.parameters);
    check_cost(checker, text, &value)?;
    let validator = &checker.validator;
    let taken = if validator.is_valid(&value) {
        Some(text_of(&value)?)
    } else {
        // Read once more rather than copied for every call: this is rare.
        Some(parse()?).filter(|given| validator.is_valid(given)).map(|given| text_of(&given)).transpose()?
    };
    if let Some(taken) = taken {
        // What was a string may have become a list of more values than came.
        check_size(&taken)?;
        return Ok(taken);
    }
    // All faults of a large value would take more memory than the value itself.
    let found: Vec<ValidationError<'_>> = if text.len() > SMALL {
        validator.validate(&value).err().into_iter().collect()
    } else {
        validator.iter_errors(&value).take(FAULTS).collect()
    };
    let schema = &entry.definition.parameters;
    let faults: Vec<String> = found.iter().map(|fault| tell(fault, schema)).collect();
    Err(invalid(format!("{name}: {}", faults.join("; "))))
}

/// Whether validation ends soon, whatever the value: what the schema holds it against can't be ended half-way.
fn check_cost(checker: &Checker, text: &str, value: &Value) -> Result<(), CallError> {
    let count = count(value);
    if count > ARGUMENT_VALUES {
        return Err(invalid(format!("the arguments have more than {ARGUMENT_VALUES} values")));
    }
    if checker.cost.visits(count) > STEPS {
        let why = format!("the arguments have {count} values, which are too many for a schema as large as this tool's");
        return Err(invalid(why));
    }
    if checker.cost.name_places.saturating_mul(text.len() as u64) > STEPS {
        let why =
            format!("the arguments have {} bytes, too many for patternProperties as costly as this tool's", text.len());
        return Err(invalid(why));
    }
    Ok(())
}

/// Values in a value, itself included. No parser makes one that is nested deeper than 128.
fn count(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(count).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(count).sum::<usize>(),
        _ => 1,
    }
}

fn invalid(why: String) -> CallError {
    CallError::new(ErrorKind::InvalidArguments, &why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_in_a_string_is_one_value() {
        let table = format!(r#"{{"path": "t.csv", "content": "{}"}}"#, r#"a,[b],{c},\"d\",\\"#.repeat(20_000));
        assert_eq!(values(&table), 3);
        assert!(check_size(&table).is_ok());
        assert!(check_size(&format!("[{}0]", "0,".repeat(ARGUMENT_VALUES))).is_err());
    }
}
