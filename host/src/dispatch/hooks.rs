//! Those who watch over calls: the embedder's own code and components of the hooks folder, asked in this order.
//!
//! A hook can only narrow. It sees a call after coercion and validation and can't change its arguments; it can stop the call,
//! send it to a person, or put another outcome in place of the real one, but never a reply in place of an error. A hook that
//! fails, panics or takes too long stops the call, unless the operator said otherwise.

use std::{future::Future, sync::Arc};

use futures_util::future::BoxFuture;
use serde::Deserialize;

use super::{CallError, ErrorKind, Reply};
use crate::{
    component::{Component, Hooks as HookKind, Loader},
    sandbox::{Busy, Control, KillReason, Limits, PreparedHook, Run, Sandbox, caught, given_up},
    text::one_line,
    wit::latest::{Call, Outcome, Problem, Verdict},
};

/// Bytes of what a hook tells the person who decides: a few lines.
const REASON_BYTES: usize = 500;

/// What happens to a call when a hook fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnFailure {
    /// The call is blocked, or its result withheld.
    #[default]
    Block,
    /// The failure is logged and the hook passed over.
    Allow,
}

/// A hook in the embedder's own code. Every point has a default that changes nothing.
pub trait Hook: Send + Sync {
    /// For messages.
    fn name(&self) -> &str;

    /// Before the call runs.
    fn pre_tool_call<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Verdict> {
        let _ = call;
        Box::pin(std::future::ready(Verdict::Allow))
    }

    /// After it.
    fn post_tool_call<'a>(&'a self, call: &'a Call, outcome: &'a Outcome) -> BoxFuture<'a, ()> {
        let _ = (call, outcome);
        Box::pin(std::future::ready(()))
    }

    /// After it: another outcome in place of this one.
    fn transform_tool_result<'a>(&'a self, call: &'a Call, outcome: &'a Outcome) -> BoxFuture<'a, Option<Outcome>> {
        let _ = (call, outcome);
        Box::pin(std::future::ready(None))
    }
}

/// Who is asked.
#[derive(Clone)]
pub(crate) enum Source {
    /// The embedder's code.
    Program(Arc<dyn Hook>),
    /// A component of the hooks folder.
    Component(Arc<Component<HookKind>>),
    /// A file of the hooks folder that could not be loaded: a guard that can't do its duty fails at every call.
    Broken(String),
}

/// One hook in its place.
#[derive(Clone)]
pub(crate) struct Watcher {
    pub(crate) name: String,
    pub(crate) on_failure: OnFailure,
    pub(crate) source: Source,
}

/// A point of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Point {
    Pre,
    Post,
    Transform,
}

impl Watcher {
    fn watches(&self, point: Point, tool: &str) -> bool {
        match &self.source {
            Source::Program(_) => true,
            // Before the call, so that nothing runs unguarded; there is nothing left to fail after it.
            Source::Broken(_) => point == Point::Pre,
            Source::Component(component) => {
                let wanted = &component.offer;
                let at_point = match point {
                    Point::Pre => wanted.pre_tool_call,
                    Point::Post => wanted.post_tool_call,
                    Point::Transform => wanted.transform_tool_result,
                };
                at_point && wanted.covers(tool)
            }
        }
    }
}

/// Why a hook gave no answer.
enum Fault {
    /// There was no place to run it. Not its fault: before the call, the caller is told to come again.
    Busy(Busy),
    /// The caller gave the call up.
    GivenUp,
    Hook(String),
}

/// Whether the tool has run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Before,
    After,
}

/// All hooks of a host, and what is needed to run them.
pub(crate) struct Hooks<'a> {
    pub(crate) watchers: &'a [Watcher],
    pub(crate) sandbox: &'a Sandbox,
    pub(crate) loader: &'a Arc<Loader>,
    pub(crate) control: &'a Control,
}

