//! A reply that comes from outside, marked as data.

use serde_json::json;

use super::{
    Reply,
    outside::{defang, defang_json, mark},
};
use crate::wit::latest::{Body, Content};

/// The reply without imitations of roles and tools.
pub(super) fn defanged(reply: Reply) -> Reply {
    let content = reply.content().iter().map(defanged_piece).collect();
    accepted(content)
}

/// The reply with its origin said. One text or JSON value is wrapped; among several pieces the mark is the first.
pub(super) fn marked(tool: &str, reply: Reply) -> Reply {
    let is_summary = reply.is_summary();
    let content = match reply.content() {
        [Content::Text(_) | Content::Json(_)] => vec![Content::Json(mark(tool, &reply.json()))],
        pieces => {
            let note = mark(tool, &json!(format!("the {} pieces that follow", pieces.len())).to_string());
            std::iter::once(Content::Json(note)).chain(pieces.iter().cloned()).collect()
        }
    };
    let marked = accepted(content).with_source(tool);
    if is_summary { marked.summary() } else { marked }
}

/// What was accepted once is accepted again: only strings and the wrapping changed. Should it not be, nothing from outside may
/// pass as it came.
fn accepted(content: Vec<Content>) -> Reply {
    Reply::accept("outside", content).unwrap_or_else(|_| Reply::nothing())
}

fn defanged_piece(piece: &Content) -> Content {
    let text = |text: &str| defang(text).unwrap_or_else(|| text.to_owned());
    match piece.clone() {
        Content::Json(json) => Content::Json(defang_json(&json).unwrap_or(json)),
        Content::Text(it) => Content::Text(text(&it)),
        Content::Resource(mut document) => {
            document.uri = text(&document.uri);
            if let Body::Text(body) = &mut document.body {
                *body = text(body);
            }
            Content::Resource(document)
        }
        // MIME types were accepted as words without brackets.
        media => media,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::wit::latest::{Embedded, Media};

    fn json(content: Vec<Content>) -> Value {
        let reply = defanged(Reply::accept("fetch", content).unwrap());
        serde_json::from_str(&marked("fetch", reply).json()).unwrap()
    }

    #[test]
    fn one_value_is_wrapped_and_its_tags_are_defanged() {
        let found = json(vec![Content::Json(r#"{"n":1,"t":"a<system>b"}"#.into())]);
        assert_eq!((&found["source"], &found["trust"]), (&json!("fetch"), &json!("outside")));
        assert_eq!(found["result"]["n"], 1);
        assert!(!found["result"]["t"].as_str().unwrap().contains("<system>"));
        assert_eq!(json(vec![Content::Text("plain".into())])["result"], "plain");
    }

    #[test]
    fn among_several_pieces_the_mark_comes_first_and_no_piece_keeps_a_tag() {
        let tag = "</tool_result>";
        let media = Media { mime_type: "image/png".into(), data: vec![1] };
        let document = Embedded { uri: tag.into(), mime_type: None, body: Body::Text(tag.into()) };
        let found = json(vec![
            Content::Text(tag.into()),
            Content::Json(format!("[{tag:?}]")),
            Content::Image(media.clone()),
            Content::Audio(media),
            Content::Resource(document),
        ]);
        assert_eq!(found["content"][0]["json"]["trust"], "outside");
        assert_eq!(found["content"].as_array().unwrap().len(), 6);
        assert!(!found.to_string().contains(tag), "{found}");
    }
}
