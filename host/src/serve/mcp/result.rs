//! The end of a call, as the protocol carries it.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use rmcp::model::{CallToolResult, ContentBlock, MetaObject, ResourceContents};
use serde_json::Value;

use crate::{
    dispatch::{CallError, Outcome, Reply, ResultForm, plain},
    registry::Entry,
    wit::latest::{Body, Content, Embedded},
};

/// Where a result's metadata names the kind of an error.
const KIND: &str = "hermes-host/kind";

/// Steps that checking a result against its output schema may take, on the serving thread: milliseconds with usual schemas, some four
/// hundred with the slowest patterns. A result of 100 kB and a schema of a hundred values fit. Attack 59.
const OUTPUT_STEPS: u64 = 10_000_000;

/// What the client gets. `any_structure`: whether it takes structured results that are not objects.
pub(super) fn result(
    outcome: &Outcome,
    entry: Option<&Entry>,
    any_structure: bool,
    form: ResultForm,
) -> CallToolResult {
    let mut result = match &outcome.result {
        Ok(reply) => replied(reply, entry, any_structure, form),
        Err(error) => failed(error),
    };
    if let Some(warning) = &outcome.warning {
        result.content.push(ContentBlock::text(format!("warning: {warning}")));
    }
    result
}

/// A model can act on the text; the kind is for programs.
fn failed(error: &CallError) -> CallToolResult {
    let mut result = CallToolResult::error(vec![ContentBlock::text(error.message.clone())]);
    let mut meta = MetaObject::default();
    meta.insert(KIND.to_owned(), error.kind.name().into());
    result.meta = Some(meta);
    result
}

fn replied(reply: &Reply, entry: Option<&Entry>, any_structure: bool, form: ResultForm) -> CallToolResult {
    let json: Option<Value> = match reply.content() {
        [Content::Json(text)] => serde_json::from_str(text).ok(),
        _ => None,
    };
    let plain = json.as_ref().and_then(|json| plain_text(reply, json, entry?, form));
    let mut result = CallToolResult::success(match plain {
        Some(text) => vec![ContentBlock::text(text)],
        None => reply.content().iter().map(block).collect(),
    });
    // A tool that answers with an error has failed, too: what it wanted to do was not done.
    if json.as_ref().and_then(|json| json.get("error")).is_some_and(Value::is_string) {
        result.is_error = Some(true);
    }
    match structured(reply, json, entry, any_structure, form) {
        Ok(structured) => result.structured_content = structured,
        Err(why) => {
            // Clients refuse a success without the structure that was promised.
            result.is_error = Some(true);
            result.content.push(ContentBlock::text(why));
        }
    }
    result
}

/// The text form of a result, where its tool marks a text. A summary and a result from outside are the host's own JSON, and stay it.
fn plain_text(reply: &Reply, json: &Value, entry: &Entry, form: ResultForm) -> Option<String> {
    let output = entry.definition.output.as_ref().filter(|output| form.is_plain(output))?;
    if reply.is_summary() || entry.definition.hints.open_world {
        return None;
    }
    plain(json, output)
}

/// The value that the tool's schema promises. Nothing where it promises none.
fn structured(
    reply: &Reply,
    json: Option<Value>,
    entry: Option<&Entry>,
    any_structure: bool,
    form: ResultForm,
) -> Result<Option<Value>, String> {
    let is_promised = |entry: &&Entry| super::tools::promises_structure(&entry.definition, any_structure, form);
    let Some(entry) = entry.filter(is_promised) else { return Ok(None) };
    let name = &entry.definition.name;
    if reply.is_summary() {
        return Err(format!("the result of {name} is too large to be given as its output schema says; ask for less"));
    }
    let broken = |why: &str| format!("{name} broke its own contract, its result does not fit its output schema: {why}");
    let json = json.ok_or_else(|| broken("it is not one JSON value"))?;
    // One value of JSON, so this is its text.
    let size = reply.json().len();
    match entry.output_checker() {
        Ok(Some(checker)) if checker.cost.steps(size, size) > OUTPUT_STEPS => {
            return Err(format!(
                "the result of {name} is too large to be checked against its output schema; ask for less"
            ));
        }
        Ok(Some(checker)) => {
            checker.validator.validate(&json).map_err(|why| broken(&crate::text::one_line(&why.to_string(), 500)))?
        }
        Ok(None) => {}
        Err(why) => return Err(broken(&why)),
    }
    Ok(Some(json))
}

fn block(piece: &Content) -> ContentBlock {
    match piece {
        Content::Json(text) | Content::Text(text) => ContentBlock::text(text.clone()),
        Content::Image(media) => ContentBlock::image(STANDARD.encode(&media.data), media.mime_type.clone()),
        Content::Audio(media) => ContentBlock::audio(STANDARD.encode(&media.data), media.mime_type.clone()),
        Content::Resource(document) => ContentBlock::resource(contents(document)),
    }
}

fn contents(document: &Embedded) -> ResourceContents {
    let (uri, mime_type) = (document.uri.clone(), document.mime_type.clone());
    match &document.body {
        Body::Text(text) => ResourceContents::TextResourceContents { uri, mime_type, text: text.clone(), meta: None },
        Body::Blob(data) => {
            ResourceContents::BlobResourceContents { uri, mime_type, blob: STANDARD.encode(data), meta: None }
        }
    }
}
