//! Calls: one, or several at once.

use std::{
    collections::BTreeSet,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use super::{
    Current, Host,
    bridge::{self, Bridge},
};
use crate::{
    dispatch::{
        self, BATCH_CALLS, BATCH_WALL, BatchCall, BatchTooLarge, CallContext, CallError, ErrorKind, Incoming, Outcome,
        Safety, Target, bound_turn,
    },
    registry::{Catalogue, Registered, Selection, TOOL_CALL, ToolsetError},
    sandbox::Control,
};

impl Host {
    /// Calls a tool. Never fails otherwise than by an [`Outcome`], and works on any executor. Dropping the future ends the
    /// guest.
    pub async fn call(&self, name: &str, arguments: &str, context: CallContext) -> Outcome {
        let call_id = context.call_id.clone().unwrap_or_else(|| self.next_call_id());
        let inner = (name == TOOL_CALL).then(|| bridge::inner_call(arguments).ok()).flatten();
        let called = inner.as_ref().map_or(name, |(name, _)| name);
        let (current, awaited) = self.current_for(called, &context.control).await;
        let awaited = awaited.as_deref();
        let pipeline = &self.0.pipeline;
        let caller = ToolScope { toolsets: context.toolsets.clone(), client: context.client.clone() };
        let incoming = Incoming { name, arguments, call_id, context };
        let target = match Bridge::named(name) {
            None => self.target(&current, awaited, name, &caller),
            Some(Bridge::Search) => Target::Host(Box::pin(self.search(arguments, caller))),
            Some(Bridge::Describe) => Target::Host(Box::pin(self.describe(arguments, caller))),
            Some(Bridge::Call) => match bridge::inner_call(arguments) {
                // From here on it is the call of the real tool: hooks, guardrails and the audit see that one's name.
                Ok((name, arguments)) => {
                    let target = self.target(&current, awaited, &name, &caller);
                    let incoming = Incoming { name: &name, arguments: &arguments, ..incoming };
                    return pipeline.run(incoming, target, &current.policy).await;
                }
                Err(error) => Target::nobody(error),
            },
        };
        pipeline.run(incoming, target, &current.policy).await
    }

    /// [`call`](Self::call) for callers without an executor. Blocks the thread.
    pub fn call_blocking(&self, name: &str, arguments: &str, context: CallContext) -> Outcome {
        pollster::block_on(self.call(name, arguments, context))
    }

    /// Calls several tools. Those that may run at the same time do, the others wait for each other, and the outcomes come in the
    /// order of the calls. All of it takes at most `deadline`; then, or when the context's token is cancelled, the guests
    /// that run are ended and the calls that wait never start.
    pub async fn call_batch(
        &self,
        calls: &[BatchCall],
        context: CallContext,
        deadline: Option<Duration>,
    ) -> Result<Vec<Outcome>, BatchTooLarge> {
        if calls.len() > BATCH_CALLS {
            return Err(BatchTooLarge(calls.len()));
        }
        let catalogue = self.catalogue();
        let ids: Vec<String> =
            calls.iter().map(|call| call.call_id.clone().unwrap_or_else(|| self.next_call_id())).collect();
        let cancel = context.control.cancel.as_ref().map(|token| token.child_token()).unwrap_or_default();
        let safety = |at: usize| calls.get(at).map(|call| self.safety(&catalogue, &call.name, &call.arguments));
        let one = |at: usize| {
            let (call, call_id) = (&calls[at], Some(ids[at].clone()));
            let control = Control { cancel: Some(cancel.clone()), ..context.control.clone() };
            self.call(&call.name, &call.arguments, CallContext { call_id, control, ..context.clone() })
        };
        let pipeline = &self.0.pipeline;
        let deadline = deadline.unwrap_or(BATCH_WALL);
        let mut outcomes = dispatch::run_batch(&pipeline.sandbox, calls.len(), deadline, &cancel, safety, one).await;
        let most = self.0.current.load().policy.bounds.turn;
        bound_turn(ids.iter().map(String::as_str).zip(&mut outcomes), most, &pipeline.spill);
        Ok(outcomes)
    }

    /// What a call shares with others. A `tool_call` is as safe as the call in it.
    fn safety(&self, catalogue: &Catalogue, name: &str, arguments: &str) -> Safety {
        if name == TOOL_CALL {
            let Ok((name, arguments)) = bridge::inner_call(arguments) else { return Safety::Barrier };
            return dispatch::safety(catalogue.get(&name).map(Arc::as_ref), &arguments, self.0.workspace.path());
        }
        dispatch::safety(catalogue.get(name).map(Arc::as_ref), arguments, self.0.workspace.path())
    }

    /// Characters of a tool's result that a model is shown; what is over goes to a file. Nothing for an unknown tool.
    pub fn max_result_chars(&self, name: &str) -> Option<usize> {
        let current = self.0.current.load();
        let entry = current.catalogue.get(name)?;
        Some(current.policy.bounds.of_tool(entry.component.limits.shown, entry.definition.max_result_size))
    }

    /// Forgets what the guardrails counted for a task, and what it read: it ended, a person stepped in, or its model no longer
    /// sees what it was told.
    pub fn forget_task(&self, task_id: &str) {
        self.0.files.memory.forget(task_id);
        self.0.current.load().policy.guardrails.forget(task_id);
    }

    fn next_call_id(&self) -> String {
        format!("call-{}-{}", self.0.instance, self.0.calls.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Who answers a call of this name by this caller. `awaited` is the component that may offer the tool and is not compiled yet.
    fn target(&self, current: &Current, awaited: Option<&str>, name: &str, caller: &ToolScope) -> Target<'static> {
        let catalogue = &current.catalogue;
        let scope = match self.scope(current, caller.toolsets.as_ref()) {
            Ok(scope) => scope,
            Err(why) => return Target::nobody(CallError::new(ErrorKind::Denied, &why.to_string())),
        };
        let is_hidden = |name: &str| current.policy.tools.hides(name, caller.client.as_deref());
        let reachable = |name: &str| scope.as_ref().is_none_or(|scope| scope.contains(name)) && !is_hidden(name);
        let unknown = || match awaited {
            Some(awaited) => {
                let name = crate::text::one_line(name, 80);
                let text = format!("there is no tool {name:?} yet; {awaited} is still being compiled: try again later");
                CallError::new(ErrorKind::Unavailable, &text)
            }
            None => unknown(catalogue, name, &reachable),
        };
        match catalogue.get(name) {
            _ if !reachable(name) => Target::nobody(unknown()),
            Some(entry) => Target::Tool(Arc::clone(entry)),
            None => Target::Intercepted(unknown()),
        }
    }

    /// The names that a caller may use: of what this host offers, what the caller was given. Nothing where that is all of them.
    pub(super) fn scope(
        &self,
        current: &Current,
        toolsets: Option<&Selection>,
    ) -> Result<Option<BTreeSet<String>>, ToolsetError> {
        let offered = Some(&self.0.offered).filter(|offered| **offered != Selection::default());
        let select = |selection: &Selection| {
            current.settings.toolsets.select(selection, &registered(&current.catalogue), &has_env)
        };
        Ok(match (offered.map(select).transpose()?, toolsets.map(select).transpose()?) {
            (Some(offered), Some(given)) => Some(&offered & &given),
            (offered, given) => offered.or(given),
        })
    }

    /// Whether a tool of this name is among those that this host offers, there or not.
    pub fn offers(&self, name: &str) -> bool {
        let scope = self.scope(&self.0.current.load(), None);
        scope.is_ok_and(|scope| scope.is_none_or(|scope| scope.contains(name)))
    }
}

/// What a caller may use: the tools of its toolsets that are not hidden from it.
#[derive(Clone, Debug, Default)]
pub(super) struct ToolScope {
    pub(super) toolsets: Option<Selection>,
    pub(super) client: Option<String>,
}

/// Which tools were registered under which toolset.
pub(super) fn registered(catalogue: &Catalogue) -> Registered<'_> {
    catalogue.tools().map(|entry| (entry.definition.toolset.as_str(), entry.definition.name.as_str())).collect()
}

/// Whether the host's environment has a variable. An empty one is as good as none: nobody means it as a key.
pub(super) fn has_env(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}

fn unknown(catalogue: &Catalogue, name: &str, reachable: &dyn Fn(&str) -> bool) -> CallError {
    let shown = crate::text::one_line(name, 80);
    let near: Vec<&str> = catalogue.near(name).into_iter().filter(|near| reachable(near)).collect();
    let hint = match near.as_slice() {
        [] if !catalogue.refusals().is_empty() => {
            format!("{} files were refused, and the list of tools says why", catalogue.refusals().len())
        }
        [] => "see the list of tools".to_owned(),
        near => format!("did you mean {}?", near.join(" or ")),
    };
    CallError::new(ErrorKind::UnknownTool, &format!("there is no tool {shown:?}; {hint}"))
}
