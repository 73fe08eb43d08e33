//! What is promised for every provider, held against random schemas and random JSON.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{Provider, adapt, gemini};

/// What stands at a place of a document.
#[derive(Clone, Copy)]
enum Place {
    Schema,
    List,
    Map,
}

/// Every schema of a document that is an object, with the property names that lead to it. Written apart from the walk that
/// the rules use, so that one does not excuse the other.
fn schemas<'a>(value: &'a Value, place: Place, path: &str, found: &mut Vec<(String, &'a Map<String, Value>)>) {
    match (place, value) {
        (Place::Schema, Value::Object(node)) => {
            found.push((path.to_owned(), node));
            for (key, value) in node {
                match key.as_str() {
                    "properties" => {
                        for (name, value) in value.as_object().into_iter().flatten() {
                            schemas(value, Place::Schema, &format!("{path}/{name}"), found);
                        }
                    }
                    "$defs" | "definitions" | "patternProperties" | "dependentSchemas" => {
                        schemas(value, Place::Map, "?", found);
                    }
                    "anyOf" | "oneOf" | "allOf" | "prefixItems" => schemas(value, Place::List, path, found),
                    "items" => schemas(value, Place::Schema, path, found),
                    "not"
                    | "if"
                    | "then"
                    | "else"
                    | "contains"
                    | "propertyNames"
                    | "additionalProperties"
                    | "unevaluatedItems"
                    | "unevaluatedProperties"
                    | "contentSchema" => {
                        schemas(value, Place::Schema, "?", found);
                    }
                    _ => {}
                }
            }
        }
        (Place::List, Value::Array(list)) => list.iter().for_each(|item| schemas(item, Place::Schema, path, found)),
        (Place::Map, Value::Object(map)) => map.values().for_each(|item| schemas(item, Place::Schema, path, found)),
        _ => {}
    }
}

/// Properties that the schema itself has, not by a choice or a reference.
fn own_names(schema: &Value, path: &str, found: &mut BTreeSet<String>) {
    for (name, schema) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let path = format!("{path}/{name}");
        own_names(schema, &path, found);
        found.insert(path);
    }
    if let Some(items) = schema.get("items") {
        own_names(items, path, found);
    }
}

/// Everything that is promised for any schema and any provider.
fn check_promises(schema: &Value) -> Result<(), TestCaseError> {
    let mut names = BTreeSet::new();
    own_names(schema, "", &mut names);
    for provider in Provider::ALL {
        let adapted = adapt(schema, provider);
        prop_assert_eq!(adapt(&adapted, provider).to_string(), adapted.to_string(), "{:?} is not idempotent", provider);
        prop_assert_eq!(&adapted["type"], "object");
        prop_assert!(adapted["properties"].is_object());
        let mut nodes = Vec::new();
        schemas(&adapted, Place::Schema, "", &mut nodes);
        let mut left = BTreeSet::new();
        for (path, node) in nodes {
            check_node(provider, node, &adapted)?;
            let properties = node.get("properties").and_then(Value::as_object).into_iter().flatten();
            left.extend(properties.map(|(name, _)| format!("{path}/{name}")));
        }
        prop_assert!(names.is_subset(&left), "{provider:?} lost one of {names:?} in {adapted}");
    }
    Ok(())
}

fn check_node(provider: Provider, node: &Map<String, Value>, root: &Value) -> Result<(), TestCaseError> {
    let has = |key: &str| node.contains_key(key);
    for name in node.get("required").and_then(Value::as_array).into_iter().flatten() {
        prop_assert!(node["properties"].get(name.as_str().unwrap()).is_some(), "{node:?}");
    }
    prop_assert!(!has("type") || node["type"].is_string());
    prop_assert!(!has("definitions"));
    if let Some(target) = node.get("$ref") {
        let target = target.as_str().unwrap();
        prop_assert!(target.starts_with("#/$defs/") && root.pointer(&target[1..]).is_some());
        prop_assert!(!has("default"));
    }
    let choices = node.get("enum").map(|choices| choices.as_array().unwrap().as_slice()).unwrap_or_default();
    match provider {
        Provider::Standard => {}
        Provider::Gemini => {
            prop_assert!(node.keys().all(|key| gemini::KEYWORDS.contains(&key.as_str())), "{node:?}");
            prop_assert!(choices.iter().all(Value::is_string));
        }
        Provider::Moonshot => {
            prop_assert!(has("type") != has("anyOf"), "{node:?}");
            prop_assert!(!has("nullable") && !has("$ref") && !has("oneOf") && !has("allOf"));
            prop_assert!(choices.iter().all(|choice| !choice.is_null() && choice != ""));
            prop_assert!(node.get("type") != Some(&json!("object")) || node["required"].is_array());
        }
        Provider::Xai => prop_assert!(!choices.iter().any(|choice| choice.as_str().unwrap_or("").contains('/'))),
        Provider::LlamaCpp => prop_assert!(!has("pattern") && !has("format")),
    }
    Ok(())
}

