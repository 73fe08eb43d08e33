//! A form that a tool wants filled: flat, small, and of kinds that every client can show.

use jsonschema::Validator;
use serde_json::{Map, Value};

use crate::{
    sandbox::limits::KIB,
    text::{is_hidden, one_line, printable},
};

/// The largest form. A person fills in a few fields; what is larger is not for a person.
pub const FORM_BYTES: usize = 16 * KIB;

/// The most fields of a form, for the same reason.
pub const FORM_FIELDS: usize = 32;

/// Keywords that every field may have. What others a kind of field has is what MCP has for it, so whatever makes a field refer elsewhere
/// or nest is not among them.
const EVERY: &[&str] = &["type", "title", "description", "default"];

/// Formats of a text that MCP has.
const FORMATS: &[&str] = &["email", "uri", "date", "date-time"];

/// Keywords whose texts are for the person alone.
const TEXTS: &[&str] = &["title", "description"];

/// Bytes of a value that a complaint shows.
const SHOWN_BYTES: usize = 80;

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
        let mut schema: Value = serde_json::from_str(text).map_err(|why| format!("the form is no JSON: {why}"))?;
        clean(&mut schema)?;
        let top = schema.as_object().ok_or("the form is not a JSON object")?;
        known(top, TOP, "the form has")?;
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
            return Err(format!("there is no field {:?}", one_line(stranger, SHOWN_BYTES)));
        }
        let given = Value::Object(given.clone());
        self.validator.validate(&given).map_err(|why| match why.instance_path().as_str() {
            "" => why.to_string(),
            field => format!("{}: {why}", field.trim_start_matches('/')),
        })
    }
}

/// Texts for the person lose what hides, reorders or is obeyed. Names, choices and defaults are not changed, since the tool compares them:
/// there it is refused. serde_json reads no deeper than 128, so this ends.
fn clean(value: &mut Value) -> Result<(), String> {
    match value {
        Value::Object(members) => {
            for (key, member) in members.iter_mut() {
                is_plain(key)?;
                match member {
                    Value::String(text) if TEXTS.contains(&key.as_str()) => *text = printable(text),
                    _ => clean(member)?,
                }
            }
            Ok(())
        }
        Value::Array(items) => items.iter_mut().try_for_each(clean),
        Value::String(text) => is_plain(text),
        _ => Ok(()),
    }
}

fn is_plain(text: &str) -> Result<(), String> {
    match text.chars().any(is_hidden) {
        true => Err(format!("the form has hidden characters in {:?}", one_line(text, SHOWN_BYTES))),
        false => Ok(()),
    }
}

/// Whether a field is one that MCP has. What it has not would reach nobody, and the tool would be told that there is nobody.
fn is_flat(field: &Map<String, Value>) -> Result<(), String> {
    let has = |key: &str| field.contains_key(key);
    let (own, is_value): (&[&str], fn(&Value) -> bool) = match field.get("type").and_then(Value::as_str) {
        Some("string") if has("oneOf") => (&["oneOf"], Value::is_string),
        Some("string") if has("enum") => (&["enum", "enumNames"], Value::is_string),
        Some("string") => (&["minLength", "maxLength", "format"], Value::is_string),
        Some("number") => (&["minimum", "maximum"], is_double),
        Some("integer") => (&["minimum", "maximum"], Value::is_i64),
        Some("boolean") => (&[], Value::is_boolean),
        Some("array") if has("items") => (&["items", "minItems", "maxItems"], are_texts),
        _ => return Err("is neither a string, a number, an integer, a boolean nor a list of choices".into()),
    };
    known(field, &[EVERY, own].concat(), "has")?;
    for (key, value) in field {
        let fits = match key.as_str() {
            "title" | "description" => value.is_string(),
            "default" | "minimum" | "maximum" => is_value(value),
            "minLength" | "maxLength" => value.as_u64().is_some_and(|length| u32::try_from(length).is_ok()),
            "minItems" | "maxItems" => value.is_u64(),
            "format" => value.as_str().is_some_and(|format| FORMATS.contains(&format)),
            "enum" | "enumNames" => are_texts(value),
            "oneOf" => titled(value).map(|()| true)?,
            "items" => several(value).map(|()| true)?,
            _ => true,
        };
        if !fits {
            let value = one_line(&value.to_string(), SHOWN_BYTES);
            return Err(format!("has the {key} {value}, which no client could show"));
        }
    }
    Ok(())
}

/// Numbers come with as many digits as were written; MCP has those of a double.
fn is_double(value: &Value) -> bool {
    value.as_f64().is_some()
}

fn are_texts(value: &Value) -> bool {
    value.as_array().is_some_and(|items| items.iter().all(Value::is_string))
}

/// Choices of which several may be taken, with titles or without.
fn several(items: &Value) -> Result<(), String> {
    let items = items.as_object().ok_or("has items that are no JSON object")?;
    known(items, &["type", "enum", "anyOf"], "has items with")?;
    match (items.get("type").and_then(Value::as_str), items.get("enum"), items.get("anyOf")) {
        (Some("string"), Some(choices), None) if are_texts(choices) => Ok(()),
        (None | Some("string"), None, Some(choices)) => titled(choices),
        _ => Err("is a list of something else than choices".into()),
    }
}

