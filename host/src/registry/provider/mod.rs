//! JSON Schemas of tool parameters, changed so that a model's provider accepts them.
//!
//! Providers read dialects of JSON Schema and refuse a whole request for one keyword. What is changed here is only what the
//! model sees. A dropped pattern, a collapsed choice or a lost type list takes nothing from safety: the host validates
//! arguments with the schema that was registered.
//!
//! The order is always the same:
//! 1. references: to definitions at the top, or written out where the provider reads none;
//! 2. what a provider refuses is taken away;
//! 3. the standard rules tidy what is left;
//! 4. what a provider misses is added.
//!
//! Property names are names, never keywords, and are never lost. Values in `enum`, `default`, `examples` and `const` are
//! never looked into. Any JSON value goes in; the top of what comes out is always `{"type": "object", "properties": {…}}`.

mod choices;
mod gemini;
mod kinds;
mod llamacpp;
mod moonshot;
mod node;
#[cfg(test)]
mod promises;
mod references;
mod standard;
mod xai;

use std::str::FromStr;

use serde_json::Value;

use super::subschema::each_node;

/// How many schemas deep the result may be; what is below allows anything. Twice what registration accepts with references
/// followed, so only a schema that went around it is cut.
const DEPTH: usize = 64;

/// Whose dialect of JSON Schema to speak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Provider {
    /// What every known provider reads.
    #[default]
    Standard,
    /// Google's API.
    Gemini,
    /// Moonshot's API, with the Kimi models.
    Moonshot,
    /// xAI's API, with the Grok models.
    Xai,
    /// A llama.cpp server, which turns schemas into a grammar.
    LlamaCpp,
}

impl Provider {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Standard, Self::Gemini, Self::Moonshot, Self::Xai, Self::LlamaCpp];

    /// The name to write in a setting.
    pub fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Gemini => "gemini",
            Self::Moonshot => "moonshot",
            Self::Xai => "xai",
            Self::LlamaCpp => "llamacpp",
        }
    }
}

impl FromStr for Provider {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|provider| provider.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("no provider is called {name:?}; choose one of {names}")
        })
    }
}

/// The schema as the provider accepts it. Doing it twice changes nothing.
pub fn adapt(schema: &Value, provider: Provider) -> Value {
    let mut root = match provider {
        Provider::Gemini | Provider::Moonshot => {
            let mut root = references::written_out(schema);
            each_node(&mut root, &mut choices::one_spelling);
            root
        }
        Provider::Standard | Provider::Xai | Provider::LlamaCpp => references::to_definitions(schema),
    };
    match provider {
        Provider::Standard => {}
        Provider::Gemini => each_node(&mut root, &mut gemini::strip),
        Provider::Moonshot => each_node(&mut root, &mut moonshot::strip),
        Provider::Xai => each_node(&mut root, &mut xai::strip),
        Provider::LlamaCpp => each_node(&mut root, &mut llamacpp::strip),
    }
    let mut root = standard::standard(root);
    if provider == Provider::Moonshot {
        moonshot::complete(&mut root, None);
    }
    root.into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Checks a table of rules: what the rule is, the schema of a parameter, what becomes of it.
    pub(super) fn check<const N: usize>(provider: Provider, rules: [(&str, Value, Value); N]) {
        for (rule, parameter, expected) in rules {
            let schema = json!({"type": "object", "properties": {"p": parameter}});
            assert_eq!(adapt(&schema, provider)["properties"]["p"], expected, "{provider:?}: {rule}");
        }
    }

    #[test]
    fn every_provider_is_found_by_its_name() {
        for provider in Provider::ALL {
            assert_eq!(provider.name().parse(), Ok(provider));
        }
        assert!("openai".parse::<Provider>().unwrap_err().contains("standard, gemini, moonshot, xai, llamacpp"));
    }

    #[test]
    fn properties_named_like_keywords_and_values_shaped_like_schemas_survive_every_rule() {
        let names = [
            "type",
            "enum",
            "pattern",
            "format",
            "required",
            "default",
            "nullable",
            "$ref",
            "properties",
            "anyOf",
            "$defs",
        ];
        let properties: Value = names.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
        let sample =
            json!({"type": ["string", "null"], "pattern": "x", "enum": ["a/b", null], "$ref": "#/definitions/a"});
        let mut schema =
            json!({"type": "object", "properties": {"inner": {"type": "object", "properties": properties}}});
        schema["properties"]["sample"] = json!({"type": "object", "properties": {}, "default": sample, "required": []});
        for provider in Provider::ALL {
            let adapted = adapt(&schema, provider);
            assert_eq!(adapted["properties"]["inner"]["properties"], properties, "{provider:?}");
            assert_eq!(adapted["properties"]["sample"]["default"], sample, "{provider:?}");
        }
    }

    #[test]
    fn a_schema_that_grows_without_end_is_cut() {
        let heavy = json!({"enum": ["x".repeat(50_000)]});
        let uses: Value = (0..1000).map(|n| (format!("p{n}"), json!({"$ref": "#/$defs/heavy"}))).collect();
        let mut doubling = json!({});
        for n in 0..60 {
            let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
            doubling[format!("d{n}")] = json!({"properties": {"x": next, "y": next}});
        }
        for schema in [
            json!({"$defs": {"heavy": heavy}, "properties": uses}),
            json!({"$defs": doubling, "properties": {"a": {"$ref": "#/$defs/d0"}}}),
        ] {
            let size = schema.to_string().len();
            for provider in Provider::ALL {
                assert!(adapt(&schema, provider).to_string().len() < 2 * (size + (256 << 10)), "{provider:?}");
            }
        }
    }

    #[test]
    fn a_schema_that_is_too_deep_is_cut() {
        let mut chain = json!({"d4000": {}});
        for n in 0..4000 {
            chain[format!("d{n}")] = json!({"items": {"$ref": format!("#/$defs/d{}", n + 1)}});
        }
        let chain = json!({"$defs": chain, "items": {"$ref": "#/$defs/d0"}});
        let nested = (0..120).fold(json!({}), |inner, _| json!({"items": inner}));
        let typed = (0..100).fold(json!({}), |inner, _| json!({"type": ["array", "string"], "items": inner}));
        for provider in Provider::ALL {
            for schema in [&chain, &nested, &typed] {
                let adapted = adapt(schema, provider);
                let depth = |mut node: &Value| {
                    let mut depth = 0;
                    while let Some(inner) = node.pointer("/anyOf/0").or_else(|| node.get("items")) {
                        (node, depth) = (inner, depth + 1);
                    }
                    depth
                };
                assert!(depth(&adapted) <= DEPTH, "{provider:?}");
                assert_eq!(adapt(&adapted, provider), adapted);
            }
        }
    }
}
