//! What Prometheus is told: how many calls, of what kind, how long, and how the host is.

use std::{
    collections::HashSet,
    fmt,
    sync::{Arc, Mutex, PoisonError, atomic::Ordering},
    time::{Duration, Instant},
};

use prometheus_client::{
    encoding::text::encode,
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::{Registry, Unit},
};

use super::{limits::COUNTED_TOOLS, process};
use crate::{
    Host,
    dispatch::{ErrorKind, Outcome},
    registry::{TOOL_CALL, TOOL_DESCRIBE, TOOL_SEARCH},
    sandbox::KillReason,
};

/// From a call that does nothing to the longest that an operator can allow, in seconds.
const BUCKETS: [f64; 13] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0, 120.0, 600.0];

/// Calls of names that no tool has: a client makes up as many as it likes.
const UNKNOWN: &str = "(unknown)";

/// Calls of tools beyond [`COUNTED_TOOLS`].
const OTHERS: &str = "(others)";

/// Where a figure comes from that is looked at when Prometheus asks.
type Look = fn(&Host) -> usize;

/// Whose calls, and how they ended.
type Labels = [(&'static str, String); 2];

/// What is counted, and what is looked at when Prometheus asks. One for all servers of a host.
pub struct Metrics {
    host: Host,
    registry: Registry,
    calls: Family<Labels, Counter>,
    durations: Histogram,
    counted: Mutex<HashSet<String>>,
    connections: Gauge,
    instances: Counter,
    gauges: Vec<(Gauge, Look)>,
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Metrics")
    }
}

impl Metrics {
    /// The metrics of this host.
    pub fn new(host: &Host) -> Arc<Self> {
        let mut registry = Registry::with_prefix("hermes");
        let (calls, connections, instances) = (Family::default(), Gauge::default(), Counter::default());
        let durations = Histogram::new(BUCKETS);
        registry.register("calls", "Calls that ended, by tool and outcome", calls.clone());
        let help = "From a request for a call to its answer; the calls of a batch are answered together";
        registry.register_with_unit("call_duration", help, Unit::Seconds, durations.clone());
        registry.register("connections_open", "Open HTTP connections", connections.clone());
        registry.register("instances", "Sandboxes that were made", instances.clone());
        let looked_at: [(&str, &str, Look); 8] = [
            ("calls_running", "Calls in a sandbox", |host| host.sandbox().calls_running()),
            ("calls_waiting", "Calls that wait for a sandbox", |host| host.sandbox().calls_waiting()),
            ("tools_loaded", "Tools that are loaded", |host| host.catalogue().tools().count()),
            ("components_refused", "Files that were refused", |host| host.catalogue().refusals().len()),
            ("approvals_pending", "Questions that wait for a person", |host| host.approvals().pending().len()),
            ("approvals_attended", "Whether somebody is there to answer them: 1 or 0", |host| {
                usize::from(host.approvals().is_attended())
            }),
            ("generation", "Changes of tools, toolsets and hooks", |host| {
                usize::try_from(host.generation()).unwrap_or(usize::MAX)
            }),
            ("resident_memory_bytes", "Memory of the process", |_| process::resident_bytes().unwrap_or_default()),
        ];
        let gauges = looked_at.map(|(name, help, look)| {
            let gauge = Gauge::default();
            registry.register(name, help, gauge.clone());
            (gauge, look)
        });
        Arc::new(Self {
            host: host.clone(),
            registry,
            calls,
            durations,
            counted: Mutex::default(),
            connections,
            instances,
            gauges: gauges.into(),
        })
    }

    /// The gauge of open connections, for [`super::Server::serve`].
    pub fn connections(&self) -> Gauge {
        self.connections.clone()
    }

    /// Counts a call that ended: `None` is well, otherwise the kind of its error.
    pub fn observe(&self, tool: &str, kind: Option<ErrorKind>, duration: Duration) {
        let outcome = kind.map_or("ok", ErrorKind::name).to_owned();
        self.calls.get_or_create(&[("tool", self.label(tool)), ("outcome", outcome)]).inc();
        self.durations.observe(duration.as_secs_f64());
    }

    /// Follows a call from now on. It is counted when its outcome is told, or as cancelled if it is dropped before.
    pub fn begin<'a>(&'a self, tool: &'a str) -> Call<'a> {
        Call { metrics: self, tool, start: Instant::now(), told: false }
    }

    /// The name that a call is counted by: of a bounded set, whatever clients send.
    fn label(&self, tool: &str) -> String {
        let known =
            [TOOL_CALL, TOOL_DESCRIBE, TOOL_SEARCH].contains(&tool) || self.host.catalogue().get(tool).is_some();
        if !known {
            return UNKNOWN.to_owned();
        }
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        if !counted.contains(tool) {
            if counted.len() >= COUNTED_TOOLS {
                return OTHERS.to_owned();
            }
            counted.insert(tool.to_owned());
        }
        tool.to_owned()
    }

    /// The text that Prometheus reads.
    pub fn text(&self) -> Result<String, fmt::Error> {
        for (gauge, look) in &self.gauges {
            gauge.set(i64::try_from(look(&self.host)).unwrap_or(i64::MAX));
        }
        self.instances.inner().store(self.host.sandbox().instances_made() as u64, Ordering::Relaxed);
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

/// A call that is followed.
#[derive(Debug)]
pub struct Call<'a> {
    metrics: &'a Metrics,
    tool: &'a str,
    start: Instant,
    told: bool,
}

impl Call<'_> {
    /// It ended so.
    pub fn end(mut self, outcome: &Outcome) {
        self.told = true;
        let kind = outcome.result.as_ref().err().map(|error| error.kind);
        self.metrics.observe(self.tool, kind, self.start.elapsed());
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        if !self.told {
            let kind = ErrorKind::Killed(KillReason::Cancelled);
            self.metrics.observe(self.tool, Some(kind), self.start.elapsed());
        }
    }
}
