//! Tools that the agent's own loop answers: todo lists, memory, questions to the user.

use futures_util::future::BoxFuture;

use super::CallError;
use crate::wit::latest::{Call, Content};

/// What an interceptor answers for a call it takes.
pub type Intercepted = Result<Vec<Content>, CallError>;

/// Takes over named tools before a component is asked. Their schemas stay in the definitions, arguments are coerced and
/// validated, hooks and approval hold, and the call is audited like any other.
pub trait Interceptor: Send + Sync {
    /// Whether it may want calls of this tool.
    fn takes(&self, tool: &str) -> bool;

    /// Answers a call, or leaves it: then the next interceptor is asked, and at last the tool's own handler.
    fn handle<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Option<Intercepted>>;
}
