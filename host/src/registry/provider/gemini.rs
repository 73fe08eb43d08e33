//! Gemini reads a small dialect: 22 keywords, no references, and choices of strings only.

use serde_json::{Value, json};

use super::node::Node;

/// The keywords of Gemini's Schema object. It refuses a request with any other.
pub(super) const KEYWORDS: [&str; 22] = [
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "enum",
    "maxItems",
    "minItems",
    "properties",
    "required",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "pattern",
    "example",
    "anyOf",
    "propertyOrdering",
    "default",
    "items",
    "minimum",
    "maximum",
];

/// What Gemini would refuse goes. A constant is a choice of one.
pub(super) fn strip(node: &mut Node) {
    if let Some(Value::String(only)) = node.get("const") {
        let only = json!([only]);
        node.entry("enum").or_insert(only);
    }
    node.retain(|key, _| KEYWORDS.contains(&key.as_str()));
    if let Some(Value::Array(choices)) = node.get_mut("enum") {
        // Whether null is allowed is said by `nullable`.
        choices.retain(|choice| !choice.is_null());
        if choices.is_empty() || !choices.iter().all(Value::is_string) {
            node.shift_remove("enum");
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{Provider, adapt, tests::check};

    #[test]
    fn every_rule_of_its_own() {
        check(
            Provider::Gemini,
            [
                (
                    "only its keywords stay",
                    json!({"type": "integer", "minimum": 1, "exclusiveMaximum": 9, "$comment": "c", "additionalProperties": false}),
                    json!({"type": "integer", "minimum": 1}),
                ),
                ("a choice of numbers goes", json!({"type": "integer", "enum": [1, 2]}), json!({"type": "integer"})),
                ("a choice of booleans goes", json!({"type": "boolean", "enum": [true]}), json!({"type": "boolean"})),
                (
                    "a choice of texts stays",
                    json!({"type": "string", "enum": ["a"]}),
                    json!({"type": "string", "enum": ["a"]}),
                ),
                (
                    "null leaves a choice of texts",
                    json!({"type": ["string", "null"], "enum": ["a", null]}),
                    json!({"type": "string", "enum": ["a"], "nullable": true}),
                ),
                (
                    "a constant is a choice of one",
                    json!({"type": "string", "const": "a"}),
                    json!({"type": "string", "enum": ["a"]}),
                ),
                (
                    "required is pruned",
                    json!({"type": "object", "properties": {"a": {}}, "required": ["a", "b"]}),
                    json!({"type": "object", "properties": {"a": {}}, "required": ["a"]}),
                ),
                (
                    "oneOf is spelled anyOf",
                    json!({"oneOf": [{"type": "string"}, {"type": "integer"}]}),
                    json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
                ),
                (
                    "the parts of an allOf are joined",
                    json!({"description": "d", "allOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}, "description": "x"}]}),
                    json!({"description": "d", "properties": {"a": {}, "b": {}}}),
                ),
            ],
        );
    }

    #[test]
    fn references_are_written_out() {
        let schema = json!({
            "definitions": {"old": {"type": ["string", "null"]}},
            "$defs": {"new": {"type": "object", "properties": {"x": {"$ref": "#/definitions/old", "description": "near"}}}},
            "properties": {"a": {"$ref": "#/$defs/new"}, "b": {"anyOf": [{"$ref": "#/definitions/old"}, {"type": "null"}]}},
        });
        let text = json!({"type": "string", "nullable": true});
        let near = json!({"type": "string", "nullable": true, "description": "near"});
        let a = json!({"type": "object", "properties": {"x": near}});
        assert_eq!(adapt(&schema, Provider::Gemini), json!({"type": "object", "properties": {"a": a, "b": text}}));
    }
}
