//! Values in JSON text, counted before anything parses it.

use serde_json::Value;

/// Values in the arguments, the nested ones too. Each takes a hundred bytes and is held against the schema.
pub const ARGUMENT_VALUES: usize = 50_000;

/// Reads JSON that came in a string, unless it has more values than arguments may have.
pub(crate) fn parse_contained(text: &str) -> Option<Value> {
    if values(text) > ARGUMENT_VALUES {
        return None;
    }
    serde_json::from_str(text).ok()
}

/// An upper bound for the number of values, without parsing. What stands in strings is none.
pub fn values(text: &str) -> usize {
    let (mut count, mut in_string, mut escaped) = (1, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b',' | b'[' | b'{' if !in_string => count += 1,
            _ => {}
        }
    }
    count
}
