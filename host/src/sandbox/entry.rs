//! The three ways into a guest.

use std::future::Future;

use wasmtime::Store;

use super::{CallState, limits::Limits};
use crate::wit::latest::{Call, Content, Definition, Failure, Tool};

/// One exported function with its arguments.
pub(super) trait Entry: Send + 'static {
    /// What the function answers.
    type Answer: Send + 'static;

    /// Calls it.
    fn enter(
        self,
        guest: &Tool,
        store: &mut Store<CallState>,
    ) -> impl Future<Output = wasmtime::Result<Self::Answer>> + Send;

    /// Bytes of the answer, against [`Limits::result`].
    fn size(answer: &Self::Answer) -> usize;
}

pub(super) struct Register;

impl Entry for Register {
    type Answer = Vec<Definition>;

    async fn enter(self, guest: &Tool, store: &mut Store<CallState>) -> wasmtime::Result<Self::Answer> {
        guest.hermes_tool_provider().call_register(store).await
    }

    fn size(answer: &Self::Answer) -> usize {
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let one = |d: &Definition| {
            d.name.len()
                + d.toolset.len()
                + d.description.len()
                + d.parameters.len()
                + text(&d.output)
                + text(&d.emoji)
                + d.required_env.iter().map(String::len).sum::<usize>()
        };
        answer.iter().map(one).sum()
    }
}

pub(super) struct Check(pub(super) String);

impl Entry for Check {
    type Answer = Result<(), String>;

    async fn enter(self, guest: &Tool, store: &mut Store<CallState>) -> wasmtime::Result<Self::Answer> {
        guest.hermes_tool_provider().call_check(store, &self.0).await
    }

    fn size(answer: &Self::Answer) -> usize {
        answer.as_ref().err().map_or(0, String::len)
    }
}

pub(super) struct Handle(pub(super) Call);

impl Entry for Handle {
    type Answer = Result<Vec<Content>, Failure>;

    async fn enter(self, guest: &Tool, store: &mut Store<CallState>) -> wasmtime::Result<Self::Answer> {
        guest.hermes_tool_provider().call_handle(store, &self.0).await
    }

    fn size(answer: &Self::Answer) -> usize {
        match answer {
            Ok(pieces) => pieces.iter().map(content_size).sum(),
            Err(
                Failure::InvalidArguments(text)
                | Failure::Unavailable(text)
                | Failure::Denied(text)
                | Failure::Failed(text),
            ) => text.len(),
        }
    }
}

fn content_size(piece: &Content) -> usize {
    use crate::wit::latest::Body;
    match piece {
        Content::Json(text) | Content::Text(text) => text.len(),
        Content::Image(media) | Content::Audio(media) => media.mime_type.len() + media.data.len(),
        Content::Resource(document) => {
            let body = match &document.body {
                Body::Text(text) => text.len(),
                Body::Blob(data) => data.len(),
            };
            document.uri.len() + document.mime_type.as_ref().map_or(0, String::len) + body
        }
    }
}

/// The error of a size past the limit.
pub(super) fn too_large(size: usize, limits: &Limits) -> super::Kill {
    let detail = format!("the result has {size} bytes; the limit is {}", limits.result);
    super::Kill::new(super::KillReason::ResultTooLarge, detail)
}