/// Choices with titles: values and texts, and no schema that could refer to another or nest.
fn titled(choices: &Value) -> Result<(), String> {
    let choices = choices.as_array().ok_or("has choices that are no list")?;
    for choice in choices {
        let choice = choice.as_object().ok_or("has a choice that is no object")?;
        known(choice, &["const", "title"], "has a choice with")?;
        let is_text = |key: &str| choice.get(key).is_some_and(Value::is_string);
        if !(is_text("const") && is_text("title")) {
            return Err("has a choice whose const or title is no text".into());
        }
    }
    Ok(())
}

fn known(object: &Map<String, Value>, keywords: &[&str], what: &str) -> Result<(), String> {
    match object.keys().find(|key| !keywords.contains(&key.as_str())) {
        Some(key) => Err(format!("{what} the keyword {key:?}, which is not possible there")),
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
            (fields(json!({"a": {"type": "object", "properties": {}}})), "neither"),
            (fields(json!({"a": {"$ref": "https://example.com/x"}})), "neither"),
            (fields(json!({"a": {"type": "string", "$ref": "#"}})), "$ref"),
            (fields(json!({"a": {"type": "array", "items": {"type": "string"}}})), "choices"),
            (fields(json!({"a": {"type": "string", "oneOf": [{"$ref": "#/properties/a"}]}})), "$ref"),
            (fields(json!({"a": {"type": "array", "items": {"anyOf": [{"allOf": []}]}}})), "allOf"),
            (fields(json!({"a": {"type": "array", "items": {"enum": ["x"], "not": {}}}})), "not"),
            (fields(json!({"a": {"type": "string", "pattern": "(a+)+$"}})), "pattern"),
            (fields(json!({"a": {"type": "string", "minLength": "x"}})), "minLength"),
            (fields(json!({"a": {"type": "array"}})), "neither"),
            (json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": 1}).to_string(), "Schema"),
            (format!("{}{}", fields(json!({"a": {"type": "string"}})), " ".repeat(FORM_BYTES)), "limit"),
        ] {
            let why = Form::parse(&form).unwrap_err();
            assert!(why.contains(word), "{form}: {why}");
        }
    }

    /// A client shows them as they come. Nothing may look like another question than the one that is asked.
    #[test]
    fn nothing_in_a_form_hides_reorders_or_is_obeyed() {
        let form = |field: Value| json!({"type": "object", "properties": {"a": field}}).to_string();
        for hidden in ["\u{1b}[31m", "\u{202e}", "\u{200b}", "\u{7}", "\r"] {
            let text = format!("yes{hidden}no");
            for refused in [
                json!({"type": "object", "properties": {text.as_str(): {"type": "string"}}}).to_string(),
                json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": [text]}).to_string(),
                form(json!({"type": "string", "default": text})),
                form(json!({"type": "string", "enum": [text]})),
                form(json!({"type": "string", "enum": ["a"], "enumNames": [text]})),
                form(json!({"type": "string", "oneOf": [{"const": text, "title": "t"}]})),
                form(json!({"type": "array", "items": {"type": "string", "enum": [text]}})),
                form(json!({"type": "array", "items": {"anyOf": [{"const": text, "title": "t"}]}})),
            ] {
                assert!(Form::parse(&refused).unwrap_err().contains("hidden"), "{refused}");
            }
            let shown = json!({"type": "string", "title": text, "oneOf": [{"const": "a", "title": text}]});
            let shown = json!({"type": "object", "description": text, "properties": {"a": shown}});
            let schema = Form::parse(&shown.to_string()).unwrap().schema().to_string();
            assert!(schema.contains("yes") && !schema.chars().any(is_hidden), "{schema:?}");
            assert!(!schema.contains("\\u"), "{schema:?}");
        }
    }

    #[test]
    fn what_no_client_could_show_is_the_tools_mistake() {
        for (field, word) in [
            (json!({"type": "string", "format": "password"}), "password"),
            (json!({"type": "string", "maxLength": 4_294_967_296_u64}), "maxLength"),
            (json!({"type": "string", "minLength": 1.5}), "minLength"),
            (json!({"type": "string", "default": 7}), "default"),
            (json!({"type": "string", "minimum": 1}), "minimum"),
            (json!({"type": "string", "enum": [1, 2]}), "enum"),
            (json!({"type": "string", "enum": ["a"], "enumNames": [1]}), "enumNames"),
            (json!({"type": "string", "enum": ["a"], "format": "email"}), "format"),
            (json!({"type": "string", "oneOf": [{"const": "a"}]}), "title"),
            (json!({"type": "string", "oneOf": [{"const": 1, "title": "one"}]}), "const"),
            (json!({"type": "string", "oneOf": [{"const": "a", "title": "A"}], "default": 1}), "default"),
            (json!({"type": "integer", "minimum": 0.5}), "minimum"),
            (json!({"type": "integer", "maximum": u64::MAX}), "maximum"),
            (json!({"type": "integer", "default": "1"}), "default"),
            (json!({"type": "integer", "enum": [1, 2]}), "enum"),
            (json!({"type": "number", "default": "1"}), "default"),
            (json!({"type": "boolean", "default": "yes"}), "default"),
            (json!({"type": "array", "items": {"enum": ["a"]}}), "choices"),
            (json!({"type": "array", "items": {"type": "string", "enum": [1]}}), "choices"),
            (json!({"type": "array", "items": {"type": "string", "enum": ["a"]}, "default": "a"}), "default"),
            (json!({"type": "array", "items": {"type": "string", "enum": ["a"]}, "minItems": -1}), "minItems"),
        ] {
            let why = Form::parse(&json!({"type": "object", "properties": {"a": field}}).to_string()).unwrap_err();
            assert!(why.contains(word), "{field}: {why}");
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
