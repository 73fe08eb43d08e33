//! A JSON result as plain text, for tools whose output schema marks a member as text.
//!
//! A file inside a JSON string costs a model a third more characters than the file, and reads badly. The keyword that marks a member
//! is JSON Schema's own, `"contentMediaType": "text/plain"`. The text form is a header with the other members, one a line, then an
//! empty line, then the text to the end:
//!
//! ```text
//! total_lines: 2
//! file_size: 12
//!
//! 1|fn main() {
//! 2|}
//! ```
//!
//! The header comes first, and nothing in it makes an empty line: a file or a command's output can't add a member to it.

use serde::Deserialize;
use serde_json::Value;

/// How results of tools reach a client of MCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ResultForm {
    /// Plain text and no structured copy, where the output schema marks a member as text. Otherwise as [`Json`](Self::Json).
    #[default]
    Text,
    /// The JSON as text, and the structured copy that the output schema describes.
    Json,
}

impl std::str::FromStr for ResultForm {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "text" => Ok(Self::Text),
            "json" => Ok(Self::Json),
            _ => Err("expected text or json"),
        }
    }
}

impl ResultForm {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
        }
    }

    /// Whether results of a tool with this output schema are sent as plain text.
    pub(crate) fn is_plain(self, output: &Value) -> bool {
        self == Self::Text && text_members(output).next().is_some()
    }
}

/// The names of the members that a schema marks as text, in its order.
fn text_members(output: &Value) -> impl Iterator<Item = &str> {
    let is_text = |member: &Value| {
        member.get("contentMediaType").and_then(Value::as_str).is_some_and(|kind| kind.starts_with("text/"))
    };
    let members = output.get("properties").and_then(Value::as_object);
    members.into_iter().flatten().filter(move |(_, member)| is_text(member)).map(|(name, _)| name.as_str())
}

/// The text form of a result. Nothing where the result is no object. Empty members, and those that are what the schema says by
/// `default`, are left out of the header.
pub(crate) fn plain(result: &Value, output: &Value) -> Option<String> {
    let members = result.as_object()?;
    let text = text_members(output).find_map(|name| Some((name, members.get(name)?.as_str()?)));
    let default = |name: &str| output.get("properties")?.get(name)?.get("default");
    let mut out = String::new();
    for (name, value) in members {
        let is_the_text = text.is_some_and(|(text, _)| text == name);
        if !is_the_text && !is_empty(value) && default(name) != Some(value) {
            push_visible(&mut out, name, "\\n");
            out.push_str(": ");
            match value {
                // Further lines of a value are indented, so that none of them is empty or looks like a member.
                Value::String(value) => push_visible(&mut out, value, "\n  "),
                value => out.push_str(&value.to_string()),
            }
            out.push('\n');
        }
    }
    if let Some((_, text)) = text.filter(|(_, text)| !text.is_empty()) {
        out.push('\n');
        push_visible(&mut out, text, "\n");
    }
    Some(out)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Adds a text with this in place of its line ends. Other control characters but tabs come escaped as JSON has them: clients print
/// results on terminals, which would obey them.
fn push_visible(out: &mut String, text: &str, line_end: &str) {
    for c in text.chars() {
        match c {
            '\n' => out.push_str(line_end),
            '\r' => out.push_str("\\r"),
            '\t' => out.push('\t'),
            c if c.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn output() -> Value {
        json!({"type": "object", "properties": {
            "content": {"type": "string", "contentMediaType": "text/plain"},
            "preview": {"type": "string", "contentMediaType": "text/markdown"},
            "truncated": {"type": "boolean", "default": false},
            "picture": {"type": "string", "contentMediaType": "image/png"},
        }})
    }

    #[test]
    fn the_text_follows_a_header_of_the_other_members() {
        let result =
            json!({"content": "a\n\tb\n", "lines": 2, "truncated": false, "error": null, "files": ["x"], "list": []});
        assert_eq!(plain(&result, &output()).unwrap(), "lines: 2\nfiles: [\"x\"]\n\na\n\tb\n");
        assert_eq!(plain(&json!({"truncated": true}), &output()).unwrap(), "truncated: true\n");
        assert_eq!(plain(&json!({"content": "", "n": false}), &output()).unwrap(), "n: false\n");
        // Several may be marked: the first that is there is the text.
        assert_eq!(plain(&json!({"preview": "p"}), &output()).unwrap(), "\np");
        assert_eq!(plain(&json!({"preview": "p", "content": "c"}), &output()).unwrap(), "preview: p\n\nc");
        assert_eq!(plain(&json!(["content"]), &output()), None);
    }

    #[test]
    fn text_is_what_the_schema_marks_and_the_operator_wants() {
        let none = json!({"type": "object", "properties": {"content": {"type": "string"}}});
        let picture = json!({"type": "object", "properties": {"p": {"contentMediaType": "image/png"}}});
        assert!(ResultForm::Text.is_plain(&output()));
        assert!(!ResultForm::Json.is_plain(&output()));
        for other in [none, picture, json!({}), json!({"properties": [{"contentMediaType": "text/plain"}]})] {
            assert!(!ResultForm::Text.is_plain(&other), "{other}");
        }
    }

    #[test]
    fn terminals_obey_nothing_in_it() {
        let result = json!({"content": "\u{1b}[2J\r\n\u{9b}1m\u{7f}", "a\u{1b}\n\nb": "\u{7}"});
        assert_eq!(plain(&result, &output()).unwrap(), "a\\u001b\\n\\nb: \\u0007\n\n\\u001b[2J\\r\n\\u009b1m\\u007f");
    }

    proptest! {
        /// A reader finds the text after the first empty line, whatever the text and the other members are.
        #[test]
        fn no_text_adds_a_member_to_the_header(content in "[a: \n]{1,20}", name in "[a\n]{1,4}", value in "[b: \n]{1,12}") {
            let result = json!({"content": content, name.as_str(): value});
            let text = plain(&result, &output()).unwrap();
            let (header, found) = text.split_once("\n\n").unwrap();
            prop_assert_eq!(found, content.as_str());
            prop_assert_eq!(header.lines().filter(|line| !line.starts_with("  ")).count(), 1);
        }
    }
}
