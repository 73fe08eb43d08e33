//! A tool's result, checked.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::{CallError, ErrorKind};
use crate::wit::latest::{Body, Content};

/// The result of a call that worked.
#[derive(Clone, Debug)]
pub struct Reply {
    content: Vec<Content>,
    json: String,
}

impl Reply {
    /// Checks what a tool returned and makes its JSON. One JSON piece is the result itself and one text is a JSON string;
    /// everything else is `{"content": […]}` with typed pieces.
    pub(crate) fn accept(tool: &str, content: Vec<Content>, most: usize) -> Result<Self, CallError> {
        let json = match content.as_slice() {
            [Content::Json(text)] => parse(tool, text)?,
            [Content::Text(text)] => json!(text),
            pieces => {
                let pieces: Result<Vec<Value>, CallError> = pieces.iter().map(|piece| render(tool, piece)).collect();
                json!({"content": pieces?})
            }
        };
        let json = json.to_string();
        if json.len() > most {
            let text = format!("{tool} returned {} bytes; its limit is {most}: ask for less", json.len());
            return Err(CallError::new(ErrorKind::Killed(crate::sandbox::KillReason::ResultTooLarge), &text));
        }
        Ok(Self { content, json })
    }

    /// The pieces as the tool gave them.
    pub fn content(&self) -> &[Content] {
        &self.content
    }

    /// The JSON text.
    pub fn json(&self) -> String {
        self.json.clone()
    }
}

fn render(tool: &str, piece: &Content) -> Result<Value, CallError> {
    Ok(match piece {
        Content::Json(text) => json!({"type": "json", "json": parse(tool, text)?}),
        Content::Text(text) => json!({"type": "text", "text": text}),
        Content::Image(media) => {
            json!({"type": "image", "mimeType": media.mime_type, "data": STANDARD.encode(&media.data)})
        }
        Content::Audio(media) => {
            json!({"type": "audio", "mimeType": media.mime_type, "data": STANDARD.encode(&media.data)})
        }
        Content::Resource(document) => {
            let mut resource = json!({"uri": document.uri});
            if let Some(kind) = &document.mime_type {
                resource["mimeType"] = json!(kind);
            }
            match &document.body {
                Body::Text(text) => resource["text"] = json!(text),
                Body::Blob(data) => resource["blob"] = json!(STANDARD.encode(data)),
            }
            json!({"type": "resource", "resource": resource})
        }
    })
}

/// serde_json stops at 128 levels, so a result of a hundred thousand is refused, not followed. Attack 25.
fn parse(tool: &str, text: &str) -> Result<Value, CallError> {
    serde_json::from_str(text)
        .map_err(|why| CallError::new(ErrorKind::Failed, &format!("{tool} returned JSON that can't be read: {why}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wit::latest::Media;

    fn json(content: Vec<Content>) -> String {
        Reply::accept("t", content, 1000).unwrap().json()
    }

    #[test]
    fn one_piece_is_the_result_itself() {
        assert_eq!(
            json(vec![Content::Json(r#"{"b":1,"a":123456789012345678901234567890}"#.into())]),
            r#"{"b":1,"a":123456789012345678901234567890}"#
        );
        assert_eq!(json(vec![Content::Text("hi".into())]), "\"hi\"");
    }

    #[test]
    fn several_pieces_are_a_list() {
        let image = Content::Image(Media { mime_type: "image/png".into(), data: vec![1, 2, 3] });
        assert_eq!(
            json(vec![Content::Text("a".into()), image]),
            r#"{"content":[{"type":"text","text":"a"},{"type":"image","mimeType":"image/png","data":"AQID"}]}"#
        );
        assert_eq!(json(vec![]), r#"{"content":[]}"#);
    }

    #[test]
    fn broken_or_endlessly_nested_json_is_the_tools_failure() {
        for text in ["{", "1 2", &"[".repeat(100_000)] {
            let error = Reply::accept("t", vec![Content::Json(text.into())], 1 << 20).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Failed);
        }
    }

    #[test]
    fn a_result_past_the_tools_own_limit_is_refused() {
        let error = Reply::accept("t", vec![Content::Text("x".repeat(2000))], 1000).unwrap_err();
        assert_eq!(error.kind.name(), "result-too-large");
    }
}