/// Names that are also keywords, and some that are not.
fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["type", "enum", "pattern", "required", "default", "$ref", "properties", "a", "b/c", "ä"])
        .prop_map(str::to_owned)
}

fn reference() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![
        "#",
        "#/$defs/a",
        "#/definitions/a",
        "#/$defs/type",
        "#/properties/a",
        "#/$defs/a/items",
        "#/nowhere",
        "http://x",
    ])
    .prop_map(Value::from)
}

fn plain_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!(null)),
        Just(json!("")),
        Just(json!("a/b")),
        Just(json!("text")),
        Just(json!(5)),
        Just(json!({"pattern": "x", "enum": ["a/b", 1], "required": ["nothing"]})),
    ]
}

fn kind() -> impl Strategy<Value = Value> {
    let kind = prop::sample::select(vec!["object", "array", "string", "integer", "number", "boolean", "null", "any"]);
    prop_oneof![kind.clone().prop_map(Value::from), prop::collection::vec(kind, 0..4).prop_map(Value::from),]
}

/// Random schemas, with what strangers write in them.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        3 => kind().prop_map(|kind| json!({"type": kind})),
        2 => reference().prop_map(|target| json!({"$ref": target, "default": 1, "description": "d"})),
        1 => kind(),
        1 => any::<bool>().prop_map(Value::from),
        1 => Just(json!({})),
    ];
    leaf.prop_recursive(5, 60, 4, |inner| {
        let list = prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from);
        let map = prop::collection::btree_map(name(), inner.clone(), 0..4)
            .prop_map(|map| Value::Object(map.into_iter().collect()));
        let values = prop::collection::vec(plain_value(), 0..3).prop_map(Value::from);
        let keyword = prop_oneof![
            3 => (prop::sample::select(vec!["anyOf", "oneOf", "allOf", "prefixItems"]), list),
            4 => (prop::sample::select(vec!["properties", "properties", "$defs", "definitions", "dependentSchemas"]), map),
            3 => (prop::sample::select(vec!["items", "not", "additionalProperties", "if", "contains"]), inner),
            2 => (Just("type"), kind()),
            1 => (Just("$ref"), reference()),
            1 => (prop::sample::select(vec!["default", "const", "nullable"]), plain_value()),
            1 => (prop::sample::select(vec!["enum", "examples"]), values),
            1 => (prop::sample::select(vec!["pattern", "format", "title", "description", "minimum"]), Just(json!("x"))),
            1 => (Just("required"), prop::collection::vec(name(), 0..4).prop_map(Value::from)),
        ];
        prop::collection::vec(keyword, 1..5)
            .prop_map(|keywords| keywords.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    })
}

/// Random JSON in which keywords stand anywhere.
fn anything() -> impl Strategy<Value = Value> {
    let key = prop_oneof![
        name(),
        prop::sample::select(vec![
            "anyOf",
            "oneOf",
            "allOf",
            "items",
            "$defs",
            "definitions",
            "not",
            "nullable",
            "const"
        ])
        .prop_map(str::to_owned)
    ];
    prop_oneof![plain_value(), kind(), reference()].prop_recursive(6, 80, 5, move |inner| {
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            3 => prop::collection::vec((key.clone(), inner), 0..5).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

proptest! {
    #[test]
    fn promises_hold_for_schemas(parameters in prop::collection::btree_map(name(), schema(), 0..4), mut root in schema()) {
        if let Value::Object(root) = &mut root {
            root.insert("properties".into(), Value::Object(parameters.into_iter().collect()));
        }
        check_promises(&root)?;
    }

    #[test]
    fn promises_hold_for_anything(value in anything()) {
        check_promises(&value)?;
    }
}
