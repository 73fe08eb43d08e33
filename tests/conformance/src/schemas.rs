//! Tools whose schemas are written by hand: keywords that the SDK has no words for must reach the client as they are.

use hermes_tool::{Arguments, Result, Schema, tool};
use serde::Deserialize;

/// Somebody with an address, who can be reached by telephone or by mail.
#[derive(Deserialize)]
pub(crate) struct Contact {
    #[serde(default)]
    name: String,
}

impl Arguments for Contact {}

impl Schema for Contact {
    fn keywords(out: &mut String) {
        out.push_str(
            r##""$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {
                "address": {
                    "$anchor": "addressDef",
                    "type": "object",
                    "properties": {"street": {"type": "string"}, "city": {"type": "string"}}
                }
            },
            "properties": {
                "name": {"type": "string"},
                "address": {"$ref": "#/$defs/address"},
                "contactMethod": {"type": "string", "enum": ["phone", "email"]},
                "phone": {"type": "string"},
                "email": {"type": "string"}
            },
            "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
            "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
            "then": {"required": ["phone"]},
            "else": {"required": ["email"]},
            "additionalProperties": false"##,
        );
    }
}

/// Tool with JSON Schema 2020-12 features
#[tool(read_only)]
pub(crate) fn json_schema_2020_12_tool(args: Contact) -> Result<String> {
    Ok(format!("{} can be reached.", args.name))
}

/// Something that the client names in a header of its request too.
#[derive(Deserialize)]
pub(crate) struct Routed {
    region: String,
}

impl Arguments for Routed {}

impl Schema for Routed {
    fn keywords(out: &mut String) {
        out.push_str(
            r#""type": "object",
            "properties": {"region": {"type": "string", "description": "Where to go.", "x-mcp-header": "Region"}},
            "required": ["region"]"#,
        );
    }
}

/// Answers with its argument, which a client of HTTP sends as a header too.
#[tool(read_only)]
pub(crate) fn test_custom_header(args: Routed) -> Result<String> {
    Ok(format!("Went to {}.", args.region))
}
