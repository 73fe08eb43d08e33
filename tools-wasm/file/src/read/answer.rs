//! The answer of `read_file`: the page as JSON already, and the rest about it.

use hermes_tool::{Content, Error, Json, Output, Result};

use super::Read;

pub(crate) struct Answer {
    /// What stands between the quotes of `content`, where lines are shown.
    pub(super) page: Option<String>,
    /// Everything else.
    pub(super) rest: Read,
}

impl From<Read> for Answer {
    fn from(rest: Read) -> Self {
        Self { page: None, rest }
    }
}

impl Output for Answer {
    fn into_content(self) -> Result<Vec<Content>> {
        let rest = serde_json::to_string(&self.rest).map_err(|why| Error::failed(why.to_string()))?;
        // `rest` is never an empty object: it always says how long the file is.
        let json = match (self.page, rest.strip_prefix('{')) {
            (Some(page), Some(rest)) => ["{\"content\":\"", &page, "\",", rest].concat(),
            _ => rest,
        };
        Ok(vec![Content::Json(json)])
    }

    fn schema() -> Option<String> {
        Json::<Read>::schema()
    }
}
