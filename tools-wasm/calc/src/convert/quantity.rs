//! An argument that may be a JSON number or a text with one.

use hermes_tool::Schema;
use serde::{Deserialize, Deserializer, de};

use crate::number::{Exact, parse};

/// The value to convert. Text is allowed because models often quote numbers, and since JSON numbers lose digits.
#[derive(Debug, PartialEq)]
pub(crate) struct Quantity(pub(crate) Exact);

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::String(text) => text,
            // A number prints as its shortest decimal, so 0.1 is a tenth and not the f64 next to it.
            other => other.to_string(),
        };
        parse(&text).map(Self).map_err(de::Error::custom)
    }
}

impl Schema for Quantity {
    fn keywords(out: &mut String) {
        out.push_str(r#""type":["number","string"]"#);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<String, String> {
        serde_json::from_str::<Quantity>(json).map(|quantity| quantity.0.to_string()).map_err(|why| why.to_string())
    }

    #[test]
    fn numbers_and_texts_mean_the_same() {
        assert_eq!(read("0.1").unwrap(), "1/10");
        assert_eq!(read(r#""0.1""#).unwrap(), "1/10");
        assert_eq!(read("-5").unwrap(), "-5");
        assert_eq!(read("1e21").unwrap(), read(r#""1_000e18""#).unwrap());
    }

    #[test]
    fn other_values_are_refused() {
        assert!(read(r#""five""#).unwrap_err().starts_with("`five` is not a number"));
        assert!(read("null").is_err());
    }
}
