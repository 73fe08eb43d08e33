//! The rules every provider wants: an object at the top, one type per node, no choice with one answer, nothing required that
//! is not there.

use serde_json::{Value, json};

use super::{
    super::subschema::each_child,
    DEPTH,
    choices::{collapse, drop_empty, open_top},
    kinds::one_kind,
    node::{Node, as_node},
};

/// The schema with all of them applied.
pub(super) fn standard(mut root: Node) -> Node {
    open_top(&mut root);
    for key in ["enum", "not"] {
        root.shift_remove(key);
    }
    root.insert("type".into(), "object".into());
    tidy(&mut root, 0);
    root
}

/// Outer nodes first: what a node becomes decides how deep its children are.
fn tidy(node: &mut Node, depth: usize) {
    if depth == DEPTH {
        return node.clear();
    }
    collapse(node);
    one_kind(node);
    if node.contains_key("$ref") {
        node.shift_remove("default");
    }
    each_child(node, |keyword, child| {
        // Here a boolean is what everybody writes and every provider reads.
        let plain = matches!(keyword, "additionalProperties" | "unevaluatedProperties" | "unevaluatedItems");
        if !(plain && child.is_boolean()) {
            let mut node = as_node(child.take());
            tidy(&mut node, depth + 1);
            *child = node.into();
        }
    });
    drop_empty(node);
    if node.get("type").is_some_and(|kind| kind == "object") {
        node.entry("properties").or_insert(json!({}));
    }
    // OpenAI and Gemini refuse a list that does not say of what.
    if node.get("type").is_some_and(|kind| kind == "array") && !node.contains_key("prefixItems") {
        node.entry("items").or_insert(json!({}));
    }
    prune_required(node);
}

/// Only names that are there, each once.
fn prune_required(node: &mut Node) {
    let Some(required) = node.get("required") else { return };
    let mut kept: Vec<Value> = Vec::new();
    for name in required.as_array().into_iter().flatten() {
        let known = name.as_str().zip(node.get("properties")).is_some_and(|(name, all)| all.get(name).is_some());
        if known && !kept.contains(name) {
            kept.push(name.clone());
        }
    }
    if kept.is_empty() {
        node.shift_remove("required");
    } else {
        node.insert("required".into(), kept.into());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{Provider, adapt, tests::check};

    #[test]
    fn every_rule_of_its_own() {
        let text = json!({"type": "string"});
        let object = json!({"type": "object", "properties": {}});
        check(
            Provider::Standard,
            [
                ("a bare type name is that type", json!("string"), text.clone()),
                ("a bare object gets properties", json!("object"), object.clone()),
                ("any other text is an empty object", json!("no such type"), object.clone()),
                ("no schema at all allows anything", json!(null), json!({})),
                ("an array gets items", json!({"type": "array"}), json!({"type": "array", "items": {}})),
                ("an object gets properties", json!({"type": "object"}), object.clone()),
                (
                    "a type or null is nullable",
                    json!({"type": ["string", "null"]}),
                    json!({"type": "string", "nullable": true}),
                ),
                ("a list of one type is the type", json!({"type": ["string"]}), text.clone()),
                (
                    "several types are a choice",
                    json!({"type": ["string", "integer"], "title": "t"}),
                    json!({"title": "t", "anyOf": [{"type": "string"}, {"type": "integer"}]}),
                ),
                (
                    "several types or null are a nullable choice",
                    json!({"type": ["string", "null", "integer"]}),
                    json!({"anyOf": [{"type": "string"}, {"type": "integer"}], "nullable": true}),
                ),
                (
                    "a choice that is there says more than several types",
                    json!({"type": ["string", "integer"], "anyOf": [{"minLength": 1}, {"minimum": 1}]}),
                    json!({"anyOf": [{"minLength": 1}, {"minimum": 1}]}),
                ),
                (
                    "keywords go with the type they speak about",
                    json!({"type": ["object", "array", "integer"], "properties": {"a": {}}, "required": ["a"], "items": {}, "minimum": 1}),
                    json!({"anyOf": [
                        {"type": "object", "properties": {"a": {}}, "required": ["a"]},
                        {"type": "array", "items": {}},
                        {"type": "integer", "minimum": 1},
                    ]}),
                ),
                (
                    "only properties that are there are required, once",
                    json!({"properties": {"a": {}}, "required": ["a", "b", "a", 5]}),
                    json!({"properties": {"a": {}}, "required": ["a"]}),
                ),
                ("an empty required goes", json!({"type": "object", "properties": {}, "required": ["b"]}), object),
                (
                    "a choice of one or null is that one, with the texts and samples beside it",
                    json!({"anyOf": [text, {"type": "null"}], "title": "t", "description": "d", "default": null, "examples": ["x"]}),
                    json!({"title": "t", "description": "d", "default": null, "examples": ["x"], "type": "string", "nullable": true}),
                ),
                (
                    "oneOf is treated like anyOf",
                    json!({"oneOf": [{"type": "null"}, text]}),
                    json!({"type": "string", "nullable": true}),
                ),
                ("a choice of one is that one", json!({"anyOf": [text]}), text.clone()),
                (
                    "a real choice stays, null and all",
                    json!({"anyOf": [text, "integer", "null"]}),
                    json!({"anyOf": [text, {"type": "integer"}, {"type": "null"}]}),
                ),
                (
                    "a choice of what is required says nothing without it",
                    json!({"properties": {"a": {}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}], "not": {"required": ["a"]}}),
                    json!({"properties": {"a": {}}}),
                ),
                (
                    "values are not looked into",
                    json!({"enum": ["object", {"type": ["a", "b"]}], "examples": ["object"], "const": {"required": ["x"]}}),
                    json!({"enum": ["object", {"type": ["a", "b"]}], "examples": ["object"], "const": {"required": ["x"]}}),
                ),
                (
                    "rules hold at every depth",
                    json!({"type": "array", "items": {"additionalProperties": {"type": ["string", "null"]}}}),
                    json!({"type": "array", "items": {"additionalProperties": {"type": "string", "nullable": true}}}),
                ),
                (
                    "a closed object stays closed",
                    json!({"additionalProperties": false}),
                    json!({"additionalProperties": false}),
                ),
            ],
        );
    }

    #[test]
    fn the_top_is_an_object_without_choices() {
        let empty = json!({"type": "object", "properties": {}});
        for nothing in [json!(null), json!([1]), json!("string"), json!(true), json!({}), json!({"type": "string"})] {
            assert_eq!(adapt(&nothing, Provider::Standard), empty);
        }
        for key in ["allOf", "anyOf", "oneOf", "enum"] {
            let schema = json!({"type": "object", key: [{"required": ["a"]}, {"required": ["b"]}]});
            assert_eq!(adapt(&schema, Provider::Standard), empty, "{key}");
        }
        assert_eq!(adapt(&json!({"not": {"required": ["a"]}}), Provider::Standard), empty);
    }
}
