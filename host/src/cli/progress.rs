//! The bar while components compile: only on a terminal, and only when there is something to wait for.

use std::{sync::Arc, time::Duration};

use hermes_host::{LoadEvent, LoadListener};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

pub(super) struct Progress(ProgressBar);

impl Progress {
    pub(super) fn new(quiet: bool) -> Self {
        // The target draws nothing where stderr is no terminal.
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(Some(0), target);
        if let Ok(style) = ProgressStyle::with_template("{spinner} compiling {pos}/{len} [{bar:30}] {msg} {elapsed}") {
            bar.set_style(style.progress_chars("=> "));
        }
        Self(bar)
    }

    pub(super) fn listener(&self) -> LoadListener {
        let bar = self.0.clone();
        Arc::new(move |event| match event {
            LoadEvent::Compiling(name) => {
                bar.inc_length(1);
                bar.set_message(name);
                bar.enable_steady_tick(Duration::from_millis(100));
            }
            LoadEvent::Compiled(_) => bar.inc(1),
        })
    }

    pub(super) fn finish(&self) {
        self.0.finish_and_clear();
    }
}
