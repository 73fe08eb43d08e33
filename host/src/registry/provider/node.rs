//! One schema as an object, whatever was written, and two of them as one.

use serde_json::{Map, Value, json};

use super::{
    super::subschema::{LISTS, MAPS},
    kinds::KINDS,
};

/// A schema's keywords.
pub(super) type Node = Map<String, Value>;

/// Texts and samples for the reader: those nearest to the use say most.
const ANNOTATIONS: [&str; 4] = ["title", "description", "default", "examples"];

/// A bare type name stands for that type, any other text for an object of which nothing is known. Keywords whose value has
/// not even the right form are dropped, so that the rules need not look twice.
pub(super) fn as_node(schema: Value) -> Node {
    match schema {
        Value::Object(mut node) => {
            node.retain(|key, value| match key.as_str() {
                "enum" => value.is_array(),
                "nullable" => value.is_boolean(),
                key if LISTS.contains(&key) => value.is_array(),
                key if MAPS.contains(&key) => value.is_object(),
                _ => true,
            });
            node
        }
        Value::String(kind) if KINDS.contains(&kind.as_str()) => Node::from_iter([("type".into(), kind.into())]),
        Value::String(_) => Node::from_iter([("type".into(), "object".into()), ("properties".into(), json!({}))]),
        _ => Node::new(),
    }
}

/// What holds where both do, as near as one node can say it. `outer` refers to `inner` or wraps it. Two choices become one
/// among all branches: looser than both, but no property name is lost.
pub(super) fn merge(mut outer: Node, inner: Node) -> Node {
    for (key, inner) in inner {
        let both = match (key.as_str(), outer.get_mut(&key).map(Value::take), inner) {
            (_, None, inner) => inner,
            (key, Some(outer), _) if ANNOTATIONS.contains(&key) => outer,
            ("properties", Some(Value::Object(outer)), Value::Object(inner)) => merge_properties(outer, inner).into(),
            ("items", Some(outer), inner) => merge(as_node(outer), as_node(inner)).into(),
            ("required" | "allOf" | "anyOf" | "oneOf", Some(Value::Array(outer)), Value::Array(inner)) => {
                outer.into_iter().chain(inner).collect()
            }
            (_, Some(_), inner) => inner,
        };
        outer.insert(key, both);
    }
    outer
}

fn merge_properties(mut outer: Node, inner: Node) -> Node {
    for (name, inner) in inner {
        let both = match outer.get_mut(&name).map(Value::take) {
            Some(outer) => merge(as_node(outer), as_node(inner)).into(),
            None => inner,
        };
        outer.insert(name, both);
    }
    outer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anything_is_a_node() {
        assert_eq!(Value::Object(as_node(json!("integer"))), json!({"type": "integer"}));
        assert_eq!(Value::Object(as_node(json!("whatever"))), json!({"type": "object", "properties": {}}));
        for nothing in [json!(null), json!(true), json!(5), json!(["string"]), json!({"properties": [], "anyOf": 1})] {
            assert_eq!(as_node(nothing), Node::new());
        }
    }

    #[test]
    fn merging_keeps_every_name_and_the_nearest_texts() {
        let outer = json!({"description": "near", "properties": {"a": {"items": {"minimum": 1}}, "b": {}}, "required": ["a"], "anyOf": [{}]});
        let inner = json!({"description": "far", "type": "object", "properties": {"c": {}, "a": {"items": {"type": "integer"}}}, "required": ["c"], "anyOf": ["string"]});
        let both = json!({
            "description": "near",
            "properties": {"a": {"items": {"minimum": 1, "type": "integer"}}, "b": {}, "c": {}},
            "required": ["a", "c"],
            "anyOf": [{}, "string"],
            "type": "object",
        });
        assert_eq!(Value::Object(merge(as_node(outer), as_node(inner))), both);
    }
}
