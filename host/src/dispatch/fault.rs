//! What is wrong with an argument, told so that a model can mend it: which one, what was expected, what came.

use jsonschema::{ValidationError, error::TypeKind, error::ValidationErrorKind as Kind};
use serde_json::Value;

use crate::{registry::near, text::one_line};

/// Bytes of one fault's text.
const FAULT_BYTES: usize = 300;

/// Bytes that are shown of a value that does not fit.
const VALUE_BYTES: usize = 80;

/// One fault in words. What a name may have meant is looked for in the schema of the arguments.
pub(super) fn tell(fault: &ValidationError<'_>, schema: &Value) -> String {
    let place = fault.instance_path().as_str().trim_start_matches('/').replace('/', ".");
    let within = |name: &str| if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") };
    let text = match fault.kind() {
        Kind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            let given = fault.instance().as_object().into_iter().flat_map(|given| given.keys());
            let known = known_names(fault, schema);
            let unknown = given.map(String::as_str).filter(|given| !known.contains(given));
            let meant = match near(name, unknown).first() {
                Some(given) => format!("; did you mean {} by {}?", within(name), within(given)),
                None => String::new(),
            };
            return format!("argument {} is missing{meant}", within(name));
        }
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            let names: Vec<String> = unexpected.iter().map(|name| within(&one_line(name, VALUE_BYTES))).collect();
            let known = known_names(fault, schema);
            let meant: Vec<String> = unexpected
                .iter()
                .filter_map(|name| near(name, known.iter().copied()).first().map(|known| within(known)))
                .collect();
            let meant = if meant.is_empty() { String::new() } else { format!("; did you mean {}?", meant.join(", ")) };
            return format!("there is no argument {}{meant}", names.join(", "));
        }
        Kind::Type { kind } => {
            let expected = match kind {
                TypeKind::Single(one) => one.to_string(),
                TypeKind::Multiple(several) => {
                    several.iter().map(|one| one.to_string()).collect::<Vec<_>>().join(" or ")
                }
            };
            format!("expected {expected}, got {}", came(fault.instance()))
        }
        Kind::Enum { options } => {
            let options: Vec<String> = options.as_array().into_iter().flatten().map(Value::to_string).collect();
            format!("expected one of {}, got {}", options.join(", "), came(fault.instance()))
        }
        // The value at the end: it may be long, and what was expected must be seen.
        _ => format!("{}, got {}", fault.masked(), came(fault.instance())),
    };
    let text = one_line(&text, FAULT_BYTES);
    if place.is_empty() { text } else { format!("argument {place}: {text}") }
}

/// The names that the schema knows where a fault was found. None where references lead there.
fn known_names<'a>(fault: &ValidationError<'_>, schema: &'a Value) -> Vec<&'a str> {
    let place = fault.schema_path().as_str().rsplit_once('/').map_or("", |(place, _)| place);
    let properties = schema.pointer(place).and_then(|schema| schema.get("properties")).and_then(Value::as_object);
    properties.into_iter().flat_map(|properties| properties.keys()).map(String::as_str).collect()
}

/// A value with its type.
fn came(value: &Value) -> String {
    let text = one_line(&value.to_string(), VALUE_BYTES);
    match value {
        Value::Null => "null".into(),
        Value::Bool(_) => format!("the boolean {text}"),
        Value::Number(_) => format!("the number {text}"),
        Value::String(_) => format!("the string {text}"),
        Value::Array(_) => format!("the array {text}"),
        Value::Object(_) => format!("the object {text}"),
    }
}

/// The type of a value, for a sentence.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_fault_says_which_argument_what_was_expected_and_what_came() {
        let schema = json!({"type": "object", "additionalProperties": false, "required": ["path"], "properties": {
            "path": {"type": "string"},
            "n": {"type": ["integer", "null"]},
            "mode": {"enum": ["a", "b"]},
            "deep": {"type": "object", "properties": {"x": {"type": "array", "items": {"maximum": 3}}}},
        }});
        let validator = jsonschema::validator_for(&schema).unwrap();
        let told = |value: Value| validator.iter_errors(&value).map(|fault| tell(&fault, &schema)).collect::<Vec<_>>();
        assert_eq!(told(json!({})), ["argument path is missing"]);
        assert_eq!(told(json!({"path": 5})), ["argument path: expected string, got the number 5"]);
        assert_eq!(told(json!({"path": "", "n": "x"})), ["argument n: expected null or integer, got the string \"x\""]);
        assert_eq!(
            told(json!({"path": "", "mode": "c"})),
            ["argument mode: expected one of \"a\", \"b\", got the string \"c\""]
        );
        assert_eq!(told(json!({"path": "", "pth": 1})), ["there is no argument pth; did you mean path?"]);
        assert_eq!(told(json!({"path": "", "zzz": 1})), ["there is no argument zzz"]);
        assert_eq!(
            told(json!({"pathh": ""})),
            ["there is no argument pathh; did you mean path?", "argument path is missing; did you mean path by pathh?"]
        );
        let deep = told(json!({"path": "", "deep": {"xx": 1}}));
        assert_eq!(deep, [""; 0], "what the schema allows is no fault");

        let deep = told(json!({"path": "", "deep": {"x": [1, 7]}}));
        assert!(
            deep[0].starts_with("argument deep.x.1: ")
                && deep[0].contains('3')
                && deep[0].ends_with("got the number 7")
        );
        assert!(told(json!({"path": ["x".repeat(1000)]}))[0].len() < 200);
    }
}
