//! The `type` keyword: one name, or none. Lists of types are JSON Schema that few providers read.

use serde_json::{Value, json};

use super::node::Node;

/// All types there are.
pub(super) const KINDS: [&str; 7] = ["object", "array", "string", "integer", "number", "boolean", "null"];

/// The type that a keyword says something about.
pub(super) fn kind_of_keyword(key: &str) -> Option<&'static str> {
    match key {
        "properties"
        | "required"
        | "additionalProperties"
        | "patternProperties"
        | "propertyNames"
        | "minProperties"
        | "maxProperties"
        | "unevaluatedProperties"
        | "dependentSchemas"
        | "dependentRequired" => Some("object"),
        "items" | "prefixItems" | "contains" | "minContains" | "maxContains" | "minItems" | "maxItems"
        | "uniqueItems" | "unevaluatedItems" => Some("array"),
        "pattern" | "minLength" | "maxLength" | "contentSchema" => Some("string"),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => Some("number"),
        _ => None,
    }
}

/// Whether a schema allows nothing but null.
pub(super) fn is_null(schema: &Value) -> bool {
    let kind = if schema.is_string() { Some(schema) } else { schema.get("type") };
    kind.is_some_and(|kind| stated(kind) == (Vec::new(), true))
}

/// `[X, "null"]` becomes X and nullable, several types a choice among them. A choice that is already there says more.
pub(super) fn one_kind(node: &mut Node) {
    let Some(kind) = node.get("type") else { return };
    let (kinds, null) = stated(kind);
    match kinds[..] {
        [] if null => drop(node.insert("type".into(), "null".into())),
        [] => drop(node.shift_remove("type")),
        [kind] => drop(node.insert("type".into(), kind.into())),
        _ => {
            node.shift_remove("type");
            if !node.contains_key("anyOf") {
                spread(node, &kinds);
            }
        }
    }
    if null && !kinds.is_empty() {
        node.insert("nullable".into(), true.into());
    }
}

/// The types a `type` keyword names, each once, and whether null is among them.
fn stated(kind: &Value) -> (Vec<&'static str>, bool) {
    let named = |kind: &Value| KINDS.into_iter().find(|known| kind == known);
    let mut kinds = Vec::new();
    for kind in kind.as_array().map_or(std::slice::from_ref(kind), Vec::as_slice).iter().filter_map(named) {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let null = kinds.contains(&"null");
    kinds.retain(|kind| *kind != "null");
    (kinds, null)
}

/// One branch per type. What speaks about one of them moves into its branch.
fn spread(node: &mut Node, kinds: &[&'static str]) {
    let mut branches: Vec<Value> = kinds.iter().map(|kind| json!({"type": kind})).collect();
    node.retain(|key, value| {
        let owner = kind_of_keyword(key);
        let fits = |kind: &&str| Some(*kind) == owner || (*kind == "integer" && owner == Some("number"));
        match kinds.iter().position(fits).and_then(|at| branches.get_mut(at)) {
            Some(Value::Object(branch)) => drop(branch.insert(key.clone(), value.take())),
            _ => return true,
        }
        false
    });
    node.insert("anyOf".into(), branches.into());
}
