//! The host's own three tools: with them a model finds and calls tools that were not listed.

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{Host, call::ToolScope};
use crate::{
    dispatch::{CallError, ErrorKind, check_size, coerce},
    registry::{
        Definition, Document, HITS, MOST_HITS, TOOL_CALL, TOOL_DESCRIBE, TOOL_SEARCH, bridge_definitions, search,
    },
    text::one_line,
};

/// Which of the three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bridge {
    Search,
    Describe,
    Call,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SearchArguments {
    query: String,
    limit: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DescribeArguments {
    name: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallArguments {
    name: String,
    #[serde(default)]
    arguments: Value,
}

impl Bridge {
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            TOOL_SEARCH => Some(Self::Search),
            TOOL_DESCRIBE => Some(Self::Describe),
            TOOL_CALL => Some(Self::Call),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Search => TOOL_SEARCH,
            Self::Describe => TOOL_DESCRIBE,
            Self::Call => TOOL_CALL,
        }
    }
}

impl Host {
    /// Answers `tool_search`.
    pub(super) async fn search(&self, arguments: &str, caller: ToolScope) -> Result<String, CallError> {
        let SearchArguments { query, limit } = read(Bridge::Search, arguments)?;
        let limit = limit.map_or(HITS, |limit| usize::try_from(limit).unwrap_or(usize::MAX).clamp(1, MOST_HITS));
        let tools = self.reachable(caller).await?;
        let documents: Vec<Document<'_>> = tools
            .iter()
            .map(|tool| Document { name: &tool.name, description: &tool.description, parameters: &tool.parameters })
            .collect();
        let hits = search(&documents, &query, limit);
        let found = hits.iter().filter_map(|hit| tools.get(hit.at));
        let found: Vec<Value> =
            found.map(|tool| json!({"name": tool.name, "description": one_line(&tool.description, 300)})).collect();
        Ok(json!({"tools": found, "searched": tools.len()}).to_string())
    }

    /// Answers `tool_describe`.
    pub(super) async fn describe(&self, arguments: &str, caller: ToolScope) -> Result<String, CallError> {
        let DescribeArguments { name } = read(Bridge::Describe, arguments)?;
        let tools = self.reachable(caller).await?;
        match tools.iter().find(|tool| tool.name == name) {
            Some(tool) => {
                let shown = json!({"name": tool.name, "description": tool.description, "parameters": tool.parameters});
                Ok(shown.to_string())
            }
            None => {
                let text = format!("there is no tool {:?} for you; find one with {TOOL_SEARCH}", one_line(&name, 80));
                Err(CallError::new(ErrorKind::UnknownTool, &text))
            }
        }
    }

    /// What this caller may use and what can work here.
    async fn reachable(&self, caller: ToolScope) -> Result<Vec<Definition>, CallError> {
        self.offered(&caller.toolsets.unwrap_or_default(), caller.client.as_deref())
            .await
            .map_err(|why| CallError::new(ErrorKind::Denied, &why.to_string()))
    }
}

/// The real call inside a `tool_call`.
pub(super) fn inner_call(arguments: &str) -> Result<(String, String), CallError> {
    let CallArguments { name, arguments } = read(Bridge::Call, arguments)?;
    if Bridge::named(&name).is_some() {
        let text = format!("{name} is called directly, not through {TOOL_CALL}");
        return Err(CallError::new(ErrorKind::InvalidArguments, &text));
    }
    Ok((name, if arguments.is_null() { "{}".into() } else { arguments.to_string() }))
}

/// Arguments of one of the three, with the same leniency as a tool's: models write numbers and objects as strings.
fn read<T: DeserializeOwned>(bridge: Bridge, arguments: &str) -> Result<T, CallError> {
    check_size(arguments)?;
    let definition = bridge_definitions().iter().find(|definition| definition.name == bridge.name());
    let parameters = definition.map_or(&Value::Null, |definition| &definition.parameters);
    let read = serde_json::from_str(arguments).and_then(|value| serde_json::from_value(coerce(value, parameters)));
    read.map_err(|why| {
        let text = format!("{}: {}", bridge.name(), one_line(&why.to_string(), 300));
        CallError::new(ErrorKind::InvalidArguments, &text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_real_call_is_found_in_every_spelling_and_never_the_host_s_own() {
        let call = |text: &str| inner_call(text).unwrap();
        assert_eq!(call(r#"{"name":"a","arguments":{"n":1.50}}"#), ("a".into(), r#"{"n":1.50}"#.into()));
        assert_eq!(call(r#"{"name":"a","arguments":"{\"n\":1}"}"#), ("a".into(), r#"{"n":1}"#.into()));
        assert_eq!(call(r#"{"name":"a"}"#), ("a".into(), "{}".into()));
        assert_eq!(call(r#"{"name":"a","arguments":null}"#), ("a".into(), "{}".into()));
        for bad in [r#"{"name":"tool_call"}"#, "{}", "[]", r#"{"name":"a","args":{}}"#] {
            assert_eq!(inner_call(bad).unwrap_err().kind, ErrorKind::InvalidArguments, "{bad}");
        }
    }
}
