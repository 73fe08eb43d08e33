//! The keyword `pattern`, with a bound on what one match can cost. A match can't be ended, so it is not begun where it could take too
//! long, or where there is no time left.

use jsonschema::{Keyword, ValidationError, Validator, paths::Location};
use serde_json::{Map, Value, json};

use super::{Effort, schema};
use crate::pattern_cost::{STEPS, places};

struct BoundedPattern {
    /// For the pattern alone.
    pattern: Validator,
    /// Bytes of the longest string that it is matched against.
    longest: usize,
}

impl<'i> Keyword<'i> for BoundedPattern {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        if self.is_too_long(instance) {
            let why = format!("its pattern is only matched against strings of up to {} bytes", self.longest);
            return Err(ValidationError::custom(why));
        }
        if Effort::is_spent() {
            return Err(ValidationError::custom("there was no time left to check it"));
        }
        self.pattern.validate(instance)
    }

    fn is_valid(&self, instance: &'i Value) -> bool {
        !self.is_too_long(instance) && !Effort::is_spent() && self.pattern.is_valid(instance)
    }
}

impl BoundedPattern {
    fn is_too_long(&self, instance: &Value) -> bool {
        instance.as_str().is_some_and(|text| text.len() > self.longest)
    }
}

/// Makes the keyword for a schema's pattern.
pub(super) fn compile<'a>(
    _: &'a Map<String, Value>,
    pattern: &'a Value,
    _: Location,
) -> Result<Box<dyn for<'i> Keyword<'i>>, ValidationError<'a>> {
    // The library builds it: the syntax is ECMA's, and errors are in its words.
    let alone =
        jsonschema::options().with_pattern_options(schema::pattern_options()).build(&json!({ "pattern": pattern }));
    let text = pattern.as_str().unwrap_or_default();
    let translated = jsonschema_regex::to_rust_regex(text).map_err(drop);
    // What the library can build and this can't read is not matched against anything.
    let longest = translated.and_then(|text| places(&text).map_err(drop)).map_or(0, |places| STEPS / places);
    let longest = usize::try_from(longest).unwrap_or(usize::MAX);
    Ok(Box::new(BoundedPattern { pattern: alone?, longest }))
}
