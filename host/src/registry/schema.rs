//! JSON Schemas that strangers wrote: bounded, without references that leave the document, without patterns that explode.

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value;

use crate::text::{cut, is_hidden, one_line, printable};

/// Bytes of one schema. The largest of Hermes's tools has under 8 kB. Attack 34.
const BYTES: usize = 128 << 10;

/// How deep a schema may nest. Attack 34.
const DEPTH: usize = 32;

/// Values in one schema, keywords and all, each reference counted as what it refers to: what validation may have to walk for
/// one value. Attack 34.
const NODES: usize = 10_000;

/// Bytes of one pattern. Patterns run on an engine that takes linear time; these three bound what compiling them takes. Attack 34.
const PATTERN_BYTES: usize = 1_000;

/// Bytes of one compiled pattern: `\w{900}` is short as text and takes hundreds of kilobytes. Attack 34.
const COMPILED_PATTERN_BYTES: usize = 256 << 10;

/// Patterns in all schemas of one component, references followed. Attack 34.
const PATTERNS: usize = 100;

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
    Walk { root: &schema, open: Vec::new(), nodes: 0, patterns }.visit(&schema, 0)?;
    validator(&schema)?;
    Ok(schema)
}

/// What checks values against a schema that was accepted.
pub(crate) fn validator(schema: &Value) -> Result<Validator, String> {
    jsonschema::options()
        .with_draft(Draft::Draft202012)
        .with_pattern_options(
            PatternOptions::regex().size_limit(COMPILED_PATTERN_BYTES).dfa_size_limit(COMPILED_PATTERN_BYTES),
        )
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

/// Walks a schema with its references followed, as a validator would. One that refers to itself is refused: validating against
/// it can take time without bound, and no fuel runs in the host.
struct Walk<'a> {
    root: &'a Value,
    open: Vec<&'a str>,
    nodes: usize,
    patterns: &'a mut usize,
}

impl<'a> Walk<'a> {
    fn visit(&mut self, value: &'a Value, depth: usize) -> Result<(), String> {
        self.nodes += 1;
        if self.nodes > NODES {
            return Err(format!("the schema has more than {NODES} values, references followed"));
        }
        if depth > DEPTH {
            return Err(format!("the schema nests more than {DEPTH} deep, references followed"));
        }
        match value {
            Value::Object(members) => {
                for (key, member) in members {
                    match (key.as_str(), member) {
                        ("$ref", Value::String(target)) => self.follow(target, depth)?,
                        ("$dynamicRef" | "$recursiveRef", _) => {
                            return Err(format!("the schema uses {key}, which is not supported"));
                        }
                        // A nested `$anchor` is only a name, and no reference by such a name is followed.
                        ("$id", Value::String(_)) if depth > 0 => {
                            return Err(format!("the schema has a nested {key}, which is not supported"));
                        }
                        ("pattern", Value::String(pattern)) => self.count_pattern(pattern)?,
                        ("patternProperties", Value::Object(members)) => {
                            members.keys().try_for_each(|pattern| self.count_pattern(pattern))?;
                            self.visit(member, depth + 1)?;
                        }
                        _ => self.visit(member, depth + 1)?,
                    }
                }
                Ok(())
            }
            Value::Array(items) => items.iter().try_for_each(|item| self.visit(item, depth + 1)),
            _ => Ok(()),
        }
    }

    fn count_pattern(&mut self, pattern: &str) -> Result<(), String> {
        *self.patterns += 1;
        if *self.patterns > PATTERNS {
            return Err(format!("the component has more than {PATTERNS} patterns"));
        }
        if pattern.len() > PATTERN_BYTES {
            return Err(format!("a pattern has more than {PATTERN_BYTES} bytes"));
        }
        Ok(())
    }

    fn follow(&mut self, target: &'a str, depth: usize) -> Result<(), String> {
        let shown = || one_line(target, 80);
        let Some(pointer) = target.strip_prefix('#') else {
            return Err(format!("the schema refers to {:?}; only references within it are followed", shown()));
        };
        // Whether `%24` means `$` is a matter of opinion, and the validator's must not differ from this one's.
        let Some(found) = self.root.pointer(pointer).filter(|_| !pointer.contains('%')) else {
            return Err(format!("the schema refers to {:?}, which is not in it", shown()));
        };
        if self.open.contains(&target) {
            return Err(format!("the schema refers to itself at {:?}; write the levels out", shown()));
        }
        self.open.push(target);
        self.visit(found, depth + 1)?;
        self.open.pop();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(refused(&format!(r#"{{"enum":[{}0]}}"#, "0,".repeat(NODES))).contains("more than"));
        assert!(refused(&format!(r#"{{"pattern":"{}"}}"#, "a".repeat(PATTERN_BYTES + 1))).contains("pattern"));
    }

    #[test]
    fn a_pattern_that_would_explode_on_a_backtracking_engine_answers_at_once() {
        let schema = accept(r#"{"properties":{"a":{"pattern":"^(a+)+$"}}}"#, Role::Parameters, &mut 0).unwrap();
        let value = serde_json::json!({"a": "a".repeat(50_000) + "!"});
        let start = std::time::Instant::now();
        assert!(!validator(&schema).unwrap().is_valid(&value));
        assert!(start.elapsed().as_secs() < 2);
    }

    #[test]
    fn a_schema_that_refers_to_itself_or_doubles_itself_is_refused() {
        assert!(refused(r##"{"properties":{"a":{"$ref":"#"}}}"##).contains("itself"));
        assert!(refused(r##"{"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/a"}]}}}"##).contains("itself"));
        let doubling = (0..25)
            .map(|n| format!(r##""d{n}":{{"allOf":[{{"$ref":"#/$defs/d{0}"}},{{"$ref":"#/$defs/d{0}"}}]}}"##, n + 1));
        let doubling = doubling.collect::<Vec<_>>().join(",");
        assert!(refused(&format!(r#"{{"$defs":{{{doubling},"d25":{{}}}}}}"#)).contains("references followed"));
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
