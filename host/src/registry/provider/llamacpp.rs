//! llama.cpp turns a schema into a grammar, and fails at the patterns and formats it can't express.

use super::node::Node;

/// Neither is left.
pub(super) fn strip(node: &mut Node) {
    node.shift_remove("pattern");
    node.shift_remove("format");
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{Provider, tests::check};

    #[test]
    fn every_rule_of_its_own() {
        check(
            Provider::LlamaCpp,
            [
                ("patterns go", json!({"type": "string", "pattern": "^a"}), json!({"type": "string"})),
                ("formats go", json!({"type": "string", "format": "uri"}), json!({"type": "string"})),
                (
                    "at every depth, but not properties of that name",
                    json!({"items": {"properties": {"pattern": {"pattern": "a"}, "format": {}}}}),
                    json!({"items": {"properties": {"pattern": {}, "format": {}}}}),
                ),
            ],
        );
    }
}
