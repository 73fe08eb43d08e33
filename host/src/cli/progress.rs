//! What people see while components compile: on a terminal, and only when there is something to wait for.

use std::{
    collections::HashMap,
    io::{self, IsTerminal},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use hermes_host::{LoadEvent, LoadListener, megabytes};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::output;

/// A line for each component that is being compiled: `compiling words.wasm, 18 MB, 12 s`. For commands that wait for it.
pub(super) struct Progress {
    lines: MultiProgress,
    by_name: Arc<Mutex<HashMap<String, ProgressBar>>>,
}

impl Progress {
    pub(super) fn new(quiet: bool) -> Self {
        // The target draws nothing where stderr is no terminal.
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        Self { lines: MultiProgress::with_draw_target(target), by_name: Arc::default() }
    }

    pub(super) fn listener(&self) -> LoadListener {
        let (lines, by_name) = (self.lines.clone(), Arc::clone(&self.by_name));
        Arc::new(move |event| {
            let mut by_name = by_name.lock().unwrap_or_else(PoisonError::into_inner);
            match event {
                LoadEvent::Compiling { name, size } => {
                    let line = lines.add(ProgressBar::new_spinner().with_style(style()));
                    line.set_message(what(&name, size));
                    line.enable_steady_tick(Duration::from_millis(100));
                    by_name.insert(name, line);
                }
                LoadEvent::Compiled { name } => {
                    if let Some(line) = by_name.remove(&name) {
                        line.finish_and_clear();
                    }
                }
            }
        })
    }

    pub(super) fn finish(&self) {
        for (_, line) in self.by_name.lock().unwrap_or_else(PoisonError::into_inner).drain() {
            line.finish_and_clear();
        }
    }
}

fn style() -> ProgressStyle {
    let seconds = |state: &ProgressState, text: &mut dyn std::fmt::Write| {
        // Text in memory takes all that is written.
        let _ = write!(text, "{} s", state.elapsed().as_secs());
    };
    let style = ProgressStyle::with_template("{spinner} compiling {msg}, {seconds}");
    style.unwrap_or_else(|_| ProgressStyle::default_spinner()).with_key("seconds", seconds)
}

fn what(name: &str, size: u64) -> String {
    format!("{name}.wasm, {}", megabytes(size))
}

/// A line when a component begins to be compiled, and one at its end. For servers, which say other things meanwhile.
pub(super) fn lines(quiet: bool) -> LoadListener {
    let is_shown = !quiet && io::stderr().is_terminal();
    let started = Mutex::new(HashMap::<String, Instant>::new());
    Arc::new(move |event| {
        let mut started = started.lock().unwrap_or_else(PoisonError::into_inner);
        let text = match event {
            LoadEvent::Compiling { name, size } => {
                let text = format!("compiling {}", what(&name, size));
                started.insert(name, Instant::now());
                text
            }
            LoadEvent::Compiled { name } => {
                let took = started.remove(&name).map(|since| since.elapsed().as_secs()).unwrap_or_default();
                format!("compiled {name}.wasm in {took} s")
            }
        };
        match is_shown {
            true => output::note(&text),
            false => tracing::info!("{text}"),
        }
    })
}
