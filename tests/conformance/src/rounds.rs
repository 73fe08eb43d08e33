//! Tools that are asked for again: where the protocol has no requests from the server, a question ends the first round and its answer
//! begins the next. The tools know nothing of that; they ask and wait.

use hermes_tool::{
    NoArgs, Result,
    ask::{Answer, ask},
    tool,
};
use serde_json::Value;

use crate::forms::CONFIRM;

const NAME: &str = r#"{"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}"#;

const COLOR: &str = r#"{"type": "object", "properties": {"color": {"type": "string"}}, "required": ["color"]}"#;

/// Asks for a name and greets.
#[tool]
pub(crate) fn test_input_required_result_elicitation(_: NoArgs) -> Result<String> {
    // The suite looks for the question by this very name.
    Ok(match ask("user_name", "What is your name?", NAME)? {
        Answer::Given(form) => format!("Hello, {}!", text(&form, "name")),
        Answer::Declined | Answer::Dismissed => "Hello, whoever you are!".into(),
    })
}

/// Asks for a confirmation. That it goes on shows that the host found its state to be whole.
#[tool]
pub(crate) fn test_input_required_result_request_state(_: NoArgs) -> Result<String> {
    confirmed()
}

/// The same for a state that somebody changed: it must not go on.
#[tool]
pub(crate) fn test_input_required_result_tampered_state(_: NoArgs) -> Result<String> {
    confirmed()
}

/// Asks for a name, then for a colour.
#[tool]
pub(crate) fn test_input_required_result_multi_round(_: NoArgs) -> Result<String> {
    let Answer::Given(first) = ask("step1", "Step 1: What is your name?", NAME)? else {
        return Ok("Nobody gave a name.".into());
    };
    // What the first round gave is still there in the second: it is the same run of the tool.
    let name = text(&first, "name");
    Ok(match ask("step2", "Step 2: What is your favorite color?", COLOR)? {
        Answer::Given(form) => format!("{name} likes {}.", text(&form, "color")),
        Answer::Declined | Answer::Dismissed => format!("{name} likes no color."),
    })
}

fn confirmed() -> Result<String> {
    Ok(match ask("confirm", "Please confirm", CONFIRM)? {
        Answer::Given(form) => format!("state-ok: {}", form["ok"]),
        Answer::Declined | Answer::Dismissed => "state-ok: no confirmation".into(),
    })
}

fn text<'a>(form: &'a Value, field: &str) -> &'a str {
    form[field].as_str().unwrap_or_default()
}
