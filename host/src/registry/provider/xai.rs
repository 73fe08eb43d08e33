//! xAI refuses a choice of texts where one has a slash in it.

use serde_json::Value;

use super::node::Node;

/// Such a choice goes: one without that text would forbid it.
pub(super) fn strip(node: &mut Node) {
    let slashed = |choice: &Value| choice.as_str().is_some_and(|text| text.contains('/'));
    if node.get("enum").and_then(Value::as_array).is_some_and(|choices| choices.iter().any(slashed)) {
        node.shift_remove("enum");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{Provider, tests::check};

    #[test]
    fn every_rule_of_its_own() {
        check(
            Provider::Xai,
            [
                (
                    "a choice with a slash goes",
                    json!({"type": "string", "enum": ["a", "b/c"]}),
                    json!({"type": "string"}),
                ),
                ("one without stays", json!({"enum": ["a", 5, {"x": "b/c"}]}), json!({"enum": ["a", 5, {"x": "b/c"}]})),
                (
                    "also in a branch",
                    json!({"anyOf": [{"enum": ["text/plain"], "title": "t"}, "integer"]}),
                    json!({"anyOf": [{"title": "t"}, {"type": "integer"}]}),
                ),
            ],
        );
    }
}
