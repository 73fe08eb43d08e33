//! A form that a tool wants filled: flat, small, and of kinds that every client can show.

use jsonschema::Validator;
use serde_json::{Map, Value};

use crate::sandbox::limits::KIB;

/// The largest form. A person fills in a few fields; what is larger is not for a person.
pub const FORM_BYTES: usize = 16 * KIB;

/// The most fields of a form, for the same reason.
pub const FORM_FIELDS: usize = 32;

/// Keywords that a field may have. Whatever makes a field refer elsewhere or nest is not among them.
const KEYWORDS: &[&str] = &[
    "type",
    "title",
    "description",
    "default",
    "minLength",
    "maxLength",
    "format",
    "minimum",
    "maximum",
    "enum",
    "enumNames",
    "oneOf",
    "items",
    "minItems",
    "maxItems",
];

/// Keywords of the form itself.
const TOP: &[&str] = &["$schema", "type", "title", "description", "properties", "required"];

/// A form, and how to tell whether an answer fits it.
#[derive(Debug)]
pub struct Form {
    schema: Value,
    validator: Validator,
}

impl Form {
    /// Reads a form, or says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.len() > FORM_BYTES {
            return Err(format!("the form has {} bytes; the limit is {FORM_BYTES}", text.len()));
        }
        let schema: Value = serde_json::from_str(text).map_err(|why| format!("the form is no JSON: {why}"))?;
        let top = schema.as_object().ok_or("the form is not a JSON object")?;
        known(top, TOP, "the form")?;
        if top.get("type").and_then(Value::as_str) != Some("object") {
            return Err("the form's type is not \"object\"".into());
        }
        let fields = top.get("properties").and_then(Value::as_object).ok_or("the form has no properties")?;
        if fields.is_empty() || fields.len() > FORM_FIELDS {
            return Err(format!("the form has {} fields; 1 to {FORM_FIELDS} are possible", fields.len()));
        }
        for (name, field) in fields {
            let shape = field.as_object().ok_or_else(|| format!("the field {name:?} is not a JSON object"))?;
            is_flat(shape).map_err(|why| format!("the field {name:?} {why}"))?;
        }
        let validator =
            jsonschema::validator_for(&schema).map_err(|why| format!("the form is no JSON Schema: {why}"))?;
        Ok(Self { schema, validator })
    }

    /// Its JSON Schema.
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// Whether these are all fields that it wants, each of its kind, and no others.
    pub(super) fn fits(&self, given: &Map<String, Value>) -> Result<(), String> {
        let fields = self.schema.get("properties").and_then(Value::as_object);
        if let Some(stranger) = given.keys().find(|name| !fields.is_some_and(|fields| fields.contains_key(*name))) {
            return Err(format!("there is no field {:?}", crate::text::one_line(stranger, 80)));
        }
        let given = Value::Object(given.clone());
        self.validator.validate(&given).map_err(|why| match why.instance_path().as_str() {
            "" => why.to_string(),
            field => format!("{}: {why}", field.trim_start_matches('/')),
        })
    }
}

fn is_flat(field: &Map<String, Value>) -> Result<(), String> {
    known(field, KEYWORDS, "it")?;
    match field.get("type").and_then(Value::as_str) {
        Some("string" | "number" | "integer" | "boolean") => field.get("oneOf").map_or(Ok(()), titled),
        Some("array") => {
            let items = field.get("items").and_then(Value::as_object).ok_or("is a list without items")?;
            known(items, &["type", "enum", "anyOf"], "its items")?;
            match (items.get("enum"), items.get("anyOf")) {
                (Some(_), None) => Ok(()),
                (None, Some(choices)) => titled(choices),
                _ => Err("is a list of something else than choices".into()),
            }
        }
        _ => Err("is neither a string, a number, an integer, a boolean nor a list of choices".into()),
    }
}

/// Choices with titles: values and texts, and no schema that could refer to another or nest.
fn titled(choices: &Value) -> Result<(), String> {
    let choices = choices.as_array().ok_or("has choices that are no list")?;
    for choice in choices {
        let choice = choice.as_object().ok_or("has a choice that is no object")?;
        known(choice, &["const", "title"], "a choice")?;
    }
    Ok(())
}

fn known(object: &Map<String, Value>, keywords: &[&str], what: &str) -> Result<(), String> {
    match object.keys().find(|key| !keywords.contains(&key.as_str())) {
        Some(key) => Err(format!("{what} has the keyword {key:?}, which no form has")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_flat_form_is_read_and_what_nests_refers_or_swells_is_not() {
        let fields = |fields: Value| json!({"type": "object", "properties": fields}).to_string();
        assert!(Form::parse(&fields(json!({"name": {"type": "string", "minLength": 1}}))).is_ok());
        let colours = json!({"type": "array", "items": {"type": "string", "enum": ["red", "blue"]}});
        assert!(Form::parse(&fields(json!({"colours": colours}))).is_ok());
        let many: Map<String, Value> = (0..=FORM_FIELDS).map(|n| (n.to_string(), json!({"type": "boolean"}))).collect();
        for (form, word) in [
            (String::new(), "no JSON"),
            ("[]".into(), "not a JSON object"),
            (json!({"type": "array"}).to_string(), "type"),
            (json!({"type": "object"}).to_string(), "no properties"),
            (fields(json!({})), "0 fields"),
            (fields(Value::Object(many)), "33 fields"),
            (fields(json!({"a": {"type": "object", "properties": {}}})), "\"properties\""),
            (fields(json!({"a": {"$ref": "https://example.com/x"}})), "$ref"),
            (fields(json!({"a": {"type": "array", "items": {"type": "string"}}})), "choices"),
            (fields(json!({"a": {"type": "string", "oneOf": [{"$ref": "#/properties/a"}]}})), "$ref"),
            (fields(json!({"a": {"type": "array", "items": {"anyOf": [{"allOf": []}]}}})), "allOf"),
            (fields(json!({"a": {"type": "array", "items": {"enum": ["x"], "not": {}}}})), "not"),
            (fields(json!({"a": {"type": "string", "pattern": "(a+)+$"}})), "pattern"),
            (fields(json!({"a": {"type": "string", "minLength": "x"}})), "no JSON Schema"),
            (format!("{}{}", fields(json!({"a": {"type": "string"}})), " ".repeat(FORM_BYTES)), "limit"),
        ] {
            let why = Form::parse(&form).unwrap_err();
            assert!(why.contains(word), "{form}: {why}");
        }
    }

    #[test]
    fn an_answer_fits_if_it_has_all_that_is_wanted_and_nothing_else() {
        let form =
            json!({"type": "object", "properties": {"age": {"type": "integer", "minimum": 0}}, "required": ["age"]});
        let form = Form::parse(&form.to_string()).unwrap();
        let fits = |given: Value| form.fits(given.as_object().unwrap());
        assert_eq!(fits(json!({"age": 3})), Ok(()));
        assert!(fits(json!({"age": -1})).unwrap_err().starts_with("age: "));
        assert!(fits(json!({"age": 3, "admin": true})).unwrap_err().contains("admin"));
        assert!(fits(json!({})).unwrap_err().contains("age"));
    }
}
