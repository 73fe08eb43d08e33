//! The way of every call, in one place: guardrails, coerce, validate, hooks, approval, invoke, hooks, bound, mark, guardrails,
//! audit.

use std::{
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::future::BoxFuture;

use super::{
    Bounds, CallContext, CallError, Ended, ErrorKind, Guardrails, Interceptor, Outcome, Reply, arguments, bound,
    hooks::{Hooks, Watcher},
    marked::{defanged, marked},
    reports_failure,
    spill::Spill,
    trail::{NAME_BYTES, Trail},
    ungranted,
    validation::{self, Validation},
};
use crate::{
    approval::{Asker, CallExtent, Gate, Ruling},
    audit::{Audit, AuditedArguments},
    capability::Decision,
    component::{Component, Digest, Loader},
    policy::{PolicyAction, ToolPolicy},
    registry::{Annotations, Entry},
    sandbox::{Control, KillReason, Limits, PreparedTools, Progress, Sandbox, caught, given_up},
    text::one_line,
    wit::latest,
};

/// The component of a tool that only the embedding program knows.
const HOST: &str = "the host";

/// Bytes of the operator's reason in a message: what the configuration takes.
const REASON_BYTES: usize = 500;

/// How often a call that waits for code to be compiled reports it.
pub(crate) const REPORT_INTERVAL: Duration = Duration::from_secs(1);

/// What decides about calls, besides the tools themselves.
#[derive(Default)]
pub(crate) struct Policy {
    pub(crate) watchers: Vec<Watcher>,
    pub(crate) tools: ToolPolicy,
    pub(crate) guardrails: Arc<Guardrails>,
    pub(crate) bounds: Bounds,
    pub(crate) audited: AuditedArguments,
}

/// Carries calls from a name and a text to an outcome.
pub(crate) struct Pipeline {
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) loader: Arc<Loader>,
    pub(crate) gate: Arc<Gate>,
    pub(crate) interceptors: Vec<Arc<dyn Interceptor>>,
    pub(crate) spill: Spill,
    pub(crate) audit: Arc<Audit>,
    pub(crate) validation: Validation,
}

/// Who answers a call.
pub(crate) enum Target<'a> {
    /// A tool of the catalogue.
    Tool(Arc<Entry>),
    /// A tool that only an interceptor knows. Why there is none, should it not take the call.
    Intercepted(CallError),
    /// The host itself, in JSON.
    Host(BoxFuture<'a, Result<String, CallError>>),
}

impl Target<'_> {
    /// Why nobody answers.
    pub(crate) fn nobody(error: CallError) -> Self {
        Self::Host(Box::pin(std::future::ready(Err(error))))
    }

    /// Whose code answers.
    fn component(&self) -> Option<Digest> {
        match self {
            Self::Tool(entry) => Some(entry.component.digest),
            _ => None,
        }
    }

    /// Whether calling it again changes nothing, by the tool's own word.
    fn is_repeatable(&self) -> bool {
        match self {
            Self::Tool(entry) => entry.definition.hints.read_only || entry.definition.hints.idempotent,
            Self::Intercepted(_) => false,
            Self::Host(_) => true,
        }
    }
}

/// A call on its way.
pub(crate) struct Incoming<'a> {
    pub(crate) name: &'a str,
    pub(crate) arguments: &'a str,
    pub(crate) call_id: String,
    pub(crate) context: CallContext,
}

impl Incoming<'_> {
    /// The name as it may stand in texts: one that no tool has may be anything.
    fn shown(&self) -> String {
        one_line(self.name, NAME_BYTES)
    }
}

