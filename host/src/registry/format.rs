//! The forms in which models get their tools.

use std::str::FromStr;

use serde_json::{Value, json};

use super::{Definition, Provider, adapt};

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
    /// The definition in this form. Models' providers get schemas they accept; MCP clients get the schema as it is, since the
    /// protocol asks for JSON Schema, and the rules for others' models are theirs to apply.
    pub fn render(self, definition: &Definition, provider: Provider) -> Value {
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
                if let Some(output) = output {
                    tool["outputSchema"] = output.clone();
                }
                tool["annotations"] = json!({
                    "readOnlyHint": hints.read_only,
                    "destructiveHint": hints.destructive,
                    "idempotentHint": hints.idempotent,
                    "openWorldHint": hints.open_world,
                });
                tool
            }
        }
    }
}
