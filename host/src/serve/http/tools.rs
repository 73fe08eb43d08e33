//! `GET /v1/tools`.

use axum::{
    extract::State,
    http::{StatusCode, Uri},
    response::Response,
};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::{
    Api,
    problem::{Problem, json, json_text},
    query::Parameters,
};
use crate::{
    DefinitionsRequest,
    registry::{Format, Provider, Selection, ToolsetError},
    serve::HTTP_CLIENT,
};

/// The tools that a model may be offered.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ToolsResponse {
    /// In the wanted form, by name: ready to be sent to a model.
    #[schema(value_type = Vec<Object>)]
    tools: Vec<Value>,
    /// Tools that are not listed but found by `tool_search`.
    deferred: Vec<String>,
    /// Tokens that the tools take in a model's window, estimated.
    tokens: u64,
    /// Changes whenever the tools do.
    generation: u64,
}

#[utoipa::path(
    get,
    path = "/v1/tools",
    description = "The definitions of all tools that can work here, in the form that a model's provider wants.",
    params(
        ("toolset" = Option<Vec<String>>, Query, description = "Only tools of these toolsets; may be given several times"),
        ("without" = Option<Vec<String>>, Query, description = "No tools of these toolsets; may be given several times"),
        ("format" = Option<String>, Query, description = "openai (the default), anthropic or mcp"),
        ("provider" = Option<String>, Query, description = "Whose schema rules: standard, gemini, moonshot, xai or llamacpp"),
    ),
    responses(
        (status = 200, description = "The tools", body = ToolsResponse),
        (status = 400, description = "A parameter is wrong", body = Problem),
        (status = 404, description = "No toolset has this name", body = Problem),
    )
)]
pub(super) async fn tools(State(api): State<Api>, uri: Uri) -> Result<Response, Problem> {
    let mut query = Parameters::of(&uri)?;
    let enabled = query.all("toolset");
    let request = DefinitionsRequest {
        toolsets: Selection {
            enabled: (!enabled.is_empty()).then_some(enabled),
            disabled: query.all("without"),
            ..Selection::default()
        },
        format: query.one("format", str::parse::<Format>)?.unwrap_or_default(),
        client: Some(HTTP_CLIENT.to_owned()),
        provider: query.one("provider", str::parse::<Provider>)?.unwrap_or_default(),
        ..DefinitionsRequest::default()
    };
    query.end()?;
    // Looked at before the tools: a client that asks again for nothing loses less than one that does not ask.
    let generation = api.host.generation();
    let found = api.host.definitions(&request).await.map_err(|why| match why {
        ToolsetError::Unknown { .. } => Problem::not_found(why.to_string()),
        why => Problem::bad_request(why.to_string()),
    })?;
    let (tools, deferred, tokens) = (found.tools, found.deferred, found.tokens);
    Ok(json_text(StatusCode::OK, json(&ToolsResponse { tools, deferred, tokens, generation })))
}
