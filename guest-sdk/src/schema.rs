//! JSON Schema of argument and result types, written as text.
//!
//! Not schemars: its generator builds schemas as values at run time, which adds 58 kB to every component. This one pushes
//! constants that the macro escaped at compile time.

use std::collections::{BTreeMap, HashMap};

/// A type with a JSON Schema. `#[args]` and `#[output]` implement it; write it by hand for a type of your own.
pub trait Schema {
    /// Whether a field of this type may be left out.
    const OPTIONAL: bool = false;

    /// Writes the schema's members without the braces: `"type":"string"`.
    fn keywords(out: &mut String);
}

/// A type that can be all of a tool's arguments: its JSON form is an object. `#[args]` on a struct implements it.
///
/// ```compile_fail
/// use hermes_tool::{Result, tool};
///
/// /// Greets a person by name.
/// #[tool]
/// fn hello(name: String) -> Result<String> {
///     Ok(format!("Hello, {name}!"))
/// }
/// # fn main() {}
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be the arguments of a tool: models send an object with named members",
    label = "this is no object",
    note = "put it into a struct: `#[hermes_tool::args] struct Arguments {{ name: {Self} }}`, and take that",
    note = "a tool without arguments takes `hermes_tool::NoArgs`; a type with a `Schema` of its own also implements `hermes_tool::Arguments`"
)]
pub trait Arguments: Schema {}

/// The whole schema of a type.
pub(crate) fn text<T: Schema>() -> String {
    let mut out = String::from("{");
    T::keywords(&mut out);
    out.push('}');
    out
}

/// The schema of a tool's arguments.
pub fn parameters<T: Arguments>() -> String {
    text::<T>()
}

macro_rules! plain {
    ($keywords:literal: $($type:ty),+) => {
        $(impl Schema for $type {
            fn keywords(out: &mut String) {
                out.push_str($keywords);
            }
        })+
    };
}

plain!(r#""type":"string""#: String, char);
plain!(r#""type":"boolean""#: bool);
plain!(r#""type":"integer""#: i8, i16, i32, i64, i128, isize);
plain!(r#""type":"integer","minimum":0"#: u8, u16, u32, u64, u128, usize);
plain!(r#""type":"number""#: f32, f64);
// Anything: no keyword at all would leave the comma rules to the caller, and `true` is not a member.
plain!(r#""type":["string","number","boolean","object","array","null"]"#: serde_json::Value);

impl<T: Schema> Schema for Option<T> {
    const OPTIONAL: bool = true;

    fn keywords(out: &mut String) {
        T::keywords(out);
    }
}

impl<T: Schema> Schema for Box<T> {
    fn keywords(out: &mut String) {
        T::keywords(out);
    }
}

impl<T: Schema> Schema for Vec<T> {
    fn keywords(out: &mut String) {
        out.push_str(r#""type":"array","items":{"#);
        T::keywords(out);
        out.push('}');
    }
}

fn map<T: Schema>(out: &mut String) {
    out.push_str(r#""type":"object","additionalProperties":{"#);
    T::keywords(out);
    out.push('}');
}

impl<T: Schema> Arguments for BTreeMap<String, T> {}

impl<T: Schema, S> Arguments for HashMap<String, T, S> {}

impl<T: Schema> Schema for BTreeMap<String, T> {
    fn keywords(out: &mut String) {
        map::<T>(out);
    }
}

impl<T: Schema, S> Schema for HashMap<String, T, S> {
    fn keywords(out: &mut String) {
        map::<T>(out);
    }
}
