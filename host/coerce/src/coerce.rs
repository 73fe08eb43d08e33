//! Models send `"5"` for 5 and `"[1]"` for [1]. A value whose type the schema does not allow is turned into one that it does,
//! where that loses nothing; everything else is left for validation to report.

use serde_json::{Map, Value};

use crate::{contained::parse_contained, effort::Effort, numeral};

/// How many references are followed for one value. Schemas that refer to themselves were refused when they were registered, so
/// this and all recursion here ends.
const REFERENCES: usize = 8;

/// How many branches of a choice are tried: each is tried on a copy of the value.
const BRANCHES: usize = 16;

/// The value in a form the schema allows, if there is one.
pub fn coerce(value: Value, schema: &Value) -> Value {
    to_schema(value, schema, schema)
}

fn to_schema(value: Value, schema: &Value, root: &Value) -> Value {
    // Nearly every value is what a simple schema asks for, and every call comes by here.
    if only_type(schema).is_some_and(|kind| is_of(&value, kind)) {
        return inside(value, schema, root);
    }
    // What is left as it is will be refused: where there is no time left, nothing is said of it anyway.
    if Effort::is_spent() {
        return value;
    }
    let schema = resolve(schema, root);
    if says_null(&value) && allows_null(schema, root) {
        return Value::Null;
    }
    let all = schema.get("allOf").and_then(Value::as_array).into_iter().flatten();
    let value = all.fold(value, |value, part| to_schema(value, part, root));
    let choices = ["anyOf", "oneOf"].iter().filter_map(|key| schema.get(*key)?.as_array());
    let value = choices.fold(value, |value, branches| to_branch(value, branches, root));
    let types = types(schema);
    if let Some(changed) = retype(&value, types.clone()) {
        return inside(changed, schema, root);
    }
    if allows(types, &value) {
        return inside(value, schema, root);
    }
    value
}

/// The one type of a schema that leaves no choice. Its few words are looked at in turn: hashing each would take longer.
fn only_type(schema: &Value) -> Option<&str> {
    let mut kind = None;
    for (word, value) in schema.as_object()? {
        match word.as_str() {
            "type" => kind = value.as_str(),
            "$ref" | "allOf" | "anyOf" | "oneOf" | "nullable" => return None,
            _ => {}
        }
    }
    kind
}

/// Into the branch that the value is meant for: one that it fits as it is, else the first that it can be turned into. A list or
/// an object in a string is read where a branch wants one, also beside a branch for strings.
fn to_branch(value: Value, branches: &[Value], root: &Value) -> Value {
    let branches: Vec<&Value> = branches.iter().take(BRANCHES).collect();
    let value = match contained(&value) {
        Some(inner) if branches.iter().any(|branch| fits(&inner, branch, root)) => inner,
        _ => value,
    };
    if let Some(branch) = branches.iter().find(|branch| fits(&value, branch, root)) {
        return to_schema(value, branch, root);
    }
    let mut tries = branches.iter().map(|branch| to_schema(value.clone(), branch, root));
    let changed = tries.find(|changed| *changed != value);
    changed.unwrap_or(value)
}

/// The list or object that a string holds.
fn contained(value: &Value) -> Option<Value> {
    let text = value.as_str()?.trim();
    let opens = text.starts_with(['[', '{']);
    opens.then(|| parse_contained(text)).flatten()
}

/// Whether a value is meant for a branch: it has the branch's type and is one of its values, and, being an object, has the members
/// that the branch requires, with the values that tell branches apart.
fn fits(value: &Value, branch: &Value, root: &Value) -> bool {
    let branch = resolve(branch, root);
    let typed = allows(types(branch), value);
    let listed = branch.get("enum").and_then(Value::as_array).is_none_or(|values| values.contains(value));
    let constant = branch.get("const").is_none_or(|constant| constant == value);
    let parts = |key: &str| branch.get(key).and_then(Value::as_array);
    let all = parts("allOf").is_none_or(|parts| parts.iter().all(|part| fits(value, part, root)));
    let any = |key: &str| parts(key).is_none_or(|parts| parts.iter().any(|part| fits(value, part, root)));
    if !(typed && listed && constant && all && any("anyOf") && any("oneOf")) {
        return false;
    }
    let Some(members) = value.as_object() else { return true };
    let required = parts("required").into_iter().flatten();
    let has_required = required.filter_map(Value::as_str).all(|name| members.contains_key(name));
    let properties = branch.get("properties").and_then(Value::as_object).into_iter().flatten();
    let mut tags = properties.filter_map(|(name, schema)| Some((members.get(name)?, schema.get("const")?)));
    has_required && tags.all(|(member, constant)| member == constant)
}

