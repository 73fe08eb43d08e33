//! Tools that put a form before the person at the other end, with fields of every kind.

use hermes_tool::{
    NoArgs, Result, args,
    ask::{Answer, ask},
    log, tool,
};

/// What the suite wants to be asked for.
const USER: &str = r#"{
    "type": "object",
    "properties": {
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"}
    },
    "required": ["username", "email"]
}"#;

/// A default for every kind of field.
const DEFAULTS: &str = r#"{
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": true}
    }
}"#;

/// The five ways to write a choice: one of several or several of them, with titles or without, and titles the old way.
const CHOICES: &str = r#"{
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
        "titledSingle": {"type": "string", "oneOf": [
            {"const": "value1", "title": "First Option"},
            {"const": "value2", "title": "Second Option"},
            {"const": "value3", "title": "Third Option"}
        ]},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"]
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
        "titledMulti": {"type": "array", "items": {"anyOf": [
            {"const": "value1", "title": "First Choice"},
            {"const": "value2", "title": "Second Choice"},
            {"const": "value3", "title": "Third Choice"}
        ]}}
    }
}"#;

/// A yes or a no.
pub(crate) const CONFIRM: &str = r#"{"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}"#;

#[args]
pub(crate) struct Question {
    /// The message to show the user.
    message: String,
}

/// Asks for a name and an address.
#[tool]
pub(crate) fn test_elicitation(args: Question) -> Result<String> {
    Ok(format!("User response: {}", said(&ask("user", &args.message, USER)?)))
}

/// Asks with a form that is filled in already.
#[tool]
pub(crate) fn test_elicitation_sep1034_defaults(_: NoArgs) -> Result<String> {
    completed("defaults", "Please check what is filled in", DEFAULTS)
}

/// Asks with a form full of choices.
#[tool]
pub(crate) fn test_elicitation_sep1330_enums(_: NoArgs) -> Result<String> {
    completed("choices", "Please choose", CHOICES)
}

/// Reports progress, then asks.
#[tool]
pub(crate) fn test_streaming_elicitation(_: NoArgs) -> Result<String> {
    log::progress(1, Some(2), "about to ask");
    completed("confirm", "Please confirm", CONFIRM)
}

/// Needs somebody to ask, and can do nothing for a client that has nobody.
#[tool]
pub(crate) fn test_missing_capability(_: NoArgs) -> Result<String> {
    completed("confirm", "Please confirm", CONFIRM)
}

fn completed(name: &str, message: &str, form: &str) -> Result<String> {
    Ok(format!("Elicitation completed: {}", said(&ask(name, message, form)?)))
}

/// An answer in the protocol's words.
fn said(answer: &Answer) -> String {
    match answer {
        Answer::Given(form) => format!("action=accept, content={form}"),
        Answer::Declined => "action=decline, content={}".into(),
        Answer::Dismissed => "action=cancel, content={}".into(),
    }
}
