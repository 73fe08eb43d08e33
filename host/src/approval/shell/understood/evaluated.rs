//! Text that bash evaluates a second time: arithmetic runs what stands in an index, even if a variable holds it.

use super::variables;
use crate::approval::shell::{Category, resolve::Value, walk::Walker};

/// Whether a word of `[[ … ]]` makes its neighbours arithmetic.
pub(crate) fn is_arithmetic_operator(text: &str) -> bool {
    matches!(text, "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge")
}

/// Looks at a text that bash evaluates as arithmetic. Each name in it must have a value that is a plain number.
pub(crate) fn number(walker: &mut Walker, value: &Value) {
    let Value::Known(text) = value else {
        return walker.doubt(Category::UnknownCommand, "arithmetic with a value that is only known when it runs");
    };
    if text.contains(['[', '$', '`', '"', '\'', '\\', '{', '@', '#']) {
        return walker.doubt(Category::UnknownCommand, format!("arithmetic that may run a command: {text}"));
    }
    for name in names(text) {
        let is_plain = matches!(walker.scope.get(name), Value::Known(value) if is_number(&value));
        if !is_plain {
            let detail = format!("arithmetic with {name}, whose value is not known to be a number");
            walker.doubt(Category::UnknownCommand, detail);
        }
        if !variables::is_settable(name) {
            variables::doubt(walker, name);
        }
    }
    // It may assign to any of them.
    if text.contains('=') || text.contains("++") || text.contains("--") {
        for name in names(text).map(str::to_owned).collect::<Vec<_>>() {
            walker.scope.set(&name, Value::Unknown);
        }
    }
}

/// The names in an expression. `0x1f` and `16#ff` are numbers.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|found: char| !(found.is_ascii_alphanumeric() || found == '_'))
        .filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
}

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Looks at what stands after the name in `${name[…]…}` or `name[…]=`.
pub(crate) fn index(walker: &mut Walker, value: &Value) {
    let Value::Known(text) = value else {
        return walker.doubt(Category::UnknownCommand, "an index that is only known when it runs");
    };
    match text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
        Some("@" | "*") => {}
        Some(inside) => number(walker, &Value::Known(inside.to_owned())),
        None => walker.doubt(Category::UnknownCommand, format!("an index that is not plain: {text}")),
    }
}

/// Looks at the letter of `${name@…}`. `P` runs the substitutions of the value.
pub(crate) fn transform(walker: &mut Walker, value: &Value) {
    let is_plain = matches!(value, Value::Known(text) if matches!(text.as_str(), "@Q" | "@U" | "@u" | "@L"));
    if !is_plain {
        walker.doubt(Category::UnknownCommand, "an expansion with @ that may run a command");
    }
}

/// Looks at an element of an array that is assigned as a whole: `[…]=value` has an index.
pub(crate) fn array(walker: &mut Walker, text: &str) {
    if text.starts_with('[') {
        walker.doubt(Category::UnknownCommand, "an array with indices");
    }
}