impl Pipeline {
    /// Runs one call to its end. Whatever happens is an outcome and a line in the audit.
    pub(crate) async fn run(&self, incoming: Incoming<'_>, target: Target<'_>, policy: &Policy) -> Outcome {
        let repeatable = target.is_repeatable();
        let mut trail = Trail::new(&self.audit, &incoming, target.component(), policy.audited);
        let mut outcome = match self.admitted(&incoming, policy) {
            Err(error) => error.into(),
            Ok(()) => {
                let outcome = match caught(self.steps(&incoming, target, policy, &mut trail)).await {
                    Ok(Ok(outcome)) => outcome,
                    Ok(Err(error)) => error.into(),
                    Err(panic) => CallError::new(ErrorKind::Killed(KillReason::HostPanic), &panic).into(),
                };
                Outcome {
                    warning: warned(&incoming, repeatable, policy, &outcome.result, trail.result.take()),
                    ..outcome
                }
            }
        };
        if let Err(why) = trail.finish(&outcome) {
            tracing::error!("{why}");
            let text = format!("{} was called, but its result is withheld: {why}", incoming.name);
            outcome.result = Err(CallError::new(ErrorKind::Failed, &text));
        }
        outcome
    }

    async fn steps(
        &self,
        incoming: &Incoming<'_>,
        target: Target<'_>,
        policy: &Policy,
        trail: &mut Trail<'_>,
    ) -> Result<Outcome, CallError> {
        let Incoming { name, call_id, context, .. } = incoming;
        let tool = match target {
            Target::Tool(entry) => Ok(entry),
            Target::Intercepted(unknown) if self.interceptors.iter().any(|one| one.takes(name)) => Err(unknown),
            Target::Intercepted(unknown) => return Err(unknown),
            Target::Host(answer) => {
                let reply = Reply::json_of(name, unless_cancelled(name, &context.control, answer).await??)?;
                return Ok(Ok(bound::bound(reply, policy.bounds.result, &self.spill, call_id)).into());
            }
        };
        let entry = tool.as_ref().ok();
        let prepared = match validation::inline(entry.map(Arc::as_ref), incoming.arguments)? {
            Some(prepared) => prepared,
            None => {
                // In a box, since every call would carry its size.
                let checked = Box::pin(self.validation.offload(&self.sandbox, name, entry, incoming.arguments));
                unless_cancelled(name, &context.control, checked).await??
            }
        };
        let call = latest::Call {
            name: (*name).to_owned(),
            arguments: prepared.arguments,
            context: latest::Context {
                call_id: call_id.clone(),
                task_id: context.task_id.clone(),
                session_id: context.session_id.clone(),
            },
        };
        trail.got(&call.arguments);
        let hooks = Hooks {
            watchers: &policy.watchers,
            sandbox: &self.sandbox,
            loader: &self.loader,
            control: &context.control,
        };
        let asks = PendingReasons::of_hooks(hooks.pre(&call).await?);
        let asks = asks.with_policy(&policy.tools, &call, context.client.as_deref())?;
        self.approve(entry.map(Arc::as_ref), &call, asks, &context.control, trail).await?;
        let mut outcome = match (self.intercepted(&call, &context.control).await?, &tool) {
            (Some(outcome), _) => outcome,
            (None, Ok(entry)) => self.invoke(entry, &call, &context.control, prepared.took, trail).await?,
            (None, Err(unknown)) => return Err(unknown.clone()),
        };
        outcome.result = hooks.after(&call, outcome.result).await;
        if let (Ok(reply), Some(_)) = (&outcome.result, &context.task_id) {
            // Guardrails compare what the tool said, not what the model is shown of it.
            trail.result = Some(reply.json());
        }
        outcome.result = outcome.result.map(|reply| self.presented(reply, entry, &call, &policy.bounds));
        Ok(outcome)
    }

    /// Whether the call may start at all: nobody gave it up, its arguments can be looked at, and its task does not go round in
    /// circles.
    fn admitted(&self, incoming: &Incoming<'_>, policy: &Policy) -> Result<(), CallError> {
        let Incoming { arguments, context, .. } = incoming;
        if context.control.cancel.as_ref().is_some_and(|token| token.is_cancelled()) {
            let text = format!("{} was not run: the caller gave the call up before it started", incoming.shown());
            return Err(CallError::new(ErrorKind::Killed(KillReason::Cancelled), &text));
        }
        arguments::check_size(arguments)?;
        let Some(task) = context.task_id.as_deref() else { return Ok(()) };
        let stop = |why: String| CallError::new(ErrorKind::Stopped, &why);
        policy.guardrails.before(task, &incoming.shown(), arguments).map_err(stop)
    }

