//! What a tool may return.

use serde::Serialize;

pub use crate::bindings::hermes::tool::types::{Body, Content, Embedded, Media};
use crate::{Error, Result, Schema};

/// A structured result. Its schema becomes the tool's output schema.
///
/// ```
/// use hermes_tool::{Json, NoArgs, Result, output, tool};
///
/// #[output]
/// struct Reading {
///     /// Degrees Celsius.
///     celsius: f64,
/// }
///
/// /// Reads the thermometer.
/// #[tool]
/// fn thermometer(_: NoArgs) -> Result<Json<Reading>> {
///     Ok(Json(Reading { celsius: 21.5 }))
/// }
/// # let reply = hermes_tool::testing::FakeHost::new().call(thermometer::TOOL, "{}").unwrap();
/// # assert_eq!(reply.json()["celsius"], 21.5);
/// ```
#[derive(Clone, Debug)]
pub struct Json<T>(pub T);

/// A type that a tool may return inside its `Result`.
pub trait Output: Sized {
    /// The pieces of the result.
    fn into_content(self) -> Result<Vec<Content>>;

    /// The JSON Schema of the result, where it is structured.
    fn schema() -> Option<String> {
        None
    }
}

impl<T: Serialize + Schema> Output for Json<T> {
    fn into_content(self) -> Result<Vec<Content>> {
        json_content(&self.0)
    }

    fn schema() -> Option<String> {
        Some(crate::schema::text::<T>())
    }
}

impl Output for serde_json::Value {
    fn into_content(self) -> Result<Vec<Content>> {
        json_content(&self)
    }
}

impl Output for String {
    fn into_content(self) -> Result<Vec<Content>> {
        Ok(vec![Content::Text(self)])
    }
}

impl Output for Content {
    fn into_content(self) -> Result<Vec<Content>> {
        Ok(vec![self])
    }
}

impl Output for Vec<Content> {
    fn into_content(self) -> Result<Vec<Content>> {
        Ok(self)
    }
}

fn json_content(value: &impl Serialize) -> Result<Vec<Content>> {
    let text = serde_json::to_string(value).map_err(|why| Error::failed(format!("the result is not JSON: {why}")))?;
    Ok(vec![Content::Json(text)])
}
