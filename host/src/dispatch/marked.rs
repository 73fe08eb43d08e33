//! A reply that comes from outside, marked as data.

use serde_json::json;

use super::{
    Reply,
    outside::{defang, defang_json, mark},
};
use crate::wit::latest::{Body, Content};

/// The reply with its origin said and its imitations of roles and tools defanged. One text or JSON value is wrapped; among several
/// pieces the mark is the first.
pub(super) fn marked(tool: &str, reply: Reply) -> Reply {
    let content = match reply.content() {
        [Content::Text(_) | Content::Json(_)] => {
            let json = reply.json();
            vec![Content::Json(mark(tool, defang_json(&json).as_deref().unwrap_or(&json)))]
        }
        pieces => {
            let note = mark(tool, &json!(format!("the {} pieces that follow", pieces.len())).to_string());
            std::iter::once(Content::Json(note)).chain(pieces.iter().map(defanged)).collect()
        }
    };
    // What was accepted once is accepted again: only strings and the wrapping changed. Should it not be, nothing from outside may
    // pass unmarked.
    Reply::accept(tool, content).unwrap_or_else(|_| Reply::nothing())
}

fn defanged(piece: &Content) -> Content {
    let text = |text: &str| defang(text).unwrap_or_else(|| text.to_owned());
    match piece.clone() {
        Content::Json(json) => Content::Json(defang_json(&json).unwrap_or(json)),
        Content::Text(it) => Content::Text(text(&it)),
        Content::Resource(mut document) => {
            document.uri = text(&document.uri);
            document.mime_type = document.mime_type.map(|it| text(&it));
            if let Body::Text(body) = &mut document.body {
                *body = text(body);
            }
            Content::Resource(document)
        }
        Content::Image(mut media) => {
            media.mime_type = text(&media.mime_type);
            Content::Image(media)
        }
        Content::Audio(mut media) => {
            media.mime_type = text(&media.mime_type);
            Content::Audio(media)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::wit::latest::{Embedded, Media};

    fn json(content: Vec<Content>) -> Value {
        serde_json::from_str(&marked("fetch", Reply::accept("fetch", content).unwrap()).json()).unwrap()
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
        let media = Media { mime_type: tag.into(), data: vec![1] };
        let document = Embedded { uri: tag.into(), mime_type: Some(tag.into()), body: Body::Text(tag.into()) };
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
