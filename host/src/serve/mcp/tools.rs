//! The list of tools, in pages, in the order of the names. It is the same for every client, but for tools that the policy hides from it.

use rmcp::{
    ErrorData,
    model::{CacheScope, ListToolsResult, Tool},
};
use serde_json::Value;

use super::limits::PAGE;
use crate::{
    DefinitionsRequest, Host,
    component::valid_name,
    dispatch::ResultForm,
    registry::{CHECK_TTL, Definition, Format},
};

/// The page after this cursor. A cursor is the last name of the page before: it holds whatever was added or removed meanwhile.
pub(super) async fn page(
    host: &Host,
    cursor: Option<&str>,
    is_current: bool,
    client: Option<String>,
) -> Result<ListToolsResult, ErrorData> {
    if let Some(cursor) = cursor.filter(|cursor| !valid_name(cursor)) {
        let why = format!("{:?} is no cursor of this list; begin without one", crate::text::one_line(cursor, 80));
        return Err(ErrorData::invalid_params(why, None));
    }
    let request = DefinitionsRequest { format: Format::Mcp, client, ..DefinitionsRequest::default() };
    let definitions =
        host.definitions(&request).await.map_err(|why| ErrorData::internal_error(why.to_string(), None))?;
    let after = definitions.names.partition_point(|name| cursor.is_some_and(|cursor| name.as_str() <= cursor));
    let end = definitions.names.len().min(after + PAGE);
    let form = host.result_form();
    let tools = definitions.tools.into_iter().take(end).skip(after).map(|tool| for_client(tool, is_current, form));
    let tools = tools.collect::<Result<Vec<_>, _>>()?;
    let mut result = ListToolsResult::with_all_items(tools);
    result.next_cursor = (end < definitions.names.len()).then(|| definitions.names.get(end - 1).cloned()).flatten();
    if is_current {
        // As long as the answers of checks are kept: a change of the folder is told at once.
        result.ttl_ms = u64::try_from(CHECK_TTL.as_millis()).ok();
        result.cache_scope = Some(CacheScope::Private);
    }
    Ok(result)
}

/// One tool, by its name, for checks of headers before the client is known: none that is hidden from every client.
pub(super) fn one(host: &Host, name: &str) -> Option<Tool> {
    let catalogue = host.catalogue();
    let entry = catalogue.get(name).filter(|_| host.offers(name) && !host.hides(name, None))?;
    let annotations = crate::registry::Annotations::of(entry);
    let tool = Format::Mcp.render(&entry.definition, crate::registry::Provider::default(), annotations);
    for_client(tool, true, host.result_form()).ok()
}

/// Whether a client is promised a structured result. Before 2026-07-28 only objects are; what comes from outside is wrapped, and no
/// longer what the tool described; and plain text has no structured copy.
pub(super) fn promises_structure(definition: &Definition, any_structure: bool, form: ResultForm) -> bool {
    let Some(output) = &definition.output else { return false };
    !definition.hints.open_world && is_promised(output, any_structure, form)
}

fn is_promised(output: &Value, any_structure: bool, form: ResultForm) -> bool {
    let is_object = output.get("type").and_then(Value::as_str) == Some("object");
    (any_structure || is_object) && !form.is_plain(output)
}

fn for_client(mut tool: Value, any_structure: bool, form: ResultForm) -> Result<Tool, ErrorData> {
    let is_promised = tool.get("outputSchema").is_none_or(|output| is_promised(output, any_structure, form));
    if let Some(tool) = tool.as_object_mut().filter(|_| !is_promised) {
        tool.remove("outputSchema");
    }
    serde_json::from_value(tool).map_err(|why| ErrorData::internal_error(why.to_string(), None))
}