    /// Asks a person where a hook or the policy wants it. Nobody to ask means no.
    async fn approve(
        &self,
        entry: Option<&Entry>,
        call: &latest::Call,
        asks: PendingReasons,
        control: &Control,
        trail: &mut Trail<'_>,
    ) -> Result<(), CallError> {
        if asks.reasons.is_empty() {
            return Ok(());
        }
        let extent = asks.extent(entry);
        let asker = Asker {
            tool: call.name.clone(),
            component: entry.map_or_else(|| HOST.to_owned(), |entry| entry.component.name.clone()),
            call: call.context.call_id.clone(),
            task: call.context.task_id.clone(),
            session: call.context.session_id.clone(),
        };
        trail.is_asked = true;
        // The gate's timers are the guests' runtime's: the caller may have none. In a box, since every call would carry its size.
        let ruling = Box::pin(self.sandbox.entered(self.gate.call(&asker, &call.arguments, asks.reasons, extent)));
        match unless_cancelled(&call.name, control, ruling).await? {
            Ruling::Passed { decided, .. } => {
                trail.decision = decided.map(Decision::approved);
                Ok(())
            }
            Ruling::Refused { why, decided } => {
                trail.decision = Some(Decision::refused(decided));
                Err(CallError::new(ErrorKind::Denied, &format!("{} was not run: {why}", call.name)))
            }
        }
    }

    /// The answer of an interceptor that takes the call.
    async fn intercepted(&self, call: &latest::Call, control: &Control) -> Result<Option<Outcome>, CallError> {
        let name = &call.name;
        for interceptor in self.interceptors.iter().filter(|interceptor| interceptor.takes(name)) {
            if let Some(answer) = unless_cancelled(name, control, interceptor.handle(call)).await? {
                return Ok(Some(answer.and_then(|content| Reply::accept(name, content)).into()));
            }
        }
        Ok(None)
    }

    /// The tool's own component, in a fresh instance, with what checking its arguments left of its time.
    async fn invoke(
        &self,
        entry: &Entry,
        call: &latest::Call,
        control: &Control,
        taken: Duration,
        trail: &Trail<'_>,
    ) -> Result<Outcome, CallError> {
        let name = &call.name;
        let component = &entry.component;
        let prepared = match component.prepared_before() {
            Some(prepared) => prepared,
            // In a box, since every call would carry its size.
            None => Box::pin(self.prepared(name, component, control)).await?,
        };
        let limits = Limits { wall: component.limits.wall.saturating_sub(taken), ..component.limits };
        // Commands alone can end the host.
        let recording =
            component.granted.commands.as_ref().map(|_| component.granted.recording(trail.before_effects()));
        let granted = recording.as_ref().unwrap_or(&component.granted);
        let run = self.sandbox.handle(prepared, limits, granted, call.clone(), control.clone()).await?;
        let result = match run.answer {
            Ok(Ok(content)) => Reply::accept(name, content),
            Ok(Err(failure)) => Err(failure.into()),
            Err(kill) => {
                let kill = kill.with_remedy(&component.name, &component.limits);
                Err(CallError::killed(name, &kill, &run.log))
            }
        };
        let result = result.map_err(|error| match run.usage.lacks_folders {
            true => ungranted::explain(error, &component.name, &component.granted),
            false => error,
        });
        Ok(Outcome { result, warning: None, log: run.log, usage: run.usage })
    }