impl Hooks<'_> {
    /// Asks whether the call may run. What comes back are the reasons to ask a person.
    pub(crate) async fn pre(&self, call: &Call) -> Result<Vec<String>, CallError> {
        let mut reasons = Vec::new();
        for hook in self.at(Point::Pre, &call.name) {
            let verdict = match &hook.source {
                Source::Program(program) => self.program(|| program.pre_tool_call(call)).await,
                Source::Component(component) => {
                    let run = |guest| self.sandbox.pre_tool_call(guest, component.limits, call.clone(), self.quiet());
                    self.component(component, run).await
                }
                Source::Broken(why) => Err(Fault::Hook(why.clone())),
            };
            match self.settle(hook, verdict, call, Stage::Before)? {
                None | Some(Verdict::Allow) => {}
                Some(Verdict::Block(message)) => {
                    let text = format!("{}: blocked by the hook {}: {message}", Stage::Before.said(call), hook.name);
                    return Err(CallError::new(ErrorKind::Denied, &text));
                }
                Some(Verdict::Ask(message)) => {
                    reasons.push(format!("{}: {}", hook.name, one_line(&message, REASON_BYTES)));
                }
            }
        }
        Ok(reasons)
    }

    /// Tells how the call ended, and asks for other outcomes, each hook seeing what the one before it left.
    pub(crate) async fn after(&self, call: &Call, mut result: Result<Reply, CallError>) -> Result<Reply, CallError> {
        for hook in self.at(Point::Post, &call.name) {
            let outcome = described(&result);
            let told = match &hook.source {
                Source::Program(program) => self.program(|| program.post_tool_call(call, &outcome)).await,
                Source::Component(component) => {
                    let (limits, call) = (component.limits, call.clone());
                    let run = |guest| self.sandbox.post_tool_call(guest, limits, call, outcome, self.quiet());
                    self.component(component, run).await
                }
                Source::Broken(_) => Ok(()),
            };
            self.settle(hook, told, call, Stage::After)?;
        }
        for hook in self.at(Point::Transform, &call.name) {
            let outcome = described(&result);
            let changed = match &hook.source {
                Source::Program(program) => self.program(|| program.transform_tool_result(call, &outcome)).await,
                Source::Component(component) => {
                    let (limits, call) = (component.limits, call.clone());
                    let run = |guest| self.sandbox.transform_tool_result(guest, limits, call, outcome, self.quiet());
                    self.component(component, run).await
                }
                Source::Broken(_) => Ok(None),
            };
            if let Some(Some(other)) = self.settle(hook, changed, call, Stage::After)? {
                result = replaced(call, hook, result, other);
            }
        }
        result
    }

    fn at(&self, point: Point, tool: &str) -> impl Iterator<Item = &Watcher> {
        self.watchers.iter().filter(move |hook| hook.watches(point, tool))
    }

    /// A hook ends with its call, but its progress is not the call's.
    fn quiet(&self) -> Control {
        Control { progress: None, ..self.control.clone() }
    }

    /// The embedder's code gets the time that a guest gets, and ends with its call.
    async fn program<T, F: Future<Output = T>>(&self, ask: impl FnOnce() -> F) -> Result<T, Fault> {
        let wall = Limits::HANDLE.wall;
        let answer = self.sandbox.within(wall, caught(async { ask().await }));
        let answer = tokio::select! {
            biased;
            answer = answer => answer,
            () = self.control.cancelled() => return Err(Fault::GivenUp),
        };
        match answer {
            Some(Ok(answer)) => Ok(answer),
            Some(Err(panic)) => Err(Fault::Hook(format!("it panicked: {panic}"))),
            None => Err(Fault::Hook(format!("it took longer than {} s", wall.as_secs()))),
        }
    }

    async fn component<'a, T, F: Future<Output = Result<Run<T>, Busy>>>(
        &self,
        component: &'a Arc<Component<HookKind>>,
        run: impl FnOnce(&'a PreparedHook) -> F,
    ) -> Result<T, Fault> {
        let guest = component.prepared(self.loader).await.map_err(Fault::Hook)?;
        // In a box: a run's future is large, and every call would carry room for it, hooks or not.
        let run = Box::pin(run(guest)).await.map_err(Fault::Busy)?;
        for line in &run.log {
            tracing::info!("hook {}: {}", component.name, line.message);
        }
        run.answer.map_err(|kill| match kill.reason {
            KillReason::Cancelled => Fault::GivenUp,
            reason => Fault::Hook(format!("it was ended ({reason}): {kill}")),
        })
    }

    /// A hook's answer, nothing where it failed and the operator lets that pass, or the call's end.
    fn settle<T>(
        &self,
        hook: &Watcher,
        answer: Result<T, Fault>,
        call: &Call,
        stage: Stage,
    ) -> Result<Option<T>, CallError> {
        let why = match answer {
            Ok(answer) => return Ok(Some(answer)),
            Err(Fault::GivenUp) => return Err(CallError::killed(&call.name, &given_up(), &[])),
            // Afterwards "try again" would run the tool twice.
            Err(Fault::Busy(busy)) if stage == Stage::Before => return Err(busy.into()),
            Err(Fault::Busy(_)) => "there was no place for it to run".to_owned(),
            Err(Fault::Hook(why)) => why,
        };
        match hook.on_failure {
            OnFailure::Allow => {
                tracing::warn!("the hook {} failed and was passed over: {why}", hook.name);
                Ok(None)
            }
            OnFailure::Block => {
                let text = format!("{}: the hook {} failed: {why}", stage.said(call), hook.name);
                Err(CallError::new(ErrorKind::Denied, &text))
            }
        }
    }
}

impl Stage {
    /// What became of the call.
    fn said(self, call: &Call) -> String {
        match self {
            Self::Before => format!("{} was not run", call.name),
            Self::After => format!("{} has run, but its result is withheld", call.name),
        }
    }
}

fn described(result: &Result<Reply, CallError>) -> Outcome {
    match result {
        Ok(reply) => Outcome::Reply(reply.content().to_vec()),
        Err(error) => Outcome::Error(Problem { kind: error.kind.name().into(), message: error.message.clone() }),
    }
}

/// What a hook put in an outcome's place, within what a hook may do.
fn replaced(call: &Call, hook: &Watcher, result: Result<Reply, CallError>, other: Outcome) -> Result<Reply, CallError> {
    match (result, other) {
        (Ok(_), Outcome::Reply(content)) => Reply::accept(&call.name, content),
        (Ok(_), Outcome::Error(problem)) => {
            let text = format!("the result is withheld by the hook {}: {}", hook.name, problem.message);
            Err(CallError::new(ErrorKind::Denied, &text))
        }
        (Err(error), Outcome::Error(problem)) => Err(CallError::new(error.kind, &problem.message)),
        (Err(error), Outcome::Reply(_)) => {
            tracing::warn!("the hook {} tried to turn an error into a reply; the error stays", hook.name);
            Err(error)
        }
    }
}
