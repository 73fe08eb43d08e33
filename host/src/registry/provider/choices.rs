//! `anyOf`, `oneOf` and `allOf`: choices with one answer are that answer, and at the top there is none.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::{
    kinds::is_null,
    node::{Node, as_node, merge},
};

/// Keywords that offer a choice.
const CHOICES: [&str; 2] = ["anyOf", "oneOf"];

/// A choice with one branch besides null becomes that branch, nullable where null was one. Ends: each round takes a choice away.
pub(super) fn collapse(node: &mut Node) {
    let real = |branches: &Vec<Value>| branches.iter().filter(|branch| !is_null(branch)).count();
    let decided = |node: &Node, key: &str| node.get(key).and_then(Value::as_array).is_some_and(|all| real(all) < 2);
    while let Some(key) = CHOICES.into_iter().find(|key| decided(node, key)) {
        let Some(Value::Array(branches)) = node.shift_remove(key) else { return };
        let null = branches.len() > 1;
        if let Some(branch) = branches.into_iter().find(|branch| !is_null(branch)) {
            *node = merge(std::mem::take(node), as_node(branch));
            if null {
                node.insert("nullable".into(), true.into());
            }
        }
    }
}

/// Choices whose branches say nothing any more, which is what is left of `{"required": ["a"]}` without a property a.
pub(super) fn drop_empty(node: &mut Node) {
    let empty = |schema: &Value| schema.as_object().is_some_and(Node::is_empty);
    node.retain(|key, value| match (key.as_str(), value) {
        ("anyOf" | "oneOf" | "allOf", Value::Array(branches)) => !branches.iter().all(empty),
        ("not", schema) => !empty(schema),
        _ => true,
    });
}

/// All parts of an `allOf` in the node itself.
fn join_parts(node: &mut Node) {
    while let Some(Value::Array(parts)) = node.shift_remove("allOf") {
        for part in parts {
            *node = merge(std::mem::take(node), as_node(part));
        }
    }
}

/// Only `anyOf`, for providers that know no other: parts are joined, and a choice of exactly one is a choice.
pub(super) fn one_spelling(node: &mut Node) {
    join_parts(node);
    if let Some(Value::Array(branches)) = node.shift_remove("oneOf")
        && let Value::Array(all) = node.entry("anyOf").or_insert(json!([]))
    {
        all.extend(branches);
    }
}

/// The top of a schema may offer no choice. The properties of all branches become properties of the top, none of them
/// required: a model that does not see a parameter can't use it. One that differs between branches may be any of them.
pub(super) fn open_top(node: &mut Node) {
    join_parts(node);
    let mut found: Map<String, Value> = Map::new();
    for key in CHOICES {
        let Some(Value::Array(branches)) = node.shift_remove(key) else { continue };
        for branch in branches {
            let mut branch = as_node(branch);
            open_top(&mut branch);
            let Some(Value::Object(properties)) = branch.shift_remove("properties") else { continue };
            for (name, schema) in properties {
                if let Value::Array(all) = found.entry(name).or_insert(json!([])) {
                    all.push(schema);
                }
            }
        }
    }
    let properties = node.entry("properties").or_insert(json!({}));
    let Value::Object(properties) = properties else { return };
    for (name, mut schemas) in found {
        let mut seen = HashSet::new();
        if let Value::Array(schemas) = &mut schemas {
            schemas.retain(|schema| seen.insert(schema.clone()));
        }
        properties.entry(name).or_insert(json!({"anyOf": schemas}));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(schema: Value, rule: fn(&mut Node)) -> Value {
        let mut node = as_node(schema);
        rule(&mut node);
        node.into()
    }

    #[test]
    fn a_choice_within_a_choice_collapses_to_its_last_answer() {
        let nested = json!({"description": "d", "anyOf": [{"type": "null"}, {"oneOf": [{"type": "string", "description": "x"}]}]});
        assert_eq!(changed(nested, collapse), json!({"description": "d", "type": "string", "nullable": true}));
        let open = json!({"anyOf": [{"type": "string"}, {"type": "integer"}]});
        assert_eq!(changed(open.clone(), collapse), open);
        assert_eq!(changed(json!({"anyOf": []}), collapse), json!({}));
    }

    #[test]
    fn what_stands_beside_a_collapsed_choice_stays() {
        let beside = json!({"properties": {"a": {}}, "anyOf": [{"properties": {"b": {}}, "required": ["a"]}]});
        assert_eq!(changed(beside, collapse), json!({"properties": {"a": {}, "b": {}}, "required": ["a"]}));
    }

    #[test]
    fn the_top_offers_the_parameters_of_all_branches() {
        let tagged = json!({
            "properties": {"own": {"type": "string"}},
            "allOf": [{"properties": {"part": {}}, "required": ["part"]}],
            "oneOf": [
                {"properties": {"kind": {"const": "a"}, "same": {}, "own": {}}, "required": ["kind"]},
                {"anyOf": [{"properties": {"kind": {"const": "b"}, "same": {}}}]},
            ],
        });
        let open = json!({
            "properties": {
                "own": {"type": "string"},
                "part": {},
                "kind": {"anyOf": [{"const": "a"}, {"anyOf": [{"const": "b"}]}]},
                "same": {"anyOf": [{}, {"anyOf": [{}]}]},
            },
            "required": ["part"],
        });
        assert_eq!(changed(tagged, open_top), open);
    }
}
