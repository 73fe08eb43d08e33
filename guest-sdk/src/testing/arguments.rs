//! Arguments before a call, as the host prepares them.
//!
//! ```
//! use hermes_tool::testing::FakeHost;
//! use hermes_tool::{Result, args, tool};
//!
//! #[args]
//! struct Roll {
//!     #[schema(minimum = 1, maximum = 100)]
//!     count: u32,
//! }
//!
//! /// Rolls dice.
//! #[tool]
//! fn roll(args: Roll) -> Result<String> {
//!     Ok(format!("{} dice", args.count))
//! }
//!
//! let host = FakeHost::new();
//! // Models send numbers as text.
//! assert_eq!(host.call(roll::TOOL, r#"{"count": "5"}"#).unwrap().text(), "5 dice");
//! let refused = host.call(roll::TOOL, r#"{"count": 500}"#).unwrap_err();
//! assert!(refused.message().contains("argument count: 500 is greater than the maximum of 100"), "{refused:?}");
//! assert!(host.call(roll::TOOL, "[]").is_err());
//! ```

use hermes_coerce::coerce;
use serde_json::Value;

use crate::{Error, Tool};

/// Faults that are told at once.
const FAULTS: usize = 5;

/// The arguments as the tool gets them, or what the caller is told instead.
pub(super) fn prepare(tool: Tool, text: &str) -> Result<String, Error> {
    let text = if text.trim().is_empty() { "{}" } else { text };
    let given: Value =
        serde_json::from_str(text).map_err(|why| Error::invalid(format!("the arguments are not JSON: {why}")))?;
    if !given.is_object() {
        return Err(Error::invalid("the arguments must be a JSON object"));
    }
    let bad_schema = |why: String| Error::failed(format!("{} has bad parameters: {why}", tool.name));
    let schema: Value = serde_json::from_str(&(tool.parameters)()).map_err(|why| bad_schema(why.to_string()))?;
    let validator = jsonschema::validator_for(&schema).map_err(|why| bad_schema(why.to_string()))?;
    let coerced = coerce(given.clone(), &schema);
    if let Some(good) = [&coerced, &given].into_iter().find(|value| validator.is_valid(value)) {
        return Ok(good.to_string());
    }
    let faults = validator.iter_errors(&coerced).take(FAULTS).map(|fault| {
        let place = fault.instance_path().as_str().trim_start_matches('/').replace('/', ".");
        if place.is_empty() { fault.to_string() } else { format!("argument {place}: {fault}") }
    });
    Err(Error::invalid(format!("{}: {}", tool.name, faults.collect::<Vec<_>>().join("; "))))
}
