//! Models send `"5"` for 5 and `"[1]"` for [1]. A value whose type the schema does not allow is turned into one that it does,
//! where that loses nothing; everything else is left for validation to report.

use serde_json::{Map, Number, Value};

/// How many references are followed for one value. Schemas that refer to themselves were refused when they were registered, so
/// this and all recursion here ends.
const REFERENCES: usize = 8;

/// How many branches of a choice are tried: each is tried on a copy of the value.
const BRANCHES: usize = 16;

/// The value in a form the schema allows, if there is one.
pub(super) fn coerce(value: Value, schema: &Value) -> Value {
    to_schema(value, schema, schema)
}

fn to_schema(value: Value, schema: &Value, root: &Value) -> Value {
    let schema = resolve(schema, root);
    let branches = ["anyOf", "oneOf"].iter().find_map(|key| schema.get(*key)?.as_array());
    if let Some(branches) = branches {
        return to_branch(value, branches, root);
    }
    let types = types(schema);
    if types.is_empty() || types.iter().any(|kind| is_of(&value, kind)) {
        return inside(value, schema, root);
    }
    match retype(&value, &types) {
        Some(changed) => inside(changed, schema, root),
        None => value,
    }
}

/// The first branch that already fits, else the first that the value can be turned into.
fn to_branch(value: Value, branches: &[Value], root: &Value) -> Value {
    let fits = |branch: &&Value| types(resolve(branch, root)).iter().any(|kind| is_of(&value, kind));
    if let Some(branch) = branches.iter().find(fits) {
        return to_schema(value, branch, root);
    }
    let mut tries = branches.iter().take(BRANCHES).map(|branch| to_schema(value.clone(), branch, root));
    let changed = tries.find(|changed| *changed != value);
    changed.unwrap_or(value)
}

/// Containers are followed into.
fn inside(value: Value, schema: &Value, root: &Value) -> Value {
    match value {
        Value::Object(mut members) => {
            if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
                members.retain(|name, member| !(member.is_null() && means_absent(name, properties, schema, root)));
                for (name, member) in &mut members {
                    if let Some(schema) = properties.get(name) {
                        *member = to_schema(member.take(), schema, root);
                    }
                }
            }
            Value::Object(members)
        }
        Value::Array(items) => match schema.get("items") {
            Some(schema) => items.into_iter().map(|item| to_schema(item, schema, root)).collect(),
            None => Value::Array(items),
        },
        scalar => scalar,
    }
}

/// Models write `null` for an argument they leave out. Where it may be left out and can't be null, that is what it means.
fn means_absent(name: &str, properties: &Map<String, Value>, schema: &Value, root: &Value) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = required.is_some_and(|names| names.iter().any(|required| required == name));
    let types = properties.get(name).map(|property| types(resolve(property, root))).unwrap_or_default();
    !is_required && !types.is_empty() && !types.contains(&"null")
}

fn retype(value: &Value, types: &[&str]) -> Option<Value> {
    let text = match value {
        Value::String(text) => Some(text.trim()),
        _ => None,
    };
    types.iter().find_map(|kind| match (*kind, text) {
        ("null", Some(text)) => text.eq_ignore_ascii_case("null").then_some(Value::Null),
        ("boolean", Some(text)) if text.eq_ignore_ascii_case("true") => Some(true.into()),
        ("boolean", Some(text)) if text.eq_ignore_ascii_case("false") => Some(false.into()),
        ("integer", Some(text)) => integer(text),
        ("integer", None) => value.as_number().and_then(|number| integer(number.as_str())),
        ("number", Some(text)) => text.parse::<Number>().ok().map(Value::Number),
        ("object", Some(text)) => serde_json::from_str(text).ok().filter(Value::is_object),
        ("array", Some(text)) => {
            serde_json::from_str(text).ok().filter(Value::is_array).or_else(|| Some(vec![value.clone()].into()))
        }
        ("array", None) if !value.is_null() => Some(vec![value.clone()].into()),
        _ => None,
    })
}

/// `"12"`, `"12.0"` and `12.0` are 12. Digits are kept as they are, so no size loses precision.
fn integer(text: &str) -> Option<Value> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = whole.strip_prefix('-').unwrap_or(whole);
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let integral = !fraction.is_empty() && fraction.bytes().all(|b| b == b'0');
    (plain && integral).then(|| whole.parse::<Number>().ok().map(Value::Number)).flatten()
}

fn types(schema: &Value) -> Vec<&str> {
    let mut types = match schema.get("type") {
        Some(Value::String(kind)) => vec![kind.as_str()],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if !types.is_empty() && schema.get("nullable") == Some(&Value::Bool(true)) {
        types.push("null");
    }
    types
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
        assert_eq!(one(json!({"type": ["string", "integer"]}), json!("5")), json!("5"));
    }

    #[test]
    fn null_for_an_optional_argument_means_that_it_is_absent() {
        let schema = json!({"properties": {"a": {"type": "string"}, "b": {"type": ["string", "null"]}, "c": {"type": "string"}}, "required": ["c"]});
        assert_eq!(coerce(json!({"a": null, "b": null, "c": null}), &schema), json!({"b": null, "c": null}));
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
        let schema = json!({"$defs": {"n": {"type": "integer"}}, "properties": {"a": {"$ref": "#/$defs/n"}}});
        assert_eq!(coerce(json!({"a": "7"}), &schema), json!({"a": 7}));
        let looping = json!({"properties": {"a": {"$ref": "#/properties/a"}}});
        assert_eq!(coerce(json!({"a": "7"}), &looping), json!({"a": "7"}));
    }

    proptest! {
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
