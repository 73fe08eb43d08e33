//! The point of the pipeline at which a person decides. Who is asked, and how, is the embedder's; with nobody there the answer
//! is no.

use futures_util::future::BoxFuture;

use crate::wit::latest::Call;

/// A call that waits for a decision.
#[derive(Clone, Copy, Debug)]
pub struct ApprovalRequest<'a> {
    /// The call, as it will run.
    pub call: &'a Call,
    /// Who asks, and why: one line for each hook that wants a person to decide.
    pub reasons: &'a [String],
}

/// The decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The call runs.
    Approve,
    /// It does not. The reason is for the model.
    Refuse(String),
}

/// Somebody who can be asked. It may take as long as it takes: dropping the call drops the question.
pub trait Approver: Send + Sync {
    /// Asks.
    fn approve<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, Decision>;
}

/// Nobody.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Nobody;

impl Approver for Nobody {
    fn approve<'a>(&'a self, _: ApprovalRequest<'a>) -> BoxFuture<'a, Decision> {
        let why = "it needs a person's approval, and there is nobody to ask";
        Box::pin(std::future::ready(Decision::Refuse(why.into())))
    }
}
