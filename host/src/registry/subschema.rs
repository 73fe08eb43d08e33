//! Where a JSON Schema holds further schemas. Everything else in it is a name or a value, and looks like a schema at most by
//! accident: a property may be called "type", and a default may be an object with a "description".
//!
//! The recursion here is as deep as the schema. Registered schemas are at most 32 deep, and no parser makes deeper ones than 128.

use serde_json::{Map, Value};

/// Keywords whose value is one schema.
const SCHEMAS: [&str; 11] = [
    "items",
    "additionalProperties",
    "contains",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
];

/// Keywords whose value is a list of schemas.
pub(crate) const LISTS: [&str; 4] = ["anyOf", "oneOf", "allOf", "prefixItems"];

/// Keywords whose value holds schemas under names.
pub(crate) const MAPS: [&str; 5] = ["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"];

/// Shows every schema directly in `node`, with the keyword it is under.
pub(crate) fn each_child(node: &mut Map<String, Value>, mut visit: impl FnMut(&str, &mut Value)) {
    for (key, value) in node {
        match (key.as_str(), value) {
            (key, schema) if SCHEMAS.contains(&key) => visit(key, schema),
            (key, Value::Array(list)) if LISTS.contains(&key) => list.iter_mut().for_each(|schema| visit(key, schema)),
            (key, Value::Object(map)) if MAPS.contains(&key) => map.values_mut().for_each(|schema| visit(key, schema)),
            _ => {}
        }
    }
}

/// Shows `node` and every schema below it that is an object, outer ones first.
pub(crate) fn each_node(node: &mut Map<String, Value>, visit: &mut dyn FnMut(&mut Map<String, Value>)) {
    visit(node);
    each_child(node, |_, child| {
        if let Value::Object(child) = child {
            each_node(child, visit);
        }
    });
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn schemas_are_told_from_names_and_values() {
        let here = json!({"here": true});
        let mut schema = json!({
            "properties": {"default": here, "items": {"items": here, "enum": [{"items": {"items": {}}}]}},
            "anyOf": [here, true],
            "additionalProperties": here,
            "default": {"items": {}, "properties": {"a": {}}},
            "required": ["items"],
        });
        let (mut nodes, mut found) = (0, 0);
        each_node(schema.as_object_mut().unwrap(), &mut |node| {
            nodes += 1;
            found += usize::from(node.contains_key("here"));
        });
        assert_eq!((nodes, found), (6, 4));
    }
}