/// Containers are followed into.
fn inside(value: Value, schema: &Value, root: &Value) -> Value {
    match value {
        Value::Object(mut members) => {
            let properties = schema.get("properties").and_then(Value::as_object);
            if let Some(properties) = properties {
                members.retain(|name, member| !(member.is_null() && means_absent(name, properties, schema, root)));
            }
            for (name, member) in &mut members {
                let named = properties.and_then(|properties| properties.get(name));
                if let Some(schema) = named.or_else(|| schema.get("additionalProperties")) {
                    *member = to_schema(member.take(), schema, root);
                }
            }
            Value::Object(members)
        }
        Value::Array(items) => {
            let first = schema.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            let others = schema.get("items");
            let follow = |(at, item): (usize, Value)| match first.get(at).or(others) {
                Some(schema) => to_schema(item, schema, root),
                None => item,
            };
            items.into_iter().enumerate().map(follow).collect()
        }
        scalar => scalar,
    }
}

/// Models write `null` for an argument they leave out. Where it may be left out and can't be null, that is what it means.
fn means_absent(name: &str, properties: &Map<String, Value>, schema: &Value, root: &Value) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = required.is_some_and(|names| names.iter().any(|required| required == name));
    let property = properties.get(name).map(|property| resolve(property, root));
    let is_typed = property.is_some_and(|property| types(property).next().is_some());
    !is_required && is_typed && !property.is_some_and(|property| allows_null(property, root))
}

/// Whether a value is the word null in a string.
fn says_null(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.trim().eq_ignore_ascii_case("null"))
}

/// Whether null is allowed, by a type, by `nullable`, or by a branch.
fn allows_null(schema: &Value, root: &Value) -> bool {
    let branches = ["anyOf", "oneOf"].iter().filter_map(|key| schema.get(*key)?.as_array()).flatten();
    schema.get("nullable") == Some(&Value::Bool(true))
        || types(schema).any(|kind| kind == "null")
        || branches.into_iter().any(|branch| types(resolve(branch, root)).any(|kind| kind == "null"))
}

/// The value as the first of the types that it can be turned into. A string is also turned where a string is allowed beside the
/// type: a model that quotes a number means the number. It is only wrapped into a list where no string is allowed.
fn retype<'a>(value: &Value, mut types: impl Iterator<Item = &'a str> + Clone) -> Option<Value> {
    let Value::String(text) = value else {
        return if types.clone().any(|kind| is_of(value, kind)) { None } else { retype_other(value, types) };
    };
    let text = text.trim();
    let mut all = types.clone();
    types.find_map(|kind| match kind {
        "boolean" if text.eq_ignore_ascii_case("true") => Some(true.into()),
        "boolean" if text.eq_ignore_ascii_case("false") => Some(false.into()),
        "integer" => numeral::integer(text).map(Value::Number),
        "number" => numeral::number(text).map(Value::Number),
        "object" => parse_contained(text).filter(Value::is_object),
        "array" => {
            let wrapped = || (!all.any(|kind| kind == "string")).then(|| vec![value.clone()].into());
            parse_contained(text).filter(Value::is_array).or_else(wrapped)
        }
        _ => None,
    })
}

fn retype_other<'a>(value: &Value, mut types: impl Iterator<Item = &'a str>) -> Option<Value> {
    types.find_map(|kind| match kind {
        "integer" => value.as_number().and_then(|number| numeral::integer(number.as_str())).map(Value::Number),
        "array" if !value.is_null() => Some(vec![value.clone()].into()),
        _ => None,
    })
}

/// The types that a schema names; none where it allows all.
fn types(schema: &Value) -> impl Iterator<Item = &str> + Clone {
    let kinds = match schema.get("type") {
        Some(kind @ Value::String(_)) => std::slice::from_ref(kind),
        Some(Value::Array(kinds)) => kinds,
        _ => &[],
    };
    kinds.iter().filter_map(Value::as_str)
}

/// Whether a value has one of these types, or there are none to have.
fn allows<'a>(types: impl Iterator<Item = &'a str> + Clone, value: &Value) -> bool {
    types.clone().next().is_none() || types.clone().any(|kind| is_of(value, kind))
}

fn is_of(value: &Value, kind: &str) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.as_number().is_some_and(|n| n.as_str().bytes().all(|b| b.is_ascii_digit() || b == b'-')),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}

