//! JSON Schemas that strangers wrote: bounded, without references that leave the document, without patterns that explode.

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value;

use super::{
    bounded_pattern,
    schema_cost::{SchemaCost, cost},
};
use crate::text::{cut, is_hidden, one_line, printable};

/// Bytes of one schema. The largest of Hermes's tools has under 8 kB. Attack 34.
const BYTES: usize = 128 << 10;

/// Bytes of one compiled pattern: `\w{900}` is short as text and takes hundreds of kilobytes. Attack 34.
const COMPILED_PATTERN_BYTES: usize = 256 << 10;

/// Keywords whose value is text for a reader.
const TEXTS: [&str; 3] = ["title", "description", "$comment"];

/// Bytes of one such text. Attack 34.
const TEXT_BYTES: usize = 4 << 10;

/// What a schema is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Arguments: always an object.
    Parameters,
    /// A result: anything.
    Output,
}

/// Parses, cleans and checks a schema. `patterns` counts those of the whole component.
pub(super) fn accept(text: &str, role: Role, patterns: &mut usize) -> Result<Value, String> {
    if text.len() > BYTES {
        return Err(format!("the schema has {} bytes; the limit is {BYTES}", text.len()));
    }
    let mut schema: Value = serde_json::from_str(text).map_err(|why| format!("the schema is not JSON: {why}"))?;
    let Value::Object(root) = &mut schema else { return Err("the schema is not a JSON object".into()) };
    if role == Role::Parameters {
        match root.get("type").and_then(Value::as_str) {
            Some("object") => {}
            None if !root.contains_key("type") => drop(root.insert("type".into(), "object".into())),
            _ => return Err("the schema's type must be \"object\"".into()),
        }
    }
    clean(&mut schema)?;
    cost(&schema, patterns)?;
    validator(&schema)?;
    Ok(schema)
}

/// What checks values against a schema, and what that can cost.
#[derive(Debug)]
pub(crate) struct Checker {
    pub(crate) validator: Validator,
    pub(crate) cost: SchemaCost,
}

impl Checker {
    /// For a schema that was accepted. An earlier version with other bounds may have done that, so they are held once more.
    pub(crate) fn new(schema: &Value) -> Result<Self, String> {
        Ok(Self { cost: cost(schema, &mut 0)?, validator: validator(schema)? })
    }
}

/// How the patterns of a schema are matched.
pub(super) fn pattern_options() -> PatternOptions<jsonschema::Regex> {
    PatternOptions::regex().size_limit(COMPILED_PATTERN_BYTES).dfa_size_limit(COMPILED_PATTERN_BYTES)
}

/// What checks values against a schema.
fn validator(schema: &Value) -> Result<Validator, String> {
    jsonschema::options()
        .with_draft(Draft::Draft202012)
        .with_pattern_options(pattern_options())
        // Formats describe, as the draft has it: some of them would be patterns of the library's own.
        .should_validate_formats(false)
        .with_keyword("pattern", bounded_pattern::compile)
        .build(schema)
        .map_err(|why| format!("the schema is not valid: {}", one_line(&why.to_string(), 300)))
}

/// Texts for the model lose what a reader could not see. Names and choices are not changed, since the tool compares them: hidden
/// characters there are refused. serde_json reads no deeper than 128, so this ends.
fn clean(value: &mut Value) -> Result<(), String> {
    match value {
        Value::Object(members) => {
            if let Some(name) = members.keys().find(|name| name.chars().any(is_hidden)) {
                return Err(format!("the schema has hidden characters in the name {:?}", one_line(name, 80)));
            }
            for (key, member) in members.iter_mut() {
                match member {
                    Value::String(text) if TEXTS.contains(&key.as_str()) => *text = cut(&printable(text), TEXT_BYTES),
                    _ => clean(member)?,
                }
            }
            Ok(())
        }
        Value::Array(items) => items.iter_mut().try_for_each(clean),
        Value::String(text) if text.chars().any(is_hidden) => {
            Err(format!("the schema has hidden characters in {:?}", one_line(text, 80)))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::schema_cost::{NODES, PATTERN_BYTES},
        *,
    };

    fn refused(text: &str) -> String {
        accept(text, Role::Parameters, &mut 0).unwrap_err()
    }

    #[test]
    fn references_that_leave_the_document_are_refused() {
        for target in ["http://evil/x", "file:///etc/passwd", "other.json"] {
            let text = format!(r#"{{"properties":{{"a":{{"$ref":"{target}"}}}}}}"#);
            assert!(refused(&text).contains("only references within"), "{target}");
        }
        assert!(
            accept(
                r##"{"$defs":{"n":{"type":"string"}},"properties":{"a":{"$ref":"#/$defs/n"}}}"##,
                Role::Parameters,
                &mut 0
            )
            .is_ok()
        );
    }

    #[test]
    fn size_depth_count_and_patterns_are_bounded() {
        assert!(refused(&format!(r#"{{"description":"{}"}}"#, "x".repeat(BYTES))).contains("bytes"));
        let deep = r#"{"not":"#.repeat(60) + "{}" + &"}".repeat(60);
        assert!(refused(&deep).contains("deep"));
        assert!(refused(&format!(r#"{{"enum":[{}0]}}"#, "0,".repeat(NODES as usize))).contains("more than"));
        assert!(refused(&format!(r#"{{"pattern":"{}"}}"#, "a".repeat(PATTERN_BYTES + 1))).contains("pattern"));
    }

    #[test]
    fn a_pattern_that_would_explode_on_a_backtracking_engine_answers_at_once() {
        let schema = accept(r#"{"properties":{"a":{"pattern":"^(a+)+$"}}}"#, Role::Parameters, &mut 0).unwrap();
        let value = serde_json::json!({"a": "a".repeat(50_000) + "!"});
        let start = std::time::Instant::now();
        assert!(!Checker::new(&schema).unwrap().validator.is_valid(&value));
        // Such an engine would not end at all.
        assert!(start.elapsed().as_secs() < 120);
    }

    #[test]
    fn hidden_characters_leave_texts_and_are_refused_elsewhere() {
        let schema =
            accept("{\"properties\":{\"a\":{\"description\":\"b\u{202e}\\u001bc\"}}}", Role::Parameters, &mut 0);
        assert_eq!(schema.unwrap()["properties"]["a"]["description"], "bc");
        assert!(refused("{\"properties\":{\"a\u{200b}\":{}}}").contains("hidden"));
        assert!(refused("{\"properties\":{\"a\":{\"enum\":[\"x\u{e0100}\"]}}}").contains("hidden"));
    }

    #[test]
    fn arguments_are_an_object() {
        assert!(refused(r#"{"type":"string"}"#).contains("object"));
        assert!(refused("[]").contains("object"));
        assert_eq!(accept("{}", Role::Parameters, &mut 0).unwrap()["type"], "object");
    }
}
