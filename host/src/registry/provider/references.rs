//! `$ref`: kept where it names a definition at the top and the provider reads definitions, else replaced by what it refers to.
//! Rules move and merge what is below the top, so a reference into that would lead nowhere afterwards.

use serde_json::Value;

use super::{
    super::subschema::each_child,
    DEPTH,
    node::{Node, as_node, merge},
};

/// Bytes, roughly, that following references may add to one schema. A registered schema has at most 128 kB, but a few of those
/// kB referred to a thousand times would be hundreds of megabytes. Beyond it a reference becomes a schema that allows anything.
const ADDED: usize = 256 << 10;

/// The schema with definitions under `$defs`, and references to nothing else. At the top, where a choice or a reference is not
/// allowed, those are followed too.
pub(super) fn to_definitions(schema: &Value) -> Node {
    let mut root = resolve(schema, true);
    if let Some(Value::Object(old)) = root.shift_remove("definitions")
        && let Value::Object(definitions) = root.entry("$defs").or_insert(Value::Object(Node::new()))
    {
        for (name, schema) in old {
            definitions.entry(name).or_insert(schema);
        }
    }
    root
}

/// The schema without references and definitions.
pub(super) fn written_out(schema: &Value) -> Node {
    resolve(schema, false)
}

fn resolve(schema: &Value, keep: bool) -> Node {
    let mut root = if schema.is_object() { as_node(schema.clone()) } else { Node::new() };
    let mut references = References { root: schema, keep, open: vec![String::new()], left: ADDED };
    if !keep {
        drop_definitions(&mut root);
    }
    references.follow_in(&mut root, true, 0);
    root
}

fn drop_definitions(node: &mut Node) {
    node.shift_remove("$defs");
    node.shift_remove("definitions");
}

struct References<'a> {
    root: &'a Value,
    keep: bool,
    /// Pointers being followed. One that is met again within itself would never end.
    open: Vec<String>,
    left: usize,
}

impl References<'_> {
    fn follow_in(&mut self, node: &mut Node, top: bool, depth: usize) {
        let opened = self.open.len();
        while let Some(target) = node.get("$ref") {
            let pointer = target.as_str().and_then(|target| target.strip_prefix('#')).map(str::to_owned);
            let name = pointer.as_deref().and_then(|pointer| self.definition(pointer));
            if let Some(name) = name.filter(|_| self.keep && !top) {
                node.insert("$ref".into(), format!("#/$defs/{name}").into());
                break;
            }
            node.shift_remove("$ref");
            if let Some(target) = pointer.and_then(|pointer| self.open(pointer)) {
                *node = merge(std::mem::take(node), target);
            }
        }
        // Nothing refers to a definition below the top any more.
        if depth > 0 {
            drop_definitions(node);
        }
        if depth == DEPTH {
            node.clear();
        }
        each_child(node, |keyword, child| {
            if child.is_object() {
                let mut node = as_node(child.take());
                self.follow_in(&mut node, top && matches!(keyword, "anyOf" | "oneOf" | "allOf"), depth + 1);
                *child = node.into();
            }
        });
        self.open.truncate(opened);
    }

    /// The name of the definition a pointer leads to. Where both spellings define a name, the old one can't be kept.
    fn definition<'p>(&self, pointer: &'p str) -> Option<&'p str> {
        let (name, old) = match pointer.strip_prefix("/$defs/") {
            Some(name) => (name, false),
            None => (pointer.strip_prefix("/definitions/")?, true),
        };
        let is_taken = || self.root.pointer(&format!("/$defs/{name}")).is_some();
        let is_there = self.root.pointer(pointer).is_some() && !name.contains('/');
        (is_there && !(old && is_taken())).then_some(name)
    }

    fn open(&mut self, pointer: String) -> Option<Node> {
        let target = self.root.pointer(&pointer).filter(|_| !self.open.contains(&pointer))?;
        self.left = after(target, self.left)?;
        self.open.push(pointer);
        let mut node = as_node(target.clone());
        drop_definitions(&mut node);
        Some(node)
    }
}

