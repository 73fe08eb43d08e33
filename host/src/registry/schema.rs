//! JSON Schemas that strangers wrote: bounded, without references that leave the document, without patterns that explode.

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value;

/// Bytes of one schema. The largest of Hermes's tools has under 8 kB. Attack 34.
const BYTES: usize = 128 << 10;

/// How deep a schema may nest. Attack 34.
const DEPTH: usize = 32;

/// Values in one schema, keywords and all. Attack 34.
const NODES: usize = 10_000;

/// Bytes of one pattern. Patterns run on an engine that takes linear time; this bounds what compiling them takes. Attack 34.
const PATTERN_BYTES: usize = 1_000;

/// What a schema is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Arguments: always an object.
    Parameters,
    /// A result: anything.
    Output,
}

/// Parses and checks a schema.
pub(super) fn accept(text: &str, role: Role) -> Result<Value, String> {
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
    walk(&schema, 0, &mut 0)?;
    validator(&schema)?;
    Ok(schema)
}

/// What checks values against a schema that was accepted.
pub(crate) fn validator(schema: &Value) -> Result<Validator, String> {
    jsonschema::options()
        .with_draft(Draft::Draft202012)
        .with_pattern_options(PatternOptions::regex())
        .build(schema)
        .map_err(|why| format!("the schema is not valid: {}", crate::text::one_line(&why.to_string(), 300)))
}

fn walk(value: &Value, depth: usize, nodes: &mut usize) -> Result<(), String> {
    *nodes += 1;
    if *nodes > NODES {
        return Err(format!("the schema has more than {NODES} values"));
    }
    if depth > DEPTH {
        return Err(format!("the schema nests more than {DEPTH} deep"));
    }
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                match (key.as_str(), member) {
                    ("$ref" | "$dynamicRef", Value::String(target)) if !target.starts_with('#') => {
                        let target = crate::text::one_line(target, 80);
                        return Err(format!("the schema refers to {target:?}; only references within it are followed"));
                    }
                    ("pattern", Value::String(pattern)) if pattern.len() > PATTERN_BYTES => {
                        return Err(format!("a pattern has more than {PATTERN_BYTES} bytes"));
                    }
                    _ => walk(member, depth + 1, nodes)?,
                }
            }
            Ok(())
        }
        Value::Array(items) => items.iter().try_for_each(|item| walk(item, depth + 1, nodes)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        accept(text, Role::Parameters).unwrap_err()
    }

    #[test]
    fn references_that_leave_the_document_are_refused() {
        for target in ["http://evil/x", "file:///etc/passwd", "other.json"] {
            let text = format!(r#"{{"properties":{{"a":{{"$ref":"{target}"}}}}}}"#);
            assert!(refused(&text).contains("only references within"), "{target}");
        }
        assert!(
            accept(r##"{"$defs":{"n":{"type":"string"}},"properties":{"a":{"$ref":"#/$defs/n"}}}"##, Role::Parameters)
                .is_ok()
        );
    }

    #[test]
    fn size_depth_count_and_patterns_are_bounded() {
        assert!(refused(&format!(r#"{{"description":"{}"}}"#, "x".repeat(BYTES))).contains("bytes"));
        let deep = r#"{"not":"#.repeat(60) + "{}" + &"}".repeat(60);
        assert!(refused(&deep).contains("deep"));
        assert!(refused(&format!(r#"{{"enum":[{}0]}}"#, "0,".repeat(NODES))).contains("more than"));
        assert!(refused(&format!(r#"{{"pattern":"{}"}}"#, "a".repeat(PATTERN_BYTES + 1))).contains("pattern"));
    }

    #[test]
    fn a_pattern_that_would_explode_on_a_backtracking_engine_answers_at_once() {
        let schema = accept(r#"{"properties":{"a":{"pattern":"^(a+)+$"}}}"#, Role::Parameters).unwrap();
        let value = serde_json::json!({"a": "a".repeat(50_000) + "!"});
        let start = std::time::Instant::now();
        assert!(!validator(&schema).unwrap().is_valid(&value));
        assert!(start.elapsed().as_secs() < 2);
    }

    #[test]
    fn arguments_are_an_object() {
        assert!(refused(r#"{"type":"string"}"#).contains("object"));
        assert!(refused("[]").contains("object"));
        assert_eq!(accept("{}", Role::Parameters).unwrap()["type"], "object");
    }
}
