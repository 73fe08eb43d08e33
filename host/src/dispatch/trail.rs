//! What the audit will say of a call. A call that is dropped on its way leaves its line too.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use jiff::Timestamp;

use super::{ErrorKind, Incoming, Outcome, summary::summary};
use crate::{
    audit::{Audit, AuditError, AuditedArguments, Record},
    capability::{Capability, Decision, EffectRecorder},
    component::Digest,
    sandbox::Usage,
    text::one_line,
};

/// Bytes of a name or an identifier in the audit.
pub(super) const NAME_BYTES: usize = 200;

/// The outcome of a call where something that it wanted was refused, by a person, by the rules or since nobody answered.
const REFUSED: &str = "refused";

/// The trail of one call.
pub(super) struct Trail<'a> {
    audit: &'a Arc<Audit>,
    call: &'a Incoming<'a>,
    component: Option<Digest>,
    /// Of the arguments as the tool gets them; as they came, where it never does.
    arguments: Option<Digest>,
    /// The command, path or URL in them.
    summary: Option<String>,
    audited: AuditedArguments,
    /// Whether a person was asked about the call.
    pub(super) is_asked: bool,
    /// What was decided about the call, where a decision was needed.
    pub(super) decision: Option<Decision>,
    /// What the tool said, where the guardrails want to know.
    pub(super) result: Option<String>,
    started: Instant,
    written: bool,
}

impl<'a> Trail<'a> {
    pub(super) fn new(
        audit: &'a Arc<Audit>,
        call: &'a Incoming<'a>,
        component: Option<Digest>,
        audited: AuditedArguments,
    ) -> Self {
        Self {
            audit,
            call,
            component,
            arguments: None,
            summary: None,
            audited,
            is_asked: false,
            decision: None,
            result: None,
            started: Instant::now(),
            written: false,
        }
    }

    /// Notes the arguments as the tool gets them.
    pub(super) fn got(&mut self, arguments: &str) {
        self.arguments = Some(Digest::of(arguments.as_bytes()));
        if self.audited == AuditedArguments::Summary {
            self.summary = summary(arguments);
        }
    }

    /// What puts the call on record before its first command, which could end the host: by a line of its own, with the outcome
    /// `begun`. The line of the call's end follows, unless the host ended first.
    pub(super) fn before_effects(&self) -> EffectRecorder {
        let (audit, started) = (Arc::clone(self.audit), self.started);
        let next = Mutex::new(Some(self.record(&Usage::default(), "begun")));
        EffectRecorder::new(move |decision| {
            let mut next = next.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(record) = next.as_ref() else { return Ok(()) };
            let record = Record {
                time: Timestamp::now(),
                capabilities: vec![Capability::Terminal.name().to_owned()],
                approval: decision.map(|it| it.word().to_owned()).or_else(|| record.approval.clone()),
                decided_by: decision.map(|it| it.by.words().to_owned()).or_else(|| record.decided_by.clone()),
                duration_us: micros(started),
                ..record.clone()
            };
            audit.append(record).map_err(|why| why.to_string())?;
            *next = None;
            Ok(())
        })
    }

    /// Writes the line. A call that ran, went well and touched nothing but its own log has done nothing outside the sandbox, so
    /// its line may wait for others. All the rest is on record before its caller hears of it.
    pub(super) fn finish(mut self, outcome: &Outcome) -> Result<(), AuditError> {
        self.written = true;
        let usage = &outcome.usage;
        let is_refused = self.decided(usage).is_some_and(|decision| !decision.is_approved);
        let ended = match &outcome.result {
            Ok(_) if is_refused => REFUSED,
            Ok(_) => "ok",
            Err(error) if is_refused && error.kind == ErrorKind::Denied => REFUSED,
            Err(error) => error.kind.name(),
        };
        let ran = usage.fuel > 0;
        let is_undecided = !self.is_asked && self.decided(usage).is_none();
        let quiet = ran && outcome.result.is_ok() && is_undecided && usage.capabilities.changed_nothing();
        let record = self.record(usage, ended);
        if quiet { self.audit.append_soon(record) } else { self.audit.append(record) }
    }

    /// What was decided about the call or about something that it wanted. A refusal counts before an approval.
    fn decided(&self, usage: &Usage) -> Option<Decision> {
        usage.decision.map(|decision| decision.after(self.decision)).or(self.decision)
    }

    fn record(&self, usage: &Usage, outcome: &str) -> Record {
        let decided = self.decided(usage);
        let asked = self.is_asked.then(|| "asked".to_owned());
        let name = |text: &str| one_line(text, NAME_BYTES);
        let Incoming { name: tool, arguments, call_id, context } = self.call;
        Record {
            time: Timestamp::now(),
            call: name(call_id),
            client: context.client.as_deref().map(name),
            task: context.task_id.as_deref().map(name),
            session: context.session_id.as_deref().map(name),
            tool: name(tool),
            component: self.component,
            arguments: self.arguments.unwrap_or_else(|| Digest::of(arguments.as_bytes())),
            summary: self.summary.clone(),
            capabilities: usage.capabilities.names().map(str::to_owned).collect(),
            approval: decided.map(|decision| decision.word().to_owned()).or(asked),
            decided_by: decided.map(|decision| decision.by.words().to_owned()),
            fuel: usage.fuel,
            memory: usage.memory as u64,
            duration_us: micros(self.started),
            outcome: outcome.to_owned(),
        }
    }
}

fn micros(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX)
}

impl Drop for Trail<'_> {
    fn drop(&mut self) {
        if self.written {
            return;
        }
        if let Err(why) = self.audit.append(self.record(&Usage::default(), "dropped")) {
            tracing::error!("{why}");
        }
    }
}