/// What is left of `bytes` after a copy of `value`.
fn after(value: &Value, bytes: usize) -> Option<usize> {
    let bytes = bytes.checked_sub(8)?;
    match value {
        Value::String(text) => bytes.checked_sub(text.len()),
        Value::Number(number) => bytes.checked_sub(number.as_str().len()),
        Value::Array(items) => items.iter().try_fold(bytes, |bytes, item| after(item, bytes)),
        Value::Object(members) => {
            members.iter().try_fold(bytes, |bytes, (key, member)| after(member, bytes.checked_sub(key.len())?))
        }
        Value::Null | Value::Bool(_) => Some(bytes),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{Provider, adapt, tests::check};

    #[test]
    fn old_definitions_move_and_references_with_them() {
        let schema = json!({
            "definitions": {"a": {"properties": {"x": {"$ref": "#/definitions/b"}}}, "b": {"type": "string"}},
            "properties": {"p": {"$ref": "#/definitions/a", "default": {}, "description": "d"}},
        });
        let moved = json!({
            "properties": {"p": {"$ref": "#/$defs/a", "description": "d"}},
            "$defs": {"a": {"properties": {"x": {"$ref": "#/$defs/b"}}}, "b": {"type": "string"}},
            "type": "object",
        });
        assert_eq!(adapt(&schema, Provider::Standard), moved);
    }

    #[test]
    fn a_name_that_both_spellings_define_keeps_both_meanings() {
        let schema = json!({
            "definitions": {"n": {"type": "string"}},
            "$defs": {"n": {"type": "integer"}},
            "properties": {"old": {"$ref": "#/definitions/n"}, "new": {"$ref": "#/$defs/n"}},
        });
        let adapted = adapt(&schema, Provider::Standard);
        assert_eq!(adapted["properties"], json!({"old": {"type": "string"}, "new": {"$ref": "#/$defs/n"}}));
        assert_eq!(adapted["$defs"], json!({"n": {"type": "integer"}}));
    }

    #[test]
    fn a_reference_into_what_the_rules_change_is_followed() {
        let schema = json!({"properties": {"a": {"anyOf": [{"type": "string"}, "null"]}, "b": {"$ref": "#/properties/a/anyOf/0"}}});
        assert_eq!(adapt(&schema, Provider::Standard)["properties"]["b"], json!({"type": "string"}));
        let schema =
            json!({"$defs": {"a": {"anyOf": ["string", "null"]}}, "properties": {"b": {"$ref": "#/$defs/a/anyOf/0"}}});
        assert_eq!(adapt(&schema, Provider::Standard)["properties"]["b"], json!({"type": "string"}));
    }

    #[test]
    fn the_top_and_its_branches_are_written_out() {
        let schema = json!({
            "$defs": {"all": {"properties": {"a": {"$ref": "#/$defs/n"}}}, "one": {"properties": {"b": {}}}, "n": "integer"},
            "$ref": "#/$defs/all",
            "oneOf": [{"$ref": "#/$defs/one"}],
        });
        let adapted = adapt(&schema, Provider::Standard);
        assert_eq!(adapted["properties"], json!({"a": {"$ref": "#/$defs/n"}, "b": {}}));
        assert_eq!(adapted.get("$ref"), None);
    }

    #[test]
    fn a_reference_that_leads_nowhere_or_round_allows_anything() {
        for target in ["#/nowhere", "http://x/y", "#", "#/properties/p", "5"] {
            check(Provider::Standard, [(target, json!({"$ref": target, "title": "t"}), json!({"title": "t"}))]);
        }
        let round =
            json!({"$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}, "properties": {"p": {"$ref": "#/$defs/a"}}});
        assert_eq!(adapt(&round, Provider::Standard)["properties"]["p"], json!({"$ref": "#/$defs/a"}));
        assert_eq!(adapt(&round, Provider::Gemini)["properties"]["p"], json!({"items": {}}));
    }
}
