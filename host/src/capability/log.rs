//! `hermes:tool/log`: needs no grant; every call counts against the host-call budget.

use wasmtime::component::{HasSelf, Linker};

use super::Capability;
use crate::sandbox::{CallState, Level, Progress, limits::LOG_LINE_BYTES};
use crate::wit::latest::log as wit;

pub(super) fn link(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    wit::add_to_linker::<_, HasSelf<CallState>>(linker, |state| state)
}

impl wit::Host for CallState {
    fn log(&mut self, level: wit::Level, message: String) -> wasmtime::Result<()> {
        self.count_host_call(Capability::Log)?;
        let level = match level {
            wit::Level::Trace => Level::Trace,
            wit::Level::Debug => Level::Debug,
            wit::Level::Info => Level::Info,
            wit::Level::Warn => Level::Warn,
            wit::Level::Error => Level::Error,
        };
        self.log.push(level, &message);
        Ok(())
    }

    fn progress(&mut self, done: u64, total: Option<u64>, message: Option<String>) -> wasmtime::Result<()> {
        self.count_host_call(Capability::Log)?;
        let message = message.map(|message| crate::text::one_line(&message, LOG_LINE_BYTES));
        self.report(Progress { done, total, message });
        Ok(())
    }
}
