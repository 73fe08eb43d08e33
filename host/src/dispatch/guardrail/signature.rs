//! Tasks, tools, calls and results by their hashes: what is remembered has a fixed size, whatever a model or a tool writes, and
//! holds nobody's words.

use serde_json::Value;

/// A BLAKE3 hash.
pub(super) type Key = [u8; 32];

/// The key of a text.
pub(super) fn of_text(text: &str) -> Key {
    *blake3::hash(text.as_bytes()).as_bytes()
}

/// The key of a call: its tool and its arguments. The order of members and the spaces between them do not count; numbers do, as
/// they are written. Arguments that are no JSON are taken as they are.
pub(super) fn of_call(tool: &str, arguments: &str) -> Key {
    let mut hasher = blake3::Hasher::new();
    // The length, so that no part of the arguments can pass for the end of the name.
    hasher.update(&tool.len().to_le_bytes()).update(tool.as_bytes());
    match serde_json::from_str::<Value>(arguments) {
        Ok(mut value) => {
            value.sort_all_objects();
            hasher.update(value.to_string().as_bytes())
        }
        Err(_) => hasher.update(arguments.as_bytes()),
    };
    *hasher.finalize().as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_spaces_do_not_count_and_everything_else_does() {
        let call = of_call("t", r#"{"a":{"x":1,"y":2},"b":[1,2]}"#);
        assert_eq!(call, of_call("t", r#" {"b": [1, 2], "a": {"y": 2, "x": 1}} "#));
        for other in [r#"{"a":{"x":1,"y":2},"b":[2,1]}"#, r#"{"a":{"x":1.0,"y":2},"b":[1,2]}"#, "{}", "", "{\"a\":"] {
            assert_ne!(call, of_call("t", other), "{other}");
        }
        assert_ne!(of_call("t", "{}"), of_call("u", "{}"));
        assert_ne!(of_call("t", "t{"), of_call("tt", "{"));
    }

    #[test]
    fn big_numbers_that_a_float_would_confuse_are_told_apart() {
        assert_ne!(of_call("t", "[9007199254740993]"), of_call("t", "[9007199254740992]"));
    }
}
