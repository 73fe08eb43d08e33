//! Moonshot (Kimi): every node has a type or is a choice, never both, and null does not exist.

use serde_json::{Value, json};

use super::{
    super::subschema::each_child,
    kinds::{is_null, kind_of_keyword},
    node::Node,
};

/// No null and no empty text among choices.
pub(super) fn strip(node: &mut Node) {
    if let Some(Value::Array(choices)) = node.get_mut("enum") {
        choices.retain(|choice| !choice.is_null() && choice != "");
        if choices.is_empty() {
            node.shift_remove("enum");
        }
    }
}

/// Gives every node what Moonshot wants to see, after the standard rules. `inherited` is the type of the choice that the node
/// is a branch of.
pub(super) fn complete(node: &mut Node, inherited: Option<&str>) {
    node.shift_remove("nullable");
    if let Some(Value::Array(branches)) = node.get_mut("anyOf") {
        // Two or more stay: with fewer, the standard rules would have left no choice.
        branches.retain(|branch| !is_null(branch));
    }
    let kind = match node.get("type") {
        Some(Value::String(kind)) => Some(kind.clone()),
        _ => infer(node).or(inherited).map(str::to_owned),
    };
    if node.contains_key("anyOf") {
        node.shift_remove("type");
    } else {
        let kind = kind.as_deref().unwrap_or("string");
        node.insert("type".into(), kind.into());
        if kind == "object" {
            node.entry("properties").or_insert(json!({}));
            node.entry("required").or_insert(json!([]));
        }
        if kind == "array" && !node.contains_key("prefixItems") {
            node.entry("items").or_insert(json!({}));
        }
    }
    each_child(node, |keyword, child| {
        if let Value::Object(child) = child {
            complete(child, kind.as_deref().filter(|kind| keyword == "anyOf" && *kind != "null"));
        }
    });
}

/// The type that a node without one must mean: that of its values, else the one its keywords speak about.
fn infer(node: &Node) -> Option<&'static str> {
    let choices = node.get("enum").and_then(Value::as_array);
    let values = choices.into_iter().flatten().chain(node.get("const")).chain(node.get("default"));
    let of_values = values.map(kind_of_value).find(Option::is_some).flatten();
    of_values.or_else(|| node.keys().find_map(|key| kind_of_keyword(key)))
}

fn kind_of_value(value: &Value) -> Option<&'static str> {
    match value {
        Value::Null => None,
        Value::Bool(_) => Some("boolean"),
        Value::Number(number) if number.is_i64() || number.is_u64() => Some("integer"),
        Value::Number(_) => Some("number"),
        Value::String(_) => Some("string"),
        Value::Array(_) => Some("array"),
        Value::Object(_) => Some("object"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{Provider, tests::check};

    #[test]
    fn every_rule_of_its_own() {
        let object = json!({"type": "object", "properties": {}, "required": []});
        check(
            Provider::Moonshot,
            [
                ("a node without a hint is text", json!({}), json!({"type": "string"})),
                ("the type of choices", json!({"enum": [1, 2]}), json!({"enum": [1, 2], "type": "integer"})),
                ("the type of a constant", json!({"const": true}), json!({"const": true, "type": "boolean"})),
                ("the type of a default", json!({"default": 1.5}), json!({"default": 1.5, "type": "number"})),
                ("the type of items", json!({"items": {}}), json!({"items": {"type": "string"}, "type": "array"})),
                ("the type of bounds", json!({"minimum": 1}), json!({"minimum": 1, "type": "number"})),
                (
                    "the type of properties",
                    json!({"properties": {"a": {"type": "string"}}}),
                    json!({"properties": {"a": {"type": "string"}}, "type": "object", "required": []}),
                ),
                (
                    "no type beside a choice, but in its branches",
                    json!({"type": "string", "anyOf": [{"minLength": 3}, {"title": "t"}]}),
                    json!({"anyOf": [{"minLength": 3, "type": "string"}, {"title": "t", "type": "string"}]}),
                ),
                (
                    "null is no type for a branch",
                    json!({"type": "null", "anyOf": [{"title": "a"}, {"title": "b"}]}),
                    json!({"anyOf": [{"title": "a", "type": "string"}, {"title": "b", "type": "string"}]}),
                ),
                (
                    "null branches go",
                    json!({"anyOf": [{"type": "string"}, {"type": "null"}, {"type": "integer"}]}),
                    json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
                ),
                ("nothing is nullable", json!({"type": ["string", "null"]}), json!({"type": "string"})),
                (
                    "no null and no empty text in a choice",
                    json!({"type": "string", "enum": ["a", "", null]}),
                    json!({"type": "string", "enum": ["a"]}),
                ),
                (
                    "a choice of nothing else goes",
                    json!({"type": "string", "enum": ["", null]}),
                    json!({"type": "string"}),
                ),
                ("an object says what is required", json!({"type": "object"}), object.clone()),
                (
                    "oneOf is spelled anyOf",
                    json!({"oneOf": [{"type": "string"}, {"type": "object"}]}),
                    json!({"anyOf": [{"type": "string"}, object]}),
                ),
                (
                    "references are written out",
                    json!({"items": {"$ref": "#/properties/p/title"}, "title": "integer"}),
                    json!({"items": {"type": "integer"}, "title": "integer", "type": "array"}),
                ),
            ],
        );
    }
}