/// Follows `$ref` within the document.
fn resolve<'a>(mut schema: &'a Value, root: &'a Value) -> &'a Value {
    for _ in 0..REFERENCES {
        let target = schema.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'));
        match target.and_then(|pointer| root.pointer(pointer)) {
            Some(target) => schema = target,
            None => break,
        }
    }
    schema
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn one(schema: Value, value: Value) -> Value {
        let schema = json!({"type": "object", "properties": {"a": schema}});
        coerce(json!({"a": value}), &schema)["a"].take()
    }

    #[test]
    fn strings_become_what_the_schema_asks_for() {
        assert_eq!(one(json!({"type": "integer"}), json!(" 42 ")), json!(42));
        assert_eq!(one(json!({"type": "integer"}), json!("3.0")), json!(3));
        assert_eq!(one(json!({"type": "integer"}), json!("3.5")), json!("3.5"));
        assert_eq!(one(json!({"type": "number"}), json!("1e3")).as_f64(), Some(1000.0));
        assert_eq!(one(json!({"type": "number"}), json!("nan")), json!("nan"));
        assert_eq!(one(json!({"type": "boolean"}), json!("True")), json!(true));
        assert_eq!(one(json!({"type": "boolean"}), json!("yes")), json!("yes"));
        assert_eq!(one(json!({"type": "array"}), json!("[1,2]")), json!([1, 2]));
        assert_eq!(one(json!({"type": "array"}), json!("x")), json!(["x"]));
        assert_eq!(one(json!({"type": ["array", "null"]}), json!(null)), json!(null));
        assert_eq!(one(json!({"type": "object"}), json!("{\"b\":1}")), json!({"b": 1}));
        assert_eq!(one(json!({"type": ["integer", "null"]}), json!("null")), json!(null));
        assert_eq!(one(json!({"type": "string"}), json!("5")), json!("5"));
        assert_eq!(one(json!({"type": ["string", "integer"]}), json!("5")), json!(5));
        assert_eq!(one(json!({"type": ["string", "integer"]}), json!("five")), json!("five"));
        assert_eq!(one(json!({"type": ["string", "array"]}), json!("x")), json!("x"));
        assert_eq!(one(json!({"type": ["string", "array"]}), json!("[1]")), json!([1]));
        assert_eq!(one(json!({"type": "array"}), json!("['a','b']")), json!(["['a','b']"]));
        assert_eq!(one(json!({"type": "array"}), json!({"b": 1})), json!([{"b": 1}]));
        assert_eq!(one(json!({"type": "array"}), json!(7)), json!([7]));
        assert_eq!(one(json!({"type": "integer"}), json!("1_000")), json!(1000));
        assert_eq!(one(json!({"type": "integer"}), json!("1e3")), json!(1000));
        assert_eq!(one(json!({"type": "integer"}), json!("inf")), json!("inf"));
        assert_eq!(one(json!({"type": "object"}), json!("[1]")), json!("[1]"));
    }

    #[test]
    fn null_for_an_optional_argument_means_that_it_is_absent() {
        let schema = json!({"properties": {"a": {"type": "string"}, "b": {"type": ["string", "null"]}, "c": {"type": "string"}}, "required": ["c"]});
        assert_eq!(coerce(json!({"a": null, "b": null, "c": null}), &schema), json!({"b": null, "c": null}));
    }

    #[test]
    fn the_word_null_is_null_wherever_null_is_allowed() {
        for schema in [
            json!({"type": "null"}),
            json!({"type": ["string", "null"]}),
            json!({"type": "string", "nullable": true}),
            json!({"nullable": true}),
            json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
            json!({"oneOf": [{"type": "null"}, {"type": "integer"}]}),
            json!({"type": ["array", "null"]}),
        ] {
            assert_eq!(one(schema.clone(), json!(" NULL ")), json!(null), "{schema}");
        }
        assert_eq!(one(json!({"type": "string"}), json!("null")), json!("null"));
        assert_eq!(one(json!({}), json!("null")), json!("null"));
    }

    #[test]
    fn big_integers_keep_every_digit() {
        let big = "123456789012345678901234567890";
        assert_eq!(one(json!({"type": "integer"}), json!(big)).to_string(), big);
    }

    #[test]
    fn nested_values_branches_and_references_follow_their_schema() {
        let list = json!({"type": "array", "items": {"type": "integer"}});
        assert_eq!(one(list, json!("[\"1\", 2]")), json!([1, 2]));
        let either = json!({"anyOf": [{"type": "integer"}, {"type": "null"}]});
        assert_eq!(one(either.clone(), json!("7")), json!(7));
        assert_eq!(one(either, json!("null")), json!(null));
        let one_of_two = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "anyOf": [{"required": ["n"]}, {"required": ["m"]}]});
        assert_eq!(one(one_of_two, json!({"n": "5"})), json!({"n": 5}));
        let tagged = json!({"anyOf": [
            {"type": "object", "properties": {"kind": {"const": "a"}, "n": {"type": "array", "items": {"type": "boolean"}}}},
            {"type": "object", "properties": {"kind": {"const": "b"}, "n": {"type": "integer"}}},
        ]});
        assert_eq!(one(tagged, json!({"kind": "b", "n": "5"})), json!({"kind": "b", "n": 5}));
        let listed = json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "integer"}}]});
        assert_eq!(one(listed.clone(), json!("[\"1\"]")), json!([1]));
        assert_eq!(one(listed, json!("plain")), json!("plain"));
        let word = json!({"anyOf": [{"enum": ["1"]}, {"type": "integer"}]});
        assert_eq!(one(word, json!("1")), json!("1"));
        let both = json!({"allOf": [{"type": "array"}, {"items": {"type": "boolean"}}]});
        assert_eq!(one(both, json!("[\"true\"]")), json!([true]));
        let map = json!({"type": "object", "additionalProperties": {"type": "integer"}});
        assert_eq!(one(map, json!({"x": "1"})), json!({"x": 1}));
        let pair = json!({"type": "array", "prefixItems": [{"type": "integer"}], "items": {"type": "boolean"}});
        assert_eq!(one(pair, json!(["1", "true"])), json!([1, true]));
        let deep = json!({"type": "object", "properties": {"l": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "number"}}}}}});
        assert_eq!(one(deep, json!({"l": "[{\"n\": \"2.5\"}]"})).to_string(), r#"{"l":[{"n":2.5}]}"#);
        let schema = json!({"$defs": {"n": {"type": "integer"}}, "properties": {"a": {"$ref": "#/$defs/n"}}});
        assert_eq!(coerce(json!({"a": "7"}), &schema), json!({"a": 7}));
        let looping = json!({"properties": {"a": {"$ref": "#/properties/a"}}});
        assert_eq!(coerce(json!({"a": "7"}), &looping), json!({"a": "7"}));
    }

    /// Schemas of every shape that coercion looks at.
    fn schema() -> impl Strategy<Value = Value> {
        const KINDS: [&str; 7] = ["string", "integer", "number", "boolean", "array", "object", "null"];
        let leaf = prop_oneof![
            prop::sample::select(&KINDS[..]).prop_map(|kind| json!({"type": kind})),
            prop::sample::subsequence(KINDS.to_vec(), 1..4).prop_map(|kinds| json!({"type": kinds})),
            Just(json!({})),
            Just(json!({"type": "string", "nullable": true})),
        ];
        leaf.prop_recursive(3, 20, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 1..4).prop_map(|all| json!({"anyOf": all})),
                prop::collection::vec(inner.clone(), 1..3).prop_map(|all| json!({"allOf": all})),
                inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
                (inner.clone(), inner).prop_map(|(a, b)| {
                    json!({"type": "object", "properties": {"a": a}, "additionalProperties": b, "required": ["a"]})
                }),
            ]
        })
    }

    /// Values as models write them, with JSON in strings.
    fn value() -> impl Strategy<Value = Value> {
        const TEXT: [&str; 11] =
            ["", "5", " -7.0 ", "1e3", "true", "NULL", "[1,\"2\"]", "{\"a\":\"3\"}", "word", "nan", "1e400"];
        let leaf = prop_oneof![
            prop::sample::select(&TEXT[..]).prop_map(|text| json!(text)),
            any::<i64>().prop_map(|n| json!(n)),
            any::<bool>().prop_map(|b| json!(b)),
            Just(Value::Null),
        ];
        leaf.prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                (inner.clone(), inner).prop_map(|(a, b)| json!({"a": a, "b": b})),
            ]
        })
    }

    proptest! {
        #[test]
        fn coercing_twice_changes_nothing_more(schema in schema(), value in value()) {
            let once = one(schema.clone(), value);
            prop_assert_eq!(one(schema, once.clone()), once);
        }

        #[test]
        fn coercion_never_breaks_a_value_without_strings(schema in schema(), number in any::<i64>(), flag in any::<bool>()) {
            for value in [json!(number), json!(flag), json!({"a": number}), json!([flag])] {
                let wrapped = json!({"type": "object", "properties": {"a": schema}});
                let validator = jsonschema::validator_for(&wrapped).unwrap();
                let before = json!({"a": value});
                if validator.is_valid(&before) {
                    prop_assert!(validator.is_valid(&coerce(before.clone(), &wrapped)), "{} {}", before, schema);
                }
            }
        }

        #[test]
        fn a_value_that_fits_is_never_changed(text in "\\PC{0,20}", number in any::<i64>(), flag in any::<bool>()) {
            for (kind, value) in [("string", json!(text)), ("integer", json!(number)), ("boolean", json!(flag))] {
                prop_assert_eq!(one(json!({"type": kind}), value.clone()), value);
            }
        }

        #[test]
        fn an_integer_in_a_string_is_read_back_exactly(number in any::<i128>()) {
            prop_assert_eq!(one(json!({"type": "integer"}), json!(number.to_string())).to_string(), number.to_string());
        }
    }
}
