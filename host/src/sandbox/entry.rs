//! The ways into a guest, and the size of what comes out.

use std::future::Future;

use wasmtime::Store;

use super::{CallState, limits::Limits};
use crate::wit::latest::{
    Body, Call, Content, Definition, DescribesPre, Failure, HookPre, Outcome, Redescription, Subscription,
    Surroundings, ToolPre, Verdict,
};

/// One exported function with its arguments.
pub(super) trait Entry: Send + 'static {
    /// What a new instance is made from.
    type Pre: Clone + Send + 'static;
    /// What the function answers.
    type Answer: Send + 'static;

    /// Makes an instance and calls the function.
    fn enter(
        self,
        pre: &Self::Pre,
        store: &mut Store<CallState>,
    ) -> impl Future<Output = wasmtime::Result<Self::Answer>> + Send;

    /// Bytes of the answer, against [`Limits::result`].
    fn size(answer: &Self::Answer) -> usize;
}

pub(super) struct Register;

impl Entry for Register {
    type Pre = ToolPre<CallState>;
    type Answer = Vec<Definition>;

    async fn enter(self, pre: &Self::Pre, store: &mut Store<CallState>) -> wasmtime::Result<Self::Answer> {
        pre.instantiate_async(&mut *store).await?.hermes_tool_provider().call_register(store).await
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
    type Pre = ToolPre<CallState>;
    type Answer = Result<(), String>;

    async fn enter(self, pre: &Self::Pre, store: &mut Store<CallState>) -> wasmtime::Result<Self::Answer> {
        pre.instantiate_async(&mut *store).await?.hermes_tool_provider().call_check(store, &self.0).await
    }

    fn size(answer: &Self::Answer) -> usize {
        answer.as_ref().err().map_or(0, String::len)
    }
}

pub(super) struct Handle(pub(super) Call);

impl Entry for Handle {
    type Pre = ToolPre<CallState>;
    type Answer = Result<Vec<Content>, Failure>;

    async fn enter(self, pre: &Self::Pre, store: &mut Store<CallState>) -> wasmtime::Result<Self::Answer> {
        pre.instantiate_async(&mut *store).await?.hermes_tool_provider().call_handle(store, &self.0).await
    }

    fn size(answer: &Self::Answer) -> usize {
        match answer {
            Ok(pieces) => contents_size(pieces),
            Err(
                Failure::InvalidArguments(text)
                | Failure::Unavailable(text)
                | Failure::Denied(text)
                | Failure::Failed(text),
            ) => text.len(),
        }
    }
}

pub(super) struct Describe(pub(super) Surroundings);

impl Entry for Describe {
    type Pre = DescribesPre<CallState>;
    type Answer = Vec<Redescription>;

    async fn enter(self, pre: &Self::Pre, store: &mut Store<CallState>) -> wasmtime::Result<Self::Answer> {
        pre.instantiate_async(&mut *store).await?.hermes_tool_describer().call_describe(store, &self.0).await
    }

    fn size(answer: &Self::Answer) -> usize {
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        answer.iter().map(|one| one.name.len() + text(&one.description) + text(&one.parameters)).sum()
    }
}

pub(super) struct Subscribe;

impl Entry for Subscribe {
    type Pre = HookPre<CallState>;
    type Answer = Subscription;

    async fn enter(self, pre: &Self::Pre, store: &mut Store<CallState>) -> wasmtime::Result<Self::Answer> {
        pre.instantiate_async(&mut *store).await?.hermes_tool_hooks().call_subscribe(store).await
    }

    fn size(answer: &Self::Answer) -> usize {
        answer.tools.iter().map(String::len).sum()
    }
}

pub(super) struct PreToolCall(pub(super) Call);

impl Entry for PreToolCall {
    type Pre = HookPre<CallState>;
    type Answer = Verdict;

    async fn enter(self, pre: &Self::Pre, store: &mut Store<CallState>) -> wasmtime::Result<Self::Answer> {
        pre.instantiate_async(&mut *store).await?.hermes_tool_hooks().call_pre_tool_call(store, &self.0).await
    }

    fn size(answer: &Self::Answer) -> usize {
        match answer {
            Verdict::Allow => 0,
            Verdict::Block(message) | Verdict::Ask(message) => message.len(),
        }
    }
}

pub(super) struct PostToolCall(pub(super) Call, pub(super) Outcome);

impl Entry for PostToolCall {
    type Pre = HookPre<CallState>;
    type Answer = ();

    async fn enter(self, pre: &Self::Pre, store: &mut Store<CallState>) -> wasmtime::Result<Self::Answer> {
        let hook = pre.instantiate_async(&mut *store).await?;
        hook.hermes_tool_hooks().call_post_tool_call(store, &self.0, &self.1).await
    }

    fn size(&(): &Self::Answer) -> usize {
        0
    }
}

pub(super) struct TransformToolResult(pub(super) Call, pub(super) Outcome);

impl Entry for TransformToolResult {
    type Pre = HookPre<CallState>;
    type Answer = Option<Outcome>;

    async fn enter(self, pre: &Self::Pre, store: &mut Store<CallState>) -> wasmtime::Result<Self::Answer> {
        let hook = pre.instantiate_async(&mut *store).await?;
        hook.hermes_tool_hooks().call_transform_tool_result(store, &self.0, &self.1).await
    }

    fn size(answer: &Self::Answer) -> usize {
        match answer {
            None => 0,
            Some(Outcome::Reply(pieces)) => contents_size(pieces),
            Some(Outcome::Error(problem)) => problem.kind.len() + problem.message.len(),
        }
    }
}

fn contents_size(pieces: &[Content]) -> usize {
    let one = |piece: &Content| match piece {
        Content::Json(text) | Content::Text(text) => text.len(),
        Content::Image(media) | Content::Audio(media) => media.mime_type.len() + media.data.len(),
        Content::Resource(document) => {
            let body = match &document.body {
                Body::Text(text) => text.len(),
                Body::Blob(data) => data.len(),
            };
            document.uri.len() + document.mime_type.as_ref().map_or(0, String::len) + body
        }
    };
    pieces.iter().map(one).sum()
}

/// The error of a size past the limit.
pub(super) fn too_large(size: usize, limits: &Limits) -> super::Kill {
    let detail = format!("the result has {size} bytes; the limit is {}", limits.result);
    super::Kill::new(super::KillReason::ResultTooLarge, detail)
}