    /// The linked form of a component. Where it must be compiled first, the caller hears of it and waits as long as the call may take;
    /// the time of the call itself begins afterwards.
    async fn prepared<'a>(
        &self,
        tool: &str,
        component: &'a Arc<Component>,
        control: &Control,
    ) -> Result<&'a PreparedTools, CallError> {
        let unavailable = |why: &str| CallError::new(ErrorKind::Unavailable, &format!("{tool}: {why}"));
        let (started, mut making) = (Instant::now(), pin!(component.prepared(&self.loader)));
        loop {
            let made = self.sandbox.within(REPORT_INTERVAL, unless_cancelled(tool, control, &mut making)).await;
            if let Some(made) = made {
                return made?.map_err(|why| unavailable(&why));
            }
            let waited = started.elapsed().as_secs();
            if started.elapsed() >= component.limits.wall {
                let why = format!("its code is still being compiled, for {waited} s now; try again later");
                return Err(unavailable(&why));
            }
            let message = format!("compiling {}, {waited} s", component.name);
            control.report(Progress { done: waited, total: None, message: Some(message) });
        }
    }

    /// A reply as the model gets it: bounded, and marked where it comes from outside. What goes to a file is defanged too: it will
    /// be read.
    fn presented(&self, reply: Reply, entry: Option<&Arc<Entry>>, call: &latest::Call, bounds: &Bounds) -> Reply {
        let outside = entry.is_some_and(|entry| entry.definition.hints.open_world);
        let most = entry.map_or(bounds.result, |entry| {
            bounds.of_tool(entry.component.limits.shown, entry.definition.max_result_size)
        });
        let reply = if outside { defanged(reply) } else { reply };
        let reply = bound::bound(reply, most, &self.spill, &call.context.call_id);
        if outside { marked(&call.name, reply) } else { reply }
    }
}

/// Why a person has to decide about a call.
struct PendingReasons {
    reasons: Vec<String>,
    /// Whether it is only for the tool's name, whatever the arguments are.
    is_by_tool: bool,
}

impl PendingReasons {
    fn of_hooks(reasons: Vec<String>) -> Self {
        Self { reasons, is_by_tool: false }
    }

    /// The same with what the policy says, or the policy's refusal.
    fn with_policy(
        mut self,
        policy: &ToolPolicy,
        call: &latest::Call,
        client: Option<&str>,
    ) -> Result<Self, CallError> {
        // The text was made from a value: it can be read.
        let arguments = || serde_json::from_str(&call.arguments).unwrap_or_default();
        let Some(rule) = policy.decide(&call.name, client, arguments) else { return Ok(self) };
        let why = rule.why().map_or_else(String::new, |why| format!(": {}", one_line(why, REASON_BYTES)));
        match rule.action() {
            PolicyAction::Allow => {}
            PolicyAction::Ask => {
                self.is_by_tool = self.reasons.is_empty() && rule.is_unconditional();
                self.reasons.push(format!("the operator wants to be asked, by the policy {rule}{why}"));
            }
            // Hidden tools are not found in the first place.
            PolicyAction::Deny | PolicyAction::Hidden => {
                let next = "do it without, or ask the operator to change [policy] in hermes.toml";
                let text =
                    format!("{} was not run: the operator denies it by the policy {rule}{why}; {next}", call.name);
                return Err(CallError::new(ErrorKind::Denied, &text));
            }
        }
        Ok(self)
    }

    fn extent(&self, entry: Option<&Entry>) -> CallExtent {
        let is_destructive = entry.map_or_else(Annotations::default, Annotations::of).destructive;
        match (self.is_by_tool, is_destructive) {
            (false, _) => CallExtent::SameArguments,
            (true, true) => CallExtent::ToolForSession,
            (true, false) => CallExtent::Tool,
        }
    }
}

/// The embedder's answer, unless the caller gives the call up before it comes.
async fn unless_cancelled<T>(tool: &str, control: &Control, answer: impl Future<Output = T>) -> Result<T, CallError> {
    tokio::select! {
        biased;
        answer = answer => Ok(answer),
        () = control.cancelled() => Err(CallError::killed(tool, &given_up(), &[])),
    }
}

/// Tells the guardrails how the call ended. What the host could not run is not the task's failure.
fn warned(
    incoming: &Incoming<'_>,
    repeatable: bool,
    policy: &Policy,
    result: &Result<Reply, CallError>,
    said: Option<String>,
) -> Option<String> {
    let task = incoming.context.task_id.as_deref()?;
    let json;
    let ended = match result {
        Err(error) => match error.kind {
            ErrorKind::Busy | ErrorKind::Killed(KillReason::Cancelled | KillReason::HostPanic) => return None,
            _ => Ended::Failed,
        },
        Ok(reply) => {
            json = said.unwrap_or_else(|| reply.json());
            if reports_failure(&json) { Ended::Failed } else { Ended::Worked { result: &json, repeatable } }
        }
    };
    policy.guardrails.after(task, &incoming.shown(), incoming.arguments, ended)
}
