//! The forms in which models get their tools.

use std::str::FromStr;

use serde_json::{Value, json};

use super::{Annotations, Definition, Provider, adapt};

/// Whose form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// `{"type":"function","function":{…}}`.
    #[default]
    OpenAi,
    /// `{"name","description","input_schema"}`.
    Anthropic,
    /// `{"name","description","inputSchema"}`.
    Mcp,
}

impl FromStr for Format {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "openai" => Ok(Self::OpenAi),
            "anthropic" => Ok(Self::Anthropic),
            "mcp" => Ok(Self::Mcp),
            _ => Err("expected openai, anthropic or mcp"),
        }
    }
}

impl Format {
    /// The definition in this form, with what holds of the tool here. Models' providers get schemas they accept; MCP clients get the schema as it is, since the
    /// protocol asks for JSON Schema, and the rules for others' models are theirs to apply.
    pub fn render(self, definition: &Definition, provider: Provider, annotations: Annotations) -> Value {
        let Definition { name, description, parameters, output, hints, .. } = definition;
        match self {
            Self::OpenAi => {
                let parameters = adapt(parameters, provider);
                let function = json!({"name": name, "description": description, "parameters": parameters});
                json!({"type": "function", "function": function})
            }
            Self::Anthropic => {
                json!({"name": name, "description": description, "input_schema": adapt(parameters, provider)})
            }
            Self::Mcp => {
                let mut tool = json!({"name": name, "description": description, "inputSchema": parameters});
                // What comes from outside is wrapped before a model gets it, and no longer what the tool described.
                if let Some(output) = output.as_ref().filter(|_| !hints.open_world) {
                    tool["outputSchema"] = output.clone();
                }
                tool["annotations"] = json!({
                    "readOnlyHint": annotations.read_only,
                    "destructiveHint": annotations.destructive,
                    "idempotentHint": annotations.idempotent,
                    "openWorldHint": annotations.open_world,
                });
                tool
            }
        }
    }
}
