//! The forms in which models get their tools.

use std::str::FromStr;

use serde_json::{Value, json};

use super::Definition;

/// Whose form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `{"type":"function","function":{…}}`.
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
    /// The definition in this form.
    pub fn render(self, definition: &Definition) -> Value {
        let Definition { name, description, parameters, output, .. } = definition;
        match self {
            Self::OpenAi => {
                let function = json!({"name": name, "description": description, "parameters": parameters});
                json!({"type": "function", "function": function})
            }
            Self::Anthropic => json!({"name": name, "description": description, "input_schema": parameters}),
            Self::Mcp => {
                let mut tool = json!({"name": name, "description": description, "inputSchema": parameters});
                if let Some(output) = output {
                    tool["outputSchema"] = output.clone();
                }
                tool
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_has_its_own_keys() {
        let definition = Definition {
            name: "add".into(),
            toolset: "calc".into(),
            description: "Adds.".into(),
            parameters: json!({"type": "object"}),
            output: Some(json!({"type": "number"})),
            emoji: None,
            required_env: vec![],
            max_result_size: None,
            hints: super::super::Hints::default(),
        };
        assert_eq!(
            Format::OpenAi.render(&definition),
            json!({"type":"function","function":{"name":"add","description":"Adds.","parameters":{"type":"object"}}})
        );
        assert_eq!(
            Format::Anthropic.render(&definition),
            json!({"name":"add","description":"Adds.","input_schema":{"type":"object"}})
        );
        assert_eq!(
            Format::Mcp.render(&definition),
            json!({"name":"add","description":"Adds.","inputSchema":{"type":"object"},"outputSchema":{"type":"number"}})
        );
    }
}
