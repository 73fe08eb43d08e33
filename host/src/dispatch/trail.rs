//! What the audit will say of a call. A call that is dropped on its way leaves its line too.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use jiff::Timestamp;

use super::{Incoming, Outcome};
use crate::{
    audit::{Audit, AuditError, Record},
    capability::{Capability, EffectRecorder},
    component::Digest,
    sandbox::Usage,
    text::one_line,
};

/// Bytes of a name or an identifier in the audit.
pub(super) const NAME_BYTES: usize = 200;

/// The trail of one call.
pub(super) struct Trail<'a> {
    audit: &'a Arc<Audit>,
    call: &'a Incoming<'a>,
    component: Option<Digest>,
    /// Of the arguments as the tool gets them; as they came, where it never does.
    pub(super) arguments: Option<Digest>,
    /// What became of the question to a person, where there was one.
    pub(super) approval: Option<&'static str>,
    /// What the tool said, where the guardrails want to know.
    pub(super) result: Option<String>,
    started: Instant,
    written: bool,
}

impl<'a> Trail<'a> {
    pub(super) fn new(audit: &'a Arc<Audit>, call: &'a Incoming<'a>, component: Option<Digest>) -> Self {
        let started = Instant::now();
        Self { audit, call, component, arguments: None, approval: None, result: None, started, written: false }
    }

    /// What puts the call on record before its first command, which could end the host: by a line of its own, with the outcome
    /// `begun`. The line of the call's end follows, unless the host ended first.
    pub(super) fn before_effects(&self) -> EffectRecorder {
        let (audit, started) = (Arc::clone(self.audit), self.started);
        let next = Mutex::new(Some(self.record(&Usage::default(), "begun")));
        EffectRecorder::new(move |approval| {
            let mut next = next.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(record) = next.as_ref() else { return Ok(()) };
            let record = Record {
                time: Timestamp::now(),
                capabilities: vec![Capability::Terminal.name().to_owned()],
                approval: approval.map(str::to_owned).or_else(|| record.approval.clone()),
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
        let ended = outcome.result.as_ref().map_or_else(|error| error.kind.name(), |_| "ok");
        let ran = usage.fuel > 0;
        let quiet = ran && outcome.result.is_ok() && self.approval.is_none() && usage.capabilities.changed_nothing();
        let record = self.record(usage, ended);
        if quiet { self.audit.append_soon(record) } else { self.audit.append(record) }
    }

    fn record(&self, usage: &Usage, outcome: &str) -> Record {
        let name = |text: &str| one_line(text, NAME_BYTES);
        let Incoming { name: tool, arguments, call_id, context } = self.call;
        Record {
            time: Timestamp::now(),
            call: name(call_id),
            task: context.task_id.as_deref().map(name),
            session: context.session_id.as_deref().map(name),
            tool: name(tool),
            component: self.component,
            arguments: self.arguments.unwrap_or_else(|| Digest::of(arguments.as_bytes())),
            capabilities: usage.capabilities.names().map(str::to_owned).collect(),
            approval: usage.approval.or(self.approval).map(str::to_owned),
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
