//! How often is too often, as an operator sets it:
//!
//! ```toml
//! [guardrails]
//! warn = { same_call = 2, same_tool = 3, same_result = 2 }
//! stop = { same_call = 5, same_tool = 8, same_result = 5 }
//! ```
//!
//! These are the defaults, and a count that is left out keeps its own. 0 means never. `stop = false` stops nothing at all,
//! `stop = true` is the default.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor, value::MapAccessDeserializer},
};

/// The second time may be chance or a retry; the third failure of a tool in a row is a pattern, whatever its arguments were.
const WARN: Counts = Counts { same_call: 2, same_tool: 3, same_result: 2 };

/// After the warnings a model has had three more tries, and five with a tool: what has not worked by then will not.
const STOP: Counts = Counts { same_call: 5, same_tool: 8, same_result: 5 };

/// How often something may happen before something is done about it. 0 means that nothing ever is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Failures of the same tool with the same arguments.
    pub same_call: u32,
    /// Failures of the same tool in a row, whatever the arguments.
    pub same_tool: u32,
    /// The same result of the same call, of a tool that may be called again without harm.
    pub same_result: u32,
}

/// When a task is warned and when it is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Thresholds {
    /// From here on the model is told.
    #[serde(deserialize_with = "warn")]
    pub warn: Counts,
    /// From here on the call is not run. None never stops anything.
    #[serde(deserialize_with = "stop")]
    pub stop: Option<Counts>,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self { warn: WARN, stop: Some(STOP) }
    }
}

/// The counts that an operator wrote down.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Given {
    same_call: Option<u32>,
    same_tool: Option<u32>,
    same_result: Option<u32>,
}

impl Given {
    fn or(self, default: Counts) -> Counts {
        Counts {
            same_call: self.same_call.unwrap_or(default.same_call),
            same_tool: self.same_tool.unwrap_or(default.same_tool),
            same_result: self.same_result.unwrap_or(default.same_result),
        }
    }
}

fn warn<'de, D: Deserializer<'de>>(from: D) -> Result<Counts, D::Error> {
    Given::deserialize(from).map(|given| given.or(WARN))
}

fn stop<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Counts>, D::Error> {
    from.deserialize_any(Stop)
}

struct Stop;

impl<'de> Visitor<'de> for Stop {
    type Value = Option<Counts>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("counts like { same_call = 5, same_tool = 8, same_result = 5 }, or false")
    }

    fn visit_bool<E>(self, on: bool) -> Result<Self::Value, E> {
        Ok(on.then_some(STOP))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        Given::deserialize(MapAccessDeserializer::new(map)).map(|given| Some(given.or(STOP)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Thresholds {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn what_is_left_out_keeps_its_default() {
        assert_eq!(read(""), Thresholds::default());
        assert_eq!(read("stop = true"), Thresholds::default());
        let some = read("warn = { same_call = 1 }\n[stop]\nsame_result = 0");
        assert_eq!(some.warn, Counts { same_call: 1, same_tool: 3, same_result: 2 });
        assert_eq!(some.stop, Some(Counts { same_call: 5, same_tool: 8, same_result: 0 }));
    }

    #[test]
    fn the_documented_form_is_the_default() {
        let text = "warn = { same_call = 2, same_tool = 3, same_result = 2 }\nstop = { same_call = 5, same_tool = 8, same_result = 5 }";
        assert_eq!(read(text), Thresholds::default());
    }

    #[test]
    fn stopping_can_be_switched_off() {
        assert_eq!(read("stop = false"), Thresholds { stop: None, ..Thresholds::default() });
    }

    #[test]
    fn unknown_names_and_odd_values_are_errors_that_name_them() {
        for (text, named) in [
            ("wran = {}", "wran"),
            ("warn = { same_cal = 1 }", "same_cal"),
            ("stop = { same_cal = 1 }", "same_cal"),
            ("stop = 5", "or false"),
            ("warn = { same_call = -1 }", "-1"),
        ] {
            let error = toml::from_str::<Thresholds>(text).unwrap_err().to_string();
            assert!(error.contains(named), "{error}");
        }
    }
}
