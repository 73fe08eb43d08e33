//! Puts a call on record before it does what could end the host, so that the call that ended it has a line.

use std::{fmt, sync::Arc};

use super::Decision;

/// Records that a call is about to have an effect, with what a person said of it. Clones share whether that was done: once for a call
/// is enough. An error means that nothing is on record, and the effect must not happen.
#[derive(Clone)]
pub(crate) struct EffectRecorder(Arc<dyn Fn(Option<Decision>) -> Result<(), String> + Send + Sync>);

impl EffectRecorder {
    pub(crate) fn new(record: impl Fn(Option<Decision>) -> Result<(), String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(record))
    }

    pub(crate) fn record(&self, decision: Option<Decision>) -> Result<(), String> {
        (self.0)(decision)
    }
}

impl fmt::Debug for EffectRecorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EffectRecorder")
    }
}
